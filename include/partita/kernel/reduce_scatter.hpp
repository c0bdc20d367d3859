// Reduce-scatter: sums the blocks along some dimensions of a partition; every worker gets its part of the sum.
#pragma once

#include <partita/kernel/detail/box_kernel.hpp>
#include <partita/kernel/detail/part_movement.hpp>
#include <partita/kernel/detail/partition_arguments.hpp>
#include <partita/kernel/detail/requirements.hpp>
#include <partita/rule/kernel_dimensions.hpp>

namespace partita {

/// Sums the blocks of the workers of p whose indices differ only in the given dimensions, and leaves on each of these
/// workers its part of the sum. The sum is split into balanced parts along the same dimensions of the tensor.
/// Shapes:   x is this worker's block; the blocks of one sum have equal shapes [shape_error, on all workers]. The
///           result is this worker's part of the sum. An inactive worker gets a copy of its own input.
/// Requires: dimensions below rank(p), each listed once; rank(x) == rank(p) [compile time].
/// Cost:     in a group of g workers of one node each worker receives g - 1 pieces of |x| / g elements through shared
///           memory, and adds the pieces in the order of the members. Each node first sums the pieces for another
///           node, so that it sends |x| / g elements for each member on the other node. The rounding of the sum depends
///           on the partition and on which workers share a node. Extents are exchanged once for each new plan.
/// Adjoint:  all_gather of balanced blocks.
template <class Extents>
class reduce_scatter
    : public detail::box_kernel<reduce_scatter<Extents>, detail::part_movement<partition<Extents>::rank()>, true> {
  static constexpr std::size_t rank = partition<Extents>::rank();  ///< the number of dimensions of p and of x
  using base = detail::box_kernel<reduce_scatter, detail::part_movement<rank>, true>;  ///< executes the calls
  friend base;

 public:
  /// `reduce_scatter(p, dimensions<1>)` sums over the workers along dimension 1 and scatters the sum along dimension 1;
  /// `reduce_scatter(p, all_dimensions_but<0>)` sums and scatters along every dimension but 0.
  template <template <std::size_t...> class Named, std::size_t... D>
    requires detail::is_dimension_list<Named<D...>>
  reduce_scatter(const partition<Extents>& p, Named<D...> named)
      : base({detail::erase_extents<rank>(p), checked_dimensions(named), "partita::reduce_scatter(p, dimensions)",
              detail::accepted_cuts::balanced}) {}

  /// What this worker sends, keeps and receives for blocks x of these extents. Cost: no communication.
  template <std::size_t... E>
  exchange_plan<Extents::rank()> plan(const extents<E...>& whole) const {
    static_assert(sizeof...(E) == Extents::rank(),
                  "partita::reduce_scatter::plan(extents): requires extents of the rank of the partition");
    if constexpr (sizeof...(E) == Extents::rank())
      return reversed(this->movement_.planner().plan_allgather(whole.array()));
    else return {};
  }

  /// The ids of the workers in this worker's group, whose blocks are summed (and gathered in the adjoint); empty if
  /// this worker is inactive.
  const std::vector<std::size_t>& members() const { return this->movement_.planner().members(); }

 private:
  /// Checks the named dimensions at compile time, and returns which dimensions are not among them.
  template <template <std::size_t...> class Named, std::size_t... D>
  static constexpr auto checked_dimensions(Named<D...> named) {
    static_assert(detail::are_dimensions_below_rank<Extents::rank(), D...>,
                  "partita::reduce_scatter(p, dimensions<...>): requires dimensions below rank(p)");
    static_assert(detail::are_distinct_dimensions<D...>,
                  "partita::reduce_scatter(p, dimensions<...>): requires each dimension once");
    return kept_dimensions<Extents::rank()>(named);
  }
  /// Whether the call accepts a block of type X, checked at compile time.
  template <class X>
  static consteval bool takes() {
    static_assert(detail::has_known_rank<X>(),
                  PARTITA_REQUIRES_KNOWN_RANK("partita::reduce_scatter(p, dimensions<...>)(x)"));
    static_assert(!ranked_array<X> || detail::has_rank<X, Extents::rank()>(),
                  PARTITA_REQUIRES_RANK_OF_PARTITION("partita::reduce_scatter(p, dimensions<...>)(x)"));
    static_assert(!ranked_array<X> || detail::has_summable_elements<X>(),
                  PARTITA_REQUIRES_SUMMABLE("partita::reduce_scatter(p, dimensions<...>)(x)"));
    return detail::has_rank<X, Extents::rank()>() && detail::has_summable_elements<X>();
  }
  /// Whether the adjoint accepts a block of type Y, checked at compile time.
  template <class Y>
  static consteval bool takes_back() {
    static_assert(detail::has_known_rank<Y>(),
                  PARTITA_REQUIRES_KNOWN_RANK("partita::reduce_scatter(p, dimensions<...>).adjoint(dy)"));
    static_assert(!ranked_array<Y> || detail::has_rank<Y, Extents::rank()>(),
                  PARTITA_REQUIRES_RANK_OF_PARTITION("partita::reduce_scatter(p, dimensions<...>).adjoint(dy)"));
    static_assert(!ranked_array<Y> || detail::has_addressable_elements<Y>(),
                  PARTITA_REQUIRES_MOVABLE_IN_PLACE("partita::reduce_scatter(p, dimensions<...>).adjoint(dy)"));
    return detail::has_rank<Y, Extents::rank()>() && detail::has_addressable_elements<Y>();
  }
  template <class View, class X>
  static consteval bool accepts_view() {  ///< whether into(x, view) can fill a View for a block X
    static_assert(detail::is_matching_view<View, X>(),
                  PARTITA_REQUIRES_VIEW("partita::reduce_scatter(p, dimensions<...>).into(x, view)"));
    return detail::is_matching_view<View, X>();
  }
};

template <class Extents, class Dimensions>
  requires detail::is_dimension_list<Dimensions>
reduce_scatter(const partition<Extents>&, Dimensions) -> reduce_scatter<Extents>;

/// Fallback for arguments that are not a partition and dimensions: a compile-time error with one readable message.
PARTITA_FALLBACK_CLASS_IF(!detail::is_dimensions_argument<Given...>, reduce_scatter, detail::no_partitions) {
  static_assert(detail::dependent_false<Given...>,
                "partita::reduce_scatter(p, dimensions<...>): requires a partition and the dimensions of it, "
                "dimensions<0> or all_dimensions_but<0>");
}

}  // namespace partita
