// Groups of workers that are made at run time; kernels act within each group, whatever the rank of their blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/hash.hpp>
#include <partita/plan/group_plan.hpp>
#include <partita/plan/workers.hpp>
#include <utility>
#include <vector>

namespace partita {

/// Disjoint groups of workers, each with an order: its first member is its root. A worker may be in no group. The value
/// must be the same on all workers. Cost: O(workers) to make, O(members of its own group) to plan a worker's call.
class worker_groups {
 public:
  /// From lists of worker ids. Requires lists that are not empty and contain each worker once [partition_error].
  template <class = void>
  explicit worker_groups(std::vector<std::vector<std::size_t>> lists) : members_(std::move(lists)) {
    for (std::size_t g = 0; g < members_.size(); ++g) {
      if (members_[g].empty())
        throw partition_error(text("partita::worker_groups: requires groups that have a worker, group ")
                              << g << " has none; leave it out");
      for (std::size_t worker : members_[g]) {
        if (worker > most_workers)
          throw partition_error(text("partita::worker_groups: requires ids of workers, got ")
                                << worker << " in group " << g);
        if (worker >= group_of_.size()) group_of_.resize(worker + 1, none);
        if (group_of_[worker] != none)
          throw partition_error(text("partita::worker_groups: requires each worker in one group at most, worker ")
                                << worker << " is named in group " << group_of_[worker] << " and again in group " << g);
        group_of_[worker] = g;
      }
    }
  }
  /// Puts the workers k with equal colours[k] in one group, in ascending order; workers of `no_colour` are in no group.
  template <class = void>
  static worker_groups by_colour(const std::vector<std::size_t>& colours) {
    std::vector<std::vector<std::size_t>> lists;
    std::vector<std::size_t> seen;
    for (std::size_t worker = 0; worker < colours.size(); ++worker) {
      if (colours[worker] == no_colour) continue;
      std::size_t g = 0;
      while (g < seen.size() && seen[g] != colours[worker]) ++g;
      if (g == seen.size()) {
        seen.push_back(colours[worker]);
        lists.emplace_back();
      }
      lists[g].push_back(worker);
    }
    return worker_groups(std::move(lists));
  }
  static constexpr std::size_t no_colour = ~std::size_t{0};

  std::size_t size() const { return members_.size(); }
  /// The workers of a group, its root first.
  const std::vector<std::size_t>& members(std::size_t group) const {
    if (group >= members_.size())
      throw partition_error(text("partita::worker_groups::members(group): requires a group below the number of groups ")
                            << members_.size() << ", got " << group);
    return members_[group];
  }
  /// The group of a worker, or size() if it is in none.
  std::size_t group_of(std::size_t worker) const {
    return worker < group_of_.size() && group_of_[worker] != none ? group_of_[worker] : size();
  }
  /// One more than the largest id, or 0 if there is none.
  std::size_t bound() const { return group_of_.size(); }
  /// A fingerprint: equal for equal groups.
  template <class = void>
  std::uint64_t fingerprint() const {
    hasher hash;
    for (const auto& list : members_) hash.mix(list);
    return hash.value();
  }
  /// The part of a worker in a call: the root of its group is also one of the members that send and receive.
  template <class = void>
  group_plan plan(std::size_t worker, group_plan::kind movement) const {
    group_plan own;
    own.movement = movement;
    own.worker = worker;
    const std::size_t number = group_of(worker);
    if (number == size()) return own;
    worker_group group;
    group.number = number;
    group.root_is_large = true;
    group.members = members_[number];
    while (group.members[group.position] != worker) ++group.position;
    own.large = true;
    own.small = group.position == 0;
    own.groups.push_back(std::move(group));
    return own;
  }

  friend bool operator==(const worker_groups& a, const worker_groups& b) { return a.members_ == b.members_; }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  static constexpr std::size_t most_workers = std::size_t{1} << 31U;  // MPI counts them in an int

  std::vector<std::vector<std::size_t>> members_;
  std::vector<std::size_t> group_of_;  // by worker
};

}  // namespace partita
