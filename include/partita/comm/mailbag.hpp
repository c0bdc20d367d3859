// How one worker's boxes become messages: cut to size, gathered into parcels, contiguous or packed or typed.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/copy.hpp>
#include <partita/comm/arena.hpp>
#include <partita/comm/check.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/core/index.hpp>
#include <vector>

namespace partita {

/// A box that goes to or comes from a worker, and where it starts in this worker's block.
template <std::size_t Rank>
struct mailed_box {
  std::size_t worker = 0;
  std::array<std::size_t, Rank> shape{};
  index<Rank> at{};
};

/// How boxes travel that are not contiguous. Either side of a pair may choose `packed` or `typed` for itself: what goes
/// over the wire is the same. By size, small ones are left to MPI's types, which save a pass when latency counts, and
/// large ones are packed by us, which between distant cores is three times faster than Open MPI's types. `chunk` bounds
/// the bytes of a message and must be equal on both sides.
struct mail_policy {
  enum class way { by_size, packed, typed } how = way::by_size;
  std::size_t chunk = std::size_t{1} << 30;

  friend bool operator==(const mail_policy&, const mail_policy&) = default;
};

namespace detail {

/// Cuts a box into slabs of at most `most` bytes along its outer dimensions, in C order.
template <std::size_t Rank, class Emit>
void cut_box(mailed_box<Rank> b, std::size_t element, std::size_t most, Emit emit) {
  const std::size_t bytes = volume_of(b.shape) * element;
  if (bytes == 0) return;
  if constexpr (Rank > 0) {
    if (bytes > most) {
      std::size_t d = 0;
      while (d + 1 < Rank && b.shape[d] == 1) ++d;
      if (b.shape[d] > 1) {
        const std::size_t row = bytes / b.shape[d], rows = b.shape[d], slab = row < most ? most / row : 1;
        const std::size_t start = b.at[d];
        for (std::size_t r = 0; r < rows; r += slab) {
          b.at[d] = start + r;
          b.shape[d] = r + slab < rows ? slab : rows - r;
          cut_box(b, element, most, emit);
        }
        return;
      }
    }
  }
  emit(b);
}

/// The type of a strided box of elements of `element` bytes.
template <std::size_t Rank>
MPI_Datatype type_of_box(const std::array<std::size_t, Rank>& shape, const std::array<std::ptrdiff_t, Rank>& strides,
                         std::size_t element) {
  strided_pair loops;  // only its collapsing is wanted
  for (std::size_t d = 0; d < Rank; ++d) {
    const auto stride = strides[d] * static_cast<std::ptrdiff_t>(element);
    loops.append(shape[d], stride, stride);
  }
  std::size_t run = element, d = loops.loops;
  if (d > 0 && loops.to_stride[d - 1] == static_cast<std::ptrdiff_t>(element)) run *= loops.extent[--d];
  MPI_Datatype type = MPI_DATATYPE_NULL;
  detail::check(MPI_Type_contiguous(static_cast<int>(run), MPI_BYTE, &type), "MPI_Type_contiguous");
  while (d-- > 0) {
    MPI_Datatype wider = MPI_DATATYPE_NULL;
    detail::check(MPI_Type_create_hvector(static_cast<int>(loops.extent[d]), 1, loops.to_stride[d], type, &wider),
                  "MPI_Type_create_hvector");
    MPI_Type_free(&type);
    type = wider;
  }
  detail::check(MPI_Type_commit(&type), "MPI_Type_commit");
  return type;
}

/// Where a box starts in a block with these strides.
template <std::size_t Rank>
std::ptrdiff_t offset_of(const mailed_box<Rank>& b, const std::array<std::ptrdiff_t, Rank>& strides) {
  std::ptrdiff_t offset = 0;
  for (std::size_t d = 0; d < Rank; ++d) offset += static_cast<std::ptrdiff_t>(b.at[d]) * strides[d];
  return offset;
}

/// Copies a box between its block and dense memory in the box's own order; `Out` of the block. Returns the end of the
/// memory.
template <bool Out, class T, class Block, std::size_t Rank>
T* pack_box(const mailed_box<Rank>& b, Block* block, const std::array<std::ptrdiff_t, Rank>& strides, T* packed,
            stores how) {
  std::array<std::ptrdiff_t, Rank> dense{};
  std::ptrdiff_t next = 1;
  for (std::size_t d = Rank; d-- > 0;) {
    dense[d] = next;
    next *= static_cast<std::ptrdiff_t>(b.shape[d]);
  }
  if constexpr (Out)
    copy_block(packed, dense.data(), block + offset_of(b, strides), strides.data(), b.shape.data(), Rank, how);
  else
    copy_block(block + offset_of(b, strides), strides.data(), static_cast<const T*>(packed), dense.data(),
               b.shape.data(), Rank, how);
  return packed + next;
}

/// One direction of one worker's mail: parcels, one message each, and the slots that packed ones pass through.
template <class T, std::size_t Rank>
class mailbag {
 public:
  mailbag(const std::vector<mailed_box<Rank>>& boxes, const mail_policy& policy) : policy_(policy) {
    for (const mailed_box<Rank>& box : boxes)
      cut_box(box, sizeof(T), policy.chunk, [&](const mailed_box<Rank>& b) {
        const std::size_t bytes = volume_of(b.shape) * sizeof(T);
        const bool joins =
            !parcels_.empty() && parcels_.back().worker == b.worker && parcels_.back().bytes + bytes <= policy.chunk;
        if (!joins) parcels_.push_back({b.worker, boxes_.size(), boxes_.size(), 0, 0, 0});
        boxes_.push_back(b);
        parcels_.back().last = boxes_.size();
        parcels_.back().bytes += bytes;
      });
    interleave();
  }
  mailbag(const mailbag&) = delete;
  mailbag& operator=(const mailbag&) = delete;
  ~mailbag() {
    forget_types();
    if (buffer_ != nullptr) heap_pool::instance().release(buffer_, buffer_bytes_);
  }

  std::size_t messages() const { return parcels_.size(); }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const parcel& p : parcels_) sum += p.bytes;
    return sum;
  }

 protected:
  struct parcel {
    std::size_t worker, first, last, bytes;  // boxes [first, last)
    std::size_t slot, offset;                // where a packed one lies in the buffer
  };

  static constexpr std::size_t slots_in_flight = 8;

  /// Decides for each parcel how it travels, for a block with these strides; does nothing when they are as before.
  void prepare(const std::array<std::ptrdiff_t, Rank>& strides) {
    if (prepared_ && strides == strides_) return;
    forget_types();
    prepared_ = true;
    strides_ = strides;
    in_place_.assign(parcels_.size(), 0);
    types_.assign(parcels_.size(), MPI_DATATYPE_NULL);
    std::size_t largest = 0, packed = 0;
    for (std::size_t k = 0; k < parcels_.size(); ++k) {
      const parcel& p = parcels_[k];
      if (p.last - p.first == 1 && contiguous(boxes_[p.first].shape)) {
        in_place_[k] = 1;
      } else if (leave_to_mpi(p.bytes) && p.last - p.first == 1) {
        types_[k] = type_of_box(boxes_[p.first].shape, strides_, sizeof(T));
      } else {
        largest = largest < p.bytes ? p.bytes : largest;
        ++packed;
      }
    }
    const std::size_t line = 64;
    slot_bytes_ = (largest + line - 1) / line * line;
    slots_ = packed < slots_in_flight ? packed : slots_in_flight;
    if (policy_.chunk >= std::size_t{1} << 30) slots_ = packed;
    if (slots_ * slot_bytes_ > buffer_bytes_) {
      if (buffer_ != nullptr) heap_pool::instance().release(buffer_, buffer_bytes_);
      buffer_bytes_ = slots_ * slot_bytes_;
      buffer_ = static_cast<char*>(heap_pool::instance().allocate(buffer_bytes_));
    }
    requests_.assign(parcels_.size(), MPI_REQUEST_NULL);
    slot_of_.assign(parcels_.size(), 0);
    finished_.assign(parcels_.size(), 0);
    spare_.reserve(slots_);
  }

  bool leave_to_mpi(std::size_t bytes) const {
    return policy_.how == mail_policy::way::typed ||
           (policy_.how == mail_policy::way::by_size && bytes <= (std::size_t{128} << 10));
  }

  bool contiguous(const std::array<std::size_t, Rank>& shape) const {
    std::ptrdiff_t next = 1;
    for (std::size_t d = Rank; d-- > 0;) {
      if (shape[d] != 1 && strides_[d] != next) return false;
      next *= static_cast<std::ptrdiff_t>(shape[d]);
    }
    return true;
  }

  /// Copies a parcel between the block and its slot; `Out` into the slot.
  template <bool Out, class Block>
  void pack(const parcel& p, Block* block, char* slot) const {
    T* packed = reinterpret_cast<T*>(slot);
    for (std::size_t k = p.first; k < p.last; ++k)
      packed = pack_box<Out>(boxes_[k], block, strides_, packed, Out ? stores::cached : stores::by_size);
  }

  void begin() {
    next_ = done_ = 0;
    spare_.clear();
    for (std::size_t s = slots_; s-- > 0;) spare_.push_back(s);
  }

  mail_policy policy_;
  std::vector<mailed_box<Rank>> boxes_;
  std::vector<parcel> parcels_;
  std::array<std::ptrdiff_t, Rank> strides_{};
  bool prepared_ = false;
  std::vector<char> in_place_;
  std::vector<MPI_Datatype> types_;
  std::vector<MPI_Request> requests_;
  std::vector<std::size_t> slot_of_, spare_;
  std::vector<int> finished_;
  char* buffer_ = nullptr;
  std::size_t buffer_bytes_ = 0, slot_bytes_ = 0, slots_ = 0, next_ = 0, done_ = 0;

 private:
  /// Puts the parcels in the order first of each worker, second of each worker, … so that no pair waits for another.
  void interleave() {
    std::vector<parcel> mixed;
    mixed.reserve(parcels_.size());
    std::vector<std::size_t> heads;
    for (std::size_t k = 0; k < parcels_.size(); ++k)
      if (k == 0 || parcels_[k].worker != parcels_[k - 1].worker) heads.push_back(k);
    for (std::size_t turn = 0; mixed.size() < parcels_.size(); ++turn)
      for (std::size_t h = 0; h < heads.size(); ++h) {
        const std::size_t k = heads[h] + turn;
        if (k < (h + 1 < heads.size() ? heads[h + 1] : parcels_.size())) mixed.push_back(parcels_[k]);
      }
    parcels_.swap(mixed);
  }

  void forget_types() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0)
      for (MPI_Datatype& type : types_)
        if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
    types_.clear();
  }
};

}  // namespace detail

}  // namespace partita
