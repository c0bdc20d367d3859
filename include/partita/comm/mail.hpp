// Boxes sent to and received from other workers as messages, again and again: in place where they are contiguous, else
// through buffers, whole or in chunks that follow each other, or as derived types. Every request is persistent.
#pragma once

#include <array>
#include <cstddef>
#include <partita/comm/arena.hpp>
#include <partita/comm/check.hpp>
#include <partita/comm/mailbag.hpp>
#include <partita/comm/mpi.hpp>
#include <type_traits>
#include <vector>

namespace partita::detail {

/// The messages that leave one worker, or those that reach it.
template <class T, std::size_t Rank, bool Outgoing>
class mail {
  using element = std::conditional_t<Outgoing, const T, T>;
  using strides_type = std::array<std::ptrdiff_t, Rank>;

 public:
  explicit mail(mailbag<T, Rank> bag) : boxes_(std::move(bag.boxes)), parcels_(std::move(bag.parcels)), workers_(bag.workers) {}
  mail(const mail&) = delete;
  mail& operator=(const mail&) = delete;
  ~mail() {
    forget();
    if (buffer_ != nullptr) heap_pool::instance().release(buffer_, buffer_bytes_);
  }

  std::size_t messages_made() const { return parcels_.size(); }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const parcel& p : parcels_) sum += p.bytes;
    return sum;
  }

  void start(MPI_Comm comm, int tag, element* block, const strides_type& strides) {
    prepare(comm, tag, block, strides);
    first_ = next_ = 0;
    arrived_.assign(parcels_.size(), 0);
    advance();
  }

  /// Moves on what can move without waiting; true when nothing is left.
  bool advance() {
    for (; next_ < parcels_.size() && has_room(next_); ++next_) {
      if constexpr (Outgoing)
        if (way_[next_] == way::through_slot) pack(next_);
      check(MPI_Start(&requests_[next_]), "MPI_Start");
    }
    if (first_ == next_) return first_ == parcels_.size();
    int n = 0;
    check(MPI_Testsome(static_cast<int>(next_ - first_), requests_.data() + first_, &n, finished_.data(), MPI_STATUSES_IGNORE),
          "MPI_Testsome");
    for (int f = 0; f < n; ++f) {
      const std::size_t k = first_ + static_cast<std::size_t>(finished_[static_cast<std::size_t>(f)]);
      if constexpr (!Outgoing)
        if (way_[k] == way::through_slot) pack(k);
      arrived_[k] = 1;
    }
    while (first_ < next_ && arrived_[first_] != 0) ++first_;
    return first_ == parcels_.size();
  }

 private:
  enum class way : char { in_place, through_slot, as_type };
  static constexpr std::size_t nobody = ~std::size_t{0};

  /// Whether whoever used the parcel's slot before is done with it.
  bool has_room(std::size_t k) const { return before_[k] == nobody || arrived_[before_[k]] != 0; }

  /// Copies a parcel between the block and its slot.
  void pack(std::size_t k) const {
    T* packed = reinterpret_cast<T*>(slot_[k]);
    for (std::size_t b = parcels_[k].first; b < parcels_[k].last; ++b)
      packed = pack_box<Outgoing>(boxes_[b], block_, strides_, packed, Outgoing ? stores::cached : stores::by_size);
  }

  /// Makes requests for this block; does nothing when it is the one that they are for.
  void prepare(MPI_Comm comm, int tag, element* block, const strides_type& strides) {
    const bool same_way = prepared_ && strides == strides_ && comm == comm_ && tag == tag_;
    if (same_way && block == block_) return;
    if (!same_way) {
      forget();
      comm_ = comm, tag_ = tag, strides_ = strides;
      choose_ways();
      deal_slots();
      requests_.assign(parcels_.size(), MPI_REQUEST_NULL);
      finished_.assign(parcels_.size(), 0);
      prepared_ = true;
    }
    block_ = block;
    for (std::size_t k = 0; k < parcels_.size(); ++k)
      if (!same_way || way_[k] != way::through_slot) bind(k);
  }

  void choose_ways() {
    way_.clear();
    types_.assign(parcels_.size(), MPI_DATATYPE_NULL);
    for (std::size_t k = 0; k < parcels_.size(); ++k) {
      const parcel& p = parcels_[k];
      if (p.last - p.first == 1 && is_contiguous(boxes_[p.first].shape, strides_)) {
        way_.push_back(way::in_place);
      } else if (p.how == messages::typed) {
        way_.push_back(way::as_type);
        types_[k] = type_of(p);
      } else {
        way_.push_back(way::through_slot);
      }
    }
  }

  /// One type for all boxes of a parcel, as seen from the first of them.
  MPI_Datatype type_of(const parcel& p) const {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (p.last - p.first == 1) {
      type = type_of_box(boxes_[p.first].shape, strides_, sizeof(T));
    } else {
      std::vector<MPI_Datatype> types;
      std::vector<MPI_Aint> places;
      for (std::size_t b = p.first; b < p.last; ++b) {
        types.push_back(type_of_box(boxes_[b].shape, strides_, sizeof(T)));
        const std::ptrdiff_t from_first = offset_of(boxes_[b], strides_) - offset_of(boxes_[p.first], strides_);
        places.push_back(from_first * static_cast<std::ptrdiff_t>(sizeof(T)));
      }
      const std::vector<int> once(types.size(), 1);
      check(MPI_Type_create_struct(static_cast<int>(types.size()), once.data(), places.data(), types.data(), &type),
            "MPI_Type_create_struct");
      for (MPI_Datatype& part : types) MPI_Type_free(&part);
    }
    check(MPI_Type_commit(&type), "MPI_Type_commit");
    return type;
  }

  /// A slot of its own for each packed parcel; chunks follow each other through slots in turn, of which every pair has its
  /// share: the oldest chunk of all pairs then never waits for a younger one.
  void deal_slots() {
    constexpr std::size_t line = 64, least_in_flight = 8;
    std::size_t chunks = 0, chunk_bytes = 0, bytes = 0;
    const auto lines = [](std::size_t n) { return (n + line - 1) / line * line; };
    for (std::size_t k = 0; k < parcels_.size(); ++k) {
      if (way_[k] != way::through_slot) continue;
      const std::size_t size = lines(parcels_[k].bytes);
      if (parcels_[k].how == messages::chunked)
        ++chunks, chunk_bytes = size > chunk_bytes ? size : chunk_bytes;
      else
        bytes += size;
    }
    const std::size_t wish = 2 * workers_ > least_in_flight ? 2 * workers_ : least_in_flight;
    const std::size_t shared = chunks < wish ? chunks : wish, start = bytes;
    bytes += shared * chunk_bytes;
    if (bytes > buffer_bytes_) {
      if (buffer_ != nullptr) heap_pool::instance().release(buffer_, buffer_bytes_);
      buffer_ = static_cast<char*>(heap_pool::instance().allocate(bytes));
      buffer_bytes_ = bytes;
    }
    slot_.assign(parcels_.size(), nullptr);
    before_.assign(parcels_.size(), nobody);
    std::vector<std::size_t> user(shared, nobody);
    std::size_t own = 0, turn = 0;
    for (std::size_t k = 0; k < parcels_.size(); ++k) {
      if (way_[k] != way::through_slot) continue;
      if (parcels_[k].how == messages::chunked) {
        slot_[k] = buffer_ + start + turn * chunk_bytes;
        before_[k] = user[turn];
        user[turn] = k;
        turn = turn + 1 == shared ? 0 : turn + 1;
      } else {
        slot_[k] = buffer_ + own;
        own += lines(parcels_[k].bytes);
      }
    }
  }

  /// The request of a parcel, for the block and the buffer as they are now.
  void bind(std::size_t k) {
    const parcel& p = parcels_[k];
    if (requests_[k] != MPI_REQUEST_NULL) check(MPI_Request_free(&requests_[k]), "MPI_Request_free");
    element* const box = block_ + offset_of(boxes_[p.first], strides_);
    const bool typed = way_[k] == way::as_type;
    const auto data = way_[k] == way::through_slot ? reinterpret_cast<element*>(slot_[k]) : box;
    const int count = typed ? 1 : static_cast<int>(p.bytes), other = static_cast<int>(p.worker);
    const MPI_Datatype type = typed ? types_[k] : MPI_BYTE;
    if constexpr (Outgoing)
      check(MPI_Send_init(data, count, type, other, tag_, comm_, &requests_[k]), "MPI_Send_init");
    else
      check(MPI_Recv_init(data, count, type, other, tag_, comm_, &requests_[k]), "MPI_Recv_init");
  }

  void forget() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) {
      for (MPI_Request& request : requests_)
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
      for (MPI_Datatype& type : types_)
        if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
    }
    requests_.clear();
    types_.clear();
  }

  std::vector<mailed_box<Rank>> boxes_;
  std::vector<parcel> parcels_;
  std::size_t workers_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int tag_ = 0;
  element* block_ = nullptr;
  strides_type strides_{};
  bool prepared_ = false;
  std::vector<way> way_;
  std::vector<MPI_Datatype> types_;
  std::vector<MPI_Request> requests_;
  std::vector<char*> slot_;
  std::vector<std::size_t> before_;  // the parcel that had the slot before, or nobody
  std::vector<char> arrived_;
  std::vector<int> finished_;
  std::size_t first_ = 0, next_ = 0;  // [first_, next_) are under way
  char* buffer_ = nullptr;
  std::size_t buffer_bytes_ = 0;
};

}  // namespace partita::detail
