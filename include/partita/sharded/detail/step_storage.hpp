// Places blocks of a program's steps in one allocation. Blocks with disjoint lifetimes may share memory.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// The bytes of a block, its lifetime from the step that sets it to the last that reads it, and its offset in storage.
struct block_lifetime {
  std::size_t bytes = 0, first_step = 0, last_step = 0, offset = 0;  ///< steps: positions in the order; offset: bytes
};

/// Gives each block, in order, the lowest offset at which it overlaps no earlier block of the list that is alive at the
/// same time. Returns the bytes of the storage. Offsets are multiples of a cache line, or of a page for blocks of at
/// least 16 pages. Cost: usually O(blocks²).
PARTITA_DECL std::size_t assign_storage_offsets(std::vector<block_lifetime>& all);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/step_storage.ipp>
#endif
