// Defines the functions that kernel/detail/row_block.hpp declares.
#pragma once

#include <partita/kernel/detail/row_block.hpp>

namespace partita::detail {

/// Copies a group of rows of `Known` bytes, a number that the compiler knows, or of `bytes` bytes if `Known` is 0.
template <std::size_t Known>
void copy_dense_rows(const row_block& to, const row_block& from, const row_moves::group& rows,
                     const std::uint32_t* listed_rows, std::size_t bytes) {
  using listed_side = row_moves::listed_side;
  const std::size_t n = Known != 0 ? Known : bytes;
  const auto at = [](const row_block& block, std::size_t row) {
    return block.data + static_cast<std::ptrdiff_t>(row) * block.row_stride;
  };
  const std::ptrdiff_t to_step = to.row_stride, from_step = from.row_stride;
  std::byte* y = rows.side == listed_side::to ? to.data : at(to, rows.to);
  const std::byte* x = rows.side == listed_side::from ? from.data : at(from, rows.from);
  if (rows.side == listed_side::from) {
    listed_rows += rows.from;
    for (std::size_t k = 0; k < rows.rows; ++k, y += to_step) std::memcpy(y, x + listed_rows[k] * from_step, n);
  } else if (rows.side == listed_side::to) {
    listed_rows += rows.to;
    for (std::size_t k = 0; k < rows.rows; ++k, x += from_step) std::memcpy(y + listed_rows[k] * to_step, x, n);
  } else if (to_step == static_cast<std::ptrdiff_t>(n) && from_step == to_step) {
    std::memcpy(y, x, rows.rows * n);
  } else {
    for (std::size_t k = 0; k < rows.rows; ++k, y += to_step, x += from_step) std::memcpy(y, x, n);
  }
}

/// Selects the function that copies rows of a number of bytes.
inline auto select_row_copy(std::size_t bytes) {
  return bytes == 4    ? copy_dense_rows<4>
         : bytes == 8  ? copy_dense_rows<8>
         : bytes == 16 ? copy_dense_rows<16>
         : bytes == 24 ? copy_dense_rows<24>
         : bytes == 32 ? copy_dense_rows<32>
         : bytes == 64 ? copy_dense_rows<64>
                       : copy_dense_rows<0>;
}

inline void copy_strided_rows(const row_block& to, const row_block& from, const row_run& run) {  // element by element
  for (std::size_t row = 0; row < run.rows; ++row) {
    std::byte* const y = to.skip_rows(run.to + row).data;
    const std::byte* const x = from.skip_rows(run.from + row).data;
    for (std::size_t e = 0; e < to.elements; ++e) std::memcpy(y + to.offset(e), x + from.offset(e), to.element_bytes);
  }
}

PARTITA_DEF void copy_rows(const row_block& to, const row_block& from, const row_moves& moves, bool back) {
  const std::size_t bytes = to.row_bytes();
  if (bytes == 0) return;
  if (!to.is_dense || !from.is_dense)
    return moves.for_each([&](const row_run& run) { copy_strided_rows(to, from, back ? run.reversed() : run); });
  const auto copy = select_row_copy(bytes);
  for (const row_moves::group& rows : moves.groups())
    copy(to, from, back ? rows.reversed() : rows, moves.listed_rows(), bytes);
}

PARTITA_DEF void copy_rows_to_range(const row_block& to, const row_block& from, const row_moves& moves,
                                    std::size_t first, std::size_t rows) {
  const std::size_t bytes = to.row_bytes();
  if (bytes == 0) return;
  if (!to.is_dense || !from.is_dense)
    return moves.for_each_run_in_rows(first, rows, [&](row_run run) {
      run.to -= first;
      copy_strided_rows(to, from, run);
    });
  const auto copy = select_row_copy(bytes);
  moves.for_each_group_in_rows(first, rows, [&](row_moves::group part) {
    part.to -= first;
    copy(to, from, part, moves.listed_rows(), bytes);
  });
}

/// Copies `bytes` bytes of one row, from byte `first` on; the bytes may begin and end inside an element.
inline void copy_part_of_row(const row_block& row, std::size_t first, std::size_t bytes, char* to) {
  if (row.is_dense) {
    std::memcpy(to, row.data + first, bytes);
    return;
  }
  while (bytes > 0) {
    const std::size_t within = first % row.element_bytes, left = row.element_bytes - within,
                      n = left < bytes ? left : bytes;
    std::memcpy(to, row.data + row.offset(first / row.element_bytes) + within, n);
    to += n, first += n, bytes -= n;
  }
}

void rows_to_gather::write(const std::size_t* shape, const std::size_t* at, char* to) const {
  if (shape[1] == row_pitch_) {
    for (const field& one : fields_)
      copy_rows_to_range(packed_rows(reinterpret_cast<std::byte*>(to), one.offset, row_pitch_, one.block), one.block,
                         *packed_, at[0], shape[0]);
    return;
  }
  // A packed row that is longer than a slot of the ring buffer is written in parts: here bytes `first` to `last` - 1.
  const std::size_t first = at[1], last = first + shape[1];
  packed_->for_each_run_in_rows(at[0], shape[0], [&](const row_run& run) {
    for (std::size_t k = 0; k < run.rows; ++k)
      for (const field& one : fields_) {
        const std::size_t end_of_field = one.offset + one.block.row_bytes();
        const std::size_t begin = first > one.offset ? first : one.offset,
                          end = last < end_of_field ? last : end_of_field;
        if (begin < end)
          copy_part_of_row(one.block.skip_rows(run.from + k), begin - one.offset, end - begin,
                           to + (run.to + k - at[0]) * shape[1] + (begin - first));
      }
  });
}

}  // namespace partita::detail
