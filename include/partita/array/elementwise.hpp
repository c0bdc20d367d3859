// Element-wise operations on two operands under XLA's broadcasting, as lazy xtensor expressions.
#pragma once

#include <cstddef>
#include <partita/array/as_element.hpp>
#include <partita/array/expression.hpp>
#include <partita/array/functions.hpp>
#include <partita/array/lift.hpp>
#include <partita/array/rows.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/rule/broadcast_extents.hpp>
#include <partita/rule/reduction.hpp>
#include <type_traits>
#include <utility>

namespace partita {

namespace detail {

/// Makes the lazy expression that applies f to operands whose shapes xtensor itself can align.
template <class F, class... E>
auto make_expression(F f, E&&... e) {
  using expression = xt::xfunction<elementwise_function<F>, xt::const_xclosure_t<E>...>;
  return expression(elementwise_function<F>{std::move(f)}, std::forward<E>(e)...);
}

/// The name of the function F in error messages: F::name if F has one.
template <class F>
struct function_name : any_function_name {};
template <class F>
  requires requires { F::name; }
struct function_name<F> {
  static constexpr const char* name = F::name;  ///< such as "add"
};

/// Whether an operation accepts operands of two element types: equal types or two real floating-point types, as in XLA,
/// or two complex types.
template <class T, class U>
inline constexpr bool are_compatible_elements =
    std::is_same_v<T, U> || (std::is_floating_point_v<T> && std::is_floating_point_v<U>) ||
    (is_complex_number<T> && is_complex_number<U>);

/// Whether a number of type T can be converted to the element type of Array without losing a fraction or an imaginary
/// part.
template <class Array, class T>
inline constexpr bool can_hold_number =
    is_complex_number<operand_element<Array>> ||
    (!is_complex_number<T> && (!std::is_floating_point_v<T> || !std::is_integral_v<operand_element<Array>>));

/// Converts a number to the element type of the other operand `Array`; an array is returned unchanged.
template <class Array, class E>
decltype(auto) convert_number(E&& e) {
  if constexpr (number<E> && !number<Array>) {
    static_assert(can_hold_number<Array, std::remove_cvref_t<E>>,
                  "partita::elementwise(f, array, number): requires a number that the element type of the array can "
                  "hold; cast the array first");
    return as_element<operand_element<Array>>(e);
  } else {
    return std::forward<E>(e);
  }
}

/// The result of the broadcast check as far as the types determine it; or `{}` if the rank of an operand is not known.
template <class L, class R, class Dims>
inline constexpr broadcast_verdict static_broadcast_verdict = [] {
  if constexpr (is_static_broadcast_dimensions<Dims> && has_known_rank_v<L> && has_known_rank_v<R>)
    return judge_array_broadcast(static_shape<array_extents<L>>, static_shape<array_extents<R>>, Dims::list());
  else return broadcast_verdict{};
}();

/// Whether corresponding extents are equal or one of them is 1: the only check left after the compile-time check.
template <class L, class R, class Dims>
bool extents_are_compatible(const L& l, const R& r) {
  constexpr std::size_t a = array_operand_rank<L>, b = array_operand_rank<R>, rank = a > b ? a : b;
  if constexpr (a != 0 && b != 0 && static_broadcast_verdict<L, R, Dims>) {
    constexpr dimension_map left = map_of_operand(a, rank, Dims::list()), right = map_of_operand(b, rank, Dims::list());
    for (std::size_t d = 0; d < rank; ++d) {
      const std::size_t i = left.source(d), j = right.source(d);
      if (i == dimension_map::unmapped || j == dimension_map::unmapped) continue;
      if (!combine_extents(static_cast<std::size_t>(l.shape()[i]), static_cast<std::size_t>(r.shape()[j])).legal)
        return false;
    }
  }
  return true;
}

/// Checks the broadcast of two operands: at compile time as far as the types allow, the rest at run time.
template <class F, class L, class R, class Dims>
void require_broadcastable(const L& l, const R& r, const Dims& dims) {
  if constexpr (is_static_broadcast_dimensions<Dims> && has_known_rank_v<L> && has_known_rank_v<R>) {
    using left = array_extents<L>;   ///< what the type of the first operand says of its extents
    using right = array_extents<R>;  ///< what the type of the second operand says of its extents
    [[maybe_unused]] constexpr require_legal_broadcast<static_broadcast_verdict<L, R, Dims>, left, right, Dims,
                                                       function_name<F>>
        judged{};
    if constexpr (left::is_static() && right::is_static()) return;
    if (extents_are_compatible<L, R, Dims>(l, r)) return;
  }
  const auto list = to_dimension_list(dims);
  const shape_list a = shape_of(l), b = shape_of(r);
  if (const auto verdict = judge_array_broadcast(a, b, list); !verdict)
    throw shape_error(explain_verdict(verdict, function_name<F>::name, a, b, list));
}

/// The map that lifts an operand of known rank, as a function that can be a template argument.
template <std::size_t OperandRank, std::size_t Rank, class Dims>
struct static_operand_map {
  constexpr dimension_map operator()() const { return map_of_operand(OperandRank, Rank, Dims::list()); }
};

/// Lifts an operand that is combined with an operand of type Other; `dims` maps the operand of lower rank.
template <class Other, class E, class Dims>
decltype(auto) lift_operand(E&& e, std::size_t result_rank, const Dims& dims) {
  constexpr bool ranks_known = has_known_rank_v<E> && has_known_rank_v<Other>;
  constexpr std::size_t rank =
      !ranks_known
          ? unknown_rank
          : (array_operand_rank<E> > array_operand_rank<Other> ? array_operand_rank<E> : array_operand_rank<Other>);
  if constexpr (ranks_known && (array_operand_rank<E> == rank || array_operand_rank<E> == 0)) {
    return std::forward<E>(e);
  } else if constexpr (ranks_known && is_static_broadcast_dimensions<Dims>) {
    return lift_to_rank<static_operand_map<array_operand_rank<E>, rank, Dims>{}>(std::forward<E>(e));
  } else {
    return lift_to_rank<rank>(std::forward<E>(e),
                              map_of_operand(shape_of(e).size(), result_rank, to_dimension_list(dims)));
  }
}

/// Broadcasts both operands of a legal call to one shape, unless they are numbers, and applies f.
template <class F, class L, class R, class Dims>
auto make_lifted_expression(F f, L&& l, R&& r, const Dims& dims) {
  // The compile-time check has already reported the error.
  if constexpr (!static_broadcast_verdict<L, R, Dims>) return make_expression(std::move(f), 0, 0);
  else {
    const auto rank_of = []<class E>(const E& e) {
      if constexpr (has_known_rank_v<E>) return array_operand_rank<E>;
      else return static_cast<std::size_t>(e.dimension());
    };
    const std::size_t a = rank_of(l), b = rank_of(r), rank = a > b ? a : b;
    return make_expression(std::move(f), lift_operand<R>(std::forward<L>(l), rank, dims),
                           lift_operand<L>(std::forward<R>(r), rank, dims));
  }
}

/// Whether f can be called with one element of each operand, and returns an element.
template <class F, class L, class R>
inline constexpr bool is_function_of_elements = [] {
  using x = operand_element<L>;
  using y = operand_element<R>;
  if constexpr (std::is_invocable_v<const F&, const x&, const y&>)
    return !std::is_void_v<std::invoke_result_t<const F&, const x&, const y&>>;
  else return false;
}();

/// A named operation, such as add: checks first that the element types are equal, except for their precision.
template <class F, class L, class R, class Dims>
auto named_operation(L&& l, R&& r, const Dims& dims) {
  static_assert(number<L> || number<R> || are_compatible_elements<operand_element<L>, operand_element<R>>,
                "partita::add and the other named operations: require equal element types, float precisions aside; "
                "xt::cast<T>(x) one of the operands first");
  require_broadcastable<F>(l, r, dims);
  return make_lifted_expression(F{}, convert_number<R>(std::forward<L>(l)), convert_number<L>(std::forward<R>(r)),
                                dims);
}

}  // namespace detail

/// Applies f to each pair of elements of two arrays with XLA's broadcasting. Lazy: the call computes no element.
/// Shapes:   ranks are equal, or one operand is a scalar, or `dims` maps the dimensions of the smaller operand to those
///           of the larger one; then an extent of 1 of either operand is expanded to the extent of the other operand.
/// Requires: strictly increasing dims, extents that are equal or 1 [compile time as far as known; shape_error].
/// Cost:     none; assigning the result costs one pass over it. Rvalues are moved into the expression, and the
///           expression refers to lvalues.
/// Adjoint:  the chain rule for f, then the adjoint of array_broadcast for each operand.
template <class F, class L, class R, broadcast_dimensions_choice Dims = broadcast_dimensions_t<>>
  requires detail::array_operands<L, R>
auto elementwise(F f, L&& l, R&& r, const Dims& dims = {}) {
  constexpr bool is_function = detail::is_function_of_elements<F, L, R>;
  static_assert(is_function,
                "partita::elementwise(f, lhs, rhs): requires a function of two elements first, which returns one");
  if constexpr (is_function) {
    detail::require_broadcastable<F>(l, r, dims);
    return detail::make_lifted_expression(std::move(f), std::forward<L>(l), std::forward<R>(r), dims);
  } else {
    return detail::rejected_call{};
  }
}
template <class L, class R>
  requires detail::array_operands<L, R>
auto elementwise(const L&, const R&) {
  static_assert(detail::dependent_false<L>,
                "partita::elementwise(f, lhs, rhs): requires a function of two elements first");
  return detail::rejected_call{};
}

// The named operations: op(lhs, rhs) and op(lhs, rhs, broadcast_dimensions<…> or a broadcast_dimensions_list).
//
// Each operation is elementwise(function::op{}, …) for operands with the same element type (the precision may differ; a
// plain number is converted to the type of the array). The overload with two arguments has the same parameters as the
// function template that xtensor has under some of these names. The overload is constrained, so the compiler selects it
// where argument-dependent lookup also finds xtensor's.
#define PARTITA_DEFINE_BINARY_OPERATION(operation)                                                     \
  template <class L, class R>                                                                          \
    requires detail::array_operands<L, R>                                                              \
  auto operation(L&& l, R&& r) {                                                                       \
    return detail::named_operation<function::operation>(std::forward<L>(l), std::forward<R>(r),        \
                                                        broadcast_dimensions<>);                       \
  }                                                                                                    \
  template <class L, class R, broadcast_dimensions_choice Dims>                                        \
    requires detail::array_operands<L, R>                                                              \
  auto operation(L&& l, R&& r, const Dims& dims) {                                                     \
    return detail::named_operation<function::operation>(std::forward<L>(l), std::forward<R>(r), dims); \
  }
PARTITA_DEFINE_BINARY_OPERATION(add)
PARTITA_DEFINE_BINARY_OPERATION(subtract)
PARTITA_DEFINE_BINARY_OPERATION(multiply)
PARTITA_DEFINE_BINARY_OPERATION(divide)
PARTITA_DEFINE_BINARY_OPERATION(remainder)
PARTITA_DEFINE_BINARY_OPERATION(power)
PARTITA_DEFINE_BINARY_OPERATION(atan2)
PARTITA_DEFINE_BINARY_OPERATION(bitwise_and)
PARTITA_DEFINE_BINARY_OPERATION(bitwise_or)
PARTITA_DEFINE_BINARY_OPERATION(bitwise_xor)
PARTITA_DEFINE_BINARY_OPERATION(equal_to)
PARTITA_DEFINE_BINARY_OPERATION(not_equal_to)
PARTITA_DEFINE_BINARY_OPERATION(less)
PARTITA_DEFINE_BINARY_OPERATION(less_equal)
PARTITA_DEFINE_BINARY_OPERATION(greater)
PARTITA_DEFINE_BINARY_OPERATION(greater_equal)
#undef PARTITA_DEFINE_BINARY_OPERATION

// Fallback: all other calls of the named operations are compile-time errors.
#define PARTITA_REQUIRES_ARRAY_OPERANDS(name)                                        \
  "partita::" name                                                                   \
  "(x, y, broadcast_dimensions<...>): requires two arrays or tensors, or one and a " \
  "number, and broadcast_dimensions<...> at most"
PARTITA_FALLBACK_OVERLOAD(add) {
  static_assert(detail::dependent_false<Given...>, PARTITA_REQUIRES_ARRAY_OPERANDS("add"));
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD(subtract) {
  static_assert(detail::dependent_false<Given...>, PARTITA_REQUIRES_ARRAY_OPERANDS("subtract"));
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD(multiply) {
  static_assert(detail::dependent_false<Given...>, PARTITA_REQUIRES_ARRAY_OPERANDS("multiply"));
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD(divide) {
  static_assert(detail::dependent_false<Given...>, PARTITA_REQUIRES_ARRAY_OPERANDS("divide"));
  return detail::rejected_call{};
}
#undef PARTITA_REQUIRES_ARRAY_OPERANDS

// maximum and minimum are objects, because they also name reductions; for arrays they call apply_extremum.
#define PARTITA_DEFINE_UNARY_OPERATION(operation)                                                      \
  template <class L, class R>                                                                          \
    requires detail::array_operands<L, R>                                                              \
  auto apply_extremum(operation##_t, L&& l, R&& r) {                                                   \
    return detail::named_operation<function::operation>(std::forward<L>(l), std::forward<R>(r),        \
                                                        broadcast_dimensions<>);                       \
  }                                                                                                    \
  template <class L, class R, broadcast_dimensions_choice Dims>                                        \
    requires detail::array_operands<L, R>                                                              \
  auto apply_extremum(operation##_t, L&& l, R&& r, const Dims& dims) {                                 \
    return detail::named_operation<function::operation>(std::forward<L>(l), std::forward<R>(r), dims); \
  }
PARTITA_DEFINE_UNARY_OPERATION(maximum)
PARTITA_DEFINE_UNARY_OPERATION(minimum)
#undef PARTITA_DEFINE_UNARY_OPERATION

}  // namespace partita
