// Defines the functions that kernel/detail/receiver_pattern.hpp declares.
#pragma once

#include <cstdint>
#include <partita/comm/agreement.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/numbers_by_worker.hpp>
#include <partita/kernel/detail/box_movement.hpp>
#include <partita/kernel/detail/receiver_pattern.hpp>
#include <partita/plan/cut.hpp>
#include <utility>

namespace partita::detail {

/// Makes the pattern in which this worker sends counts[k] rows to worker k. add_rows(k, moves, place) adds these rows
/// to `moves`, with consecutive destinations from `place` on. Collective.
template <class AddRows>
index_pattern make_sent_pattern(const world_state& world, const std::vector<std::size_t>& counts, AddRows add_rows) {
  const std::size_t workers = world.size(), me = world.id();
  index_pattern pattern;
  row_transfers& transfers = pattern.transfers;
  // Each receiver learns the number of rows from each sender, and their position in the sender's list.
  std::vector<std::size_t> lengths(workers, 0), firsts(workers, 0);
  for (std::size_t k = 0; k < workers; ++k) {
    pattern.owned_count += counts[k];
    if (k == me || counts[k] == 0) continue;
    lengths[k] = 2;
    firsts[k] = transfers.sent_count;
    transfers.sent_count += counts[k];
  }
  auto sent_counts = number_lists_by_worker::with_lengths(lengths);
  for (std::size_t k = 0; k < workers; ++k)
    if (lengths[k] != 0)
      sent_counts.all[sent_counts.first[k]] = counts[k], sent_counts.all[sent_counts.first[k] + 1] = firsts[k];
  const auto received_counts = exchange_lists(world, sent_counts);
  // Each sender learns the position of its rows in the receiver's list.
  for (std::size_t k = 0; k < workers; ++k) lengths[k] = received_counts.count(k) / 2;
  auto answers = number_lists_by_worker::with_lengths(lengths);
  for (std::size_t k = 0; k < workers; ++k) {
    if (k == me) add_rows(me, pattern.kept, pattern.wanted_count);
    const std::size_t rows = k == me ? counts[me] : lengths[k] != 0 ? received_counts.list_of_worker(k)[0] : 0;
    if (k != me && rows != 0) {
      answers.all[answers.first[k]] = transfers.received_count;
      transfers.received_parts.push_back({k, transfers.received_count, rows, received_counts.list_of_worker(k)[1]});
      transfers.placed_rows.add({transfers.received_count, pattern.wanted_count, rows});
      transfers.received_count += rows;
    }
    pattern.wanted_count += rows;
  }
  const auto places = exchange_lists(world, answers);
  for (std::size_t k = 0; k < workers; ++k) {
    if (k == me || counts[k] == 0) continue;
    transfers.sent_parts.push_back({k, firsts[k], counts[k], *places.list_of_worker(k)});
    add_rows(k, transfers.packed, firsts[k]);
  }
  return pattern;
}

PARTITA_DEF index_pattern make_pattern_by_receiver(world_state& world, std::shared_ptr<transport>& shared_transport,
                                                   const index_list& receivers, const char* name) {
  const std::size_t workers = world.size(), n = receivers.size();
  local_error found_error;
  std::vector<std::size_t> counts(workers, 0);
  for (std::size_t j = 0; j < n && !found_error.any(); ++j) {
    if (receivers[j] < workers) ++counts[receivers[j]];
    else
      found_error =
          local_error(text(name) << ": requires receivers below the number of workers, " << workers << "; worker "
                                 << world.id() << " sends row " << j << " to " << to_signed_index(receivers[j]));
  }
  constexpr std::uint64_t number_of_call = 0x73656e645f746fULL;
  agree_on_call(world, number_of_call, found_error, [&] { return text(name) << " with " << n << " rows"; });
  open_transport(shared_transport, world);
  const auto rows = lists_by_worker(
      workers, n, [&](std::size_t j) { return receivers[j]; }, [](std::size_t j) { return j; });
  return make_sent_pattern(world, counts, [&](std::size_t k, row_moves& moves, std::size_t place) {
    for (std::size_t i = 0; i < rows.count(k); ++i) moves.add(rows.list_of_worker(k)[i], place + i);
  });
}

PARTITA_DEF index_pattern make_pattern_by_counts(const world_state& world, const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> first(counts.size() + 1, 0);
  for (std::size_t k = 0; k < counts.size(); ++k) first[k + 1] = first[k] + counts[k];
  return make_sent_pattern(world, counts, [&](std::size_t k, row_moves& moves, std::size_t place) {
    if (counts[k] != 0) moves.add({first[k], place, counts[k]});
  });
}

PARTITA_DEF index_pattern make_pattern_by_expert(world_state& world, std::shared_ptr<transport>& shared_transport,
                                                 std::size_t experts, const index_list& choice,
                                                 std::size_t experts_per_token, const char* name,
                                                 std::vector<std::size_t>& first_row) {
  const std::size_t workers = world.size(), n = choice.size();
  local_error found_error;
  if (experts_per_token == 0 || n % experts_per_token != 0)
    found_error = local_error(text(name) << ": requires " << experts_per_token << " choices for each token, worker "
                                         << world.id() << " has " << n << " choices");
  for (std::size_t j = 0; j < n && !found_error.any(); ++j)
    if (choice[j] >= experts)
      found_error =
          local_error(text(name) << ": requires choices below the number of experts, " << experts << "; worker "
                                 << world.id() << " has choice " << to_signed_index(choice[j]));
  constexpr std::uint64_t number_of_call = 0x65787065727473ULL;
  agree_on_call(world, mixed(mixed(number_of_call, experts), experts_per_token), found_error, [&] {
    return text(name) << " with " << experts << " experts and " << experts_per_token << " choices for each token";
  });
  const auto owner = [&](std::size_t j) { return balanced_owner(experts, workers, choice[j]); };
  std::vector<std::size_t> receivers(n);
  for (std::size_t j = 0; j < n; ++j) receivers[j] = owner(j);
  index_pattern pattern = make_pattern_by_receiver(world, shared_transport, receivers, name);
  // The expert of each arriving row, in the order of the senders, determines where the row is placed.
  const auto arriving_experts =
      exchange_lists(world, lists_by_worker(workers, n, owner, [&](std::size_t j) { return choice[j]; }));
  const interval mine = balanced_part(experts, workers, world.id());
  first_row.assign(mine.size() + 1, 0);
  for (const std::uint64_t expert : arriving_experts.all) ++first_row[expert - mine.start + 1];
  for (std::size_t e = 0; e < mine.size(); ++e) first_row[e + 1] += first_row[e];
  std::vector<std::size_t> next(first_row), place;
  for (const std::uint64_t expert : arriving_experts.all) place.push_back(next[expert - mine.start]++);
  const auto placed_by_expert = [&](row_moves& moves) {
    row_moves moved;
    moves.for_each([&](const row_run& run) {
      for (std::size_t r = 0; r < run.rows; ++r) moved.add(run.from + r, place[run.to + r]);
    });
    moves = std::move(moved);
  };
  placed_by_expert(pattern.kept);
  placed_by_expert(pattern.transfers.placed_rows);
  return pattern;
}

}  // namespace partita::detail
