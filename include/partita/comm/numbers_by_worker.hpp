// Lists of numbers, of any length, that every worker sends to every worker. Workers use such lists to make a plan that
// no worker knows as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <partita/comm/world.hpp>
#include <partita/core/config.hpp>
#include <vector>

namespace partita::detail {

/// A list of numbers for each worker, or from each worker.
struct number_lists_by_worker {
  std::vector<std::size_t> first;  ///< the index in `all` of the start of each list; last, the total length
  std::vector<std::uint64_t> all;  ///< the numbers of all lists, in the order of the workers

  /// Makes one list for each worker, of the given lengths.
  static number_lists_by_worker with_lengths(const std::vector<std::size_t>& lengths) {
    number_lists_by_worker room;
    room.first.assign(lengths.size() + 1, 0);
    for (std::size_t k = 0; k < lengths.size(); ++k) room.first[k + 1] = room.first[k] + lengths[k];
    room.all.resize(room.first.back());
    return room;
  }
  std::size_t count(std::size_t worker) const { return first[worker + 1] - first[worker]; }  ///< The length of a list.
  const std::uint64_t* list_of_worker(std::size_t worker) const { return all.data() + first[worker]; }
};

/// Makes one list of numbers for each worker: the number `what(k)`, for k < n, is appended to the list of worker
/// `to(k)`, in the order of k; the number is left out if to(k) is the number of workers.
template <class To, class What>
number_lists_by_worker lists_by_worker(std::size_t workers, std::size_t n, To to, What what) {
  std::vector<std::size_t> lengths(workers + 1, 0);
  for (std::size_t k = 0; k < n; ++k) ++lengths[to(k)];
  lengths.pop_back();
  auto lists = number_lists_by_worker::with_lengths(lengths);
  std::vector<std::size_t> next(lists.first);
  for (std::size_t k = 0; k < n; ++k)
    if (const std::size_t worker = to(k); worker < workers) lists.all[next[worker]++] = what(k);
  return lists;
}

/// Sends a list to each worker and returns the lists that the workers have sent to this one. Collective.
/// Cost: an MPI_Alltoall of one number, an MPI_Allreduce, and an MPI_Alltoallv. Because counts of MPI are ints, the
///       MPI_Alltoallv is repeated if some list has more than `most_per_call` / (number of workers) numbers.
PARTITA_DECL number_lists_by_worker exchange_lists(const world_state& world, const number_lists_by_worker& mine,
                                                   std::size_t most_per_call = std::numeric_limits<int>::max());

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/impl/numbers_by_worker.ipp>
#endif
