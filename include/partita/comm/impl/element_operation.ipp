// Defines the functions that comm/element_operation.hpp declares.
#pragma once

#include <partita/comm/element_operation.hpp>

namespace partita::detail {

/// Combines the blocks of a position and of all positions below it in the tree into `to`; without `contributes_block`
/// the block of the position itself is left out. Returns false if only one block is combined, which stays in place.
PARTITA_DECL bool combine_subtree(const element_operation& op, const char* const* blocks, const binomial_tree& tree,
                                  std::size_t position, bool contributes_block, std::size_t n, char* to) {
  const char* together = contributes_block ? blocks[position] : nullptr;
  piece_buffer part;
  tree.for_each_child_smallest_first(position, [&](std::size_t other) {
    char* const there = together == nullptr ? to : part.bytes;
    const char* const more = combine_subtree(op, blocks, tree, other, true, n, there) ? there : blocks[other];
    if (together != nullptr) op.combine(to, together, more, n);
    together = together == nullptr ? more : to;
  });
  return together == to;
}

PARTITA_DEF const char* combine_blocks(const element_operation& op, const char* const* blocks, std::size_t first,
                                       std::size_t size, std::size_t n, char* to) {
  // for two blocks, the binomial tree also rounds each sum only once
  if (op.combine_exactly != nullptr && (size - first > 2 || op.result_block_count > 1)) {
    op.combine_exactly(blocks + first, size - first, n, to);
    return to;
  }
  return combine_subtree(op, blocks, binomial_tree{size}, 0, first == 0, n, to) ? to : blocks[first];
}

}  // namespace partita::detail
