// Defines the functions that comm/detail/node/group_page.hpp declares.
#pragma once

#include <partita/comm/detail/node/group_page.hpp>

namespace partita::detail {

PARTITA_DEF void cache_distance::write() {
  for (std::uint32_t k = 0; k < count; ++k) cache_lines_[place(k)].next.store(place(k + 1), std::memory_order_relaxed);
}

PARTITA_DEF void cache_distance::measure_distance(const cache_distance& other) {
  // load the page table entries beforehand, through lines that are never written
  for (std::uint32_t n = 0; n < count; ++n)
    if (other.cache_lines_[n * probed_line_stride + probed_line_stride / 2].next.load(std::memory_order_relaxed) != 0)
      return;
  const auto start = std::chrono::steady_clock::now();
  std::uint32_t k = place(0);
  for (std::uint32_t n = 0; n < count; ++n)  // each read depends on the read before
    k = other.cache_lines_[k].next.load(std::memory_order_relaxed) % (count * probed_line_stride);
  const auto taken = std::chrono::steady_clock::now() - start;
  if (taken < count * interrupted_read_time)
    far_.store(k == place(count) && taken > count * near_read_time, std::memory_order_relaxed);
}

}  // namespace partita::detail
