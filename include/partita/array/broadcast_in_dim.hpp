// broadcast_in_dim: broadcasts one array to a larger shape; its adjoint sums over the repeated dimensions.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/expression.hpp>
#include <partita/array/lift.hpp>
#include <partita/array/row_walk.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/rule/broadcast_extents.hpp>
#include <type_traits>
#include <utility>

namespace partita {

namespace detail {

/// Checks a broadcast_in_dim: at compile time as far as the types allow, the rest at run time.
template <class Operand, class Result, strictness Level, class Dims>
void require_broadcast_in_dim(const shape_list& operand, const shape_list& result, const Dims& dims) {
  if constexpr (is_static_broadcast_dimensions<Dims> && !std::is_void_v<Operand> && !std::is_void_v<Result>) {
    constexpr auto known = judge_broadcast_in_dim(static_shape<Operand>, static_shape<Result>, Dims::list(), Level);
    [[maybe_unused]] constexpr require_legal_broadcast_in_dim<known, Level, Operand, Result, Dims> judged{};
    if constexpr (Operand::is_static() && Result::is_static()) return;
  }
  const auto list = to_dimension_list(dims);
  if (const auto verdict = judge_broadcast_in_dim(operand, result, list, Level); !verdict)
    throw shape_error(explain_verdict(verdict, Level, operand, result, list));
}

/// The operand repeated to the shape `result`, as a lazy view with strides of 0 along the repeated dimensions.
template <std::size_t Rank, class E>
auto expand(E&& e, const dimension_map& map, const shape_list& result) {
  auto shape = view_shape<Rank>::make_array(result.size());
  for (std::size_t d = 0; d < result.size(); ++d) shape[d] = result[d];
  if constexpr (number<E>) {
    return xt::broadcast(std::forward<E>(e), shape);
  } else if constexpr (strided_expression<E>) {
    return lift_strided_operand<Rank>(std::forward<E>(e), map, result);
  } else {
    // A lazy operand is evaluated once: a view of the lazy operand would evaluate it again for every repetition.
    return lift_strided_operand<Rank>(evaluated_array<E>(e), map, result);
  }
}

/// The sum of a row of n elements, from eight partial sums, so that an addition need not wait for the previous one.
template <class T>
T sum_row(const T* row, std::ptrdiff_t stride, std::size_t n) {
  std::array<T, 8> partial{};
  std::size_t i = 0;
  if (stride == 1)
    for (; i + 8 <= n; i += 8)
      for (std::size_t k = 0; k < 8; ++k) partial[k] = static_cast<T>(partial[k] + row[i + k]);
  for (; i < n; ++i) partial[i % 8] = static_cast<T>(partial[i % 8] + row[static_cast<std::ptrdiff_t>(i) * stride]);
  for (std::size_t width = 4; width > 0; width /= 2)
    for (std::size_t k = 0; k < width; ++k) partial[k] = static_cast<T>(partial[k] + partial[k + width]);
  return partial[0];
}

/// Adds every element of dy to the element of dx that the broadcast repeats at the position of the dy element.
template <class T, class Dy>
void add_row_sums_to_operand(T* dx, const shape_list& operand, const dimension_map& map, const Dy& dy) {
  std::array<std::ptrdiff_t, most_dimensions> own{};
  std::ptrdiff_t step = 1;
  for (std::size_t j = operand.size(); j-- > 0; step *= static_cast<std::ptrdiff_t>(operand[j])) own[j] = step;
  row_walk<2> walk;
  const shape_list result = shape_of(dy);
  for (std::size_t d = 0; d < result.size(); ++d)
    walk.add(result[d], {static_cast<std::ptrdiff_t>(dy.strides()[d]),
                         map.equals_result(d, operand, result) && result[d] != 1 ? own[map.source(d)] : 0});
  walk.sort_by_first_block();
  const auto strides = walk.innermost_plane().column_step;
  const T* from = dy.data() + static_cast<std::ptrdiff_t>(dy.data_offset());
  walk.for_each_row([&](const auto& offsets, std::size_t n) {
    const T* row = from + offsets[0];
    T* to = dx + offsets[1];
    if (strides[1] == 0) {
      *to = static_cast<T>(*to + sum_row(row, strides[0], n));
    } else if (strides[0] == 1 && strides[1] == 1) {
      for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<T>(to[i] + row[i]);
    } else {
      for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(n); ++i)
        to[i * strides[1]] = static_cast<T>(to[i * strides[1]] + row[i * strides[0]]);
    }
  });
}

/// Computes the adjoint of broadcast_in_dim for a legal map: a new array of the operand's shape.
template <std::size_t OperandRank, class Dy>
auto sum_to_operand(const Dy& dy, const shape_list& operand, const dimension_map& map) {
  using T = operand_element<Dy>;
  auto shape = view_shape<OperandRank>::make_array(operand.size());
  for (std::size_t j = 0; j < operand.size(); ++j) shape[j] = operand[j];
  array_with_rank<T, OperandRank> dx(shape, T{});
  if constexpr (strided_expression<Dy>) {
    add_row_sums_to_operand(dx.data(), operand, map, dy);
  } else {
    add_row_sums_to_operand(dx.data(), operand, map, evaluated_array<Dy>(dy));
  }
  return dx;
}

}  // namespace detail

/// Broadcasts x to a larger shape: dimension j of x becomes dimension dims[j] of the result, and x is repeated along
/// all other dimensions. Lazy.
/// Shapes:   rank(x) <= rank(result); each extent of x is 1 or equal to the result's extent in its dimension.
/// Requires: strictly increasing dims at level xla_builder (the default); distinct dims at levels stablehlo and hlo; no
///           extent of 1 expanded at level hlo [compile time as far as known; shape_error].
/// Cost:     one evaluation of a lazy x, otherwise none: the result is a view with strides of 0.
/// Adjoint:  broadcast_adjoint.
template <class E, std::size_t... N, broadcast_dimensions_choice Dims = broadcast_dimensions_t<>,
          strictness Level = strictness::xla_builder>
  requires detail::array_operand<E>
auto broadcast_in_dim(E&& x, const extents<N...>& result, const Dims& dims = {}, strictness_t<Level> = {}) {
  using namespace detail;
  const shape_list operand = shape_of(x), whole(result);
  require_broadcast_in_dim<array_extents<E>, extents<N...>, Level>(operand, whole, dims);
  const dimension_map map(short_list<std::size_t>(to_dimension_list(dims)), whole.size());
  if constexpr (std::is_lvalue_reference_v<E>) return expand<sizeof...(N)>(std::as_const(x), map, whole);
  else return expand<sizeof...(N)>(std::forward<E>(x), map, whole);
}
/// Broadcasts x to a list of signed extents: std::array, std::vector, a shape. A negative extent causes a shape_error.
template <class E, class Shape, broadcast_dimensions_choice Dims = broadcast_dimensions_t<>,
          strictness Level = strictness::xla_builder>
  requires(detail::array_operand<E> && !is_extents<Shape> && std::is_constructible_v<short_list<std::ptrdiff_t>, Shape>)
auto broadcast_in_dim(E&& x, const Shape& result, const Dims& dims = {}, strictness_t<Level> = {}) {
  using namespace detail;
  using known_extents = typename extents_from_shape_type<Shape>::type;  ///< of the type Shape; void if it fixes no rank
  const shape_list operand = shape_of(x);
  const short_list<std::ptrdiff_t> whole(result);
  if (const auto verdict = judge_result_extents(whole); !verdict) throw shape_error(explain_verdict(verdict, whole));
  require_broadcast_in_dim<array_extents<E>, known_extents, Level>(operand, whole, dims);
  constexpr std::size_t rank = rank_of_extents<known_extents>;
  const dimension_map map(short_list<std::size_t>(to_dimension_list(dims)), whole.size());
  if constexpr (std::is_lvalue_reference_v<E>) return expand<rank>(std::as_const(x), map, whole);
  else return expand<rank>(std::forward<E>(x), map, whole);
}

/// Sums dy over all repetitions of broadcast_in_dim: returns a new array of the operand's extents.
/// Shapes:   dy has the shape of the result, dx that of `operand`; an empty sum is 0.
/// Requires: what broadcast_in_dim requires of an operand with the extents `operand`.
/// Cost:     one pass over dy; a lazy dy is evaluated first.
/// Adjoint:  broadcast_in_dim.
template <array_expression Dy, std::size_t... N, broadcast_dimensions_choice Dims = broadcast_dimensions_t<>,
          strictness Level = strictness::xla_builder>
auto broadcast_adjoint(const Dy& dy, const extents<N...>& operand, const Dims& dims = {}, strictness_t<Level> = {}) {
  using namespace detail;
  const shape_list small(operand), whole = shape_of(dy);
  require_broadcast_in_dim<extents<N...>, array_extents<Dy>, Level>(small, whole, dims);
  return sum_to_operand<sizeof...(N)>(dy, small, {short_list<std::size_t>(to_dimension_list(dims)), whole.size()});
}
/// Sums dy over all repetitions of broadcast_in_dim. The extents of the operand are a list: with std::array the result
/// has a static rank, with std::vector a dynamic rank.
template <array_expression Dy, class Shape, broadcast_dimensions_choice Dims = broadcast_dimensions_t<>,
          strictness Level = strictness::xla_builder>
  requires(!is_extents<Shape> && std::is_constructible_v<shape_list, Shape>)
auto broadcast_adjoint(const Dy& dy, const Shape& operand, const Dims& dims = {}, strictness_t<Level> = {}) {
  using namespace detail;
  using known_extents = typename extents_from_shape_type<Shape>::type;  ///< of the type Shape; void if it fixes no rank
  const shape_list small(operand), whole = shape_of(dy);
  require_broadcast_in_dim<known_extents, array_extents<Dy>, Level>(small, whole, dims);
  return sum_to_operand<rank_of_extents<known_extents>>(
      dy, small, {short_list<std::size_t>(to_dimension_list(dims)), whole.size()});
}

PARTITA_FALLBACK_OVERLOAD(broadcast_in_dim) {
  static_assert(detail::dependent_false<Given...>,
                "partita::broadcast_in_dim(x, extents, broadcast_dimensions<...>): requires an array or a number and "
                "the extents of the result; write broadcast_in_dim(x, extents<2, 3>{})");
  return detail::rejected_call{};
}

}  // namespace partita
