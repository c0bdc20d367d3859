// Array broadcasting at compile time: computes the extents of the result, or reports each error readably.
#pragma once

#include <cstddef>
#include <partita/core/extents.hpp>
#include <partita/rule/array_broadcast.hpp>
#include <partita/rule/broadcast_in_dim_rule.hpp>
#include <partita/rule/broadcast_sentence.hpp>
#include <type_traits>
#include <utility>

namespace partita {

/// The result dimensions to which the dimensions of an operand are mapped, as a type: `broadcast_dimensions<0, 2>`.
template <std::ptrdiff_t... D>
struct broadcast_dimensions_t {
  static constexpr broadcast_dimensions_list list() { return {D...}; }  ///< as a run-time list
};
template <>
struct broadcast_dimensions_t<> {
  static constexpr broadcast_dimensions_list list() { return {}; }  ///< as a run-time list
};
template <std::ptrdiff_t... D>
inline constexpr broadcast_dimensions_t<D...> broadcast_dimensions{};  ///< The listed dimensions as a value.

/// Whether T is a broadcast_dimensions_t.
template <class T>
inline constexpr bool is_static_broadcast_dimensions = false;
template <std::ptrdiff_t... D>
inline constexpr bool is_static_broadcast_dimensions<broadcast_dimensions_t<D...>> = true;

/// T is a type of lists of broadcast dimensions: `broadcast_dimensions_t<...>` or `broadcast_dimensions_list`.
template <class T>
concept broadcast_dimensions_choice = is_static_broadcast_dimensions<T> || std::is_same_v<T, broadcast_dimensions_list>;

namespace detail {

/// Converts broadcast dimensions of either type to a run-time list.
template <broadcast_dimensions_choice Dims>
constexpr broadcast_dimensions_list to_dimension_list(const Dims& dims) {
  if constexpr (is_static_broadcast_dimensions<Dims>) return Dims::list();
  else return dims;
}

/// An error message in an array of exactly its length, so that a compiler prints all of it as a template argument.
template <std::size_t N>
struct static_message {
  char sentence[N];  ///< the characters and a terminating 0
};
template <static_message Sentence>
struct the_call_is_not_legal;

/// The error message that the function MakeText returns. Such functions have named types in this header: clang 14
/// crashes on a lambda as a template argument if the lambda comes from a precompiled header.
template <auto MakeText>
constexpr auto make_error_text() {
  constexpr auto whole_message = MakeText();
  static_message<whole_message.size() + 1> exact{};
  for (std::size_t k = 0; k < whole_message.size(); ++k) exact.sentence[k] = whole_message[k];
  return exact;
}

/// The extents of a type extents<...> as a list.
template <class Extents>
inline constexpr shape_list static_shape{};
template <std::size_t... E>
inline constexpr shape_list static_shape<extents<E...>> = std::array<std::size_t, sizeof...(E)>{E...};

/// The extents of a shape that is known at compile time.
template <auto MakeShape, class = std::make_index_sequence<MakeShape().size()>>
struct extents_from_shape;
template <auto MakeShape, std::size_t... D>
struct extents_from_shape<MakeShape, std::index_sequence<D...>> {
  static constexpr shape_list shape = MakeShape();  ///< the extents as a list
  using type = extents<shape[D]...>;                ///< the extents as a type
};

/// The name of the rejected operation in compiler messages, for every element-wise function.
struct any_function_name {
  static constexpr const char* name = "elementwise";  ///< the name of the operation in messages
};

/// A function object that returns the error message of a broadcast of two operands.
template <broadcast_verdict Verdict, class Operation, class Lhs, class Rhs, class Dims>
struct broadcast_message {
  constexpr auto operator()() const {
    return explain_verdict(Verdict, Operation::name, static_shape<Lhs>, static_shape<Rhs>, Dims::list());
  }
};
template <broadcast_verdict Verdict, strictness Level, class Operand, class Result, class Dims>
struct broadcast_in_dim_message {  ///< a function object that returns the error message of a broadcast_in_dim
  constexpr auto operator()() const {
    return explain_verdict(Verdict, Level, static_shape<Operand>, static_shape<Result>, Dims::list());
  }
};

/// One static_assert for each error of a broadcast; its literal states the rule. A member of incomplete type makes g++
/// also print the whole message, with the shapes and the valid alternatives.
template <broadcast_verdict Verdict, class Lhs, class Rhs, class Dims, class Operation = any_function_name>
struct require_legal_broadcast {
  using enum broadcast_fault;
  static_assert(
      Verdict.fault != same_rank_dims_not_identity,
      "partita::elementwise(f, lhs, rhs, broadcast_dimensions<...>): requires operands of equal rank to have no "
      "broadcast_dimensions, or exactly 0, 1, ..., rank - 1; leave them out, or transpose an operand first");
  static_assert(Verdict.fault != rank_mismatch_without_dims,
                "partita::elementwise(f, lhs, rhs): requires equal ranks, a scalar, or broadcast_dimensions; pass "
                "broadcast_dimensions<...> to say where the dimensions of the smaller operand stand in the larger");
  static_assert(
      Verdict.fault != dims_size_mismatch,
      "partita::elementwise(f, lhs, rhs, broadcast_dimensions<...>): requires one entry of broadcast_dimensions "
      "for each dimension of the smaller operand; a scalar needs none");
  static_assert(
      Verdict.fault != dim_negative,
      "partita::elementwise(f, lhs, rhs, broadcast_dimensions<...>): requires entries of broadcast_dimensions "
      "that are not negative; count dimensions from the first, which is 0");
  static_assert(
      Verdict.fault != dim_too_large,
      "partita::elementwise(f, lhs, rhs, broadcast_dimensions<...>): requires entries of broadcast_dimensions "
      "below the rank of the larger operand; the last dimension is rank - 1");
  static_assert(
      Verdict.fault != indim_size_mismatch,
      "partita::elementwise(f, lhs, rhs, broadcast_dimensions<...>): requires mapped extents that are equal or "
      "1; map the dimensions of the smaller operand to dimensions of the same extent");
  static_assert(Verdict.fault != dims_not_strictly_increasing,
                "partita::elementwise(f, lhs, rhs, broadcast_dimensions<...>): requires strictly increasing "
                "broadcast_dimensions; for another order transpose the smaller operand first");
  static_assert(
      Verdict.fault != incompatible_shapes,
      "partita::elementwise(f, lhs, rhs): requires extents that are equal or 1 in every dimension; reshape or "
      "slice one of the operands first");
  the_call_is_not_legal<make_error_text<broadcast_message<Verdict, Operation, Lhs, Rhs, Dims>{}>()> sentence;
};
template <broadcast_verdict Verdict, class Lhs, class Rhs, class Dims, class Operation>
  requires(Verdict.fault == broadcast_fault::none)
struct require_legal_broadcast<Verdict, Lhs, Rhs, Dims, Operation> {};

template <broadcast_verdict Verdict, strictness Level, class Operand, class Result, class Dims>
struct require_legal_broadcast_in_dim {  ///< one static_assert for each error of a broadcast_in_dim
  using enum broadcast_fault;
  static_assert(Verdict.fault != dims_size_mismatch,
                "partita::broadcast_in_dim(x, result, broadcast_dimensions<...>): requires one entry of "
                "broadcast_dimensions for each dimension of x");
  static_assert(Verdict.fault != operand_rank_exceeds_output_rank,
                "partita::broadcast_in_dim(x, result, broadcast_dimensions<...>): requires a result of at least the "
                "operand's rank; sum over dimensions instead");
  static_assert(Verdict.fault != dim_out_of_range,
                "partita::broadcast_in_dim(x, result, broadcast_dimensions<...>): requires entries of "
                "broadcast_dimensions from 0 to the rank of the result - 1");
  static_assert(
      Verdict.fault != operand_size_mismatch,
      "partita::broadcast_in_dim(x, result, broadcast_dimensions<...>): requires extents of x that are 1 (not "
      "at level hlo) or the result's");
  static_assert(Verdict.fault != dims_not_strictly_increasing,
                "partita::broadcast_in_dim(x, result, broadcast_dimensions<...>): requires strictly increasing "
                "broadcast_dimensions; transpose x first, or pass the policy stablehlo");
  static_assert(Verdict.fault != dims_not_unique,
                "partita::broadcast_in_dim(x, result, broadcast_dimensions<...>): requires distinct "
                "broadcast_dimensions; a dimension of the result takes one dimension of x");
  the_call_is_not_legal<make_error_text<broadcast_in_dim_message<Verdict, Level, Operand, Result, Dims>{}>()> sentence;
};
template <broadcast_verdict Verdict, strictness Level, class Operand, class Result, class Dims>
  requires(Verdict.fault == broadcast_fault::none)
struct require_legal_broadcast_in_dim<Verdict, Level, Operand, Result, Dims> {};

}  // namespace detail

/// The result of checking at compile time whether two operands broadcast; a `dynamic` extent violates no rule.
template <class Lhs, class Rhs, std::ptrdiff_t... D>
  requires(is_extents<Lhs> && is_extents<Rhs>)
inline constexpr broadcast_verdict broadcast_verdict_of =
    judge_array_broadcast(detail::static_shape<Lhs>, detail::static_shape<Rhs>, broadcast_dimensions_t<D...>::list());

/// Whether two operands broadcast to each other; a false answer is not a compile-time error.
template <class Lhs, class Rhs, std::ptrdiff_t... D>
concept broadcastable = static_cast<bool>(broadcast_verdict_of<Lhs, Rhs, D...>);

namespace detail {

/// A function that returns the shape of the result; an empty shape for operands that do not broadcast.
template <class Lhs, class Rhs, std::ptrdiff_t... D>
struct make_broadcast_shape {
  constexpr shape_list operator()() const {
    constexpr bool legal = broadcastable<Lhs, Rhs, D...>;
    if constexpr (!legal) return shape_list{};
    else return broadcast_shape(static_shape<Lhs>, static_shape<Rhs>, broadcast_dimensions_t<D...>::list());
  }
};

}  // namespace detail

/// The extents of the result of a binary operation; a static_assert rejects extents that do not broadcast.
///
/// Example: `broadcast_extents<extents<2, 3>, extents<3>, 1>::value == extents<2, 3>{}`. A `dynamic` extent combined
/// with a number other than 1 gives that number; combined with 1 or `dynamic`, the result is `dynamic`.
template <class Lhs, class Rhs, std::ptrdiff_t... D>
struct broadcast_extents {
  static_assert(is_extents<Lhs> && is_extents<Rhs>,
                "partita::broadcast_extents<Lhs, Rhs, D...>: requires two partita::extents<…>");
  static constexpr detail::require_legal_broadcast<broadcast_verdict_of<Lhs, Rhs, D...>, Lhs, Rhs,
                                                   broadcast_dimensions_t<D...>>
      legality_check{};  ///< makes the compiler reject extents that do not broadcast
  /// The extents of the result as a type.
  using type = typename detail::extents_from_shape<detail::make_broadcast_shape<Lhs, Rhs, D...>{}>::type;
  static constexpr type value{};  ///< the extents of the result as a value
};

}  // namespace partita
