// Defines the functions that sharded/detail/step_storage.hpp declares.
#pragma once

#include <partita/sharded/detail/step_storage.hpp>

namespace partita::detail {

PARTITA_DEF std::size_t place_in_storage(std::vector<block_lifetime>& all) {
  constexpr std::size_t line = 64;
  std::size_t total = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    block_lifetime& one = all[k];
    const std::size_t bytes = (one.bytes + line - 1) / line * line;
    // Move the block behind each earlier block that it overlaps in lifetime and in memory, until it overlaps none.
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t j = 0; j < k; ++j) {
        const block_lifetime& other = all[j];
        const std::size_t end = other.offset + (other.bytes + line - 1) / line * line;
        if (other.last < one.first || one.last < other.first) continue;
        if (one.offset >= end || other.offset >= one.offset + bytes) continue;
        one.offset = end;
        moved = true;
      }
    }
    total = one.offset + bytes > total ? one.offset + bytes : total;
  }
  return total;
}

}  // namespace partita::detail
