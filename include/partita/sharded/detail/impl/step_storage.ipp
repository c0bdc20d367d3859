// Defines the functions that sharded/detail/step_storage.hpp declares.
#pragma once

#include <partita/sharded/detail/step_storage.hpp>

namespace partita::detail {

PARTITA_DEF std::size_t assign_storage_offsets(std::vector<block_lifetime>& all) {
  constexpr std::size_t line = 64, page_bytes = 4096;
  std::size_t total = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    block_lifetime& one = all[k];
    const std::size_t bytes = (one.bytes + line - 1) / line * line;
    // Move the block behind each placed block that it overlaps in lifetime and in memory, until it overlaps no block.
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t j = 0; j < k; ++j) {
        const block_lifetime& other = all[j];
        const std::size_t end = other.offset + (other.bytes + line - 1) / line * line;
        if (other.last_step < one.first_step || one.last_step < other.first_step) continue;
        if (one.offset >= end || other.offset >= one.offset + bytes) continue;
        // Other workers of the node can write directly to a block that begins at a page boundary.
        const std::size_t granule = bytes < 16 * page_bytes ? line : page_bytes;
        one.offset = (end + granule - 1) / granule * granule;
        moved = true;
      }
    }
    total = one.offset + bytes > total ? one.offset + bytes : total;
  }
  return total;
}

}  // namespace partita::detail
