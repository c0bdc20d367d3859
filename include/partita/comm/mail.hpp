// Boxes sent to and received from other workers as messages: in place where they are contiguous, otherwise packed in
// chunks that follow each other while the next is being packed, or left to MPI as derived types.
#pragma once

#include <array>
#include <cstddef>
#include <partita/comm/check.hpp>
#include <partita/comm/mailbag.hpp>
#include <partita/comm/mpi.hpp>

namespace partita {

/// The messages that leave one worker.
template <class T, std::size_t Rank>
class outgoing_mail : private detail::mailbag<T, Rank> {
  using bag = detail::mailbag<T, Rank>;

 public:
  using bag::bag, bag::bytes, bag::messages;

  void start(MPI_Comm comm, int tag, const T* block, const std::array<std::ptrdiff_t, Rank>& strides) {
    comm_ = comm, tag_ = tag, block_ = block;
    this->prepare(strides);
    this->begin();
    advance();
  }

  /// Sends what can be sent without waiting; true when everything has left.
  bool advance() {
    const int n = static_cast<int>(this->parcels_.size());
    while (this->next_ < this->parcels_.size()) {
      const std::size_t k = this->next_;
      const auto& p = this->parcels_[k];
      const T* const box = block_ + detail::offset_of(this->boxes_[p.first], this->strides_);
      const int to = static_cast<int>(p.worker), bytes = static_cast<int>(p.bytes);
      if (this->in_place_[k] != 0) {
        detail::check(MPI_Isend(box, bytes, MPI_BYTE, to, tag_, comm_, &this->requests_[k]), "MPI_Isend");
      } else if (this->types_[k] != MPI_DATATYPE_NULL) {
        detail::check(MPI_Isend(box, 1, this->types_[k], to, tag_, comm_, &this->requests_[k]), "MPI_Isend");
      } else {
        if (this->spare_.empty()) break;
        char* const slot = this->buffer_ + this->spare_.back() * this->slot_bytes_;
        this->slot_of_[k] = this->spare_.back();
        this->spare_.pop_back();
        this->template pack<true>(p, block_, slot);
        detail::check(MPI_Isend(slot, bytes, MPI_BYTE, to, tag_, comm_, &this->requests_[k]), "MPI_Isend");
      }
      ++this->next_;
    }
    if (this->done_ == this->parcels_.size()) return true;
    int left = 0;
    detail::check(MPI_Testsome(n, this->requests_.data(), &left, this->finished_.data(), MPI_STATUSES_IGNORE),
                  "MPI_Testsome");
    for (int f = 0; f < left; ++f) {
      const auto k = static_cast<std::size_t>(this->finished_[static_cast<std::size_t>(f)]);
      if (this->in_place_[k] == 0 && this->types_[k] == MPI_DATATYPE_NULL) this->spare_.push_back(this->slot_of_[k]);
      ++this->done_;
    }
    return this->done_ == this->parcels_.size();
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int tag_ = 0;
  const T* block_ = nullptr;
};

/// The messages that reach one worker.
template <class T, std::size_t Rank>
class incoming_mail : private detail::mailbag<T, Rank> {
  using bag = detail::mailbag<T, Rank>;

 public:
  using bag::bag, bag::bytes, bag::messages;

  void start(MPI_Comm comm, int tag, T* block, const std::array<std::ptrdiff_t, Rank>& strides) {
    comm_ = comm, tag_ = tag, block_ = block;
    this->prepare(strides);
    this->begin();
    post();
  }

  /// Takes in what has arrived; true when everything has.
  bool advance() {
    if (this->done_ == this->parcels_.size()) return true;
    int arrived = 0;
    detail::check(MPI_Testsome(static_cast<int>(this->parcels_.size()), this->requests_.data(), &arrived,
                               this->finished_.data(), MPI_STATUSES_IGNORE),
                  "MPI_Testsome");
    for (int f = 0; f < arrived; ++f) {
      const auto k = static_cast<std::size_t>(this->finished_[static_cast<std::size_t>(f)]);
      if (this->in_place_[k] == 0 && this->types_[k] == MPI_DATATYPE_NULL) {
        this->template pack<false>(this->parcels_[k], block_, this->buffer_ + this->slot_of_[k] * this->slot_bytes_);
        this->spare_.push_back(this->slot_of_[k]);
      }
      ++this->done_;
    }
    post();
    return this->done_ == this->parcels_.size();
  }

 private:
  void post() {
    while (this->next_ < this->parcels_.size()) {
      const std::size_t k = this->next_;
      const auto& p = this->parcels_[k];
      T* const box = block_ + detail::offset_of(this->boxes_[p.first], this->strides_);
      const int from = static_cast<int>(p.worker), bytes = static_cast<int>(p.bytes);
      if (this->in_place_[k] != 0) {
        detail::check(MPI_Irecv(box, bytes, MPI_BYTE, from, tag_, comm_, &this->requests_[k]), "MPI_Irecv");
      } else if (this->types_[k] != MPI_DATATYPE_NULL) {
        detail::check(MPI_Irecv(box, 1, this->types_[k], from, tag_, comm_, &this->requests_[k]), "MPI_Irecv");
      } else {
        if (this->spare_.empty()) return;
        this->slot_of_[k] = this->spare_.back();
        this->spare_.pop_back();
        detail::check(MPI_Irecv(this->buffer_ + this->slot_of_[k] * this->slot_bytes_, bytes, MPI_BYTE, from, tag_,
                                comm_, &this->requests_[k]),
                      "MPI_Irecv");
      }
      ++this->next_;
    }
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int tag_ = 0;
  T* block_ = nullptr;
};

}  // namespace partita
