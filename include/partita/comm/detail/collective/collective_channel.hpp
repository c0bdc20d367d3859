// How one worker reaches the other members of one group: by a channel that reaches all of them, or through shared
// memory inside a node and by messages between nodes.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/detail/collective/group_channel.hpp>
#include <partita/comm/detail/message/element_messages.hpp>
#include <partita/comm/detail/message/exact_collection.hpp>
#include <partita/comm/shared_view.hpp>
#include <partita/comm/tree.hpp>
#include <partita/core/config.hpp>
#include <partita/plan/group_plan.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The blocks of one worker in a broadcast of n elements, or in a sum: x is what the worker contributes (nullptr:
/// nothing), y is where its result goes, if it gets one.
struct group_blocks {
  const char* x;
  char* y;
  std::size_t n;
};

/// One worker's channel to the other members of one group.
struct collective_channel {
  const worker_group* all = nullptr;
  worker_group within;  ///< the members on this worker's node, or on one channel with this worker; the leader first
  worker_group across;  ///< the leaders of all nodes, the root first; only a leader uses this group
  std::unique_ptr<group_transport> shared;  ///< moves blocks between the members in `within`; null: messages do
  bool leads = true;
  bool on_one_node = true;  ///< whether all members are in `within`
  tag ahead = tag::block;   ///< the tag of messages of a pending operation, which other messages may overtake
  posted_messages sent;
  std::vector<const char*> blocks;  ///< addresses of the members' blocks during a reduction
  exact_collection exact;           ///< the state of a sum over several nodes that is rounded once
  bool is_ahead = false;  ///< whether the part that waits for no other node (or for no other worker) is already done
  std::vector<std::max_align_t> sum_ahead;  ///< on the leader, if is_ahead: the sum of this node's blocks

  /// Broadcast: copies the root's elements x to y on every member. At the root y is nullptr, or where the root keeps a
  /// copy. `started`: the root has already called start_spread.
  PARTITA_DECL void spread(const element_messages& by_message, group_blocks b, bool started = false);
  /// The root's part of a broadcast, left pending. The root does not wait; x must not change before spread().
  PARTITA_DECL void start_spread(const element_messages& by_message, const group_blocks& b);

  /// Gives the root's n elements x to every member in one block per node (per worker, where there is no shared memory).
  /// Every member gets a view of the block, except a root without `root_views`.
  PARTITA_DECL lent_header* share(const element_messages& by_message, arena& memory, const char* x, std::size_t n,
                                  bool root_views);

  /// Speculative: the root of a broadcast sends its block to other nodes before all workers agree on the call.
  PARTITA_DECL void spread_ahead(const element_messages& by_message, const group_blocks& b);
  /// Speculative: the root of a broadcast on one node shows its block to the others before any agreement.
  PARTITA_DECL void show_ahead(const element_messages& by_message, const group_blocks& b);
  /// Speculative: when all workers of this node agree, but other nodes have not answered yet, the members add up their
  /// blocks, which must fit into slots, and their leader sends the sum to other nodes.
  PARTITA_DECL void sum_to_other_nodes_ahead(const element_messages& by_message, const element_operation& op,
                                             const group_blocks& b, bool to_all);
  /// Called if the agreement failed: discards what was sent speculatively.
  PARTITA_DECL void discard_speculative();

  /// Starts a sum: shows this worker's block to the members on this node, and does not wait. `y` is where the sum goes,
  /// if that is already known (at the root; on all members if `to_all`), or nullptr. Until the end of the sum x must
  /// not change, and the group must make no other call.
  void start_sum(const element_operation& op, const group_blocks& b, bool to_all) {
    if (sums_within(op)) shared->start(sum_within(op, b, to_all && on_one_node));
  }
  /// Called after start_sum if the sum stays pending for a while: a member that only contributes sends its block at
  /// once. All other messages are sent at the end.
  PARTITA_DECL void send_ahead(const element_messages& by_message, const element_operation& op, const group_blocks& b,
                               bool to_all);

  /// Finishes a sum. The root's result goes to `into()`, a block of n elements; other members are asked for such a
  /// block only if they combine blocks. `incoming(n)` returns a buffer for messages of n elements.
  template <class Into, class Incoming>
  void finish_sum(const element_messages& by_message, const element_operation& op, const char* x, std::size_t n,
                  Into into, Incoming incoming) {
    if (!on_one_node && op.between_nodes != nullptr)
      return finish_exact_sum(by_message, op, {x, nullptr, n}, into, incoming);
    if (std::exchange(is_ahead, false)) {
      if (leads && !sent.any()) by_message.collect(across, op, own_sum(x), into(), n, blocks, incoming);
      return sent.wait();
    }
    const bool done = finish_within(by_message, op, {x, leads && sums_within(op) ? into() : nullptr, n});
    if (sent.any()) {
      sent.wait();
    } else if (op.exactly != nullptr) {
      // partial sums would be rounded at each step, so the whole blocks go to the root
      if (!done) by_message.collect_blocks(*all, op, x, all->position == 0 ? into() : nullptr, n, blocks, incoming);
    } else {
      if (within.members.size() > 1) {
        if (!done) by_message.collect(within, op, x, into(), n, blocks, incoming);
        if (leads) x = into();
      }
      if (leads && across.members.size() > 1) by_message.collect(across, op, x, into(), n, blocks, incoming);
    }
  }

  /// Finishes a sum that was started with `to_all`; the result is in y on every member.
  template <class Incoming>
  void finish_sum_to_all(const element_messages& by_message, const element_operation& op, const group_blocks& b,
                         Incoming incoming) {
    if (on_one_node && sums_within(op)) {
      if (shared->finish(sum_within(op, b, true))) return by_message.through_shared_memory(b.n);
      start_sum(op, {b.x, leads ? b.y : nullptr, b.n}, false);
    }
    if (on_one_node && op.exactly == nullptr && !sums_within(op))
      return by_message.collect_to_all(within, op, b.x, b.y, b.n, sent, blocks, incoming);
    if (on_one_node || op.exactly != nullptr) {
      finish_sum(
          by_message, op, b.x, b.n, [&] { return b.y; }, incoming);
      return spread(by_message, {all->position == 0 ? b.y : nullptr, b.y, b.n});
    }
    const bool given = std::exchange(is_ahead, false), alone = within.members.size() == 1;
    if (!given) {
      const bool done = finish_within(by_message, op, {b.x, leads ? b.y : nullptr, b.n});
      if (sent.any()) sent.wait();
      else if (!alone && !done) by_message.collect(within, op, b.x, b.y, b.n, blocks, incoming);
    }
    const char* const own = given ? own_sum(b.x) : alone ? b.x : b.y;
    if (leads) by_message.collect_to_all(across, op, own, b.y, b.n, sent, blocks, incoming, given);
    spread_within(by_message, {leads ? b.y : nullptr, b.y, b.n}, false);
  }

 private:
  /// Finishes a broadcast that the root has shown speculatively.
  PARTITA_DECL void finish_shown(const element_messages& by_message, const group_blocks& b);
  /// Copies the leader's elements x to y on all members of this node.
  PARTITA_DECL void spread_within(const element_messages& by_message, const group_blocks& b, bool started);
  /// The sum of this node's blocks that its leader sends to other nodes, computed speculatively.
  const char* own_sum(const char* x) const {
    return within.members.size() == 1 ? x : reinterpret_cast<const char*>(sum_ahead.data());
  }
  /// Finishes the part of a sum that this node's members compute through shared memory; false if they do not.
  PARTITA_DECL bool finish_within(const element_messages& by_message, const element_operation& op,
                                  const group_blocks& b);
  bool is_root() const { return leads && across.position == 0; }
  /// Whether the members on this node first combine their blocks among themselves.
  PARTITA_DECL bool sums_within(const element_operation& op) const;
  /// The operation for a sum that other nodes add to: two terms of the exact sum, in a separate buffer.
  PARTITA_DECL block_sum sum_within(const element_operation& op, const group_blocks& b, bool to_all) const;

  /// Finishes a sum over several nodes that is rounded once. The members of a node reduce their blocks to two terms
  /// through shared memory, if two terms represent the sum exactly; if not, the leader gets the blocks themselves.
  template <class Into, class Incoming>
  void finish_exact_sum(const element_messages& by_message, const element_operation& op, const group_blocks& b,
                        Into into, Incoming incoming) {
    exact_collection::of_node given{b.x};
    const std::size_t member_count = within.members.size();
    given.blocks_are_sent = member_count > 1;
    if (sums_within(op)) {
      char* const terms = leads ? incoming(2 * b.n) : nullptr;
      block_sum sum = sum_within(op, b, false);
      sum.y = terms;
      if (shared->finish(sum)) {
        char fits = leads && op.between_nodes->complete(terms + by_message.bytes(b.n), b.n) ? 1 : 0;
        shared->spread(leads ? &fits : nullptr, leads ? nullptr : &fits, 1);
        given.blocks_are_sent = fits == 0;
        if (fits != 0) given.terms = terms, by_message.through_shared_memory(b.n);
      }
    }
    if (leads)
      exact.collect(by_message, op, within, across, given, across.position == 0 ? into() : nullptr, b.n, incoming);
    else if (given.blocks_are_sent) exact_collection::send_block(by_message, b.x, b.n, within.members[0]);
  }
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/collective/impl/collective_channel.ipp>
#endif
