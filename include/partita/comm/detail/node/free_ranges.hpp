// Unused address ranges; adjacent ranges are merged on request.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// Address ranges of a pool that hold no block.
class free_ranges {
 public:
  /// After the call, this number of further ranges can be added without allocating memory.
  PARTITA_DECL void make_room(std::size_t further_ranges);
  /// The number of ranges.
  std::size_t size() const { return ranges_.size(); }
  PARTITA_DECL void add(char* first, std::size_t bytes);  ///< Adds a range, which merge_adjacent_ranges() may merge.
  /// Merges adjacent ranges. Cost: a sort.
  PARTITA_DECL void merge_adjacent_ranges();
  /// Takes `bytes` bytes from the smallest range that is large enough; returns null if there is no such range.
  PARTITA_DECL char* take(std::size_t bytes);
  /// Calls f(first, bytes) for every free range, then removes all ranges.
  template <class F>
  void drain_all(F f) {
    for (const range& r : ranges_) f(r.first, r.bytes);
    ranges_.clear();
  }

 private:
  struct range {            ///< a range of unused addresses
    char* first = nullptr;  ///< the lowest address
    std::size_t bytes = 0;  ///< the length
  };
  std::vector<range> ranges_;  ///< the free ranges, in no order
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/free_ranges.ipp>
#endif
