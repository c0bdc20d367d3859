// All-gather: concatenates the blocks along some dimensions of a partition; every worker of a group gets the
// concatenation.
#pragma once

#include <partita/kernel/detail/box_kernel.hpp>
#include <partita/kernel/detail/part_movement.hpp>
#include <partita/kernel/detail/partition_arguments.hpp>
#include <partita/kernel/detail/requirements.hpp>
#include <partita/rule/kernel_dimensions.hpp>

namespace partita {

/// Concatenates the blocks of the workers of p whose indices differ only in the given dimensions, along the same
/// dimensions of the tensor; each of these workers gets the concatenation of their blocks.
/// Shapes:   x is this worker's block; the blocks of a group tile a tensor, in any decomposition (uneven, empty). The
///           result has the extents of that tensor. An inactive worker gets a copy of its own input.
/// Requires: dimensions below rank(p), each listed once; rank(x) == rank(p) [compile time]; blocks that fit together
///           [shape_error, on all workers].
/// Cost:     each of the g workers of a group writes its block into the results of the other members on its node, and
///           sends the block once to each other node of the group, where one member passes it on. A call that makes a
///           new plan also exchanges the extents of the blocks.
/// Adjoint:  reduce_scatter, back to the decomposition that x had.
template <class Extents>
class all_gather : public detail::box_kernel<all_gather<Extents>, detail::part_movement<partition<Extents>::rank()>> {
  static constexpr std::size_t rank = partition<Extents>::rank();            ///< the number of dimensions of p and of x
  using base = detail::box_kernel<all_gather, detail::part_movement<rank>>;  ///< executes the calls
  friend base;

 public:
  /// `all_gather(p, dimensions<1>)` gathers along dimension 1, `all_gather(p, all_dimensions_but<0>)` along every
  /// dimension but 0.
  template <template <std::size_t...> class Named, std::size_t... D>
    requires detail::is_dimension_list<Named<D...>>
  all_gather(const partition<Extents>& p, Named<D...> named)
      : base({detail::erase_extents<rank>(p), checked_dimensions(named), "partita::all_gather(p, dimensions)",
              detail::accepted_cuts::any}) {}

  /// What this worker sends, keeps and receives for a tensor of these extents whose blocks are balanced. Cost: no
  /// communication.
  template <std::size_t... E>
  exchange_plan<Extents::rank()> plan(const extents<E...>& whole) const {
    static_assert(sizeof...(E) == Extents::rank(),
                  "partita::all_gather::plan(extents): requires extents of the rank of the partition");
    if constexpr (sizeof...(E) == Extents::rank()) return this->movement_.planner().plan_allgather(whole.array());
    else return {};
  }

  /// The ids of the workers in this worker's group, whose blocks are gathered (and summed in the adjoint); empty if
  /// this worker is inactive.
  const std::vector<std::size_t>& members() const { return this->movement_.planner().members(); }

 private:
  /// Checks the named dimensions at compile time, and returns which dimensions are not among them.
  template <template <std::size_t...> class Named, std::size_t... D>
  static constexpr auto checked_dimensions(Named<D...> named) {
    static_assert(detail::are_dimensions_below_rank<Extents::rank(), D...>,
                  "partita::all_gather(p, dimensions<...>): requires dimensions below rank(p)");
    static_assert(detail::are_distinct_dimensions<D...>,
                  "partita::all_gather(p, dimensions<...>): requires each dimension once");
    return kept_dimensions<Extents::rank()>(named);
  }
  /// Whether the call accepts a block of type X, checked at compile time.
  template <class X>
  static consteval bool takes() {
    static_assert(detail::has_known_rank<X>(),
                  PARTITA_REQUIRES_KNOWN_RANK("partita::all_gather(p, dimensions<...>)(x)"));
    static_assert(!ranked_array<X> || detail::has_rank<X, Extents::rank()>(),
                  PARTITA_REQUIRES_RANK_OF_PARTITION("partita::all_gather(p, dimensions<...>)(x)"));
    static_assert(!ranked_array<X> || detail::has_addressable_elements<X>(),
                  PARTITA_REQUIRES_MOVABLE_IN_PLACE("partita::all_gather(p, dimensions<...>)(x)"));
    return detail::has_rank<X, Extents::rank()>() && detail::has_addressable_elements<X>();
  }
  /// Whether the adjoint accepts a block of type Y, checked at compile time.
  template <class Y>
  static consteval bool takes_back() {
    static_assert(detail::has_known_rank<Y>(),
                  PARTITA_REQUIRES_KNOWN_RANK("partita::all_gather(p, dimensions<...>).adjoint(dy)"));
    static_assert(!ranked_array<Y> || detail::has_rank<Y, Extents::rank()>(),
                  PARTITA_REQUIRES_RANK_OF_PARTITION("partita::all_gather(p, dimensions<...>).adjoint(dy)"));
    static_assert(!ranked_array<Y> || detail::has_summable_elements<Y>(),
                  PARTITA_REQUIRES_SUMMABLE("partita::all_gather(p, dimensions<...>).adjoint(dy)"));
    return detail::has_rank<Y, Extents::rank()>() && detail::has_summable_elements<Y>();
  }
  template <class View, class X>
  static consteval bool accepts_view() {  ///< whether into(x, view) can fill a View for a block X
    static_assert(detail::is_matching_view<View, X>(),
                  PARTITA_REQUIRES_VIEW("partita::all_gather(p, dimensions<...>).into(x, view)"));
    return detail::is_matching_view<View, X>();
  }
};

template <class Extents, class Dimensions>
  requires detail::is_dimension_list<Dimensions>
all_gather(const partition<Extents>&, Dimensions) -> all_gather<Extents>;  ///< deduces the extents of p

/// Fallback for arguments that are not a partition and dimensions: a compile-time error with one readable message.
PARTITA_FALLBACK_CLASS_IF(!detail::is_dimensions_argument<Given...>, all_gather, detail::no_partitions) {
  static_assert(detail::dependent_false<Given...>,
                "partita::all_gather(p, dimensions<...>): requires a partition and the dimensions of it, "
                "dimensions<0> or all_dimensions_but<0>");
}

}  // namespace partita
