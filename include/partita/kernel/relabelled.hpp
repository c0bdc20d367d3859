// The cost of a repartition between two partitions, and the order of the destination's workers that minimises this
// cost. The cost and the order are computed before a kernel is made and before data moves.
#pragma once

#include <array>
#include <cstddef>
#include <partita/comm/partition.hpp>
#include <partita/core/error.hpp>
#include <partita/kernel/detail/repartition_cuts.hpp>
#include <partita/kernel/relabel.hpp>
#include <partita/plan/cost.hpp>

namespace partita {

namespace detail {

/// Whether partitions of Src and Dst, `Given` extents and these policies are arguments of a repartition.
template <class Src, class Dst, std::size_t Given, class... Policies>
consteval bool are_repartition_arguments() {
  constexpr bool of_one_rank = Src::rank() == Dst::rank() && Src::rank() == Given;
  static_assert(of_one_rank,
                "partita::relabelled(p_x, p_y, extents), partita::cost_of(p_x, p_y, extents): requires partitions and "
                "extents of one rank; reshape() one of the partitions with extents of 1");
  constexpr bool accepted = !of_one_rank || are_accepted_policies<Src::rank(), Policies...>;
  static_assert(
      accepted,
      "partita::relabelled(p_x, p_y, extents, policies...), partita::cost_of(p_x, p_y, extents, policies...): "
      "requires policies that partita::repartition(p_x, p_y, policies...) takes");
  return of_one_rank && accepted;
}

/// The decompositions of both sides of a repartition for a tensor x of these extents. Requires that the given cuts
/// match the extents [shape_error].
template <class Src, class Dst, class... Policies>
repartition_cuts<Src::rank()> make_cuts(const partition<Src>& p_x, const partition<Dst>& p_y,
                                        const std::array<std::size_t, Src::rank()>& global, const char* call,
                                        const Policies&... policies) {
  repartition_cuts<Src::rank()> cuts(p_x.grid().shape(), p_y.grid().shape(), policies...);
  const text problem = cuts.error_message(global);
  if (!problem.empty()) throw shape_error(text() << call << ": " << problem);
  return cuts;
}

}  // namespace detail

/// Returns p_y with its workers in the order that leaves as many elements as possible of a tensor x of these extents on
/// their workers, when x is repartitioned from p_x with these policies. Among equally good orders, as many workers as
/// possible keep their places.
/// Shapes:   x has the balanced decomposition over p_x and the result the balanced one over p_y, or the decompositions
///           of source_cuts(...) and result_cuts(...).
/// Requires: rank(p_x) == rank(p_y) == number of extents [compile time]; cuts that match the extents [shape_error].
/// Cost:     no communication: time in O(all overlaps + n^3) for the n workers of p_y, computed by every worker; worth
///           it once, before a loop.
/// Adjoint:  none; the repartition to the returned partition has an adjoint.
template <class Src, class Dst, std::size_t... E, class... Policies>
partition<Dst> relabelled(const partition<Src>& p_x, const partition<Dst>& p_y, const extents<E...>& global,
                          const Policies&... policies) {
  if constexpr (detail::are_repartition_arguments<Src, Dst, sizeof...(E), Policies...>()) {
    const auto x = global.array();
    const auto cuts = detail::make_cuts(p_x, p_y, x, "partita::relabelled(p_x, p_y, extents)", policies...);
    return {p_y.world(), relabelled(p_x.grid(), cuts.source_cuts(x), p_y.grid(), cuts.result_cuts(x), cuts.axes())};
  } else {
    return p_y;
  }
}

/// The cost, over all workers, of a repartition of a tensor x of these extents from p_x to p_y with these policies.
/// Shapes:   as for relabelled.
/// Requires: as for relabelled.
/// Cost:     no communication; the time is in O(all overlaps of blocks).
/// Adjoint:  the adjoint of the repartition has the same cost.
template <class Src, class Dst, std::size_t... E, class... Policies>
movement_cost cost_of(const partition<Src>& p_x, const partition<Dst>& p_y, const extents<E...>& global,
                      const Policies&... policies) {
  if constexpr (detail::are_repartition_arguments<Src, Dst, sizeof...(E), Policies...>()) {
    const auto x = global.array();
    const auto cuts = detail::make_cuts(p_x, p_y, x, "partita::cost_of(p_x, p_y, extents)", policies...);
    return cost_of(p_x.grid(), cuts.source_cuts(x), p_y.grid(), cuts.result_cuts(x), cuts.axes());
  } else {
    return {};
  }
}

}  // namespace partita
