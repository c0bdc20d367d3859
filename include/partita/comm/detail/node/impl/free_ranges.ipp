// Defines the functions that comm/detail/node/free_ranges.hpp declares.
#pragma once

#include <algorithm>
#include <partita/comm/detail/node/free_ranges.hpp>

namespace partita::detail {

PARTITA_DEF void free_ranges::make_room(std::size_t further_ranges) {
  ranges_.reserve(ranges_.size() + further_ranges);
}

PARTITA_DEF void free_ranges::add(char* first, std::size_t bytes) { ranges_.push_back({first, bytes}); }

PARTITA_DEF void free_ranges::merge_adjacent_ranges() {
  std::sort(ranges_.begin(), ranges_.end(), [](const range& a, const range& b) { return a.first < b.first; });
  std::size_t n = 0;
  for (const range& r : ranges_) {
    if (n > 0 && ranges_[n - 1].first + ranges_[n - 1].bytes == r.first) ranges_[n - 1].bytes += r.bytes;
    else ranges_[n++] = r;
  }
  ranges_.resize(n);
}

PARTITA_DEF char* free_ranges::take(std::size_t bytes) {
  std::size_t best = ranges_.size();
  for (std::size_t k = 0; k < ranges_.size(); ++k)
    if (ranges_[k].bytes >= bytes && (best == ranges_.size() || ranges_[k].bytes < ranges_[best].bytes)) best = k;
  if (best == ranges_.size()) return nullptr;
  char* const taken = ranges_[best].first;
  ranges_[best].first += bytes;
  ranges_[best].bytes -= bytes;
  if (ranges_[best].bytes == 0) {
    ranges_[best] = ranges_.back();
    ranges_.pop_back();
  }
  return taken;
}

}  // namespace partita::detail
