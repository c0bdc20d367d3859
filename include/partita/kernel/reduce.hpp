// Reduce: combines the blocks of one partition by a reduction into the workers of a smaller partition.
#pragma once

#include <partita/kernel/detail/make_collective_movement.hpp>
#include <partita/kernel/detail/partition_arguments.hpp>
#include <partita/kernel/detail/reduction_checks.hpp>
#include <partita/rule/kernel_policy.hpp>
#include <partita/rule/reduction.hpp>

namespace partita {

/// Combines, element by element, the blocks of the workers of p_x that NumPy's broadcasting rule pairs with a worker of
/// p_y, and leaves the result on this worker of p_y: `reduce r(p_x, p_y, maximum)`. The reductions are listed in
/// rule/reduction.hpp.
/// Shapes:   as for sum_reduce, which is reduce with `sum`; for blocks of rank 0, a worker that is only in p_x receives
///           the identity of the reduction.
/// Requires: what sum_reduce requires, and elements that the reduction accepts [compile time].
/// Cost:     as sum_reduce; `mean`, and `any` and `all` of integers, need one more pass over the result.
/// Adjoint:  broadcast(p_y, p_x) for `sum`; for `mean` the broadcast divided by the number of blocks; all other
///           reductions have no adjoint.
template <class Src, class Dst, class Reduction, class... Policies>
class reduce
    : public detail::reduction_checks<Reduction, detail::group_direction::to_root, detail::group_direction::spread,
                                      has_policy<shared_view_t, Policies...>, has_policy<reproducible_t, Policies...>>,
      public detail::collective_kernel<reduce<Src, Dst, Reduction, Policies...>> {
  static_assert(detail::are_broadcast_policies<Policies...>,
                "partita::reduce(p_x, p_y, reduction, policies...): requires policies among transpose_src, "
                "transpose_dest, discard_batch, reproducible, shared_view");
  static_assert(Dst::rank() <= Src::rank(),
                "partita::reduce(p_x, p_y, reduction): requires rank(p_y) <= rank(p_x); the opposite direction is a "
                "broadcast");
  static constexpr bool from_transposed = has_policy<transpose_src_t, Policies...>;  ///< reverses the extents of p_x
  static constexpr bool to_transposed = has_policy<transpose_dest_t, Policies...>;   ///< reverses the extents of p_y
  static_assert(Dst::rank() > Src::rank() ||
                    static_cast<bool>(judge_static_broadcast<Dst, Src>(to_transposed, from_transposed)),
                "partita::reduce(p_x, p_y, reduction): requires every extent of p_y, extended on the left with ones, "
                "to be 1 or the extent of p_x; pass transpose_src or transpose_dest to reverse a partition, or "
                "reshape() one of them");

 public:
  /// Makes the kernel; only calls move data.
  reduce(const partition<Src>& p_x, const partition<Dst>& p_y, detail::reduction_argument<Reduction>, Policies...)
      : detail::collective_kernel<reduce>(
            detail::make_collective_movement(p_y, p_x,
                                             {.name = "partita::reduce",
                                              .reduction = detail::reduction_call_text<Reduction>(),
                                              .fingerprint = detail::type_number<Reduction>(),
                                              .transpose_small = to_transposed,
                                              .transpose_large = from_transposed,
                                              .to_root = true,
                                              .keep_batch = !has_policy<discard_batch_t, Policies...>})) {}
};

/// `reduce(everyone, groups, maximum)`: combines the blocks of each group at its root, the first member of the group. A
/// worker in no group gets a copy of its own input. Requirements and cost are those of reduce(p_x, p_y, reduction).
template <class Reduction, class... Policies>
class reduce<worker_groups, worker_groups, Reduction, Policies...>
    : public detail::reduction_checks<Reduction, detail::group_direction::to_root, detail::group_direction::spread,
                                      has_policy<shared_view_t, Policies...>, has_policy<reproducible_t, Policies...>>,
      public detail::collective_kernel<reduce<worker_groups, worker_groups, Reduction, Policies...>> {
  static_assert((detail::is_group_policy<Policies> && ...),
                "partita::reduce(everyone, groups, reduction, policies...): requires policies among discard_batch, "
                "reproducible, shared_view");

 public:
  reduce(const world& everyone, const worker_groups& groups, detail::reduction_argument<Reduction>, Policies...)
      : detail::collective_kernel<reduce>(
            detail::make_movement_in_groups(everyone, groups,
                                            {.name = "partita::reduce",
                                             .reduction = detail::reduction_call_text<Reduction>(),
                                             .fingerprint = detail::type_number<Reduction>(),
                                             .keep_batch = !has_policy<discard_batch_t, Policies...>},
                                            group_plan::kind::sum_reduce)) {}
};

template <class Src, class Dst, class Named, class... Policies>
reduce(const partition<Src>&, const partition<Dst>&, Named, Policies...)
    -> reduce<Src, Dst, typename detail::named_reduction_tag<Named>::type, Policies...>;
template <class Named, class... Policies>
reduce(const world&, const worker_groups&, Named, Policies...)
    -> reduce<worker_groups, worker_groups, typename detail::named_reduction_tag<Named>::type, Policies...>;

template <class Src, class Dst, class... Policies>
reduce(const partition<Src>&, const partition<Dst>&, sum_t (*)(detail::reduction_name), Policies...)
    -> reduce<Src, Dst, sum_t, Policies...>;
template <class... Policies>
reduce(const world&, const worker_groups&, sum_t (*)(detail::reduction_name), Policies...)
    -> reduce<worker_groups, worker_groups, sum_t, Policies...>;

template <class Src, class Dst, class... Policies>
reduce(const partition<Src>&, const partition<Dst>&, mean_t (*)(detail::reduction_name), Policies...)
    -> reduce<Src, Dst, mean_t, Policies...>;
template <class... Policies>
reduce(const world&, const worker_groups&, mean_t (*)(detail::reduction_name), Policies...)
    -> reduce<worker_groups, worker_groups, mean_t, Policies...>;

/// Fallback for arguments that are not two partitions and a reduction: a compile-time error with one readable message.
PARTITA_FALLBACK_CLASS_IF(!detail::has_partitions_and_reduction<Given...>, reduce, detail::no_partitions,
                          detail::no_partitions, sum_t) {
  static_assert(
      detail::dependent_false<Given...>,
      "partita::reduce(p_x, p_y, reduction, policies...): requires two partitions, as everyone.partition<2, 3>() or "
      "everyone.partition(extents(2, 3)) makes them, and a reduction, sum or maximum");
}

}  // namespace partita
