// Moves boxes into a block that senders on the same node cannot reach: through a ring of slots in shared memory, which
// the sender packs while the receiver unpacks. Where there is no memory for a ring, it uses messages.
#pragma once

#include <cstddef>
#include <partita/comm/detail/box_list.hpp>
#include <partita/comm/detail/mpi_call.hpp>
#include <partita/comm/detail/node/channel.hpp>
#include <vector>

namespace partita::detail {

/// The boxes of one pair, cut to the size of slots. The cut is kept while the size of slots stays the same.
template <class = void>
class basic_ring_boxes {
 public:
  basic_ring_boxes(std::size_t place, std::size_t rank, const element_kind& kind)
      : place_(place), kind_(kind), whole_(rank), cut_(rank) {}

  std::size_t place() const { return place_; }
  void add(const listed_box& b) { whole_.add(b); }
  std::size_t bytes() const { return whole_.volume() * kind_.bytes; }
  /// The offset of the first box in the staging area, if there is one.
  std::size_t stage() const { return whole_[0].stage; }

  void start(const destination& at) {
    at_ = at;
    next_ = 0;
    if (at.in_place() || at.slot_bytes == cut_for_) return;
    cut_for_ = at.slot_bytes;
    cut_.clear();
    for (std::size_t k = 0; k < whole_.size(); ++k) cut_.add_cut(whole_[k], kind_.bytes, at.slot_bytes);
  }

  /// Fills slots while there are empty ones. Returns true when every box has been sent.
  bool send(node_channel& channel, const block_memory& block, bool streaming) {
    if (at_.by_message()) return send_messages(channel, block);
    for (; !done() && channel.has_slot(place_); ++next_) {
      pack(block, channel.next_filled(place_), true, streaming);
      channel.fill(place_);
    }
    return done();
  }

  /// Empties filled slots. Returns true when every box has been received.
  bool receive(node_channel& channel, const block_memory& block, bool streaming) {
    if (at_.by_message()) return receive_messages(channel, block);
    for (; !done() && channel.filled(place_) > 0; ++next_) {
      pack(block, channel.next_taken(place_), false, streaming);
      channel.take(place_);
    }
    return done();
  }

  bool in_place() const { return at_.in_place(); }

  /// Packs all boxes from a block, one after another, or unpacks them into it.
  void pack_all(const block_memory& block, char* packed, bool out) const {
    for (std::size_t k = 0; k < whole_.size(); ++k)
      packed = pack_box(kind_, whole_[k], whole_.rank(), block, packed, out, stores::cached);
  }
  bool done() const { return at_.in_place() || next_ == cut_.size(); }

 private:
  /// One piece after the other, because memory is short here.
  bool send_messages(const node_channel& channel, const block_memory& block) {
    for (; !done(); ++next_) {
      if (request_ == MPI_REQUEST_NULL) {
        packed_.resize(at_.slot_bytes);
        pack_box(kind_, cut_[next_], cut_.rank(), block, packed_.data(), true, stores::cached);
        check(MPI_Isend(packed_.data(), piece_bytes(), MPI_BYTE, static_cast<int>(place_), channel.tag(),
                        channel.communicator(), &request_),
              "MPI_Isend");
      }
      if (!has_moved()) return false;
    }
    return true;
  }
  bool receive_messages(const node_channel& channel, const block_memory& block) {
    for (; !done(); ++next_) {
      if (request_ == MPI_REQUEST_NULL) {
        packed_.resize(at_.slot_bytes);
        check(MPI_Irecv(packed_.data(), piece_bytes(), MPI_BYTE, static_cast<int>(place_), channel.tag(),
                        channel.communicator(), &request_),
              "MPI_Irecv");
      }
      if (!has_moved()) return false;
      pack_box(kind_, cut_[next_], cut_.rank(), block, packed_.data(), false, stores::cached);
    }
    return true;
  }
  int piece_bytes() const { return static_cast<int>(cut_.volume(next_) * kind_.bytes); }
  bool has_moved() {
    int moved = 0;
    check(MPI_Test(&request_, &moved, MPI_STATUS_IGNORE), "MPI_Test");
    return moved != 0;
  }

  void pack(const block_memory& block, std::size_t slot, bool out, bool streaming) {
    pack_box(kind_, cut_[next_], cut_.rank(), block, at_.address + slot * at_.slot_bytes, out,
             streaming ? stores::streaming : stores::cached);
  }

  std::size_t place_;
  element_kind kind_;
  box_list whole_, cut_;
  std::size_t cut_for_ = 0, next_ = 0;
  destination at_;
  std::vector<char> packed_;  // the content of a message, if messages are used
  MPI_Request request_ = MPI_REQUEST_NULL;
};
using ring_boxes = basic_ring_boxes<>;

}  // namespace partita::detail
