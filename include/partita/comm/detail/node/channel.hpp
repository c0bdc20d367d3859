// The signals between the workers of a node for the exchanges of one kernel, and the ring buffers for boxes that cannot
// be written in place. In an exchange only pairs of workers synchronise; there is no barrier.
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
  static constexpr std::size_t message_bytes = 127 * page;  ///< the size of a message; no ring has such slots
  char* address = nullptr;     ///< the block or the ring, as this worker addresses it; null for messages
  std::size_t slot_bytes = 0;  ///< the size of a slot or message; 0 if `address` is the receiver's block

  bool is_receivers_block() const { return slot_bytes == 0; }         ///< whether `address` is the receiver's block
  bool is_by_message() const { return slot_bytes == message_bytes; }  ///< whether the boxes go in messages
};

/// The signals and rings of a node. In each exchange every receiver announces to its senders where their boxes go; each
/// sender waits for the announcement, writes its boxes, and signals that they have arrived. Counters grow from exchange
/// to exchange and are never reset: an exchange that one worker has started waits for the other worker, as a message
/// would.
class node_channel {
 public:
  static constexpr std::size_t slot_count = 4;  ///< the number of slots of a ring
  /// Announced blocks start at multiples of this many bytes: the lower bits of the announced offset hold the number of
  /// pages of a slot (at most 65; 127 for messages).
  static constexpr std::size_t alignment = 128;

  /// Makes the channel. Collective over the node. `tag` is the MPI tag of the channel's messages.
  PARTITA_DECL node_channel(const own_node& members, arena& memory, int tag);
  node_channel(const node_channel&) = delete;
  node_channel& operator=(const node_channel&) = delete;
  PARTITA_INLINE ~node_channel();

  /// Whether every worker of the node has its signals in shared memory; the same on all of them.
  bool is_usable() const { return is_usable_; }
  bool oversubscribed() const { return oversubscribed_; }  ///< Whether this machine has more workers than cores.
  /// The communicator of the node for messages that replace a ring; its ranks are the places of the workers.
  MPI_Comm communicator() const { return communicator_; }
  int tag() const { return tag_; }  ///< the MPI tag of these messages
  /// The arena in which the flags and rings of this worker are.
  arena& memory() const { return *arena_; }
  /// The address of an offset in the arena of the worker at a place.
  void* at(std::size_t place, std::uint64_t offset) const { return arena_->at(place, offset); }

  // Functions that a receiver calls.

  /// Announces to the sender `from` where its boxes go: into `block` if that is shared, else through a ring with slots
  /// of about `wished_slot_bytes` bytes, or in messages.
  PARTITA_DECL announced_memory announce(std::size_t from, void* block, std::size_t wished_slot_bytes);
  /// Withdraws the last announcement to the sender `from`, before that worker can have read the announcement.
  PARTITA_DECL void roll_back(std::size_t from);
  /// Waits for the sender's boxes, and returns the value that the sender passed to signal_arrival().
  std::uint64_t await_arrival(std::size_t from) {
    return pairs_[from].own_flags->arrived.wait(++pairs_[from].received_count, oversubscribed_);
  }
  /// The number of slots in the ring from worker `from` that are filled and not emptied yet.
  std::size_t filled_slot_count(std::size_t from) const {
    const pair& p = pairs_[from];
    return static_cast<std::size_t>(p.own_flags->filled.epoch.load(std::memory_order_acquire) - p.emptied_count);
  }
  /// The index in the ring of the next filled slot.
  std::size_t next_filled_slot(std::size_t from) const { return pairs_[from].emptied_count % slot_count; }
  /// Signals to the sender that this worker has emptied the next filled slot.
  void mark_slot_emptied(std::size_t from) { pairs_[from].peer_flags->emptied.post(++pairs_[from].emptied_count); }

  // Functions that a sender calls.

  /// Whether the receiver has announced where the boxes of the next exchange go.
  bool has_receiver_announced(std::size_t to) const {
    return pairs_[to].own_flags->announced.posted(pairs_[to].awaited_count + 1);
  }
  /// Waits for the receiver's announcement.
  PARTITA_DECL announced_memory await_destination(std::size_t to);
  /// Signals to the receiver that all its boxes have been written, and passes a value to it.
  void signal_arrival(std::size_t to, std::uint64_t value = 0) {
    pairs_[to].peer_flags->arrived.post(++pairs_[to].arrived_count, value);
  }
  /// Whether the ring to worker `to` has an empty slot.
  bool has_empty_slot(std::size_t to) const {
    const pair& p = pairs_[to];
    return p.filled_count - p.own_flags->emptied.epoch.load(std::memory_order_acquire) < slot_count;
  }
  /// The index in the ring of the next empty slot.
  std::size_t next_empty_slot(std::size_t to) const { return pairs_[to].filled_count % slot_count; }
  /// Signals to the receiver that this worker has filled the next empty slot.
  void mark_slot_filled(std::size_t to) { pairs_[to].peer_flags->filled.post(++pairs_[to].filled_count); }

 private:
  /// The flags that one worker of a pair reads.
  struct pair_flags {
    flag announced, emptied;  ///< read by a sender: the receiver's announcements, and the slots that it has emptied
    flag arrived, filled;     ///< read by a receiver: the exchanges that have arrived, and the slots that are filled
  };
  /// This worker's flags and counters for its exchanges with one other worker of the node.
  struct pair {
    pair_flags* own_flags = nullptr;   // in this worker's memory, written by the other worker
    pair_flags* peer_flags = nullptr;  // in the other worker's memory, written by this worker
    /// as a receiver: the announcements, the arrivals that were awaited, and the emptied slots so far
    std::uint64_t announced_count = 0, received_count = 0, emptied_count = 0;
    /// as a sender: the announcements that were awaited, the arrivals that were signalled, and the filled slots so far
    std::uint64_t awaited_count = 0, arrived_count = 0, filled_count = 0;
    char* ring = nullptr;        // this worker's ring, which the other worker fills
    std::size_t slot_bytes = 0;  // the size of a slot of this ring
  };

  /// The ring that `from` writes to, allocated at its first use; messages if the arena has no memory left.
  PARTITA_DECL announced_memory make_ring(std::size_t from, std::size_t wished_slot_bytes);

  arena* arena_;                            // the arena of the flags and rings
  MPI_Comm communicator_;                   // the workers of the node
  int tag_;                                 // the MPI tag of messages that replace a ring
  std::size_t place_;                       // this worker's place on the node
  bool oversubscribed_, is_usable_ = true;  // see oversubscribed() and is_usable()
  std::vector<pair> pairs_;                 // one for each worker of the node, by place
  std::size_t flags_bytes_ = 0;             // the size of all flags that this worker reads
  char* flags_base_ = nullptr;              // the flags that this worker reads, one pair_flags for each place
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/channel.ipp>
#endif
