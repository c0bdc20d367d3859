// The sequential executor of reductions: reduce and all_reduce for all workers of a world inside one process.
#pragma once

#include <cstddef>
#include <partita/kernel/detail/sequential_groups.hpp>
#include <partita/rule/kernel_dimensions.hpp>
#include <partita/rule/kernel_policy.hpp>
#include <partita/rule/reduction.hpp>
#include <vector>

namespace partita::sequentially {

/// The reduction between two partitions for all workers: `sequentially::reduce(p_x, p_y, maximum, policies...)(x)` is
/// the result of partita::reduce for each worker. p_x and p_y are grids, or partitions of a world.
/// Shapes:   x has one block for each worker of the world, also for inactive workers; so does the result.
/// Requires: what partita::reduce requires [partition_error, shape_error].
/// Cost:     one pass over every block that is reduced.
/// Adjoint:  adjoint(dy), only for `sum` and `mean`.
template <class Src, class Dst, class Reduction, class... Policies>
class reduce {
  static_assert(partita::detail::are_broadcast_policies<Policies...>,
                "partita::sequentially::reduce(p_x, p_y, reduction, policies...): requires policies among "
                "transpose_src, transpose_dest, discard_batch");
  static_assert(Dst::rank() <= Src::rank(),
                "partita::sequentially::reduce(p_x, p_y, reduction): requires rank(p_y) <= rank(p_x); the opposite "
                "direction is a broadcast");

 public:
  template <class P, class Q>
  reduce(const P& p_x, const Q& p_y, partita::detail::reduction_argument<Reduction>, Policies...)
      : groups_(detail::as_grid(p_y), detail::as_grid(p_x), has_policy<transpose_dest_t, Policies...>,
                has_policy<transpose_src_t, Policies...>, true, !has_policy<discard_batch_t, Policies...>, "reduce") {}

  template <ranked_array X>
  auto operator()(const std::vector<X>& x) const {
    return groups_.template reduce_blocks<Reduction>(x);
  }
  template <ranked_array Y>
  auto adjoint(const std::vector<Y>& dy) const {  ///< only of `sum` and `mean`; dy has a block for each worker
    return detail::apply_adjoint_of_reduction<Reduction>(groups_, dy);
  }
  group_plan plan(std::size_t worker) const { return groups_.plan(worker); }  ///< the groups of one worker

 private:
  detail::sequential_groups<Dst, Src> groups_;  ///< the workers of p_x that each worker of p_y reduces
};

/// `sequentially::all_reduce(p, dimensions<0>, maximum)(x)`: the result of partita::all_reduce for each worker.
template <class Extents, class Reduction>
class all_reduce : public detail::sequential_reduction<Extents, Reduction> {
 public:
  /// Reduces along `named`; p is a grid or a partition.
  template <class P, class Dimensions>
    requires requires(Dimensions named) { kept_dimensions<Extents::rank()>(named); }
  all_reduce(const P& p, Dimensions named, partita::detail::reduction_argument<Reduction>)
      : detail::sequential_reduction<Extents, Reduction>(detail::as_grid(p), kept_dimensions<Extents::rank()>(named),
                                                         "all_reduce") {}

  /// The adjoint of a sum or a mean, which is the operator itself.
  template <ranked_array Y>
  auto adjoint(const std::vector<Y>& dy) const {
    static_assert(partita::detail::is_linear_reduction<Reduction>,
                  "partita::sequentially::all_reduce(p, dimensions, reduction).adjoint(dy): requires a linear "
                  "reduction, sum or mean");
    return (*this)(dy);
  }
};

template <class P, class Q, class Named, class... Policies>
reduce(const P&, const Q&, Named, Policies...)
    -> reduce<typename P::extents_type, typename Q::extents_type,
              typename partita::detail::named_reduction_tag<Named>::type, Policies...>;
template <class P, class Dimensions, class Named>
all_reduce(const P&, Dimensions, Named)
    -> all_reduce<typename P::extents_type, typename partita::detail::named_reduction_tag<Named>::type>;
template <class P, class Q, class... Policies>
reduce(const P&, const Q&, sum_t (*)(partita::detail::reduction_name), Policies...)
    -> reduce<typename P::extents_type, typename Q::extents_type, sum_t, Policies...>;
template <class P, class Dimensions>
all_reduce(const P&, Dimensions, sum_t (*)(partita::detail::reduction_name))
    -> all_reduce<typename P::extents_type, sum_t>;
template <class P, class Q, class... Policies>
reduce(const P&, const Q&, mean_t (*)(partita::detail::reduction_name), Policies...)
    -> reduce<typename P::extents_type, typename Q::extents_type, mean_t, Policies...>;
template <class P, class Dimensions>
all_reduce(const P&, Dimensions, mean_t (*)(partita::detail::reduction_name))
    -> all_reduce<typename P::extents_type, mean_t>;

}  // namespace partita::sequentially
