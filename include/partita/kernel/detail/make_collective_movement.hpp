// Makes the movement between two partitions, or throws an error with a readable message.
#pragma once

#include <partita/comm/partition.hpp>
#include <partita/kernel/detail/collective_movement.hpp>
#include <partita/plan/group_plan.hpp>
#include <partita/plan/worker_groups.hpp>
#include <partita/rule/kernel_dimensions.hpp>
#include <partita/rule/kernel_policy.hpp>
#include <partita/rule/worker_broadcast.hpp>

namespace partita::detail {

/// Rejects partitions of different worlds.
template <class P, class Q>
void expect_one_world(const partition<P>& p, const partition<Q>& q, const char* call) {
  if (!(p.world() == q.world()))
    throw partition_error(text(call) << ": requires partitions of one world; make both from the same world");
}

/// Whether some worker of the small partition receives a sum to which it contributes no block. Cost: O(small workers);
/// for a list of workers, O(their square).
template <class Small, class Large>
bool sums_blindly(const grid<Small>& small, const grid<Large>& large, const worker_pairing<Large::rank()>& pairing) {
  for (std::size_t k = 0; k < small.size(); ++k) {
    const std::size_t place = large.place(small.workers()[k]);
    if (place == large.size() || pairing.small_of(large.index(place)) != k) return true;
  }
  return false;
}

/// Worker ids as text for messages: "0 to 3", or a list. A long list is cut short and followed by a fingerprint.
template <class Ids>
text workers_of(const Ids& ids) {
  constexpr std::size_t named = 24;  // ids that are written out
  text all;
  const std::size_t n = ids.size();
  bool range = n > 1;
  std::uint64_t number = 0;
  for (std::size_t k = 0; k < n; ++k) {
    range = range && ids[k] == ids[0] + k;
    number = mixed(number, ids[k]);
  }
  if (range) return all << ids[0] << " to " << ids[n - 1];
  for (std::size_t k = 0; k < n && k < named; ++k) all << (k == 0 ? "" : ", ") << ids[k];
  if (n > named) all << ", ... (list number " << number << ")";
  return all;
}

/// The extents of a partition and its workers as text, so that different partitions have different texts.
template <class Extents>
text described(const grid<Extents>& p) {
  const workers& ids = p.workers();
  text all;
  all << p.shape() << " on workers ";
  if (ids.is_range() && ids.size() > 1) return all << ids[0] << " to " << ids[ids.size() - 1];
  return all << workers_of(ids);
}

/// The name and the arguments of a kernel between a small and a large partition.
struct group_kernel_choices {
  const char* name;
  text reduction{};          ///< ", " and the reduction's name as in the call, or empty
  std::uint64_t number = 0;  ///< of the reduction and the policies: equal for equal ones
  bool transpose_small = false, transpose_large = false;
  bool to_root = false;  ///< from the large partition to the small one
  bool keep_batch = true;
};

/// The movement between a small and a large partition; checks the broadcasting rule first.
template <class Small, class Large>
collective_movement make_collective_movement(const partition<Small>& small, const partition<Large>& large,
                                             const group_kernel_choices& is) {
  text call(is.name);
  call << "(p_x, p_y" << is.reduction
       << ") with p_x = " << (is.to_root ? described(large.grid()) : described(small.grid()))
       << ", p_y = " << (is.to_root ? described(small.grid()) : described(large.grid()));
  expect_one_world(small, large, is.name);
  const auto s = small.grid().shape();
  const auto l = large.grid().shape();
  const auto verdict = judge_worker_broadcast(s, l, is.transpose_small, is.transpose_large, is.to_root);
  if (!verdict) throw partition_error(explain_verdict(verdict, s, l, is.transpose_small, is.transpose_large));
  const worker_pairing<Large::rank()> pairing(s, l, is.transpose_small, is.transpose_large);
  std::uint64_t fingerprint = mixed(small.grid().fingerprint(), large.grid().fingerprint());
  fingerprint = mixed(fingerprint, is.number);
  fingerprint = mixed(fingerprint, (is.to_root ? 1U : 0U) + (is.transpose_small ? 2U : 0U) +
                                       (is.transpose_large ? 4U : 0U) + (is.keep_batch ? 8U : 0U));
  const auto kind = is.to_root ? group_plan::kind::sum_reduce : group_plan::kind::broadcast;
  return {small.world().state(),
          plan_groups(small.grid(), large.grid(), pairing, small.world().id(), kind),
          {is.name, call, fingerprint, is.keep_batch,
           small.world().level() == checks::local && sums_blindly(small.grid(), large.grid(), pairing)}};
}

/// The movement among the workers of a partition whose indices are equal in the kept dimensions.
template <class Extents>
collective_movement make_sum_movement(const partition<Extents>& p, const std::array<bool, Extents::rank()>& kept,
                                      const char* name, const text& reduction, std::uint64_t number) {
  std::uint64_t fingerprint = mixed(p.grid().fingerprint(), number);
  for (bool k : kept) fingerprint = mixed(fingerprint, k ? 1 : 0);
  text call(name);
  call << "(p, dimensions" << reduction << ") with p = " << described(p.grid()) << ", along dimensions [";
  bool first = true;
  for (std::size_t d = 0; d < kept.size(); ++d) {
    if (kept[d]) continue;
    call << (first ? "" : ", ") << d;
    first = false;
  }
  call << "]";
  return {p.world().state(), plan_sum_groups(p.grid(), kept, p.world().id()), {name, call, fingerprint}};
}

/// The movement in groups that were made at run time.
template <class = void>
inline collective_movement make_movement_in_groups(const world& everyone, const worker_groups& groups,
                                                   const group_kernel_choices& is, group_plan::kind kind) {
  if (groups.bound() > everyone.size())
    throw partition_error(text(is.name) << "(everyone, groups" << is.reduction << "): requires workers of a world of "
                                        << everyone.size() << ", got worker " << groups.bound() - 1
                                        << "; start more workers, or choose ids below " << everyone.size());
  text call(is.name);
  call << "(everyone, groups" << is.reduction << ") with groups [";
  constexpr std::size_t named = 8;  // groups that are written out; more groups are followed by a fingerprint
  for (std::size_t g = 0; g < groups.size() && g < named; ++g)
    call << (g == 0 ? "" : ", ") << workers_of(groups.members(g));
  if (groups.size() > named) call << ", ... (groups number " << groups.fingerprint() << ")";
  call << "]";
  const std::uint64_t fingerprint = mixed(mixed(groups.fingerprint(), is.number),
                                          64 + 2 * static_cast<std::uint64_t>(kind) + (is.keep_batch ? 1 : 0));
  return {everyone.state(), groups.plan(everyone.id(), kind), {is.name, call, fingerprint, is.keep_batch, false}};
}

/// A policy that does not concern partitions.
template <class Policy>
inline constexpr bool policy_in_groups =
    std::is_same_v<Policy, discard_batch_t> || std::is_same_v<Policy, reproducible_t> ||
    std::is_same_v<Policy, shared_view_t>;

/// The dimensions that a kernel does not reduce along, from a list of dimensions that was made at run time.
template <std::size_t Rank>
std::array<bool, Rank> kept_at_run_time(const dimension_list& along, const char* name) {
  std::array<bool, Rank> kept{};
  kept.fill(true);
  for (std::size_t d : along) {
    if (d >= Rank || !kept[d])
      throw partition_error(text(name) << "(p, dimensions, ...): requires dimensions below rank(p), each once, got "
                                       << along << " for a partition of rank " << Rank << "; leave " << d
                                       << (d >= Rank ? " out" : " out once"));
    kept[d] = false;
  }
  return kept;
}

}  // namespace partita::detail
