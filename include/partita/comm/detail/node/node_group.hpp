// A group of workers of one node that moves blocks through the shared memory of the node, without messages: the group
// sums its blocks, and broadcasts the root's block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/array/copy.hpp>
#include <partita/comm/detail/collective/group_channel.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/node_sum.hpp>
#include <partita/core/config.hpp>

namespace partita::detail {

/// One worker's part in a group of its node. The members read a large block in place if it is in shared memory.
/// Cost:     a broadcast is one copy for each member that gets the bytes, all at the same time, after one more copy if
///           the block is small, or if neither x nor the block of the first member that gets the bytes is in shared
///           memory.
class node_group final : public group_transport, private node_sum {
 public:
  /// Inherits the constructor of node_sum: `member_pages` are the pages of all members, the root's first, and
  /// `own_index` is this worker's index among them.
  using node_sum::node_sum;

  PARTITA_INLINE bool spread(const char* x, char* y, std::size_t bytes) override;  ///< broadcasts the root's x to y
  PARTITA_INLINE void start_spread(const char* x, char* y, std::size_t bytes) override;  ///< the root starts spread()
  PARTITA_INLINE bool finish_spread(std::size_t bytes) override;  ///< waits until the root's x may change
  PARTITA_INLINE bool show_block_early(const char* x, std::size_t bytes) override;  ///< starts spread() early
  PARTITA_INLINE void roll_back() override;                                         ///< undoes show_block_early
  void start(const block_sum& s) override { node_sum::start(s); }                   ///< starts a reduction
  bool finish(const block_sum& s) override { return node_sum::finish(s); }          ///< waits for the reduction
  PARTITA_INLINE char* show_root_block(void* block) override;  ///< the root's block, as this member addresses it
  bool far() const override { return group_meeting::far(); }   ///< whether streaming stores are better

 private:
  static constexpr std::uint64_t whole = 0xffffffffULL;  ///< the step at which all of the root's block is written
  /// The bytes that the root copies at a time; meanwhile the other members copy the piece before.
  static constexpr std::size_t spread_chunk(std::size_t bytes) {
    const std::size_t quarter = (bytes / 4 + page - 1) / page * page;
    return quarter < 4 * page ? 4 * page : quarter < 32 * page ? quarter : 32 * page;
  }
  /// Where members find the elements of a large broadcast: in the root's memory, in the block of the first other
  /// member, or, if both are out of reach, in messages, which the caller of spread() sends.
  enum spread_source : std::uint64_t { in_root_block, in_first_member_block, in_message };

  /// Broadcasts a block that fits in the root's slot of this call. Returns true.
  PARTITA_DECL bool broadcast_small_block(const char* x, char* y, std::size_t bytes, std::uint64_t call);

  /// Executes the root's part of a broadcast. The other members copy from the root's x or y, if one of them is in
  /// shared memory. If not, the root copies x in chunks, while the others read, to the block of the first other member
  /// (only if y is null) or to a staging block.
  PARTITA_DECL bool broadcast_as_root(const char* x, char* y, std::size_t bytes, std::uint64_t call);
  PARTITA_DECL void write_block_in_chunks(const char* x, char* written_block, std::size_t bytes, std::uint64_t call,
                                          std::uint64_t block);  ///< Announces `block` and copies x to it in chunks.

  PARTITA_DECL bool copy_from_root(char* y, std::size_t bytes, std::uint64_t call);  ///< The part of the other members.
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/node_group.ipp>
#endif
