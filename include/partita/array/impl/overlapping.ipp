// Defines the functions that array/overlapping.hpp declares.
#pragma once

#include <partita/array/overlapping.hpp>

namespace partita::detail {

PARTITA_DEF bool is_reachable_offset(const step_range* ranges, std::size_t count, std::ptrdiff_t offset,
                                     std::size_t& tries_left) {
  if (count == 0) return offset == 0;
  std::ptrdiff_t low = 0, high = 0;  // the range of offsets that the other dimensions can reach
  for (std::size_t k = 1; k < count; ++k)
    low += ranges[k].step * ranges[k].lowest, high += ranges[k].step * ranges[k].highest;
  for (std::ptrdiff_t m = ranges[0].lowest; m <= ranges[0].highest; ++m) {
    const std::ptrdiff_t rest = offset - m * ranges[0].step;
    if (rest < low) break;
    if (rest > high) {  // skip to the first multiple that is large enough
      const std::ptrdiff_t jump = (rest - high + ranges[0].step - 1) / ranges[0].step - 1;
      m += jump > 0 ? jump : 0;
      continue;
    }
    if (tries_left-- == 0) return true;
    if (is_reachable_offset(ranges + 1, count - 1, rest, tries_left)) return true;
    if (tries_left == 0) return true;
  }
  return false;
}

}  // namespace partita::detail
