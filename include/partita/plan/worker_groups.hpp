// Groups of workers that are made at run time; kernels act within each group, whatever the rank of their blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/core/hash.hpp>
#include <partita/plan/group_plan.hpp>
#include <partita/plan/workers.hpp>
#include <vector>

namespace partita {

/// Disjoint groups of workers, each with an order: the first member of a group is its root. A worker may be in no
/// group. All workers must pass equal groups. Cost: O(workers) to make groups (from colours O(workers * groups)),
/// O(members of a group) to plan a call.
class worker_groups {
 public:
  /// Makes groups from lists of worker ids; no list may be empty. Each id may occur only once [partition_error].
  PARTITA_DECL explicit worker_groups(std::vector<std::vector<std::size_t>> groups);
  /// Makes groups of the workers k with equal colours[k], in ascending order; workers of `no_colour` are in no group.
  PARTITA_DECL static worker_groups by_colour(const std::vector<std::size_t>& colours);
  static constexpr std::size_t no_colour = ~std::size_t{0};  ///< of workers that are in no group

  std::size_t size() const { return members_.size(); }  ///< The number of groups.
  /// The workers of a group, the root first.
  PARTITA_DECL const std::vector<std::size_t>& members(std::size_t group) const;
  /// The number of a worker's group, or size() if the worker is in no group.
  std::size_t group_of(std::size_t worker) const {
    return worker < groups_.size() && groups_[worker] != none ? groups_[worker] : size();
  }
  /// One more than the largest worker id, or 0 if there are no groups.
  std::size_t id_end() const { return groups_.size(); }
  /// A hash of the groups, which is equal for equal groups.
  PARTITA_DECL std::uint64_t fingerprint() const;
  /// The plan of a worker in a collective call: the root of its group is also a member that sends and receives.
  PARTITA_DECL group_plan plan(std::size_t worker, group_plan::kind movement) const;

  friend bool operator==(const worker_groups& a, const worker_groups& b) { return a.members_ == b.members_; }

 private:
  static constexpr std::size_t none = ~std::size_t{0};                ///< no group
  static constexpr std::size_t most_workers = std::size_t{1} << 31U;  // MPI counts workers in an int

  std::vector<std::vector<std::size_t>> members_;  ///< the worker ids of each group, the root first
  std::vector<std::size_t> groups_;                // the group of each worker
};

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/worker_groups.ipp>
#endif
