// Reduces the blocks of the members of a group on one node through shared memory, in two steps with room for other work
// between them: first the members show their blocks, then they combine slices of all blocks, or small blocks whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <partita/array/copy.hpp>
#include <partita/comm/detail/collective/group_channel.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/group_meeting.hpp>
#include <partita/core/config.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// A group of workers of one node that reduces blocks. The order of the operations depends on the group alone, not on
/// which member is ready first or how blocks are passed. Every sum that is started is finished before the group's next
/// call.
class node_sum : protected group_meeting {
 public:
  node_sum(arena& memory, std::vector<std::size_t> member_places, std::vector<group_page*> member_pages,
           std::size_t own_index, bool oversubscribed)
      : group_meeting(memory, std::move(member_places), std::move(member_pages), own_index, oversubscribed),
        peer_blocks_(size()),
        result_addresses_(size()),
        blocks_(size()) {}

  /// Shows this member's block to the other members, and does not wait. Until the sum is finished x must not change and
  /// the group must make no other call. The destination may still be unknown (nullptr) if it is not in shared memory.
  PARTITA_DECL void start(const block_sum& s);

  /// Waits for the blocks of the other members and combines all blocks, if this member has to. Returns false on all
  /// members, and moves nothing, if a large block or result is out of reach of other members.
  /// Cost:     each member copies the part of its block that the others combine, a chunk at a time, and only if the
  ///           block is not in shared memory. Each member combines one slice of large blocks, and writes the slice to
  ///           every member that gets the sum.
  PARTITA_DECL bool finish(const block_sum& s);

 protected:
  std::optional<arena_block> staging_block_;  ///< staging memory of the pending operation

 private:
  static constexpr std::size_t chunk_bytes = std::size_t{256} << 10;  ///< the size of a chunk of a large copied block
  /// Whether the block of a member fits in one slot.
  static bool is_small(const block_sum& s) { return s.bytes() <= group_page::slot_bytes; }
  /// The number of elements of a chunk.
  static std::size_t chunk_elements(const block_sum& s) { return chunk_bytes / s.element_bytes(); }

  /// The block of one member, at its address on this worker.
  struct source {
    const char* data = nullptr;    ///< the block, or the two slots through which chunks of it pass
    bool has_whole_block = false;  ///< whether the whole block is at `data`
  };
  /// A chunk of the blocks, and the slice of this chunk that this worker combines; all numbers count elements.
  struct chunk_slice {
    std::size_t at, length;   ///< where the chunk begins in the blocks, and its length
    std::size_t first, last;  ///< the slice is [first, last) of the chunk
  };
  /// How a member writes the sums that it has computed.
  struct result_write_mode {
    std::size_t result_count;                        ///< the number of members that get the sum
    bool streams_own_results, streams_peer_results;  ///< whether results bypass the caches (streaming stores)
  };

  /// Whether this member's block is part of the sum.
  bool contributes_block(const block_sum& s) const { return own_index_ != 0 || s.root_gives; }
  /// Whether this member gets the result.
  bool receives_sum(const block_sum& s) const { return own_index_ == 0 || s.to_all; }
  /// Whether the other members need no copy of this member's block.
  bool is_in_place(const block_sum& s) const { return !contributes_block(s) || is_reachable(s.x); }

  /// Finishes a sum of small blocks: every member that gets the sum combines all blocks.
  PARTITA_DECL bool finish_small_sum(const block_sum& s, std::uint64_t call);

  /// Starts a sum of large blocks. A block that is not in shared memory passes through two slots, each for one chunk:
  /// the next chunk is copied while the others still combine the previous chunk. The first chunk is copied before the
  /// call is announced, so that a block of one chunk needs only two synchronisations.
  PARTITA_DECL void start_large_sum(const block_sum& s, std::uint64_t call);

  /// Finishes a sum of large blocks: each member combines one slice of each chunk for all members that get the sum.
  PARTITA_DECL bool finish_large_sum(const block_sum& s, std::uint64_t call);

  /// Combines this member's slice of each chunk, and waits until the other members have combined theirs.
  PARTITA_DECL void combine_chunks(const block_sum& s, bool are_blocks_in_place, std::uint64_t call);

  /// The memory into which the other members write this member's sum.
  char* result_address(const block_sum& s) const {
    return result_memory_->data() == nullptr ? s.y : result_memory_->data();
  }
  /// The chunk number `round` of chunks of `step` elements, and this worker's slice of it.
  PARTITA_DECL chunk_slice slice(const block_sum& s, std::size_t round, std::size_t step) const;
  /// Copies the part of a chunk that the other members combine into this member's slot.
  PARTITA_DECL void show_chunk(const block_sum& s, std::size_t round, bool bypasses_cache, std::uint64_t call);

  /// Combines this member's slice of a chunk and writes it to the results. The chunk begins `at` elements after the
  /// start of the results and of whole blocks, and `offset_in_slot` elements after the start of the slots.
  PARTITA_DECL void combine_range(const block_sum& s, chunk_slice r, std::size_t offset_in_slot,
                                  const result_write_mode& write_mode);

  std::vector<source> peer_blocks_;           // the members' blocks in the current call
  std::vector<char*> result_addresses_;       // where the result of each member is written
  std::vector<const char*> blocks_;           // the addresses for combine_blocks
  std::optional<arena_block> result_memory_;  // memory for the result of the pending sum
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/node_sum.ipp>
#endif
