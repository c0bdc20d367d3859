// Finds where sorted blocks must be divided so that each worker receives a given number of elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/world.hpp>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// A sorted block and a function that counts its sort keys, for any type of elements.
struct sorted_keys {
  const void* elements = nullptr;  ///< this worker's sorted block
  std::size_t size = 0;            ///< the number of its elements
  /// Counts the elements of the block whose sort key is at most `key`.
  std::size_t (*count_keys_up_to)(const void* elements, std::size_t size, std::uint64_t key) = nullptr;

  std::size_t count_up_to(std::uint64_t key) const { return count_keys_up_to(elements, size, key); }  ///< of this block
};

/// Returns, for each position in the sorted order of the elements of all workers (counted from 0), the key of the
/// element at this position. Collective.
/// Requires: positions below the number of all elements, equal on all workers.
/// Cost:     16 sums over all workers of 15 numbers for each position.
PARTITA_DECL std::vector<std::uint64_t> keys_at_positions(world_state& world, const sorted_keys& keys,
                                                          const std::vector<std::uint64_t>& positions);

/// The number of elements that this worker sends to each worker, so that worker k gets `lengths[k]` elements in the
/// sorted order of the elements of all workers. Elements with equal keys keep the order of their workers. Collective.
PARTITA_DECL std::vector<std::size_t> counts_by_receiver(world_state& world, const sorted_keys& keys,
                                                         const std::vector<std::size_t>& lengths);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/sort_cuts.ipp>
#endif
