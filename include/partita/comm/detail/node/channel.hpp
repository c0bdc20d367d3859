// The signals between the workers of a node for the exchanges of one kernel, and the ring buffers for boxes that cannot
// be written in place. Only pairs of workers synchronise; there is no barrier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// Where a receiver wants its boxes: in a block that the sender can reach; through the slots of a ring; or, if there is
/// no shared memory left for a ring, in messages of one slot each.
struct announced_memory {
  static constexpr std::size_t bytes_by_message = 127 * page;  ///< a value that no ring has as slot size
  char* address = nullptr;
  std::size_t slot_bytes = 0;  ///< 0 if `address` is the block itself

  bool is_receivers_block() const { return slot_bytes == 0; }
  bool by_message() const { return slot_bytes == bytes_by_message; }
};

/// The signals and rings of a node. In each exchange every receiver announces to its senders where their boxes go; each
/// sender waits for the announcement, writes its boxes, and signals that they have arrived. All counters only grow:
/// nothing is reset, and an exchange that one worker has started waits for the other worker, as a message would.
class node_channel {
 public:
  static constexpr std::size_t slot_count = 4;
  /// Announced blocks start at multiples of this many bytes: the lower bits of the announced offset hold the number of
  /// pages (at most 65) of a slot.
  static constexpr std::size_t alignment = 128;

  /// Makes the channel. Collective over the node. `tag` is the MPI tag of the channel's messages.
  PARTITA_DECL node_channel(const own_node& members, arena& memory, int tag);
  node_channel(const node_channel&) = delete;
  node_channel& operator=(const node_channel&) = delete;
  PARTITA_INLINE ~node_channel();

  /// Whether every worker of the node has its signals in shared memory; the same on all of them.
  bool is_usable() const { return is_usable_; }
  bool oversubscribed() const { return oversubscribed_; }
  /// The communicator of the node for messages that replace a ring; its ranks are the places of the workers.
  MPI_Comm communicator() const { return communicator_; }
  int tag() const { return tag_; }
  arena& memory() const { return *arena_; }
  /// The address of an offset in the arena of the worker at a place.
  void* at(std::size_t place, std::uint64_t offset) const { return arena_->at(place, offset); }

  // Calls of the receiver.

  /// Announces to the sender `from` where its boxes go: into `block` if that is shared, else through a ring with slots
  /// of about `wished_slot_bytes` bytes.
  PARTITA_DECL announced_memory announce(std::size_t from, void* block, std::size_t wished_slot_bytes);
  /// Withdraws an announcement of a receiver, which the sender must not have read yet.
  PARTITA_DECL void roll_back(std::size_t from);
  /// Waits for the sender's boxes, and returns the value that the sender passed to arrive().
  std::uint64_t await_arrival(std::size_t from) {
    return pairs_[from].own_flags->done.wait(++pairs_[from].received_count, oversubscribed_);
  }
  /// The number of slots in the ring of `from` that are filled and not taken yet.
  PARTITA_DECL std::size_t filled_slots(std::size_t from) const;
  /// The index in the ring of the next slot to take; take() returns the slot, emptied, to the sender.
  std::size_t next_slot_to_take(std::size_t from) const { return pairs_[from].taken_slot_count % slot_count; }
  PARTITA_DECL void take(std::size_t from);

  // Calls of the sender.

  bool has_receiver_announced(std::size_t to) const {
    return pairs_[to].own_flags->ready.posted(pairs_[to].awaited_count + 1);
  }
  PARTITA_DECL announced_memory await_destination(std::size_t to);
  void arrive(std::size_t to, std::uint64_t value = 0) {
    pairs_[to].peer_flags->done.post(++pairs_[to].pushed_count, value);
  }
  /// Whether the ring at `to` has an empty slot; next_slot_to_fill() is its index, fill_next_slot() signals
  /// that it is full.
  PARTITA_DECL bool has_empty_slot(std::size_t to) const;
  std::size_t next_slot_to_fill(std::size_t to) const { return pairs_[to].filled % slot_count; }
  PARTITA_DECL void fill_next_slot(std::size_t to);

 private:
  /// The flags that one worker reads: a sender reads `ready` and `slot_is_empty`, a receiver `done` and `filled`.
  struct pair_flags {
    flag ready, done, filled, slot_is_empty;
  };
  struct pair {
    pair_flags* own_flags = nullptr;   // in this worker's memory, written by the other worker
    pair_flags* peer_flags = nullptr;  // in the other worker's memory, written by this worker
    std::uint64_t announced_count = 0, received_count = 0, taken_slot_count = 0, awaited_count = 0, pushed_count = 0,
                  filled = 0;
    char* ring = nullptr;
    std::size_t slot_bytes = 0;
  };

  /// The ring that `from` writes to, allocated at its first use; messages if the arena has no memory left.
  PARTITA_DECL announced_memory make_ring(std::size_t from, std::size_t wished_slot_bytes);

  arena* arena_;
  MPI_Comm communicator_;
  int tag_;
  std::size_t place_;
  bool oversubscribed_, is_usable_ = true;
  std::vector<pair> pairs_;
  std::size_t bytes_ = 0;
  char* flags_base_ = nullptr;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/channel.ipp>
#endif
