// A block of elements in memory whose type and rank are known only at run time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <partita/array/strided.hpp>
#include <partita/comm/element_operation.hpp>
#include <partita/core/config.hpp>
#include <partita/core/short_list.hpp>
#include <partita/core/text.hpp>

namespace partita::detail {

/// Extents of up to `most_dimensions` dimensions; extents beyond the rank of a block are 0.
using block_shape = std::array<std::size_t, most_dimensions>;

template <std::size_t Rank>
block_shape pad_shape(const std::array<std::size_t, Rank>& shape) {  // appends zeros
  block_shape all{};
  std::copy(shape.begin(), shape.end(), all.begin());
  return all;
}
template <std::size_t Rank>
std::array<std::size_t, Rank> unpad_shape(const block_shape& shape) {  // the first Rank extents
  std::array<std::size_t, Rank> first{};
  std::copy_n(shape.begin(), Rank, first.begin());
  return first;
}
PARTITA_DECL std::size_t element_count_of_shape(const block_shape& shape, std::size_t rank);  ///< of the first `rank`
PARTITA_DECL text shape_text(const block_shape& shape, std::size_t rank);  ///< writes a shape as "[2, 3]"

/// A block in memory; its elements are known by their size only.
struct untyped_block {
  char* data = nullptr;                                   ///< the element whose indices are 0
  std::size_t rank = 0, element_bytes = 1;                ///< the number of dimensions; the bytes of an element
  block_shape shape{};                                    ///< the extents, followed by zeros
  std::array<std::ptrdiff_t, most_dimensions> strides{};  ///< the strides, in elements

  untyped_block() = default;
  /// The conversion casts constness away, but kernels never write to input blocks.
  template <class T, std::size_t Rank>
  untyped_block(const strided<T, Rank>& block)
      : data(reinterpret_cast<char*>(const_cast<std::remove_const_t<T>*>(block.data))),
        rank(Rank),
        element_bytes(sizeof(T)),
        shape(pad_shape(block.shape)) {
    std::copy(block.strides.begin(), block.strides.end(), strides.begin());
  }

  std::size_t size() const { return element_count_of_shape(shape, rank); }  ///< the number of elements
  /// Whether the elements of the block are contiguous in C order.
  PARTITA_DECL bool is_dense() const;
  /// A description of a contiguous block of the same shape at the address `where`; no element is copied.
  PARTITA_DECL untyped_block dense_block_at(const char* where) const;
  friend bool operator==(const untyped_block&, const untyped_block&) = default;
};

/// Copies a block to another block of the same shape, unless both are the same block.
PARTITA_DECL void copy(const element_kind& of, const untyped_block& to, const untyped_block& from);

/// Whether the address ranges of two blocks intersect, so that the blocks may share memory.
PARTITA_DECL bool blocks_share_memory(const untyped_block& a, const untyped_block& b);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/untyped_block.ipp>
#endif
