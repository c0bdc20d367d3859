// How one worker reaches the other members of one group: by a channel that reaches all of them; if no channel does,
// usually through shared memory inside a node, and by messages between nodes.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/detail/collective/group_channel.hpp>
#include <partita/comm/detail/message/element_messages.hpp>
#include <partita/comm/detail/message/exact_reduction.hpp>
#include <partita/comm/shared_view.hpp>
#include <partita/comm/tree.hpp>
#include <partita/core/config.hpp>
#include <partita/plan/group_plan.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The blocks of one worker in a broadcast of n elements, or in a sum: x is the block that the worker contributes, or
/// nullptr; y is the block for its result, or nullptr if it gets no result.
struct group_blocks {
  const char* x;
  char* y;
  std::size_t n;
};

/// One worker's channel to the other members of one group.
struct collective_channel {
  const worker_group* group = nullptr;      ///< the members of the group, the root first
  worker_group node_members;                ///< members that share a node or a channel with this worker, leader first
  worker_group node_leaders;                ///< the leaders of all nodes, the root first; only a leader uses this group
  std::unique_ptr<group_transport> shared;  ///< moves blocks between the members in `node_members`; null: messages do
  bool is_leader = true;                    ///< whether this worker is the first of `node_members`
  bool is_on_one_node = true;               ///< whether all members are in `node_members`
  tag pending_tag = tag::block;     ///< the tag of messages of a pending operation, which other messages may overtake
  posted_messages sent;             ///< the pending sends of this worker to members
  std::vector<const char*> blocks;  ///< addresses of the members' blocks during a reduction
  exact_reduction exact;            ///< the state of a sum over several nodes that is rounded once
  bool has_begun_early = false;     ///< whether the call has started speculatively, before all workers agree
  std::vector<std::max_align_t> early_node_sum;  ///< on the leader, if has_begun_early: the sum of this node's blocks

  /// Broadcast: copies the root's elements x to y on every member. At the root y is the block for the root's own copy,
  /// or nullptr if the root needs no copy. `has_started_broadcast` says that the root has already called start_spread.
  PARTITA_DECL void spread(const element_messages& group_messages, group_blocks b, bool has_started_broadcast = false);
  /// Starts a broadcast at its root, without waiting. The root's block x must not change until the root's call of
  /// spread() has returned.
  PARTITA_DECL void start_spread(const element_messages& group_messages, const group_blocks& b);

  /// Gives the root's n elements x to every member in one block per node (one per member, where there is no shared
  /// memory, or none is left). Every member gets a view of the block, except a root without `root_gets_view`.
  PARTITA_DECL lent_header* share(const element_messages& group_messages, arena& memory, const char* x, std::size_t n,
                                  bool root_gets_view);

  /// Speculative: the root of a broadcast sends its block to other nodes before all workers agree on the call.
  PARTITA_DECL void send_block_early(const element_messages& group_messages, const group_blocks& b);
  /// Speculative: the root of a broadcast on one node shows its block, if it is small, before any agreement.
  PARTITA_DECL void show_block_early(const element_messages& group_messages, const group_blocks& b);
  /// Speculative: when all workers of this node agree, but other nodes have not answered yet, the members add up their
  /// blocks, which must fit into slots, and their leader sends the sum to other nodes, unless it must first combine
  /// sums of other nodes.
  PARTITA_DECL void send_node_sum_early(const element_messages& group_messages, const element_operation& op,
                                        const group_blocks& b, bool to_all);
  /// Discards what was sent speculatively, because the workers did not agree on the call.
  PARTITA_DECL void discard_speculative_sends();

  /// Starts a sum: shows this worker's block to the members on this node, if the sum uses shared memory, and does not
  /// wait. `y` is where the sum goes, if that is already known (at the root; on all members if `to_all`), or nullptr.
  /// Until the end of the sum x must not change, and the group must make no other call.
  void start_sum(const element_operation& op, const group_blocks& b, bool to_all) {
    if (can_sum_on_node(op)) shared->start(make_node_sum(op, b, to_all && is_on_one_node));
  }
  /// For a sum that stays pending after start_sum and whose group uses messages: a member that combines no blocks
  /// usually sends its own block at once; all other messages of the sum are sent when the sum is finished.
  PARTITA_DECL void post_send(const element_messages& group_messages, const element_operation& op,
                              const group_blocks& b, bool to_all);

  /// Finishes a sum. `into()` returns a block of n elements: on the root for the result, on other members for partial
  /// results. The function `incoming(n)` returns a buffer for messages of n elements.
  template <class Into, class Incoming>
  void finish_sum(const element_messages& group_messages, const element_operation& op, const char* x, std::size_t n,
                  Into into, Incoming incoming) {
    if (!is_on_one_node && op.form_between_nodes != nullptr)
      return finish_exact_sum(group_messages, op, {x, nullptr, n}, into, incoming);
    if (std::exchange(has_begun_early, false)) {
      if (is_leader && !sent.any()) group_messages.collect(node_leaders, op, local_sum(x), into(), n, blocks, incoming);
      return sent.wait();
    }
    const bool done =
        finish_sum_on_node(group_messages, op, {x, is_leader && can_sum_on_node(op) ? into() : nullptr, n});
    if (sent.any()) {
      sent.wait();
    } else if (op.combine_exactly != nullptr) {
      // partial sums would be rounded at each step, so the whole blocks go to the root
      if (!done)
        group_messages.reduce_from_blocks(*group, op, x, group->position == 0 ? into() : nullptr, n, blocks, incoming);
    } else {
      if (node_members.members.size() > 1) {
        if (!done) group_messages.collect(node_members, op, x, into(), n, blocks, incoming);
        if (is_leader) x = into();
      }
      if (is_leader && node_leaders.members.size() > 1)
        group_messages.collect(node_leaders, op, x, into(), n, blocks, incoming);
    }
  }

  /// Finishes a sum that was started with `to_all`; the result is in y on every member.
  template <class Incoming>
  void finish_allreduce(const element_messages& group_messages, const element_operation& op, const group_blocks& b,
                        Incoming incoming) {
    if (is_on_one_node && can_sum_on_node(op)) {
      if (shared->finish(make_node_sum(op, b, true))) return group_messages.count_shared_bytes(b.n);
      start_sum(op, {b.x, is_leader ? b.y : nullptr, b.n}, false);
    }
    if (is_on_one_node && op.combine_exactly == nullptr && !can_sum_on_node(op))
      return group_messages.reduce_to_all(node_members, op, b.x, b.y, b.n, sent, blocks, incoming);
    if (is_on_one_node || op.combine_exactly != nullptr) {
      finish_sum(
          group_messages, op, b.x, b.n, [&] { return b.y; }, incoming);
      return spread(group_messages, {group->position == 0 ? b.y : nullptr, b.y, b.n});
    }
    const bool given = std::exchange(has_begun_early, false), alone = node_members.members.size() == 1;
    if (!given) {
      const bool done = finish_sum_on_node(group_messages, op, {b.x, is_leader ? b.y : nullptr, b.n});
      if (sent.any()) sent.wait();
      else if (!alone && !done) group_messages.collect(node_members, op, b.x, b.y, b.n, blocks, incoming);
    }
    const char* const own = given ? local_sum(b.x) : alone ? b.x : b.y;
    if (is_leader) group_messages.reduce_to_all(node_leaders, op, own, b.y, b.n, sent, blocks, incoming, given);
    broadcast_on_node(group_messages, {is_leader ? b.y : nullptr, b.y, b.n}, false);
  }

 private:
  /// Copies the leader's elements x to y on all members of this node.
  PARTITA_DECL void broadcast_on_node(const element_messages& group_messages, const group_blocks& b,
                                      bool has_started_broadcast);
  /// The sum of this node's blocks that send_node_sum_early() has computed; x, if no other member is on this node.
  const char* local_sum(const char* x) const {
    return node_members.members.size() == 1 ? x : reinterpret_cast<const char*>(early_node_sum.data());
  }
  /// Finishes the part of a sum that this node computes through shared memory; returns false if it uses messages.
  PARTITA_DECL bool finish_sum_on_node(const element_messages& group_messages, const element_operation& op,
                                       const group_blocks& b);
  bool is_root() const { return is_leader && node_leaders.position == 0; }  ///< Whether this worker is the root.
  /// Whether the members on this node first combine their blocks through shared memory.
  PARTITA_DECL bool can_sum_on_node(const element_operation& op) const;
  /// Describes the sum of this node's blocks. If an exact sum spans several nodes, the result on this node has two
  /// terms, and the caller must set `y` to a buffer for both terms.
  PARTITA_DECL block_sum make_node_sum(const element_operation& op, const group_blocks& b, bool to_all) const;

  /// Finishes a sum over several nodes that is rounded once. The members of a node reduce their blocks to two terms
  /// through shared memory, if two terms represent the sum exactly; if not, the leader gets the blocks themselves.
  template <class Into, class Incoming>
  void finish_exact_sum(const element_messages& group_messages, const element_operation& op, const group_blocks& b,
                        Into into, Incoming incoming) {
    exact_reduction::data_of_node given{b.x};
    const std::size_t member_count = node_members.members.size();
    given.sends_whole_blocks = member_count > 1;
    if (can_sum_on_node(op)) {
      char* const terms = is_leader ? incoming(2 * b.n) : nullptr;
      block_sum sum = make_node_sum(op, b, false);
      sum.y = terms;
      if (shared->finish(sum)) {
        char fits = is_leader && op.form_between_nodes->are_complete(terms + group_messages.bytes(b.n), b.n) ? 1 : 0;
        shared->spread(is_leader ? &fits : nullptr, is_leader ? nullptr : &fits, 1);
        given.sends_whole_blocks = fits == 0;
        if (fits != 0) given.terms = terms, group_messages.count_shared_bytes(b.n);
      }
    }
    if (is_leader)
      exact.collect(group_messages, op, node_members, node_leaders, given,
                    node_leaders.position == 0 ? into() : nullptr, b.n, incoming);
    else if (given.sends_whole_blocks) exact_reduction::send_block(group_messages, b.x, b.n, node_members.members[0]);
  }
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/collective/impl/collective_channel.ipp>
#endif
