// Defines the functions that comm/numbers_by_worker.hpp declares.
#pragma once

#include <algorithm>
#include <partita/comm/facts.hpp>
#include <partita/comm/numbers_by_worker.hpp>

namespace partita::detail {

PARTITA_DEF number_lists_by_worker exchange_lists(const world_state& world, const number_lists_by_worker& mine,
                                                  std::size_t most_per_call) {
  const std::size_t workers = world.size();
  std::vector<std::uint64_t> sent(workers), arriving(workers);
  for (std::size_t k = 0; k < workers; ++k) sent[k] = mine.count(k);
  check(MPI_Alltoall(sent.data(), 1, MPI_UINT64_T, arriving.data(), 1, MPI_UINT64_T, world.communicator()),
        "MPI_Alltoall");
  auto received = number_lists_by_worker::with_lengths({arriving.begin(), arriving.end()});
  // Each round moves at most `share` numbers between two workers, so that no sum of counts exceeds `most_per_call`.
  const std::size_t share = std::max<std::size_t>(most_per_call / workers, 1);
  std::uint64_t longest = 0;
  for (std::size_t k = 0; k < workers; ++k) longest = std::max<std::uint64_t>(longest, sent[k]);
  const std::size_t rounds = (maximum_over_workers<1>(world, {longest})[0] + share - 1) / share;
  std::vector<int> counts(2 * workers), places(2 * workers);
  const auto lay_out = [&](const number_lists_by_worker& numbers, std::size_t round, int* count, int* place) {
    int at = 0;
    for (std::size_t k = 0; k < workers; ++k) {
      const std::size_t done = std::min(round * share, numbers.count(k));
      count[k] = static_cast<int>(std::min(share, numbers.count(k) - done));
      place[k] = at;
      at += count[k];
    }
    return static_cast<std::size_t>(at);
  };
  std::vector<std::uint64_t> out, in;
  for (std::size_t round = 0; round < rounds; ++round) {
    int *const out_counts = counts.data(), *const in_counts = out_counts + workers;
    int *const out_places = places.data(), *const in_places = out_places + workers;
    const std::size_t outgoing = lay_out(mine, round, out_counts, out_places);
    const std::size_t incoming = lay_out(received, round, in_counts, in_places);
    if (rounds > 1) out.resize(outgoing), in.resize(incoming);
    for (std::size_t k = 0; k < workers && rounds > 1; ++k)
      std::copy_n(mine.all.data() + mine.first[k] + std::min(round * share, mine.count(k)), out_counts[k],
                  out.data() + out_places[k]);
    check(MPI_Alltoallv(rounds > 1 ? out.data() : mine.all.data(), out_counts, out_places, MPI_UINT64_T,
                        rounds > 1 ? in.data() : received.all.data(), in_counts, in_places, MPI_UINT64_T,
                        world.communicator()),
          "MPI_Alltoallv");
    for (std::size_t k = 0; k < workers && rounds > 1; ++k)
      std::copy_n(in.data() + in_places[k], in_counts[k],
                  received.all.data() + received.first[k] + std::min(round * share, received.count(k)));
  }
  return received;
}

}  // namespace partita::detail
