// Lists of boxes of a block whose rank is known at run time only: the form in which channels store the boxes they move.
#pragma once

#include <cstddef>
#include <partita/comm/block_writer.hpp>
#include <partita/comm/element_kind.hpp>
#include <partita/core/config.hpp>
#include <partita/core/short_list.hpp>
#include <vector>

namespace partita::detail {

/// The product of the extents.
PARTITA_DECL std::size_t element_count_of_shape(const std::size_t* shape, std::size_t rank);
/// Writes the strides, in elements, of a dense block in C order.
PARTITA_DECL void dense_strides(const std::size_t* shape, std::size_t rank, std::ptrdiff_t* strides);

/// Removes dimensions of extent 1, at the end and at the front, from a box with more dimensions than a tensor may have,
/// and returns how many it removed at the front. A box of several tensors side by side (see side_by_side.hpp) has
/// extents other than 1 only in the dimensions of one tensor.
PARTITA_DECL std::size_t drop_unit_extents(const std::size_t* shape, std::size_t& rank);

/// A box that is sent to or received from a worker.
struct listed_box {
  std::size_t worker = 0;              ///< the worker that gets the box, or sends it
  std::size_t staging_offset = 0;      ///< offset in the staging area in bytes, if there is such an area
  const std::size_t* shape = nullptr;  ///< the extents of the box
  const std::size_t* at = nullptr;     ///< the position of the box in this worker's block
};

/// The memory of a block during one call. Memory without strides is a staging area; each box is dense at its
/// `staging_offset`.
struct block_memory {
  char* data = nullptr;                     ///< the first element of the block, or the staging area
  const std::ptrdiff_t* strides = nullptr;  ///< in elements; null for a staging area
  const block_writer* writer = nullptr;     ///< if not null, writes the boxes; the other members are unused
};

/// Boxes of one rank, stored contiguously in one vector.
class box_list {
 public:
  explicit box_list(std::size_t rank = 0) : rank_(rank) {}  ///< a list without boxes, for boxes of this rank

  std::size_t rank() const { return rank_; }                                ///< The rank of each box.
  std::size_t size() const { return numbers_.size() / numbers_per_box(); }  ///< The number of boxes.
  bool empty() const { return numbers_.empty(); }                           ///< Whether there are no boxes.
  PARTITA_DECL listed_box operator[](std::size_t k) const;
  void reserve(std::size_t boxes) { numbers_.reserve(boxes * numbers_per_box()); }  ///< Makes room for this many boxes.
  void clear() { numbers_.clear(); }                                                ///< Removes all boxes.
  PARTITA_DECL void add(std::size_t worker, const std::size_t* shape, const std::size_t* at,
                        std::size_t staging_offset = 0);  ///< Appends a box, whose parts are those of a listed_box.
  void add(const listed_box& b) { add(b.worker, b.shape, b.at, b.staging_offset); }

  std::size_t volume(std::size_t k) const { return element_count_of_shape((*this)[k].shape, rank_); }
  PARTITA_DECL std::size_t volume() const;  ///< The number of elements in all boxes.

  /// Adds a box in slabs of at most `most` bytes (but at least one element), in C order; the box is cut along its outer
  /// dimensions. An element has `element` bytes.
  PARTITA_DECL void add_cut(const listed_box& b, std::size_t element, std::size_t most);

 private:
  std::size_t numbers_per_box() const { return 2 + 2 * rank_; }  ///< How many numbers of numbers_ a box takes.

  std::size_t rank_;                  ///< the number of dimensions of each box
  std::vector<std::size_t> numbers_;  ///< for each box: its worker, its staging offset, its extents, its position
};

/// The offset of a box in a block with these strides, in elements.
PARTITA_DECL std::ptrdiff_t box_offset(const listed_box& b, const std::ptrdiff_t* strides, std::size_t rank);
/// The address of a box in the memory of its block, whose elements have `element` bytes.
PARTITA_DECL char* box_address(const listed_box& b, const block_memory& block, std::size_t rank, std::size_t element);

/// Whether the elements of a box are contiguous in a block with these strides.
PARTITA_DECL bool is_contiguous(const std::size_t* shape, const std::ptrdiff_t* strides, std::size_t rank);

/// With `out`, copies a box from its block to the dense memory `packed`, in C order; without `out`, copies the box from
/// `packed` to its block. Returns the address behind the last byte of the box in the dense memory.
PARTITA_DECL char* pack_box(const element_kind& kind, const listed_box& b, std::size_t rank, const block_memory& block,
                            char* packed, bool out, stores mode);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/exchange/impl/box_list.ipp>
#endif
