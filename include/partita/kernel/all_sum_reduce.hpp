// All-sum-reduce: sums the blocks along some dimensions of a partition; every worker gets the sum.
#pragma once

#include <partita/kernel/detail/collective_kernel.hpp>
#include <partita/kernel/detail/make_collective_movement.hpp>
#include <partita/kernel/detail/requirements.hpp>
#include <partita/rule/kernel_dimensions.hpp>
#include <partita/rule/kernel_policy.hpp>

namespace partita {

/// Sums the blocks of the workers of p whose indices differ only in the given dimensions; each of these workers gets
/// the sum.
/// Shapes:   x is this worker's block; the blocks of one sum have equal shapes [shape_error, on all workers]. The
///           result has the shape of x. An inactive worker gets a copy of its own input.
/// Requires: dimensions below rank(p), each listed once [compile time]; the only policy is `reproducible`.
/// Cost:     on one node each of the g workers of a group sums one slice of the blocks and writes this sum to the other
///           members through shared memory (each worker sums small blocks itself); between nodes the sums of the nodes
///           are exchanged, long sums in several messages. With `reproducible`, an addition takes about 12 operations,
///           and nodes also send the part of each sum that rounding would lose.
/// Adjoint:  all_sum_reduce is its own adjoint.
template <class Extents, class... Policies>
class all_sum_reduce : public detail::collective_kernel<all_sum_reduce<Extents, Policies...>> {
  static_assert((std::is_same_v<Policies, reproducible_t> && ...),
                "partita::all_sum_reduce(p, dimensions, policies...): requires policies among reproducible");
  using base = detail::collective_kernel<all_sum_reduce>;  ///< executes the calls

 public:
  /// `all_sum_reduce(p, dimensions<0>)` sums along dimension 0, `all_sum_reduce(p, all_dimensions_but<1>)` along every
  /// dimension but 1.
  template <template <std::size_t...> class Named, std::size_t... D>
    requires detail::is_dimension_list<Named<D...>>
  all_sum_reduce(const partition<Extents>& p, Named<D...> named, Policies...)
      : all_sum_reduce(p, kept_dimensions<Extents::rank()>(named)) {
    check_dimensions<D...>();
  }

  /// Fallback: the dimensions to sum along are part of the type and must be passed; other calls do not compile.
  template <class... Other>
    requires detail::is_not_a_dimension_list<Other...>
  explicit all_sum_reduce(const partition<Extents>& p, Other...) : base(make_movement(p, {})) {
    static_assert(!detail::is_not_a_dimension_list<Other...>,
                  "partita::all_sum_reduce(p, dimensions): requires the dimensions to sum along, dimensions<0> or "
                  "all_dimensions_but<0>, as the second argument");
  }

 private:
  friend base;
  /// The directions in which blocks move in the groups, in a call and in its adjoint.
  static constexpr auto there = detail::group_direction::to_all, back = detail::group_direction::to_all;
  /// shares: whether the workers of a node share one result; exact: whether each sum is rounded only once.
  static constexpr bool shares = false, exact = has_policy<reproducible_t, Policies...>;
  using reduction = sum_t;  ///< how the blocks of a group are combined, in a call and in its adjoint

  /// Whether the call accepts a block of type X, checked at compile time.
  template <class X>
  static consteval bool takes() {
    constexpr bool is_expression = ranked_array<X>;
    static_assert(is_expression, PARTITA_REQUIRES_KNOWN_RANK("partita::all_sum_reduce(p)(x)"));
    if constexpr (detail::is_block<X>()) {
      constexpr bool can_be_summed = summable_element<element_of<X>>;
      static_assert(can_be_summed, PARTITA_REQUIRES_SUMMABLE("partita::all_sum_reduce(p)(x)"));
      return can_be_summed;
    } else {
      return false;
    }
  }
  /// Whether the adjoint accepts a block of type Y, checked at compile time.
  template <class Y>
  static consteval bool takes_back() {
    return takes<Y>();
  }

  template <std::size_t... D>
  static constexpr void check_dimensions() {  ///< a compile-time error unless D are distinct dimensions of p
    static_assert(detail::are_dimensions_below_rank<Extents::rank(), D...>,
                  "partita::all_sum_reduce(p, dimensions<...>): requires dimensions below rank(p)");
    static_assert(detail::are_distinct_dimensions<D...>,
                  "partita::all_sum_reduce(p, dimensions<...>): requires each dimension once");
  }

  all_sum_reduce(const partition<Extents>& p, const std::array<bool, Extents::rank()>& kept)
      : base(make_movement(p, kept)) {}

  /// Plans a sum along each dimension d for which kept[d] is false.
  static detail::collective_movement make_movement(const partition<Extents>& p,
                                                   const std::array<bool, Extents::rank()>& kept) {
    return detail::make_sum_movement(p, kept, "partita::all_sum_reduce", "", 17 + sizeof...(Policies));
  }
};

template <class Extents, class Dimensions, class... Policies>
all_sum_reduce(const partition<Extents>&, Dimensions, Policies...)
    -> all_sum_reduce<Extents, std::conditional_t<detail::is_dimension_list<Dimensions>, Policies, reproducible_t>...>;
template <class Extents>
all_sum_reduce(const partition<Extents>&) -> all_sum_reduce<Extents>;  ///< no dimensions: does not compile

}  // namespace partita
