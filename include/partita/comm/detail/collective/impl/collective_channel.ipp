// Defines the functions that comm/detail/collective/collective_channel.hpp declares.
#pragma once

#include <cstdint>
#include <partita/comm/detail/collective/collective_channel.hpp>

namespace partita::detail {

PARTITA_DEF void collective_channel::spread(const element_messages& by_message, group_blocks b, bool started) {
  const bool root = is_root();
  if (on_one_node && std::exchange(is_ahead, false)) return finish_shown(by_message, b);
  if (leads && across.members.size() > 1) {
    if (!(root && (started || std::exchange(is_ahead, false))))
      by_message.spread(across, root ? const_cast<char*>(b.x) : b.y, b.n, sent);  // the root only reads
    if (!root) b.x = b.y;
  }
  spread_within(by_message, b, root && started);
}

PARTITA_DEF void collective_channel::start_spread(const element_messages& by_message, const group_blocks& b) {
  if (!is_root()) return;
  if (across.members.size() > 1) by_message.spread_ahead(sent, across, b.x, b.n);
  if (within.members.size() <= 1) return;
  if (shared && by_message.of().in_shared_memory) shared->start_spread(b.x, b.y, by_message.bytes(b.n));
  else by_message.spread_ahead(sent, within, b.x, b.n);
}

PARTITA_DEF lent_header* collective_channel::share(const element_messages& by_message, arena& memory, const char* x,
                                                   std::size_t n, bool root_views) {
  const bool root = is_root(), apart = !shared;
  const std::size_t members = within.members.size(), bytes = by_message.bytes(n);
  lent_header* block = nullptr;
  const auto views = static_cast<std::uint32_t>((apart ? 1 : members) - (root && !root_views ? 1 : 0));
  if ((leads || apart) && views != 0) block = lent_blocks::lend(memory, bytes, views);
  char* const y = block == nullptr ? nullptr : lent_blocks::elements(block);
  if (root && views != 0)
    by_message.of().copy_row(y, x, n, shared && shared->far() ? stores::streaming : stores::by_size);
  if (leads && across.members.size() > 1)
    by_message.spread(across, root ? const_cast<char*>(x) : y, n, sent);  // the root only reads
  if (members > 1) {
    if (apart) {
      by_message.spread(within, root ? const_cast<char*>(x) : y, n, sent);
    } else if (void* const shown = shared->show(block)) {
      block = static_cast<lent_header*>(shown);
      by_message.through_shared_memory(n);
    } else {  // the leader has no shared memory left, so each member uses its own block
      if (leads) block->views.store(root && !root_views ? 0 : 1, std::memory_order_relaxed);
      else block = lent_blocks::lend(memory, bytes, 1);
      char* const own = lent_blocks::elements(block);
      by_message.spread(within, root ? const_cast<char*>(x) : own, n, sent);
    }
  }
  return root && !root_views ? nullptr : block;
}

PARTITA_DEF void collective_channel::spread_ahead(const element_messages& by_message, const group_blocks& b) {
  if (!is_root() || across.members.size() <= 1) return;
  by_message.spread_ahead(sent, across, b.x, b.n);
  is_ahead = true;
}

PARTITA_DEF void collective_channel::show_ahead(const element_messages& by_message, const group_blocks& b) {
  is_ahead = on_one_node && shared && is_root() && by_message.of().in_shared_memory &&
             shared->show_ahead(b.x, by_message.bytes(b.n));
}

PARTITA_DEF void collective_channel::sum_to_other_nodes_ahead(const element_messages& by_message,
                                                              const element_operation& op, const group_blocks& b,
                                                              bool to_all) {
  const bool alone = within.members.size() == 1;
  if (on_one_node || op.exactly != nullptr || !(alone || sums_within(op))) return;
  is_ahead = true;
  if (!alone) {
    const std::size_t room = by_message.bytes(b.n) / sizeof(std::max_align_t) + 1;
    if (leads && sum_ahead.size() < room) sum_ahead.resize(room);
    const group_blocks sum{b.x, leads ? reinterpret_cast<char*>(sum_ahead.data()) : nullptr, b.n};
    shared->start(sum_within(op, sum, false));
    finish_within(by_message, op, sum);
  }
  if (!leads) return;
  const char* const own = own_sum(b.x);
  if (to_all) return by_message.give_to_all(across, own, b.n, sent);
  const std::size_t to = by_message.sends_first_to(across, b.n);
  if (to != across.position) by_message.send_ahead(sent, own, b.n, across.members[to]);
}

PARTITA_DEF void collective_channel::discard_speculative() {
  if (!std::exchange(is_ahead, false)) return;
  if (on_one_node) shared->roll_back();
  else sent.give_up();
}

PARTITA_DEF void collective_channel::send_ahead(const element_messages& by_message, const element_operation& op,
                                                const group_blocks& b, bool to_all) {
  const bool alone = within.members.size() == 1;
  if (shared || op.exactly != nullptr || (to_all && (alone || on_one_node))) return;
  const worker_group& first = alone ? across : within;
  const std::size_t to = by_message.sends_first_to(first, b.n);
  if (to != first.position) by_message.send_ahead(sent, b.x, b.n, first.members[to]);
}

PARTITA_DEF void collective_channel::finish_shown(const element_messages& by_message, const group_blocks& b) {
  shared->finish_spread(by_message.bytes(b.n));
  by_message.through_shared_memory(b.n);
  if (b.y != nullptr && b.y != b.x) by_message.of().copy_row(b.y, b.x, b.n);
}

PARTITA_DEF void collective_channel::spread_within(const element_messages& by_message, const group_blocks& b,
                                                   bool started) {
  if (within.members.size() > 1) {
    const bool tries = shared && by_message.of().in_shared_memory;
    if (tries &&
        (started ? shared->finish_spread(by_message.bytes(b.n)) : shared->spread(b.x, b.y, by_message.bytes(b.n)))) {
      by_message.through_shared_memory(b.n);
      return sent.wait();
    }
    if (tries || !started) by_message.spread(within, leads ? const_cast<char*>(b.x) : b.y, b.n, sent);
  }
  sent.wait();
  if (leads && b.y != nullptr && b.y != b.x) by_message.of().copy_row(b.y, b.x, b.n);
}

PARTITA_DEF bool collective_channel::finish_within(const element_messages& by_message, const element_operation& op,
                                                   const group_blocks& b) {
  if (!sums_within(op) || !shared->finish(sum_within(op, b, false))) return false;
  by_message.through_shared_memory(b.n);
  return true;
}

PARTITA_DEF bool collective_channel::sums_within(const element_operation& op) const {
  return shared && op.of->in_shared_memory && (on_one_node || op.exactly == nullptr || op.between_nodes != nullptr);
}

PARTITA_DEF block_sum collective_channel::sum_within(const element_operation& op, const group_blocks& b,
                                                     bool to_all) const {
  if (on_one_node || op.between_nodes == nullptr) return {b.x, b.y, b.n, &op, within.root_is_large, to_all};
  return {b.x, nullptr, b.n, &op.between_nodes->two_terms, within.root_is_large, false};
}

}  // namespace partita::detail
