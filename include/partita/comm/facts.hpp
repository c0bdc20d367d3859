// Small collectives over the workers of a world: a few numbers of each worker are gathered, reduced or scanned.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/comm/world.hpp>
#include <vector>

namespace partita::detail {

/// N numbers of one worker.
template <std::size_t N>
using number_array = std::array<std::uint64_t, N>;

/// The extents of a block as a list of numbers for a collective; a 0 is appended, so that the list is never empty.
template <std::size_t Rank>
number_array<Rank + 1> extents_and_zero(const std::array<std::size_t, Rank>& shape) {
  number_array<Rank + 1> all{};
  for (std::size_t d = 0; d < Rank; ++d) all[d] = shape[d];
  return all;
}

/// A list for the result of a collective. If a worker has no memory for the list, the job ends, because the other
/// workers wait in the collective.
template <class Number>
std::vector<Number> allocate_for_collective(world_state& world, std::size_t size) {
  try {
    return std::vector<Number>(size);
  } catch (const std::bad_alloc&) {
    world.report().on_memory_lack_midcall();
    throw;
  }
}

/// The numbers of every worker, indexed by the worker's id. Collective. Cost: one MPI_Allgather of 8 N bytes per
/// worker.
template <std::size_t N>
std::vector<number_array<N>> gather_numbers(world_state& world, const number_array<N>& own) {
  auto all = allocate_for_collective<number_array<N>>(world, world.size());
  const auto count = static_cast<int>(N);
  check(MPI_Allgather(own.data(), count, MPI_UINT64_T, all.data(), count, MPI_UINT64_T, world.communicator()),
        "MPI_Allgather");
  return all;
}

/// The numbers of the worker `worker`, on all workers. Collective; allocates nothing. Cost: one MPI_Bcast.
template <std::size_t N>
number_array<N> broadcast_numbers(const world_state& world, std::size_t worker, number_array<N> own) {
  check(MPI_Bcast(own.data(), static_cast<int>(N), MPI_UINT64_T, static_cast<int>(worker), world.communicator()),
        "MPI_Bcast");
  return own;
}

/// The sum over all workers of each number of their lists. Collective. Cost: one MPI_Allreduce.
template <std::size_t N>
number_array<N> sum_of_all(const world_state& world, const number_array<N>& own) {
  number_array<N> sum{};
  check(MPI_Allreduce(own.data(), sum.data(), static_cast<int>(N), MPI_UINT64_T, MPI_SUM, world.communicator()),
        "MPI_Allreduce");
  return sum;
}

/// The sum of a list over all workers, number by number; the list has the same length on every worker. Collective.
inline std::vector<std::uint64_t> sum_of_all(world_state& world, const std::vector<std::uint64_t>& own) {
  auto sums = allocate_for_collective<std::uint64_t>(world, own.size());
  check(
      MPI_Allreduce(own.data(), sums.data(), static_cast<int>(own.size()), MPI_UINT64_T, MPI_SUM, world.communicator()),
      "MPI_Allreduce");
  return sums;
}
/// The sums, number by number, of the lists of all workers with lower ids. Collective. Cost: one MPI_Exscan.
inline std::vector<std::uint64_t> sum_over_lower_workers(world_state& world, const std::vector<std::uint64_t>& own) {
  auto sums = allocate_for_collective<std::uint64_t>(world, own.size());
  check(MPI_Exscan(own.data(), sums.data(), static_cast<int>(own.size()), MPI_UINT64_T, MPI_SUM, world.communicator()),
        "MPI_Exscan");
  if (world.id() == 0) sums.assign(own.size(), 0);  // worker 0, for which MPI leaves the result undefined
  return sums;
}

/// The sum of one number over the workers before this worker. Collective; allocates nothing. Cost: one MPI_Exscan.
inline std::uint64_t sum_over_lower_workers(const world_state& world, std::uint64_t own) {
  std::uint64_t sum = 0;
  check(MPI_Exscan(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, world.communicator()), "MPI_Exscan");
  return world.id() == 0 ? 0 : sum;
}

/// The maximum over all workers of each number of their lists. Collective. Cost: one MPI_Allreduce.
template <std::size_t N>
number_array<N> maximum_over_workers(const world_state& world, const number_array<N>& own) {
  // MPICH 4.0 compares unsigned numbers as if they were signed, so flip the highest bit
  constexpr std::uint64_t highest = std::uint64_t{1} << 63U;
  std::array<std::int64_t, N> given{}, most{};
  for (std::size_t k = 0; k < N; ++k) given[k] = static_cast<std::int64_t>(own[k] ^ highest);
  check(MPI_Allreduce(given.data(), most.data(), static_cast<int>(N), MPI_INT64_T, MPI_MAX, world.communicator()),
        "MPI_Allreduce");
  number_array<N> all{};
  for (std::size_t k = 0; k < N; ++k) all[k] = static_cast<std::uint64_t>(most[k]) ^ highest;
  return all;
}

/// Replaces each word by the bitwise exclusive or of that word over all workers. Every worker passes the same number of
/// words. Collective. Cost: one MPI_Allreduce for each 4 GiB of words.
inline void xor_over_workers(const world_state& world, std::vector<std::uint32_t>& words) {
  constexpr std::size_t most = std::size_t{1} << 30U;
  for (std::size_t done = 0; done < words.size(); done += most)
    check(MPI_Allreduce(MPI_IN_PLACE, words.data() + done,
                        static_cast<int>(words.size() - done < most ? words.size() - done : most), MPI_UINT32_T,
                        MPI_BXOR, world.communicator()),
          "MPI_Allreduce");
}

}  // namespace partita::detail
