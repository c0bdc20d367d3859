// select and clamp: element-wise operations on three operands, of which only scalars are repeated.
#pragma once

#include <partita/array/elementwise.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/rule/select_and_clamp_rule.hpp>
#include <type_traits>
#include <utility>

namespace partita {

namespace detail {

template <class A, class B, class C>
inline constexpr bool has_known_ranks = has_known_rank_v<A> && has_known_rank_v<B> && has_known_rank_v<C>;  ///< by type

}  // namespace detail

/// Takes each element from `on_true` where the predicate holds and from `on_false` elsewhere. Lazy.
/// Shapes:   on_true and on_false have the same shape, which is that of the result; the predicate has this shape, too,
///           or is a scalar.
/// Requires: a predicate of bool, values of the same element type [compile time]; fitting shapes [compile time as far
///           as known; shape_error]. As in XLA, only a scalar predicate is broadcast.
/// Cost:     none; assigning the result costs one pass over it.
/// Adjoint:  select(predicate, dz, 0) for on_true, select(predicate, 0, dz) for on_false, with zeros of dz's shape.
template <class P, class T, class F>
  requires(detail::array_operand<P> && array_expression<T> && array_expression<F>)
auto select(P&& predicate, T&& on_true, F&& on_false) {
  using namespace detail;
  static_assert(
      std::is_same_v<operand_element<P>, bool>,
      "partita::select(predicate, on_true, on_false): requires a predicate of bool; compare with not_equal_to");
  static_assert(
      are_compatible_elements<operand_element<T>, operand_element<F>>,
      "partita::select(predicate, on_true, on_false): requires values of one element type; xt::cast one first");
  constexpr const char* requirement = "values of one shape, and a predicate that is a scalar or has it too";
  if constexpr (has_known_ranks<P, T, F>) {
    static_assert(
        static_cast<bool>(
            judge_select(static_shape<array_extents<P>>, static_shape<array_extents<T>>, static_shape<array_extents<F>>)
                .verdict),
        "partita::select(predicate, on_true, on_false): requires values of one shape, and a predicate that is "
        "a scalar or has it too; use broadcast_in_dim on the smaller ones first");
  }
  const shape_list p = shape_of(predicate), a = shape_of(on_true), b = shape_of(on_false);
  if (!judge_select(p, a, b).verdict)
    throw shape_error(explain_ternary("select(predicate, on_true, on_false)", requirement, p, a, b));
  return make_expression(function::select{}, std::forward<P>(predicate), std::forward<T>(on_true),
                         std::forward<F>(on_false));
}

/// Clamps each element of x to the range from `low` to `high`. Lazy.
/// Shapes:   the result has the shape of x; each bound has this shape, too, or is a scalar (for example a plain
///           number).
/// Requires: equal element types [compile time]; fitting shapes [compile time as far as known; shape_error].
/// Cost:     none; assigning the result costs one pass over it.
/// Adjoint:  for x, dz where x is between the bounds, and 0 elsewhere.
template <class L, class X, class H>
  requires(detail::array_operand<L> && array_expression<X> && detail::array_operand<H>)
auto clamp(L&& low, X&& x, H&& high) {
  using namespace detail;
  static_assert((number<L> || are_compatible_elements<operand_element<L>, operand_element<X>>)&&(
                    number<H> || are_compatible_elements<operand_element<H>, operand_element<X>>),
                "partita::clamp(low, x, high): requires one element type; xt::cast the bounds first");
  constexpr const char* requirement = "bounds that are scalars or have the shape of x";
  if constexpr (has_known_ranks<L, X, H>) {
    static_assert(static_cast<bool>(judge_clamp(static_shape<array_extents<L>>, static_shape<array_extents<X>>,
                                                static_shape<array_extents<H>>)
                                        .verdict),
                  "partita::clamp(low, x, high): requires bounds that are scalars or have the shape of x; use "
                  "broadcast_in_dim on them first");
  }
  const shape_list l = shape_of(low), own = shape_of(x), h = shape_of(high);
  if (!judge_clamp(l, own, h).verdict)
    throw shape_error(explain_ternary("clamp(low, x, high)", requirement, l, own, h));
  return make_expression(function::clamp{}, convert_number<X>(std::forward<L>(low)), std::forward<X>(x),
                         convert_number<X>(std::forward<H>(high)));
}
/// Clamps with three operands of one type: this overload is more constrained than std::clamp, which argument-dependent
/// lookup also finds.
template <class T>
  requires array_expression<T>
auto clamp(const T& low, const T& x, const T& high) {
  return partita::clamp<const T&, const T&, const T&>(low, x, high);
}

PARTITA_FALLBACK_OVERLOAD(select) {
  static_assert(detail::dependent_false<Given...>,
                "partita::select(predicate, on_true, on_false): requires a predicate and two arrays; fill one by "
                "xt::full_like for a number");
  return detail::rejected_call{};
}

PARTITA_FALLBACK_OVERLOAD(clamp) {
  static_assert(detail::dependent_false<Given...>,
                "partita::clamp(low, x, high): requires the array between its two bounds");
  return detail::rejected_call{};
}

}  // namespace partita
