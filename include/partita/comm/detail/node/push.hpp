// Writes boxes directly into blocks of workers on the same node: one copy, no message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <partita/comm/detail/exchange/box_list.hpp>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// Boxes of this worker's block, and their positions in the dense blocks of workers of the node (possibly this worker).
/// After sort() the boxes are in the memory order of the source.
class push_list {
 public:
  PARTITA_DECL explicit push_list(std::size_t rank);

  /// Adds a box to the list. `offset` is the box's place in the receiver's block, in bytes; `strides` are the strides
  /// of the receiver's block, in the order of this worker's dimensions.
  PARTITA_DECL void add(std::size_t place, const listed_box& b, std::ptrdiff_t offset, const std::ptrdiff_t* strides);
  /// Adds the boxes from number `first` to `last` - 1 of another list.
  PARTITA_DECL void add(const push_list& more, std::size_t first, std::size_t last);
  PARTITA_DECL void sort();                           ///< sorts the boxes by their starts in this worker's block
  std::size_t size() const { return boxes_.size(); }  ///< the number of boxes
  void clear() { boxes_.clear(), shapes_and_starts_.clear(), strides_.clear(); }  ///< removes all boxes

  /// Copies the boxes [first, last) in the memory order of their source, slab by slab over all receivers, so that the
  /// source is read forwards once, and streaming stores do not depend on the order of their targets (8192^2 between
  /// distant cores: 0.78 of the time of a memcpy with slabs of 32 KB, and 0.90 with slabs of 256 KB or receiver by
  /// receiver). Data that stays in the cache, more than 64 boxes, a single box and transposed boxes are copied box by
  /// box. `shape` is the shape of the source; null if the source is staged, is written by a block_writer, or consists
  /// of several blocks; `blocks` are the receivers' blocks, by place on the node.
  PARTITA_DECL void push(std::size_t first, std::size_t last, const element_kind& kind, const std::size_t* shape,
                         const block_memory& from, const std::vector<char*>& blocks, bool streaming) const;

 private:
  /// A box of the list.
  struct entry {
    std::size_t place;                       // the place of the receiver on the node
    std::size_t staging_offset;              // the offset of the dense box, if the source is staged
    std::ptrdiff_t offset;                   // the start of the box in the receiver's block, in bytes
    std::size_t shape_index, strides_index;  // where its numbers begin in shapes_and_starts_ and in strides_
  };
  /// The coordinates of a box's start in this worker's block.
  const std::size_t* start_of(const entry& e) const { return shapes_and_starts_.data() + e.shape_index + rank_; }

  /// Whether one of the boxes [first, last) is transposed in its innermost dimension. A slab of a few rows is too thin
  /// to transpose it in squares.
  PARTITA_DECL bool is_transposed(std::size_t first, std::size_t last) const;

  /// Copies the part of a box that begins `skipped_extents` after the box's start; all of the box if `skipped_extents`
  /// is null.
  PARTITA_DECL void copy_box(const element_kind& kind, const entry& e, const std::size_t* part,
                             const std::size_t* skipped_extents, const block_memory& from,
                             const std::vector<char*>& blocks, stores mode) const;

  std::size_t rank_;                            // the number of dimensions of each box
  std::vector<entry> boxes_;                    // the boxes, in the order in which they are written
  std::vector<std::size_t> shapes_and_starts_;  // the shape and the start of each box in this worker's block
  std::vector<std::ptrdiff_t> strides_;         // the strides of the receiver's block for each box
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/push.ipp>
#endif
