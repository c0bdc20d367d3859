// Unused address ranges; adjacent ranges are merged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace partita::detail {

/// Address ranges of a pool that hold no block.
class free_ranges {
 public:
  /// After the call, this number of further ranges can be added without allocating memory.
  void make_room(std::size_t further_ranges) { ranges_.reserve(ranges_.size() + further_ranges); }
  /// The number of ranges.
  std::size_t size() const { return ranges_.size(); }
  void add(char* first, std::size_t bytes) { ranges_.push_back({first, bytes}); }
  /// Merges adjacent ranges. Cost: a sort.
  void merge_adjacent_ranges() {
    std::sort(ranges_.begin(), ranges_.end(), [](const range& a, const range& b) { return a.first < b.first; });
    std::size_t n = 0;
    for (const range& r : ranges_) {
      if (n > 0 && ranges_[n - 1].first + ranges_[n - 1].bytes == r.first) ranges_[n - 1].bytes += r.bytes;
      else ranges_[n++] = r;
    }
    ranges_.resize(n);
  }
  /// Takes this many bytes from the smallest range that is large enough; null if there is none.
  char* take(std::size_t bytes) {
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
  /// Calls f(first, bytes) for every free range, then removes all ranges.
  template <class F>
  void drain_all(F f) {
    for (const range& r : ranges_) f(r.first, r.bytes);
    ranges_.clear();
  }

 private:
  struct range {
    char* first = nullptr;  ///< the lowest address
    std::size_t bytes = 0;  ///< the length
  };
  std::vector<range> ranges_;
};

}  // namespace partita::detail
