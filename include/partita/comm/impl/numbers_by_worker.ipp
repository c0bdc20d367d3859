// Defines the functions that comm/numbers_by_worker.hpp declares.
#pragma once

#include <algorithm>
#include <partita/comm/facts.hpp>
#include <partita/comm/numbers_by_worker.hpp>

namespace partita::detail {

PARTITA_DEF numbers_by_worker sent_to_each(const world_state& world, const numbers_by_worker& mine, std::size_t most) {
  const std::size_t workers = world.size();
  std::vector<std::uint64_t> sent(workers), arriving(workers);
  for (std::size_t k = 0; k < workers; ++k) sent[k] = mine.count(k);
  check(MPI_Alltoall(sent.data(), 1, MPI_UINT64_T, arriving.data(), 1, MPI_UINT64_T, world.communicator()),
        "MPI_Alltoall");
  auto theirs = numbers_by_worker::of({arriving.begin(), arriving.end()});
  // Each round moves at most `share` numbers between two workers, so that no sum of counts exceeds `most`.
  const std::size_t share = std::max<std::size_t>(most / workers, 1);
  std::uint64_t longest = 0;
  for (std::size_t k = 0; k < workers; ++k) longest = std::max<std::uint64_t>(longest, sent[k]);
  const std::size_t rounds = (largest<1>(world, {longest})[0] + share - 1) / share;
  std::vector<std::uint64_t> out, in;
  const auto lay_out = [&](const numbers_by_worker& lists, std::size_t round, std::vector<int>& counts,
                           std::vector<int>& places) {
    int at = 0;
    for (std::size_t k = 0; k < workers; ++k) {
      const std::size_t done = std::min(round * share, lists.count(k));
      counts[k] = static_cast<int>(std::min(share, lists.count(k) - done));
      places[k] = at;
      at += counts[k];
    }
    return static_cast<std::size_t>(at);
  };
  std::vector<int> out_counts(workers), out_places(workers), in_counts(workers), in_places(workers);
  for (std::size_t round = 0; round < rounds; ++round) {
    out.resize(lay_out(mine, round, out_counts, out_places));
    in.resize(lay_out(theirs, round, in_counts, in_places));
    for (std::size_t k = 0; k < workers; ++k)
      if (out_counts[k] != 0) std::copy_n(mine.of_worker(k) + round * share, out_counts[k], out.data() + out_places[k]);
    check(MPI_Alltoallv(out.data(), out_counts.data(), out_places.data(), MPI_UINT64_T, in.data(), in_counts.data(),
                        in_places.data(), MPI_UINT64_T, world.communicator()),
          "MPI_Alltoallv");
    for (std::size_t k = 0; k < workers; ++k)
      if (in_counts[k] != 0)
        std::copy_n(in.data() + in_places[k], in_counts[k], theirs.all.data() + theirs.first[k] + round * share);
  }
  return theirs;
}

}  // namespace partita::detail
