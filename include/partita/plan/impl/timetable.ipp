// Defines the functions that plan/timetable.hpp declares.
#pragma once

#include <partita/plan/timetable.hpp>

namespace partita {

PARTITA_DEF double timetable::computing() const {
  double all = 0;
  for (const entry& one : entries) all += one.moves ? 0 : one.until - one.from;
  return all;
}

PARTITA_DEF double timetable::moving() const {  // entries are in the order of their starts
  double all = 0, until = 0;
  for (const entry& one : entries) {
    if (!one.moves || one.until <= until) continue;
    all += one.until - (one.from > until ? one.from : until);
    until = one.until;
  }
  return all;
}

PARTITA_DEF timetable timetable_of(const std::vector<step_use>& steps, const std::vector<ordered_step>& order,
                                   const std::vector<double>& measurements) {
  timetable all;
  all.is_measured = !measurements.empty();
  // chain[b] is the time of the longest chain of entries that leads to block b; each entry of a chain needs the entry
  // before it.
  const auto [first, last] = lives_of(steps, order);
  std::vector<std::size_t> bytes(last.size(), 0), entry_of(steps.size(), 0);
  std::vector<double> chain(last.size(), 0);
  std::size_t held = 0;
  std::vector<std::vector<std::uint32_t>> released(order.size() + 1);
  for (std::uint32_t b = 0; b < last.size(); ++b)
    if (first[b] != block_lives::never) released[last[b] + 1].push_back(b);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const ordered_step& current = order[k];
    const step_use& one = steps[current.step];
    for (const std::uint32_t b : released[k]) held -= bytes[b];
    if (one.sets != step_use::nothing && first[one.sets] == k) held += bytes[one.sets] = one.bytes;
    const double from = all.is_measured ? measurements[2 * k] : current.from;
    const double until = all.is_measured ? measurements[2 * k + 1] : current.until;
    if (current.action == ordered_step::what::post_receive) continue;  // the movement begins when its sender starts
    if (current.action == ordered_step::what::finish) {
      timetable::entry& started = all.entries[entry_of[current.step]];
      if (all.is_measured) started.until = until;  // an estimated start has the end of the movement
      started.waited_seconds += until - from;
      continue;
    }
    const bool starts = current.action != ordered_step::what::compute,
               is_joined = one.message_leader != step_use::nothing;
    if (!is_joined)
      all.entries.push_back(
          {one.name, starts, one.is_backward, from, until, starts && all.is_measured ? until - from : 0, 0, held});
    entry_of[current.step] = is_joined ? entry_of[one.message_leader] : all.entries.size() - 1;
    timetable::entry& entry = all.entries[entry_of[current.step]];  // movements that share messages share one entry
    if (starts) entry.received_bytes += one.received, entry.bytes_held = held, entry.joint_movements += is_joined;
    double longest_input = 0;
    for (const std::uint32_t x : one.reads)
      if (x != step_use::nothing && chain[x] > longest_input) longest_input = chain[x];
    const double chain_length = longest_input + (all.is_measured && !starts ? until - from : one.seconds);
    if (one.sets != step_use::nothing && chain_length > chain[one.sets]) chain[one.sets] = chain_length;
    if (chain_length > all.longest_chain) all.longest_chain = chain_length;
  }
  return all;
}

}  // namespace partita
