// Lists of boxes of a block whose rank is known at run time only: the form in which channels store the boxes they move.
#pragma once

#include <cstddef>
#include <partita/comm/element_kind.hpp>
#include <partita/core/short_list.hpp>
#include <vector>

namespace partita::detail {

inline std::size_t elements_in(const std::size_t* shape, std::size_t rank) {
  std::size_t product = 1;
  for (std::size_t d = 0; d < rank; ++d) product *= shape[d];
  return product;
}
inline void dense_strides(const std::size_t* shape, std::size_t rank, std::ptrdiff_t* strides) {
  std::ptrdiff_t next = 1;
  for (std::size_t d = rank; d-- > 0;) {
    strides[d] = next;
    next *= static_cast<std::ptrdiff_t>(shape[d]);
  }
}

/// A box of several tensors side by side (see side_by_side.hpp) has extents other than 1 only in the dimensions of one
/// tensor. If there are more dimensions than a tensor may have, this removes dimensions of extent 1 at the end and at
/// the front, and returns how many it removed at the front.
inline std::size_t leave_out_ones(const std::size_t* shape, std::size_t& rank) {
  std::size_t first = 0;
  if (rank <= most_dimensions) return first;
  while (rank > 0 && shape[rank - 1] == 1) --rank;
  while (rank > 0 && shape[first] == 1) ++first, --rank;
  return first;
}

/// The memory of a block in one call. Without strides it is a staging area, where each box is dense at its `stage`.
struct block_memory {
  char* data = nullptr;
  const std::ptrdiff_t* strides = nullptr;
};

/// A box that is sent to or received from a worker, and its position in this worker's block.
struct listed_box {
  std::size_t worker = 0;
  std::size_t stage = 0;  ///< bytes from the start of the staging area, if there is one
  const std::size_t* shape = nullptr;
  const std::size_t* at = nullptr;
};

/// Boxes of one rank, stored contiguously in one vector.
class box_list {
 public:
  explicit box_list(std::size_t rank = 0) : rank_(rank) {}

  std::size_t rank() const { return rank_; }
  std::size_t size() const { return numbers_.size() / length(); }
  bool empty() const { return numbers_.empty(); }
  listed_box operator[](std::size_t k) const {
    const std::size_t* const n = numbers_.data() + k * length();
    return {n[0], n[1], n + 2, n + 2 + rank_};
  }
  void reserve(std::size_t boxes) { numbers_.reserve(boxes * length()); }
  void clear() { numbers_.clear(); }
  template <class = void>
  void add(std::size_t worker, const std::size_t* shape, const std::size_t* at, std::size_t stage = 0) {
    numbers_.push_back(worker);
    numbers_.push_back(stage);
    numbers_.insert(numbers_.end(), shape, shape + rank_);
    numbers_.insert(numbers_.end(), at, at + rank_);
  }
  template <class = void>
  void add(const listed_box& b) {
    add(b.worker, b.shape, b.at, b.stage);
  }

  std::size_t volume(std::size_t k) const { return elements_in((*this)[k].shape, rank_); }
  /// The number of elements in all boxes.
  std::size_t volume() const {
    std::size_t sum = 0;
    for (std::size_t k = 0; k < size(); ++k) sum += volume(k);
    return sum;
  }

  /// Adds a box in slabs of at most `most` bytes, cut along its outer dimensions, in C order.
  void add_cut(const listed_box& b, std::size_t element, std::size_t most) {
    const std::size_t bytes = elements_in(b.shape, rank_) * element;
    if (bytes == 0) return;
    std::size_t d = 0;
    while (d + 1 < rank_ && b.shape[d] == 1) ++d;
    if (bytes <= most || rank_ == 0 || b.shape[d] == 1) return add(b);
    const std::size_t row = bytes / b.shape[d], rows = b.shape[d], slab = row < most ? most / row : 1;
    std::vector<std::size_t> shape(b.shape, b.shape + rank_), at(b.at, b.at + rank_);
    for (std::size_t r = 0; r < rows; r += slab) {
      at[d] = b.at[d] + r;
      shape[d] = r + slab < rows ? slab : rows - r;
      add_cut({b.worker, b.stage + r * row, shape.data(), at.data()}, element, most);
    }
  }

 private:
  std::size_t length() const { return 2 + 2 * rank_; }

  std::size_t rank_;
  std::vector<std::size_t> numbers_;
};

/// The offset of a box in a block with these strides, in elements.
inline std::ptrdiff_t offset_of(const listed_box& b, const std::ptrdiff_t* strides, std::size_t rank) {
  std::ptrdiff_t offset = 0;
  for (std::size_t d = 0; d < rank; ++d) offset += static_cast<std::ptrdiff_t>(b.at[d]) * strides[d];
  return offset;
}
/// The address of a box.
inline char* address_of(const listed_box& b, const block_memory& block, std::size_t rank, std::size_t element) {
  if (block.strides == nullptr) return block.data + b.stage;
  return block.data + offset_of(b, block.strides, rank) * static_cast<std::ptrdiff_t>(element);
}

/// Whether the elements of a box are contiguous in a block with these strides.
inline bool is_contiguous(const std::size_t* shape, const std::ptrdiff_t* strides, std::size_t rank) {
  std::ptrdiff_t next = 1;
  for (std::size_t d = rank; d-- > 0;) {
    if (shape[d] != 1 && strides[d] != next) return false;
    next *= static_cast<std::ptrdiff_t>(shape[d]);
  }
  return true;
}

/// Copies a box from its block to dense memory in the box's own order (`out`), or back. Returns the end of the dense
/// memory.
inline char* pack_box(const element_kind& kind, const listed_box& b, std::size_t rank, const block_memory& block,
                      char* packed, bool out, stores how) {
  char* const own = address_of(b, block, rank, kind.bytes);
  const std::size_t first = leave_out_ones(b.shape, rank);
  const std::size_t* const shape = b.shape + first;
  std::ptrdiff_t dense[most_dimensions] = {};
  dense_strides(shape, rank, dense);
  const std::ptrdiff_t* const strides = block.strides != nullptr ? block.strides + first : dense;
  if (out) kind.copy(packed, dense, own, strides, shape, rank, kind.bytes, how);
  else kind.copy(own, strides, packed, dense, shape, rank, kind.bytes, how);
  return packed + elements_in(shape, rank) * kind.bytes;
}

}  // namespace partita::detail
