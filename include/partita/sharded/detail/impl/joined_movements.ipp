// Defines the functions that sharded/detail/joined_movements.hpp declares.
#pragma once

#include <algorithm>
#include <partita/sharded/detail/joined_movements.hpp>
#include <utility>

namespace partita::detail {

PARTITA_DEF std::vector<movements_of_level> find_small_movements(const std::vector<step_use>& steps, std::size_t first,
                                                                 std::size_t end) {
  // The level of a block is the number of movements on the longest chain of steps that ends with a step that sets (or
  // reads) the block.
  struct block {
    std::size_t set_level = 0, read_level = 0;  ///< the level after its last set; the highest after reads since then
  };
  std::vector<block> blocks;
  const auto known = [&](std::uint32_t b) -> block& {
    if (b >= blocks.size()) blocks.resize(b + std::size_t{1});
    return blocks[b];
  };
  std::vector<movements_of_level> all;
  for (std::size_t k = first; k < end; ++k) {
    const step_use& one = steps[k];
    std::size_t level =
        one.sets == step_use::nothing ? 0 : std::max(known(one.sets).set_level, known(one.sets).read_level);
    for (const std::uint32_t x : one.reads)
      if (x != step_use::nothing) level = std::max(level, known(x).set_level);
    const std::size_t after = level + (one.moves ? 1 : 0);
    for (const std::uint32_t x : one.reads)
      if (x != step_use::nothing) known(x).read_level = std::max(known(x).read_level, after);
    if (one.sets != step_use::nothing) known(one.sets) = {after, 0};
    if (!one.moves || one.shared_seconds == 0 || 2 * one.shared_seconds < one.seconds) continue;
    auto found =
        std::find_if(all.begin(), all.end(), [&](const movements_of_level& group) { return group.level == level; });
    if (found == all.end()) found = all.insert(found, {level, {}});
    found->steps.push_back(static_cast<std::uint32_t>(k));
  }
  return all;
}

PARTITA_DEF std::vector<ordered_step> order_and_join_steps(std::vector<step_use>& steps, std::size_t first,
                                                           std::size_t end, const order_limits& limits, double now) {
  std::size_t orders_left = 64;  // chosen: binding stays fast, and most programs try fewer orders
  for (std::size_t k = first; k < end; ++k) steps[k].message_leader = step_use::nothing;
  std::vector<ordered_step> best = order_steps(steps, first, end, limits, now);
  const auto until = [&](const std::vector<ordered_step>& order) { return order.empty() ? now : order.back().until; };
  /// Makes n movements, from movements[from] on, share messages, unless the order that order_steps then finds ends
  /// later than the best order so far, or `orders_left` is 0. Returns whether the n movements share messages now.
  const auto join = [&](const std::vector<std::uint32_t>& movements, std::size_t from, std::size_t n) {
    if (n < 2 || orders_left == 0) return false;
    --orders_left;
    for (std::size_t k = from + 1; k < from + n; ++k) steps[movements[k]].message_leader = movements[from];
    std::vector<ordered_step> order = order_steps(steps, first, end, limits, now);
    const double rounding = 1e-9 * (until(best) - now);
    if (order.size() == best.size() && until(order) <= until(best) + rounding) {
      best = std::move(order);
      return true;
    }
    for (std::size_t k = from + 1; k < from + n; ++k) steps[movements[k]].message_leader = step_use::nothing;
    return false;
  };
  for (const movements_of_level& group : find_small_movements(steps, first, end))
    for (std::size_t from = 0; from < group.steps.size();) {
      std::size_t n = group.steps.size() - from;
      while (n > 1 && !join(group.steps, from, n)) n = (n + 1) / 2;
      from += n;
    }
  return best;
}

}  // namespace partita::detail
