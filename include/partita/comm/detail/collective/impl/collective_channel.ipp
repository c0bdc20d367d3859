// Defines the functions that comm/detail/collective/collective_channel.hpp declares.
#pragma once

#include <cstdint>
#include <partita/comm/detail/collective/collective_channel.hpp>

namespace partita::detail {

PARTITA_DEF void collective_channel::spread(const element_messages& group_messages, group_blocks b,
                                            bool has_started_broadcast) {
  const bool root = is_root();
  if (is_on_one_node && std::exchange(has_begun_early, false)) {  // this root has already made its block readable
    shared->finish_spread(group_messages.bytes(b.n));
    group_messages.count_shared_bytes(b.n);
    if (b.y != nullptr && b.y != b.x) group_messages.of().copy_row(b.y, b.x, b.n);
    return;
  }
  if (is_leader && node_leaders.members.size() > 1) {
    if (!(root && (has_started_broadcast || std::exchange(has_begun_early, false))))
      group_messages.spread(node_leaders, root ? const_cast<char*>(b.x) : b.y, b.n, sent);  // the root only reads
    if (!root) b.x = b.y;
  }
  broadcast_on_node(group_messages, b, root && has_started_broadcast);
}

PARTITA_DEF void collective_channel::start_spread(const element_messages& group_messages, const group_blocks& b) {
  if (!is_root()) return;
  if (node_leaders.members.size() > 1) group_messages.start_spread(sent, node_leaders, b.x, b.n);
  if (node_members.members.size() <= 1) return;
  if (shared && group_messages.of().in_shared_memory) shared->start_spread(b.x, b.y, group_messages.bytes(b.n));
  else group_messages.start_spread(sent, node_members, b.x, b.n);
}

PARTITA_DEF lent_header* collective_channel::share(const element_messages& group_messages, arena& memory, const char* x,
                                                   std::size_t n, bool root_gets_view) {
  const bool root = is_root(), apart = !shared;
  const std::size_t members = node_members.members.size(), bytes = group_messages.bytes(n);
  lent_header* block = nullptr;
  const auto views = static_cast<std::uint32_t>((apart ? 1 : members) - (root && !root_gets_view ? 1 : 0));
  if ((is_leader || apart) && views != 0) block = lent_blocks::lend_block(memory, bytes, views);
  char* const y = block == nullptr ? nullptr : lent_blocks::elements(block);
  if (root && views != 0)
    group_messages.of().copy_row(y, x, n, shared && shared->far() ? stores::streaming : stores::by_size);
  if (is_leader && node_leaders.members.size() > 1)
    group_messages.spread(node_leaders, root ? const_cast<char*>(x) : y, n, sent);  // the root only reads
  if (members > 1) {
    if (apart) {
      group_messages.spread(node_members, root ? const_cast<char*>(x) : y, n, sent);
    } else if (void* const shown = shared->show_root_block(block)) {
      block = static_cast<lent_header*>(shown);
      group_messages.count_shared_bytes(n);
    } else {  // the leader has no shared memory left, so each member uses its own block
      if (is_leader) block->view_count.store(root && !root_gets_view ? 0 : 1, std::memory_order_relaxed);
      else block = lent_blocks::lend_block(memory, bytes, 1);
      char* const own = lent_blocks::elements(block);
      group_messages.spread(node_members, root ? const_cast<char*>(x) : own, n, sent);
    }
  }
  return root && !root_gets_view ? nullptr : block;
}

PARTITA_DEF void collective_channel::send_block_early(const element_messages& group_messages, const group_blocks& b) {
  if (!is_root() || node_leaders.members.size() <= 1) return;
  group_messages.start_spread(sent, node_leaders, b.x, b.n);
  has_begun_early = true;
}

PARTITA_DEF void collective_channel::show_block_early(const element_messages& group_messages, const group_blocks& b) {
  has_begun_early = is_on_one_node && shared && is_root() && group_messages.of().in_shared_memory &&
                    shared->show_block_early(b.x, group_messages.bytes(b.n));
}

PARTITA_DEF void collective_channel::send_node_sum_early(const element_messages& group_messages,
                                                         const element_operation& op, const group_blocks& b,
                                                         bool to_all) {
  const bool alone = node_members.members.size() == 1;
  if (is_on_one_node || op.combine_exactly != nullptr || !(alone || can_sum_on_node(op))) return;
  has_begun_early = true;
  if (!alone) {
    const std::size_t room = group_messages.bytes(b.n) / sizeof(std::max_align_t) + 1;
    if (is_leader && early_node_sum.size() < room) early_node_sum.resize(room);
    const group_blocks sum{b.x, is_leader ? reinterpret_cast<char*>(early_node_sum.data()) : nullptr, b.n};
    shared->start(make_node_sum(op, sum, false));
    finish_sum_on_node(group_messages, op, sum);
  }
  if (!is_leader) return;
  const char* const own = local_sum(b.x);
  if (to_all) return group_messages.scatter_parts(node_leaders, own, b.n, sent);
  const std::size_t to = group_messages.first_receiver(node_leaders, b.n);
  if (to != node_leaders.position) group_messages.post_send(sent, own, b.n, node_leaders.members[to]);
}

PARTITA_DEF void collective_channel::discard_speculative_sends() {
  if (!std::exchange(has_begun_early, false)) return;
  if (is_on_one_node) shared->roll_back();
  else sent.end_discarded_sends();
}

PARTITA_DEF void collective_channel::post_send(const element_messages& group_messages, const element_operation& op,
                                               const group_blocks& b, bool to_all) {
  const bool alone = node_members.members.size() == 1;
  if (shared || op.combine_exactly != nullptr || (to_all && (alone || is_on_one_node))) return;
  const worker_group& first = alone ? node_leaders : node_members;
  const std::size_t to = group_messages.first_receiver(first, b.n);
  if (to != first.position) group_messages.post_send(sent, b.x, b.n, first.members[to]);
}

PARTITA_DEF void collective_channel::broadcast_on_node(const element_messages& group_messages, const group_blocks& b,
                                                       bool has_started_broadcast) {
  if (node_members.members.size() > 1) {
    const bool tries = shared && group_messages.of().in_shared_memory;
    if (tries && (has_started_broadcast ? shared->finish_spread(group_messages.bytes(b.n))
                                        : shared->spread(b.x, b.y, group_messages.bytes(b.n)))) {
      group_messages.count_shared_bytes(b.n);
      return sent.wait();
    }
    if (tries || !has_started_broadcast)
      group_messages.spread(node_members, is_leader ? const_cast<char*>(b.x) : b.y, b.n, sent);
  }
  sent.wait();
  if (is_leader && b.y != nullptr && b.y != b.x) group_messages.of().copy_row(b.y, b.x, b.n);
}

PARTITA_DEF bool collective_channel::finish_sum_on_node(const element_messages& group_messages,
                                                        const element_operation& op, const group_blocks& b) {
  if (!can_sum_on_node(op) || !shared->finish(make_node_sum(op, b, false))) return false;
  group_messages.count_shared_bytes(b.n);
  return true;
}

PARTITA_DEF bool collective_channel::can_sum_on_node(const element_operation& op) const {
  return shared && op.of->in_shared_memory &&
         (is_on_one_node || op.combine_exactly == nullptr || op.form_between_nodes != nullptr);
}

PARTITA_DEF block_sum collective_channel::make_node_sum(const element_operation& op, const group_blocks& b,
                                                        bool to_all) const {
  if (is_on_one_node || op.form_between_nodes == nullptr)
    return {b.x, b.y, b.n, &op, node_members.root_is_large, to_all};
  return {b.x, nullptr, b.n, &op.form_between_nodes->two_term_operation, node_members.root_is_large, false};
}

}  // namespace partita::detail
