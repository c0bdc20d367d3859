// The interface of a channel that carries blocks between the members of groups: which workers it reaches, and how the
// members of one group broadcast and reduce blocks.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/element_operation.hpp>
#include <partita/plan/group_plan.hpp>

namespace partita::detail {

/// A reduction on one member of a group. All members pass equal n, operation, root_gives and to_all.
struct block_sum {
  const char* x;                ///< the block that this member contributes
  char* y;                      ///< where the sum goes, if this member gets the sum
  std::size_t n;                ///< the number of elements of each block
  const element_operation* op;  ///< how blocks are combined
  bool root_gives;              ///< whether the root's block is part of the sum
  bool to_all;                  ///< whether all members get the sum, not only the root

  std::size_t element_bytes() const { return op->of->bytes; }                       ///< The bytes of one element.
  std::size_t bytes() const { return n * element_bytes(); }                         ///< The bytes of one block.
  std::size_t bytes_of_result() const { return op->result_block_count * bytes(); }  ///< The bytes at y.
};

/// The members of one group on one channel, the root first. All members make matching calls with the same number of
/// bytes. A call that returns false does so on all members, and moves no block; the caller then uses messages.
class group_transport {
 public:
  virtual ~group_transport() = default;

  /// Broadcasts the root's bytes x to all members. `y` is the destination; at the root y is nullptr or x if the root
  /// needs no copy.
  virtual bool spread(const char* x, char* y, std::size_t bytes) = 0;
  /// Starts a broadcast at its root, without waiting. The root's block x must not change before finish_spread has
  /// returned true. The other members of the group call spread.
  virtual void start_spread(const char* x, char* y, std::size_t bytes) = 0;
  /// Waits at the root until its block x may change: all members have read x, or x was copied. Returns false, without
  /// waiting, if the block must be sent by messages.
  virtual bool finish_spread(std::size_t bytes) = 0;
  /// Calls start_spread before the workers have agreed on the broadcast; no member reads x before all have agreed.
  /// Returns false, and starts nothing, if the root would have to wait. roll_back() undoes the call if the agreement
  /// fails.
  virtual bool show_block_early(const char*, std::size_t) { return false; }
  virtual void roll_back() {}  ///< Undoes show_block_early().

  /// Starts a reduction: makes this member's block x readable, without waiting. Until finish() returns, x must not
  /// change and the group must make no other call. The destination may still be unknown (nullptr) if it is not in
  /// shared memory.
  virtual void start(const block_sum& s) = 0;
  /// Waits for the other members and combines the blocks, in an order that depends on the group alone.
  virtual bool finish(const block_sum& s) = 0;

  /// Makes a block of the root readable for all members. Returns the block's address on this member, or nullptr on all
  /// members if they cannot reach the block.
  virtual char* show_root_block(void*) { return nullptr; }
  /// Whether data that other members will read should be written with streaming stores, which bypass the caches.
  virtual bool far() const { return false; }
};

// [channel]
/// A channel between the workers of one kernel, for the blocks of groups.
class group_channel {
 public:
  virtual ~group_channel() = default;
  /// Whether this channel reaches a worker. The relation "reaches" between workers is symmetric and transitive.
  virtual bool reaches(std::size_t worker) const = 0;
  /// The transport of blocks between the members of a group, all of which the channel reaches; null on all of them if
  /// the channel carries no blocks of groups. All members make this call, for the groups in the order of their numbers.
  virtual std::unique_ptr<group_transport> prepare_group(const worker_group&) { return nullptr; }
};
// [/channel]

}  // namespace partita::detail
