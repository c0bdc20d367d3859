// The owners of global indices: a directory that is divided over the workers; if each worker owns one range of indices,
// every worker stores all ranges.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/comm/agreement.hpp>
#include <partita/comm/facts.hpp>
#include <partita/comm/numbers_by_worker.hpp>
#include <partita/kernel/index_list.hpp>
#include <vector>

namespace partita::detail {

/// This worker's part of the directory of owners: one range of indices, or all indices if each worker owns one range. A
/// divided directory of n indices on p workers has parts of at most n / p indices, rounded up.
class index_directory {
 public:
  /// Consecutive indices that one worker owns.
  struct run {
    std::size_t start, stop, worker, row;  ///< indices [start, stop); their owner; its row with index start
  };

  index_directory(std::size_t n, std::size_t workers, std::size_t me)
      : indices_per_worker_(std::max<std::size_t>((n + workers - 1) / workers, 1)),
        first_index_(std::min(n, me * indices_per_worker_)),
        end_index_(std::min(n, first_index_ + indices_per_worker_)) {}

  /// Whether this worker knows all owners, because each worker owns a range of indices.
  bool knows_all_owners() const { return knows_all_owners_; }
  /// Makes a directory for workers that each own one range of indices; every worker stores the whole directory.
  static index_directory make_range_directory(std::size_t n) {
    index_directory all(n, 1, 0);
    all.knows_all_owners_ = true;
    return all;
  }

  /// The worker whose part of the directory has the entry of an index.
  std::size_t directory_worker(std::size_t index) const { return index / indices_per_worker_; }
  std::size_t indices_per_worker() const { return indices_per_worker_; }  ///< the most indices in a part

  /// Stores all runs of owned indices in this worker's part of the directory. Returns an error message if runs overlap
  /// or leave a gap, otherwise an empty text.
  text store_runs(const std::vector<run>& runs, const char* name) {
    sort_runs(runs);
    std::size_t next = first_index_;
    for (std::size_t k = 0; k <= owned_runs_.size(); ++k) {
      const std::size_t start = k < owned_runs_.size() ? owned_runs_[k].start : end_index_;
      if (start > next) return begin_error(name) << "no worker owns index " << next << "; give it an owner";
      if (k == owned_runs_.size()) break;
      if (start < next)
        return begin_error(name) << "index " << start << " is owned by worker " << owned_runs_[k - 1].worker
                                 << " and by worker " << owned_runs_[k].worker << "; leave it out of one list";
      next = owned_runs_[k].stop;
    }
    return {};
  }
  const run& find(std::size_t index) const {  // the run that contains an index of this worker's part
    const run *const first = owned_runs_.data() + bucket_starts_[bucket_of_index(index)],
                     *const last = owned_runs_.data() + bucket_starts_[bucket_of_index(index) + 1];
    return *(std::upper_bound(first, last, index, [](std::size_t i, const run& r) { return i < r.start; }) - 1);
  }

 private:
  static text begin_error(const char* name) {  // the beginning of all error messages
    return text(name) << ": requires owned indices 0, 1, ..., n - 1, each on one worker: ";
  }

  /// The number of the bucket that has the runs that begin at an index of this part.
  std::size_t bucket_of_index(std::size_t index) const { return (index - first_index_) >> bucket_shift_; }
  /// Sorts runs into buckets; each bucket has the runs that begin in one range of indices. There are about as many
  /// buckets as runs, so a bucket has one run on average, and insertion and search take constant time on average.
  void sort_runs(const std::vector<run>& runs) {
    while ((end_index_ - first_index_) >> bucket_shift_ > runs.size()) ++bucket_shift_;
    bucket_starts_.assign(((end_index_ - first_index_) >> bucket_shift_) + 2, 0);
    for (const run& r : runs) ++bucket_starts_[bucket_of_index(r.start) + 1];
    for (std::size_t b = 1; b < bucket_starts_.size(); ++b) bucket_starts_[b] += bucket_starts_[b - 1];
    std::vector<std::size_t> next(bucket_starts_);
    owned_runs_.resize(runs.size());
    for (const run& r : runs) owned_runs_[next[bucket_of_index(r.start)]++] = r;
    for (std::size_t b = 0; b + 1 < bucket_starts_.size(); ++b)
      if (bucket_starts_[b + 1] - bucket_starts_[b] > 1)
        std::sort(owned_runs_.data() + bucket_starts_[b], owned_runs_.data() + bucket_starts_[b + 1],
                  [](const run& x, const run& y) { return x.start < y.start; });
  }

  std::size_t indices_per_worker_, first_index_, end_index_;  ///< the most indices of a part; this one: [first, end)
  std::size_t bucket_shift_ = 0;                              ///< a bucket is for 2^bucket_shift_ indices
  bool knows_all_owners_ = false;                             ///< whether this part has all indices, on every worker
  std::vector<run> owned_runs_;                               ///< the runs of this part, in ascending order
  std::vector<std::size_t> bucket_starts_;                    ///< each bucket's first run, then the number of all runs
};

/// Calls visit(start, stop, row) for each run of consecutive owned indices.
template <class Visit>
void for_each_owned_run(const index_list& owned, Visit visit) {
  if (owned.size() == 0) return;
  if (owned.is_range()) return visit(owned[0], owned[0] + owned.size(), std::size_t{0});
  for (std::size_t k = 0, next = 0; k < owned.size(); k = next) {
    for (next = k + 1; next < owned.size() && owned[next] == owned[next - 1] + 1;) ++next;
    visit(owned[k], owned[k] + (next - k), k);
  }
}

/// Sends each run of owned indices to the workers whose parts of the directory it is in; returns the received runs.
inline std::vector<index_directory::run> send_runs(world_state& world, const index_directory& directory,
                                                   const index_list& owned) {
  std::vector<std::size_t> lengths(world.size(), 0);
  const auto for_each_piece = [&](auto visit) {
    for_each_owned_run(owned, [&](std::size_t start, std::size_t stop, std::size_t row) {
      for (std::size_t at = start; at < stop;) {
        const std::size_t to = directory.directory_worker(at),
                          end = std::min(stop, (to + 1) * directory.indices_per_worker());
        visit(to, std::array<std::uint64_t, 3>{at, end, row + (at - start)});
        at = end;
      }
    });
  };
  for_each_piece([&](std::size_t to, const auto& piece) { lengths[to] += piece.size(); });
  auto pieces = number_lists_by_worker::with_lengths(lengths);
  std::vector<std::size_t> next(pieces.first);
  for_each_piece([&](std::size_t to, const auto& piece) {
    for (const std::uint64_t number : piece) pieces.all[next[to]++] = number;
  });
  pieces = exchange_lists(world, pieces);
  std::vector<index_directory::run> runs;
  for (std::size_t k = 0; k < world.size(); ++k)
    for (std::size_t i = 0; i < pieces.count(k); i += 3) {
      const std::uint64_t* const piece = pieces.list_of_worker(k) + i;
      runs.push_back({piece[0], piece[1], k, piece[2]});
    }
  return runs;
}

/// Makes the directory of the owned indices of all workers. Collective. All workers throw if owned indices overlap or
/// leave a gap, or if a worker wants an index that no worker owns; messages call a wanted index `wanted_name`.
inline index_directory register_indices(world_state& world, const index_list& owned, const index_list& wanted,
                                        const char* name, const char* wanted_name) {
  constexpr std::size_t most = std::size_t{1} << 62U;  // chosen: the sum of two numbers of indices does not overflow
  constexpr std::uint64_t number_of_call = 0x696e646963657373ULL;
  const auto describe = [&] {
    return text(name) << " with " << owned.size() << " owned and " << wanted.size() << " wanted indices";
  };
  local_error found_error;
  std::size_t n = 0;
  for_each_owned_run(owned, [&](std::size_t start, std::size_t stop, std::size_t) {
    if (stop > most || start > most)
      found_error =
          local_error(text(name) << ": requires indices below 2^62, got " << to_signed_index(start)
                                 << " among those that worker " << world.id() << " owns; a negative index is none");
    else n = std::max(n, stop);
  });
  for (const index_list* const list : {&owned, &wanted})
    if (list->is_reversed())
      found_error =
          local_error(text(name) << ": requires ranges that do not stop before they start, worker " << world.id()
                                 << (list == &owned ? " owns" : " wants")
                                 << " one that does; interval{first, last} has the indices from first to last - 1");
  agree_on_call(world, number_of_call, found_error, describe);
  const auto ranges = gather_numbers<4>(
      world, {n, owned.is_range() || owned.size() == 0 ? 1U : 0U, owned.size() != 0 ? owned[0] : 0, owned.size()});
  bool all_ranges = true;
  for (const auto& worker_numbers : ranges) {
    n = std::max<std::size_t>(n, worker_numbers[0]);
    all_ranges = all_ranges && worker_numbers[1] != 0;
  }
  index_directory directory =
      all_ranges ? index_directory::make_range_directory(n) : index_directory(n, world.size(), world.id());
  std::vector<index_directory::run> runs;
  if (all_ranges) {
    for (std::size_t k = 0; k < ranges.size(); ++k)
      if (ranges[k][3] != 0) runs.push_back({ranges[k][2], ranges[k][2] + ranges[k][3], k, 0});
  } else {
    runs = send_runs(world, directory, owned);
  }
  found_error = local_error(directory.store_runs(runs, name));
  for (std::size_t j = 0; j < wanted.size() && !found_error.any(); ++j)
    if (wanted[j] >= n)
      found_error = local_error(text(name) << ": requires each " << wanted_name << " to be below " << n
                                           << ", the number of those that are owned; worker " << world.id() << " wants "
                                           << to_signed_index(wanted[j]));
  agree_on_call(world, number_of_call, found_error, describe);
  return directory;
}

}  // namespace partita::detail
