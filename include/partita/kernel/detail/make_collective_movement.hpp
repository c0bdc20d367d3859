// Makes the collective movement between two partitions, or throws an error with a readable message.
#pragma once

#include <partita/comm/partition.hpp>
#include <partita/core/config.hpp>
#include <partita/kernel/detail/collective_movement.hpp>
#include <partita/plan/group_plan.hpp>
#include <partita/plan/worker_groups.hpp>
#include <partita/rule/kernel_dimensions.hpp>
#include <partita/rule/kernel_policy.hpp>
#include <partita/rule/worker_broadcast.hpp>

namespace partita::detail {

/// Throws a partition_error if two partitions are not of one world.
PARTITA_DECL void expect_one_world(bool is_one_world, const char* call);
template <class P, class Q>
void expect_one_world(const partition<P>& p, const partition<Q>& q, const char* call) {
  expect_one_world(p.world() == q.world(), call);
}

/// Whether some worker of the small partition receives a sum to which it contributes no block. Takes time in O(s), or
/// O(s l) if the large partition has a list of worker ids, for s workers of the small and l of the large partition.
template <class Small, class Large>
bool sums_other_blocks_only(const grid<Small>& small, const grid<Large>& large,
                            const worker_pairing<Large::rank()>& pairing) {
  for (std::size_t k = 0; k < small.size(); ++k) {
    const std::size_t place = large.place(small.workers()[k]);
    if (place == large.size() || pairing.small_partner(large.index(place)) != k) return true;
  }
  return false;
}

/// Writes worker ids for messages, as a range "0 to 3" or a list. A long list is cut off and ends with its fingerprint.
template <class Ids>
text list_workers(const Ids& ids) {
  constexpr std::size_t named = 24;  // the number of ids that are written
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

/// Writes the extents of a partition and its workers, so that different partitions have different texts.
template <class Extents>
text partition_text(const grid<Extents>& p) {
  const workers& ids = p.workers();
  text all;
  all << p.shape() << " on workers ";
  if (ids.is_range() && ids.size() > 1) return all << ids[0] << " to " << ids[ids.size() - 1];
  return all << list_workers(ids);
}

/// The name and the arguments of a kernel between a small and a large partition.
struct group_kernel_choices {
  const char* name;                                       ///< the kernel in messages
  text reduction{};                                       ///< ", " and the reduction's name as in the call, or empty
  std::uint64_t fingerprint = 0;                          ///< a fingerprint of the reduction and the policies
  bool transpose_small = false, transpose_large = false;  ///< whether a partition's extents are reversed
  bool to_root = false;    ///< whether blocks move from the large partition to the small one
  bool keep_batch = true;  ///< whether empty results keep the batch extent of x
};

/// The extents and the workers of a partition of rank Rank, whatever the type of the extents.
template <std::size_t Rank>
struct placed_extents {
  const world& everyone;                      ///< the world of the partition
  const std::array<std::size_t, Rank> shape;  ///< the extents of the partition's grid
  const workers& ids;                         ///< the workers of the partition

  template <class Extents>
  explicit placed_extents(const partition<Extents>& p)
      : everyone(p.world()), shape(p.grid().shape()), ids(p.workers()) {}
  grid<dynamic_extents<Rank>> make_grid() const { return {dynamic_extents<Rank>(shape), ids}; }  ///< partition's grid
};

/// Makes the movement between partitions of these ranks; the compiled core has the function for the usual ranks.
template <std::size_t Small, std::size_t Large>
collective_movement make_pairwise_movement(const placed_extents<Small>& small_grid,
                                           const placed_extents<Large>& large_grid,
                                           const group_kernel_choices& choices) {
  const auto small = small_grid.make_grid();
  const auto large = large_grid.make_grid();
  text call(choices.name);
  call << "(p_x, p_y" << choices.reduction
       << ") with p_x = " << (choices.to_root ? partition_text(large) : partition_text(small))
       << ", p_y = " << (choices.to_root ? partition_text(small) : partition_text(large));
  expect_one_world(small_grid.everyone == large_grid.everyone, choices.name);
  const auto s = small.shape();
  const auto l = large.shape();
  const auto verdict = judge_worker_broadcast(s, l, choices.transpose_small, choices.transpose_large, choices.to_root);
  if (!verdict) throw partition_error(explain_verdict(verdict, s, l, choices.transpose_small, choices.transpose_large));
  const worker_pairing<Large> pairing(s, l, choices.transpose_small, choices.transpose_large);
  std::uint64_t fingerprint = mixed(small.fingerprint(), large.fingerprint());
  fingerprint = mixed(fingerprint, choices.fingerprint);
  fingerprint = mixed(fingerprint, (choices.to_root ? 1U : 0U) + (choices.transpose_small ? 2U : 0U) +
                                       (choices.transpose_large ? 4U : 0U) + (choices.keep_batch ? 8U : 0U));
  const auto kind = choices.to_root ? group_plan::kind::sum_reduce : group_plan::kind::broadcast;
  const world& everyone = small_grid.everyone;
  return {everyone.state(),
          plan_groups(small, large, pairing, everyone.id(), kind),
          {choices.name, call, fingerprint, choices.keep_batch,
           everyone.level() == checks::local && sums_other_blocks_only(small, large, pairing)}};
}

/// Makes the movement between a small and a large partition; checks the broadcasting rule first.
template <class Small, class Large>
collective_movement make_collective_movement(const partition<Small>& small, const partition<Large>& large,
                                             const group_kernel_choices& choices) {
  return make_pairwise_movement(placed_extents<Small::rank()>(small), placed_extents<Large::rank()>(large), choices);
}

/// Makes the movement among the workers of a partition whose indices are equal in the kept dimensions; the compiled
/// core has the function for the usual ranks.
template <std::size_t Rank>
collective_movement make_reduction_movement(const placed_extents<Rank>& p, const std::array<bool, Rank>& kept,
                                            const char* name, const text& reduction, std::uint64_t number) {
  const auto places = p.make_grid();
  std::uint64_t fingerprint = mixed(places.fingerprint(), number);
  for (bool k : kept) fingerprint = mixed(fingerprint, k ? 1 : 0);
  text call(name);
  call << "(p, dimensions" << reduction << ") with p = " << partition_text(places) << ", along dimensions [";
  bool first = true;
  for (std::size_t d = 0; d < kept.size(); ++d) {
    if (kept[d]) continue;
    call << (first ? "" : ", ") << d;
    first = false;
  }
  call << "]";
  return {p.everyone.state(), plan_sum_groups(places, kept, p.everyone.id()), {name, call, fingerprint}};
}

/// Makes the movement of a reduction along the dimensions of a partition that are not kept.
template <class Extents>
collective_movement make_sum_movement(const partition<Extents>& p, const std::array<bool, Extents::rank()>& kept,
                                      const char* name, const text& reduction, std::uint64_t number) {
  return make_reduction_movement(placed_extents<Extents::rank()>(p), kept, name, reduction, number);
}

#ifdef PARTITA_CORE
// The compiled core has these functions for the usual ranks. EXTERN is `extern` for a program, and nothing in the core.
#define PARTITA_INSTANTIATE_PAIRWISE_MOVEMENT(EXTERN, S, L)                                                            \
  EXTERN template collective_movement make_pairwise_movement<S, L>(const placed_extents<S>&, const placed_extents<L>&, \
                                                                   const group_kernel_choices&);
#define PARTITA_INSTANTIATE_REDUCTION_MOVEMENT(EXTERN, R)                                                              \
  EXTERN template collective_movement make_reduction_movement<R>(const placed_extents<R>&, const std::array<bool, R>&, \
                                                                 const char*, const text&, std::uint64_t);
#define PARTITA_COLLECTIVE_MOVEMENTS(EXTERN)          \
  PARTITA_INSTANTIATE_PAIRWISE_MOVEMENT(EXTERN, 1, 1) \
  PARTITA_INSTANTIATE_PAIRWISE_MOVEMENT(EXTERN, 1, 2) \
  PARTITA_INSTANTIATE_PAIRWISE_MOVEMENT(EXTERN, 1, 3) \
  PARTITA_INSTANTIATE_PAIRWISE_MOVEMENT(EXTERN, 1, 4) \
  PARTITA_INSTANTIATE_PAIRWISE_MOVEMENT(EXTERN, 2, 2) \
  PARTITA_INSTANTIATE_PAIRWISE_MOVEMENT(EXTERN, 2, 3) \
  PARTITA_INSTANTIATE_PAIRWISE_MOVEMENT(EXTERN, 2, 4) \
  PARTITA_INSTANTIATE_PAIRWISE_MOVEMENT(EXTERN, 3, 3) \
  PARTITA_INSTANTIATE_PAIRWISE_MOVEMENT(EXTERN, 3, 4) \
  PARTITA_INSTANTIATE_PAIRWISE_MOVEMENT(EXTERN, 4, 4) \
  PARTITA_INSTANTIATE_REDUCTION_MOVEMENT(EXTERN, 1)   \
  PARTITA_INSTANTIATE_REDUCTION_MOVEMENT(EXTERN, 2)   \
  PARTITA_INSTANTIATE_REDUCTION_MOVEMENT(EXTERN, 3) PARTITA_INSTANTIATE_REDUCTION_MOVEMENT(EXTERN, 4)
PARTITA_COLLECTIVE_MOVEMENTS(extern)
#endif

/// Makes the movement in groups that were made at run time.
PARTITA_DECL collective_movement make_movement_in_groups(const world& everyone, const worker_groups& groups,
                                                         const group_kernel_choices& choices, group_plan::kind kind);

/// Whether kernels in worker_groups accept a policy; the other policies concern two partitions.
template <class Policy>
inline constexpr bool is_group_policy = std::is_same_v<Policy, discard_batch_t> ||
                                        std::is_same_v<Policy, reproducible_t> || std::is_same_v<Policy, shared_view_t>;

/// The dimensions along which a kernel does not reduce, for a list of dimensions that was made at run time.
template <std::size_t Rank>
std::array<bool, Rank> to_kept_dimensions(const dimension_list& along, const char* name) {
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

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/make_collective_movement.ipp>
#endif
