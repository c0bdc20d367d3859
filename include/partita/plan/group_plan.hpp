// The groups of a worker broadcast or of a worker reduction to which one worker belongs.
#pragma once

#include <array>
#include <cstddef>
#include <partita/plan/grid.hpp>
#include <partita/rule/worker_broadcast.hpp>
#include <vector>

namespace partita {

/// A group: one worker of the small partition (the root), and the workers of the large partition that pair with it.
struct worker_group {
  std::size_t number = 0;  ///< the root's place in the small partition; all workers process groups in this order
  std::vector<std::size_t> members;  ///< worker ids: first the root, then the large partition in C order, each once
  bool root_is_large = false;        ///< whether the root is also a worker of the large partition in the group
  std::size_t position = 0;          ///< the index of this worker in `members`

  /// The number of workers that contribute a block to a reduction in this group.
  std::size_t contributors() const { return members.size() - (root_is_large ? 0 : 1); }

  friend bool operator==(const worker_group&, const worker_group&) = default;
};

/// The groups of one worker, at most two: as a worker of the small partition and as a worker of the large partition.
struct group_plan {
  /// A broadcast from the root, a sum on the root, or a sum that all members get.
  enum class kind { broadcast, sum_reduce, all_sum_reduce };

  std::size_t worker = 0;            ///< the worker whose groups these are
  bool small = false;                ///< whether the worker is active on the small partition
  bool large = false;                ///< whether the worker is active on the large partition
  std::vector<worker_group> groups;  ///< by ascending number; two if this worker is small and large in different groups
  kind movement = kind::broadcast;   ///< a broadcast from the roots, a sum to the roots, or both

  /// The group whose root, its worker of the small partition, is this worker; or nullptr.
  const worker_group* root_group() const {
    for (const worker_group& g : groups)
      if (g.position == 0) return &g;
    return nullptr;
  }
  /// The group in which this worker is a worker of the large partition, or nullptr.
  const worker_group* member_group() const {
    for (const worker_group& g : groups)
      if (g.position != 0 || g.root_is_large) return &g;
    return nullptr;
  }

  friend bool operator==(const group_plan&, const group_plan&) = default;
};

namespace detail {

/// Makes group `number` as `worker` sees it.
template <class Small, class Large>
worker_group make_group(const grid<Small>& small, const grid<Large>& large,
                        const worker_pairing<Large::rank()>& pairing, std::size_t number, std::size_t worker) {
  worker_group group;
  group.number = number;
  const std::size_t count = pairing.large_workers_per_small();
  group.members.reserve(count + 1);
  group.members.push_back(small.workers()[number]);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t member = large.workers()[pairing.large_partner(number, k)];
    if (member == group.members[0]) {
      group.root_is_large = true;
    } else {
      if (member == worker) group.position = group.members.size();
      group.members.push_back(member);
    }
  }
  return group;
}

}  // namespace detail

/// The groups of `worker` between a small and a large grid. The pairing must be legal (judge_worker_broadcast).
/// Cost:     time in O(members of the worker's groups); O(workers) if the workers of a grid are a list.
template <class Small, class Large>
group_plan plan_groups(const grid<Small>& small, const grid<Large>& large, const worker_pairing<Large::rank()>& pairing,
                       std::size_t worker, group_plan::kind movement = group_plan::kind::broadcast) {
  group_plan plan;
  plan.movement = movement;
  plan.worker = worker;
  const std::size_t small_place = small.place(worker), large_place = large.place(worker);
  plan.small = small_place < small.size();
  plan.large = large_place < large.size();
  const std::size_t number_of_large = plan.large ? pairing.small_partner(large.index(large_place)) : 0;
  if (plan.small && plan.large && number_of_large < small_place)
    plan.groups.push_back(detail::make_group(small, large, pairing, number_of_large, worker));
  if (plan.small) plan.groups.push_back(detail::make_group(small, large, pairing, small_place, worker));
  if (plan.large && (!plan.small || number_of_large > small_place))
    plan.groups.push_back(detail::make_group(small, large, pairing, number_of_large, worker));
  return plan;
}

/// The group of `worker` among the workers of a grid whose indices are equal in the kept dimensions: the blocks of the
/// group are summed, and all its members get the sum. The first member, in C order, is the root. A worker that is not
/// in the grid has no group.
template <class Extents>
group_plan plan_sum_groups(const grid<Extents>& p, const std::array<bool, Extents::rank()>& keep, std::size_t worker) {
  group_plan plan;
  plan.movement = group_plan::kind::all_sum_reduce;
  plan.worker = worker;
  const std::size_t place = p.place(worker);
  if (place >= p.size()) return plan;
  const worker_pairing<Extents::rank()> pairing(p.shape(), keep);
  worker_group group;
  group.number = pairing.small_partner(p.index(place));
  group.root_is_large = true;
  const std::size_t count = pairing.large_workers_per_small();
  group.members.reserve(count);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t member = p.workers()[pairing.large_partner(group.number, k)];
    if (member == worker) group.position = k;
    group.members.push_back(member);
  }
  plan.large = true;
  plan.small = group.position == 0;
  plan.groups.push_back(static_cast<worker_group&&>(group));
  return plan;
}

}  // namespace partita
