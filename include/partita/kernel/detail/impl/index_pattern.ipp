// Defines the functions that kernel/detail/index_pattern.hpp declares.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <partita/comm/facts.hpp>
#include <partita/comm/numbers_by_worker.hpp>
#include <partita/kernel/detail/box_movement.hpp>
#include <partita/kernel/detail/index_directory.hpp>
#include <partita/kernel/detail/index_pattern.hpp>
#include <partita/plan/members_by_node.hpp>
#include <utility>

namespace partita::detail {

/// Sets first[j], for each later position j of an index in `wanted`, to the first position of that index. Uses a hash
/// table of positions that is at most half full.
template <class Position>
void find_first_positions(const index_list& wanted, std::vector<std::size_t>& first) {
  // The factor (2^64 divided by the golden ratio) is odd and has no pattern in its bits, so the highest bits of the
  // products usually differ for neighbouring indices.
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15ULL;
  constexpr Position none = std::numeric_limits<Position>::max();
  unsigned bits = 1;
  while ((wanted.size() >> (bits - 1)) != 0) ++bits;
  const std::size_t size = std::size_t{1} << bits;
  std::vector<Position> table(size, none);
  for (std::size_t j = 0; j < wanted.size(); ++j) {
    std::size_t slot = (wanted[j] * factor) >> (64 - bits);
    while (table[slot] != none && wanted[table[slot]] != wanted[j]) slot = (slot + 1) % size;
    if (table[slot] == none) table[slot] = static_cast<Position>(j);
    else first[j] = table[slot];
  }
}

/// For each position j of `wanted`, the first position with the same index.
inline std::vector<std::size_t> list_first_positions(const index_list& wanted) {
  std::vector<std::size_t> first(wanted.size());
  bool ascending = true;
  for (std::size_t j = 0; j < first.size(); ++j) {
    first[j] = j;
    ascending = ascending && (j == 0 || wanted[j - 1] < wanted[j]);
  }
  if (ascending) return first;
  // Positions of 32 bits take half the memory, and so half the time.
  if (wanted.size() < std::numeric_limits<std::uint32_t>::max()) find_first_positions<std::uint32_t>(wanted, first);
  else find_first_positions<std::size_t>(wanted, first);
  return first;
}

/// Sends each worker the position at which its list starts in the concatenated lists of this worker, and returns the
/// positions received from the other workers; for an empty list no position is sent.
inline number_lists_by_worker exchange_list_starts(const world_state& world, const number_lists_by_worker& lists) {
  std::vector<std::size_t> lengths(world.size());
  for (std::size_t k = 0; k < lengths.size(); ++k) lengths[k] = lists.count(k) != 0 ? 1 : 0;
  auto firsts = number_lists_by_worker::with_lengths(lengths);
  for (std::size_t k = 0; k < lengths.size(); ++k)
    if (lengths[k] != 0) firsts.all[firsts.first[k]] = lists.first[k];
  return exchange_lists(world, firsts);
}

/// Requests from each worker the rows in its list, and plans which rows this worker receives and sends. Collective.
inline row_transfers request_rows(world_state& world, const number_lists_by_worker& requests) {
  const std::size_t workers = world.size();
  row_transfers transfers;
  const number_lists_by_worker incoming_requests = exchange_lists(world, requests);
  transfers.received_count = requests.all.size();
  transfers.sent_count = incoming_requests.all.size();
  // Both workers of a pair learn the positions of the rows in the other worker's list.
  const auto at_receivers = exchange_list_starts(world, requests),
             at_senders = exchange_list_starts(world, incoming_requests);
  for (std::size_t k = 0; k < workers; ++k) {
    if (requests.count(k) != 0)
      transfers.received_parts.push_back({k, requests.first[k], requests.count(k), *at_senders.list_of_worker(k)});
    if (incoming_requests.count(k) == 0) continue;
    transfers.sent_parts.push_back(
        {k, incoming_requests.first[k], incoming_requests.count(k), *at_receivers.list_of_worker(k)});
    for (std::size_t place = incoming_requests.first[k]; place < incoming_requests.first[k + 1]; ++place)
      transfers.packed.add(incoming_requests.all[place], place);
  }
  return transfers;
}

/// The rows of the wanted indices: the owner of each row, and the row's number on the owner.
struct rows_with_owners {
  std::vector<std::size_t> first_positions;  ///< for each wanted index, its first position in the list
  std::vector<std::size_t> owner, row;       ///< for each wanted index: its owner, and the owner's number of the row

  std::size_t size() const { return first_positions.size(); }             ///< the number of wanted indices
  bool is_first(std::size_t j) const { return first_positions[j] == j; }  ///< whether j is the first with its index
};

/// Finds the owner and the row of each wanted index in the directory; without messages if directory.knows_all_owners().
inline rows_with_owners find_row_owners(world_state& world, const index_directory& directory,
                                        const index_list& wanted) {
  rows_with_owners found{list_first_positions(wanted), std::vector<std::size_t>(wanted.size()),
                         std::vector<std::size_t>(wanted.size())};
  if (directory.knows_all_owners()) {
    for (std::size_t j = 0; j < wanted.size(); ++j) {
      const index_directory::run& run = directory.find(wanted[j]);
      found.owner[j] = run.worker, found.row[j] = run.row + (wanted[j] - run.start);
    }
    return found;
  }
  const auto worker_asked = [&](std::size_t j) {
    return found.is_first(j) ? directory.directory_worker(wanted[j]) : world.size();
  };
  const auto questions =
      lists_by_worker(world.size(), wanted.size(), worker_asked, [&](std::size_t j) { return wanted[j]; });
  number_lists_by_worker answers = exchange_lists(world, questions);
  for (std::size_t& position : answers.first) position *= 2;
  std::vector<std::uint64_t> numbers(2 * answers.all.size());
  for (std::size_t k = 0; k < answers.all.size(); ++k) {
    const index_directory::run& run = directory.find(answers.all[k]);
    numbers[2 * k] = run.worker;
    numbers[2 * k + 1] = run.row + (answers.all[k] - run.start);
  }
  answers.all = std::move(numbers);
  answers = exchange_lists(world, answers);
  std::vector<std::size_t> next(questions.first);
  for (std::size_t j = 0; j < wanted.size(); ++j) {
    const std::size_t first = found.first_positions[j];
    if (first == j) {
      const std::size_t k = 2 * next[worker_asked(j)]++;
      found.owner[j] = answers.all[k], found.row[j] = answers.all[k + 1];
    } else {
      found.owner[j] = found.owner[first], found.row[j] = found.row[first];
    }
  }
  return found;
}

/// Plans where arriving rows are placed: a row wanted first at position j is number `arrival_positions[j]` on arrival.
inline void place_arriving_rows(row_transfers& transfers, const rows_with_owners& wanted,
                                const std::vector<std::size_t>& arrival_positions, std::size_t me) {
  for (std::size_t j = 0; j < wanted.size(); ++j) {
    if (wanted.owner[j] == me) continue;
    transfers.has_repeated_rows = transfers.has_repeated_rows || !wanted.is_first(j);
    transfers.placed_rows.add(arrival_positions[wanted.first_positions[j]], j);
  }
}

/// Plans one exchange, in which each row is sent from its owner to each worker that wants the row.
inline row_transfers plan_direct_transfers(world_state& world, const rows_with_owners& wanted) {
  const std::size_t workers = world.size(), me = world.id();
  const auto owner_asked = [&](std::size_t j) {
    return wanted.is_first(j) && wanted.owner[j] != me ? wanted.owner[j] : workers;
  };
  const auto requests =
      lists_by_worker(workers, wanted.size(), owner_asked, [&](std::size_t j) { return wanted.row[j]; });
  row_transfers transfers = request_rows(world, requests);
  std::vector<std::size_t> next(requests.first), arrival_positions(wanted.size());
  for (std::size_t j = 0; j < wanted.size(); ++j)
    if (owner_asked(j) < workers) arrival_positions[j] = next[owner_asked(j)]++;
  place_arriving_rows(transfers, wanted, arrival_positions, me);
  return transfers;
}

/// Plans two exchanges. In the first exchange, a row of another node is sent to one worker of this node, the
/// representative of the row's owner; in the second exchange, the representative sends the row to the other workers of
/// this node that want it. Returns nothing if no row of another node is wanted by several workers of one node. On each
/// worker, the rows of the second exchange are numbered after the rows of the first.
inline std::optional<row_transfers> plan_transfers_by_node(world_state& world, const transport& shared_transport,
                                                           const rows_with_owners& wanted) {
  const std::size_t workers = world.size(), me = world.id(), n = wanted.size();
  std::vector<std::size_t> nodes(workers);
  for (std::size_t k = 0; k < workers; ++k) nodes[k] = shared_transport.members().node_of(k);
  const members_by_node members(nodes);
  const std::size_t here = members.node_of(me);
  // Request wanted rows of workers on other nodes from the representatives of these workers on this node.
  const auto worker_asked = [&](std::size_t j) {
    const bool is_on_other_node = wanted.is_first(j) && members.node_of(wanted.owner[j]) != here;
    return is_on_other_node ? members.representative(wanted.owner[j], here) : workers;
  };
  const auto requested_owners =
      lists_by_worker(workers, n, worker_asked, [&](std::size_t j) { return wanted.owner[j]; });
  const auto requested_rows = lists_by_worker(workers, n, worker_asked, [&](std::size_t j) { return wanted.row[j]; });
  const auto owners = exchange_lists(world, requested_owners), rows = exchange_lists(world, requested_rows);
  struct row_request {                 // a row of another node, which a worker of this node wants
    std::size_t owner, row, position;  ///< the owner, its number of the row; the position in the received lists
  };
  std::vector<row_request> questions(owners.all.size());
  for (std::size_t k = 0; k < questions.size(); ++k) questions[k] = {owners.all[k], rows.all[k], k};
  std::sort(questions.begin(), questions.end(), [](const row_request& a, const row_request& b) {
    if (a.owner != b.owner) return a.owner < b.owner;
    return a.row != b.row ? a.row < b.row : a.position < b.position;
  });
  const auto is_new = [&](std::size_t k) {
    return k == 0 || questions[k].owner != questions[k - 1].owner || questions[k].row != questions[k - 1].row;
  };
  std::uint64_t repeated_requests = 0;
  for (std::size_t k = 0; k < questions.size(); ++k) repeated_requests += is_new(k) ? 0 : 1;
  if (sum_of_all<1>(world, {repeated_requests})[0] == 0) return std::nullopt;
  // First exchange: each worker receives the rows that it wants from its node, or that were requested from it.
  const auto owner_asked = [&](std::size_t k) {
    if (k >= n) return is_new(k - n) ? questions[k - n].owner : workers;
    const bool is_on_this_node =
        wanted.is_first(k) && wanted.owner[k] != me && members.node_of(wanted.owner[k]) == here;
    return is_on_this_node ? wanted.owner[k] : workers;
  };
  const auto requests = lists_by_worker(workers, n + questions.size(), owner_asked,
                                        [&](std::size_t k) { return k < n ? wanted.row[k] : questions[k - n].row; });
  row_transfers transfers = request_rows(world, requests);
  transfers.has_two_steps = true;
  std::vector<std::size_t> next(requests.first), arrival_positions(n);
  // For each requested row, its number among the rows that arrive at this representative.
  number_lists_by_worker answers = owners;
  for (std::size_t k = 0; k < n + questions.size(); ++k) {
    const std::size_t owner = owner_asked(k);
    const std::size_t at = owner < workers ? next[owner]++ : 0;
    if (k < n) arrival_positions[k] = at;
    else answers.all[questions[k - n].position] = owner < workers ? at : answers.all[questions[k - n - 1].position];
  }
  // Second exchange: the representatives send rows on. Sender and receiver compute the same runs of rows. Number the
  // rows that this worker gets from representatives, after the rows that arrive in the first exchange.
  number_lists_by_worker places = requested_owners;
  for (std::size_t k = 0, passed = 0; k < places.all.size(); ++k) {
    const bool is_own = k >= places.first[me] && k < places.first[me + 1];
    places.all[k] = is_own ? 0 : transfers.received_count + passed++;
  }
  const auto answered = exchange_lists(world, answers), placed_rows = exchange_lists(world, places);
  const auto returned = exchange_list_starts(world, owners);
  const auto add_parts = [&](std::vector<row_transfers::forwarded_part>& parts, const number_lists_by_worker& own,
                             const number_lists_by_worker& other, auto first_return_row_of) {
    for (std::size_t k = 0; k < workers; ++k) {
      std::vector<row_run> runs;
      for (std::size_t i = 0; i < own.count(k) && k != me; ++i)
        add_row(runs, own.list_of_worker(k)[i], other.list_of_worker(k)[i]);
      std::size_t row = runs.empty() ? 0 : first_return_row_of(k);
      for (const row_run& run : runs) {
        parts.push_back({{k, run.from, run.rows, run.to}, row});
        row += run.rows;
      }
    }
  };
  add_parts(transfers.forwarded_to_peers, answers, placed_rows, [&](std::size_t k) { return owners.first[k]; });
  add_parts(transfers.forwarded_by_peers, places, answered, [&](std::size_t k) { return *returned.list_of_worker(k); });
  transfers.returned_count = owners.all.size();
  next = requested_owners.first;
  for (std::size_t j = 0; j < n; ++j) {
    const std::size_t to = worker_asked(j);
    if (to == workers) continue;
    const std::size_t k = next[to]++;
    arrival_positions[j] = to == me ? answered.all[k] : places.all[k];
  }
  transfers.received_count += requested_owners.all.size() - requested_owners.count(me);
  place_arriving_rows(transfers, wanted, arrival_positions, me);
  return transfers;
}

PARTITA_DEF index_pattern make_pattern_by_index(world_state& world, std::shared_ptr<transport>& shared_transport,
                                                const index_list& owned, const index_list& wanted, const char* name,
                                                const char* wanted_name) {
  const index_directory directory = register_indices(world, owned, wanted, name, wanted_name);
  open_transport(shared_transport, world);
  const rows_with_owners rows = find_row_owners(world, directory, wanted);
  index_pattern pattern;
  pattern.owned_count = owned.size();
  pattern.wanted_count = wanted.size();
  for (std::size_t j = 0; j < rows.size(); ++j)
    if (rows.owner[j] == world.id()) pattern.kept.add(rows.row[j], j);
  auto by_node = shared_transport->members().has_other_nodes() ? plan_transfers_by_node(world, *shared_transport, rows)
                                                               : std::nullopt;
  pattern.transfers = by_node ? std::move(*by_node) : plan_direct_transfers(world, rows);
  return pattern;
}

}  // namespace partita::detail
