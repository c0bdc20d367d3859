// Copies and combines rows of blocks of any rank. A row has all elements with one index of dimension 0.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <partita/array/strided.hpp>
#include <partita/comm/block_writer.hpp>
#include <partita/core/config.hpp>
#include <partita/core/short_list.hpp>
#include <partita/kernel/detail/row_moves.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::detail {

/// The rows of a block in memory, for any rank and any element type. All strides are in bytes.
struct row_block {
  std::byte* data = nullptr;             ///< the first row
  std::ptrdiff_t row_stride = 0;         ///< the distance between consecutive rows in bytes
  std::size_t element_bytes = 0;         ///< the number of bytes of an element
  std::size_t elements = 1;              ///< the number of elements of a row
  bool is_dense = true;                  ///< whether the elements of a row are contiguous, in C order
  shape_list extents{};                  ///< the extents of a row
  short_list<std::ptrdiff_t> strides{};  ///< the strides of the dimensions of a row, in bytes

  std::size_t row_bytes() const { return elements * element_bytes; }  ///< the bytes of a row's elements, without gaps
  /// The rows of this block from number `row` on.
  row_block skip_rows(std::size_t row) const {
    row_block rest = *this;
    if (data != nullptr) rest.data += static_cast<std::ptrdiff_t>(row) * row_stride;
    return rest;
  }
  /// The offset in bytes of element number e of a row from the start of this row.
  std::ptrdiff_t offset(std::size_t e) const {
    if (is_dense) return static_cast<std::ptrdiff_t>(e * element_bytes);
    std::ptrdiff_t at = 0;
    for (std::size_t d = extents.size(); d-- > 0; e /= extents[d])
      at += static_cast<std::ptrdiff_t>(e % extents[d]) * strides[d];
    return at;
  }
};

/// The number of elements in a row of a block of the given shape.
template <class Shape>
constexpr std::size_t row_elements(const Shape& shape) {
  std::size_t n = 1;
  for (std::size_t d = 1; d < shape.size(); ++d) n *= shape[d];
  return n;
}

/// Makes the row_block of a strided block. If the block is constant, its rows must not be written.
template <class T, std::size_t Rank>
row_block make_row_block(const strided<T, Rank>& block) {
  constexpr auto bytes = static_cast<std::ptrdiff_t>(sizeof(T));
  row_block rows;
  rows.data = reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(block.data));
  rows.row_stride = block.strides[0] * bytes;
  rows.element_bytes = sizeof(T);
  rows.elements = row_elements(block.shape);
  std::ptrdiff_t next = 1;
  for (std::size_t d = Rank; d-- > 1;) {
    rows.is_dense = rows.is_dense && (block.shape[d] <= 1 || block.strides[d] == next);
    next *= static_cast<std::ptrdiff_t>(block.shape[d]);
  }
  for (std::size_t d = 1; d < Rank; ++d) {
    rows.extents.push_back(block.shape[d]);
    rows.strides.push_back(block.strides[d] * bytes);
  }
  return rows;
}
/// Describes dense rows that begin `row_pitch` bytes apart and have as many elements, of the same size, as the rows of
/// `row_model`. The first row begins `offset` bytes after `data`, which may be null if there are no rows.
inline row_block packed_rows(std::byte* data, std::size_t offset, std::size_t row_pitch, const row_block& row_model) {
  row_block rows;
  rows.data = data == nullptr ? nullptr : data + offset;
  rows.row_stride = static_cast<std::ptrdiff_t>(row_pitch);
  rows.element_bytes = row_model.element_bytes;
  rows.elements = row_model.elements;
  return rows;
}

/// Copies rows of the block `from` to rows of the block `to`, as `moves` lists them. If `back` is true, the source rows
/// and the destination rows in `moves` are exchanged.
PARTITA_DECL void copy_rows(const row_block& to, const row_block& from, const row_moves& moves, bool back = false);
/// Copies the rows whose destinations in `moves` are the rows [first, first + rows); destination row `first` is the
/// first row of the block `to`. For the requirement on `moves` see row_moves::for_each_group_in_rows.
PARTITA_DECL void copy_rows_to_range(const row_block& to, const row_block& from, const row_moves& moves,
                                     std::size_t first, std::size_t rows);

/// Writes the rows that other workers want directly to where the exchange takes them from or puts them (a block, a slot
/// of a ring buffer, a message). A written row contains one row of each block of the call, one after another.
class rows_to_gather : public block_writer {
 public:
  explicit rows_to_gather(std::shared_ptr<const row_moves> packed) : packed_(std::move(packed)) {}

  /// Removes all blocks; blocks that are added afterwards become parts of packed rows of `row_pitch` bytes.
  void clear(std::size_t row_pitch) { fields_.clear(), row_pitch_ = row_pitch; }
  /// Adds a block, whose row begins at byte `offset` of each packed row.
  void add(const row_block& block, std::size_t offset) { fields_.push_back({block, offset}); }
  /// Writes a box of the packed rows: `shape` rows and bytes, from row and byte `at` on.
  PARTITA_INLINE void write(const std::size_t* shape, const std::size_t* at, char* to) const override;

 private:
  struct field {         // a block of the call
    row_block block;     ///< the rows of this block
    std::size_t offset;  ///< the byte of a packed row at which the block's row begins
  };
  std::shared_ptr<const row_moves> packed_;  ///< which rows of the blocks go to which packed rows
  std::vector<field> fields_;                ///< the blocks whose rows are gathered
  std::size_t row_pitch_ = 0;                ///< the number of bytes of a packed row
};

/// Combines rows with the rows of another block, element by element: to = op(to, from).
template <class T, class Op>
void combine_rows(const row_block& to, const row_block& from, const row_run& run, const Op& op) {
  if (to.elements == 0) return;
  std::byte* y = to.skip_rows(run.to).data;
  const std::byte* x = from.skip_rows(run.from).data;
  for (std::size_t row = 0; row < run.rows; ++row, y += to.row_stride, x += from.row_stride) {
    if (to.is_dense && from.is_dense) {
      T* const a = reinterpret_cast<T*>(y);
      const T* const b = reinterpret_cast<const T*>(x);
      for (std::size_t e = 0; e < to.elements; ++e) a[e] = static_cast<T>(op(a[e], b[e]));
    } else {
      for (std::size_t e = 0; e < to.elements; ++e) {
        T& a = *reinterpret_cast<T*>(y + to.offset(e));
        a = static_cast<T>(op(a, *reinterpret_cast<const T*>(x + from.offset(e))));
      }
    }
  }
}

/// Sets all elements of the first `rows` rows to one value.
template <class T>
void fill_rows(const row_block& to, std::size_t rows, const T& value) {
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t e = 0; e < to.elements; ++e) *reinterpret_cast<T*>(to.skip_rows(row).data + to.offset(e)) = value;
}

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/row_block.ipp>
#endif
