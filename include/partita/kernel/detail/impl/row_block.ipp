// Defines the functions that kernel/detail/row_block.hpp declares.
#pragma once

#include <partita/kernel/detail/row_block.hpp>

namespace partita::detail {

/// Rows of a number of bytes that the compiler knows, or, if it is 0, of `bytes` bytes.
template <std::size_t Known, bool Back>
void copy_dense_rows(const row_block& to, const row_block& from, const std::vector<row_run>& runs, std::size_t bytes) {
  const std::size_t n = Known != 0 ? Known : bytes;
  const bool adjacent = to.step == static_cast<std::ptrdiff_t>(n) && from.step == to.step;
  for (const row_run& run : runs) {
    std::byte* y = to.data + static_cast<std::ptrdiff_t>(Back ? run.from : run.to) * to.step;
    const std::byte* x = from.data + static_cast<std::ptrdiff_t>(Back ? run.to : run.from) * from.step;
    if (run.rows > 1 && adjacent) {
      std::memcpy(y, x, run.rows * n);
      continue;
    }
    for (std::size_t row = 0; row < run.rows; ++row, y += to.step, x += from.step) std::memcpy(y, x, n);
  }
}

template <bool Back>
void copy_dense_rows(const row_block& to, const row_block& from, const std::vector<row_run>& runs) {
  const std::size_t bytes = to.row_bytes();
  switch (bytes) {
    case 4:
      return copy_dense_rows<4, Back>(to, from, runs, bytes);
    case 8:
      return copy_dense_rows<8, Back>(to, from, runs, bytes);
    case 16:
      return copy_dense_rows<16, Back>(to, from, runs, bytes);
    case 24:
      return copy_dense_rows<24, Back>(to, from, runs, bytes);
    case 32:
      return copy_dense_rows<32, Back>(to, from, runs, bytes);
    case 64:
      return copy_dense_rows<64, Back>(to, from, runs, bytes);
    default:
      return copy_dense_rows<0, Back>(to, from, runs, bytes);
  }
}

PARTITA_DEF void copy_rows(const row_block& to, const row_block& from, const std::vector<row_run>& runs, bool back) {
  if (to.row_bytes() == 0) return;
  if (to.dense && from.dense)
    return back ? copy_dense_rows<true>(to, from, runs) : copy_dense_rows<false>(to, from, runs);
  for (const row_run& one : runs) {
    const row_run run = back ? one.turned() : one;
    for (std::size_t row = 0; row < run.rows; ++row) {
      std::byte* const y = to.from_row(run.to + row).data;
      const std::byte* const x = from.from_row(run.from + row).data;
      for (std::size_t e = 0; e < to.elements; ++e) std::memcpy(y + to.offset(e), x + from.offset(e), to.element);
    }
  }
}

}  // namespace partita::detail
