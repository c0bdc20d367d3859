// Defines the functions that comm/detail/node/group_page.hpp declares.
#pragma once

#include <partita/comm/detail/node/group_page.hpp>

namespace partita::detail {

PARTITA_DEF void cache_distance::write_lines() {
  for (std::uint32_t k = 0; k < line_count; ++k)
    cache_lines_[line_index(k)].next.store(line_index(k + 1), std::memory_order_relaxed);
}

PARTITA_DEF void cache_distance::measure_distance(const cache_distance& other) {
  // load the page table entries beforehand, through lines that are never written
  for (std::uint32_t n = 0; n < line_count; ++n)
    if (other.cache_lines_[n * probed_line_stride + probed_line_stride / 2].next.load(std::memory_order_relaxed) != 0)
      return;
  const auto start = std::chrono::steady_clock::now();
  std::uint32_t k = line_index(0);
  for (std::uint32_t n = 0; n < line_count; ++n)  // each read depends on the read before
    k = other.cache_lines_[k].next.load(std::memory_order_relaxed) % (line_count * probed_line_stride);
  const auto taken = std::chrono::steady_clock::now() - start;
  if (taken < line_count * interrupted_read_time)
    is_far_.store(k == line_index(line_count) && taken > line_count * near_read_time, std::memory_order_relaxed);
}

}  // namespace partita::detail
