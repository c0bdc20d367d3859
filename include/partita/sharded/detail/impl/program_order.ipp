// Defines the functions that sharded/detail/program_order.hpp declares.
#pragma once

#include <bit>
#include <partita/comm/facts.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/numbers_by_worker.hpp>
#include <partita/core/hash.hpp>
#include <partita/sharded/detail/joined_movements.hpp>
#include <partita/sharded/detail/program_order.hpp>
#include <utility>

namespace partita::detail {

PARTITA_DEF program_order order_program(std::vector<step_use>& uses, std::size_t forward, const order_limits& limits,
                                        bool join) {
  for (step_use& one : uses) one.message_leader = step_use::nothing;
  const auto ordered = [&](std::size_t first, std::size_t end, double now) {
    return join ? order_and_join_steps(uses, first, end, limits, now) : order_steps(uses, first, end, limits, now);
  };
  std::vector<ordered_step> all = ordered(0, forward, 0);
  const std::size_t backward_begin = all.size();
  const std::vector<ordered_step> back = ordered(forward, uses.size(), all.empty() ? 0 : all.back().until);
  all.insert(all.end(), back.begin(), back.end());
  return {std::move(all), backward_begin};
}

PARTITA_DEF std::optional<program_order> agree_on_program_order(bound_mesh& on, std::vector<step_use>& uses,
                                                                std::size_t forward, std::size_t block_count,
                                                                const order_limits& limits, bool join) {
  const world& everyone = on.everyone();
  const std::size_t first = on.where().worker(0);
  // 1. Hash what must be equal for a common order: movements on all workers, and computations on workers of the mesh.
  hasher computed;
  std::vector<std::uint32_t> exchanges, number_of_exchange(uses.size(), 0);
  std::vector<bool> is_moved(block_count, false), is_computed(block_count, false);
  for (std::size_t k = 0; k < uses.size(); ++k) {
    const step_use& one = uses[k];
    computed.mix(one.moves).mix(one.sets);
    number_of_exchange[k] = static_cast<std::uint32_t>(exchanges.size());
    if (one.moves) exchanges.push_back(static_cast<std::uint32_t>(k));
    std::vector<bool>& touched = one.moves ? is_moved : is_computed;
    if (one.sets != step_use::nothing) touched[one.sets] = true;
    for (const std::uint32_t x : one.reads) {
      computed.mix(x);
      if (x != step_use::nothing) touched[x] = true;
    }
  }
  // 2. Order the steps on the first worker of the mesh, and send the order to all workers.
  constexpr std::size_t header = 3;
  std::vector<std::uint64_t> sent;
  if (everyone.id() == first) {
    const program_order own = order_program(uses, forward, limits, join);
    sent = {computed.value(), exchanges.size(), own.backward_begin};
    for (const ordered_step& one : own.events) {
      const std::uint64_t number = one.action == ordered_step::what::compute ? one.step : number_of_exchange[one.step];
      sent.push_back(number << 32U | std::uint64_t{one.channel} << 2U | static_cast<std::uint64_t>(one.action));
      sent.push_back(std::bit_cast<std::uint64_t>(one.from));
      sent.push_back(std::bit_cast<std::uint64_t>(one.until));
    }
  }
  auto mine = number_lists_by_worker::with_lengths(std::vector<std::size_t>(everyone.size(), sent.size()));
  for (std::size_t k = 0; k < mine.all.size(); ++k) mine.all[k] = sent[k % sent.size()];
  const number_lists_by_worker got = exchange_lists(*everyone.state(), mine);
  const std::uint64_t* const first_order = got.list_of_worker(first);
  // 3. Check whether each worker can execute its steps in the order of the first worker. A worker that is not on the
  // mesh executes its computations before all movements, so none of them may depend on a movement.
  bool can_use_order = first_order[1] == exchanges.size() && (!on.active() || first_order[0] == computed.value());
  for (std::size_t b = 0; !on.active() && b < block_count; ++b)
    can_use_order = can_use_order && !(is_moved[b] && is_computed[b]);
  if (maximum_over_workers<1>(*everyone.state(), {can_use_order ? 0U : 1U})[0] != 0) return std::nullopt;
  program_order order;
  const auto compute_ahead = [&](std::size_t k, std::size_t end) {
    for (; !on.active() && k < end; ++k)
      if (!uses[k].moves) order.events.push_back({ordered_step::what::compute, static_cast<std::uint32_t>(k)});
  };
  const std::size_t events = (got.count(first) - header) / 3;
  for (std::size_t i = 0; i <= events; ++i) {
    if (i == 0) compute_ahead(0, forward);
    if (i == first_order[2]) {
      order.backward_begin = order.events.size();
      compute_ahead(forward, uses.size());
    }
    if (i == events) break;
    const std::uint64_t* const one = first_order + header + 3 * i;
    const auto done = static_cast<ordered_step::what>(one[0] & 3U);
    const auto number = static_cast<std::uint32_t>(one[0] >> 32U),
               lane = static_cast<std::uint32_t>(one[0] & 0xffffffffU) >> 2U;
    const bool computes = done == ordered_step::what::compute;
    if (computes && !on.active()) continue;
    order.events.push_back({done, computes ? number : exchanges[number], lane, std::bit_cast<double>(one[1]),
                            std::bit_cast<double>(one[2])});
  }
  // 4. Set which movements share their messages: those that start one after the other in the same lane.
  std::uint32_t leader = step_use::nothing;
  for (step_use& one : uses) one.message_leader = step_use::nothing;
  for (std::size_t k = 0; k < order.events.size(); ++k) {
    if (order.events[k].action != ordered_step::what::start) continue;
    const bool joins = k > 0 && order.events[k - 1].action == ordered_step::what::start &&
                       order.events[k - 1].channel == order.events[k].channel;
    if (joins) uses[order.events[k].step].message_leader = leader;
    else leader = order.events[k].step;
  }
  return order;
}

}  // namespace partita::detail
