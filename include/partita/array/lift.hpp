// Lifting an operand to the rank of the result: a lazy expression that implements the dimension map by strides.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/expression.hpp>
#include <partita/rule/array_broadcast.hpp>
#include <utility>

namespace partita::detail {

/// The shape type of views of rank `Rank`, which may be `unknown_rank`.
template <std::size_t Rank, class T = std::size_t>
struct view_shape {
  using type = std::array<T, Rank>;
  static type make_array(std::size_t) { return {}; }  ///< zeros, `Rank` of them
};
template <class T>
struct view_shape<unknown_rank, T> {
  using type = xt::dynamic_shape<T>;
  static type make_array(std::size_t rank) { return type(rank); }  ///< `rank` numbers, to be assigned
};

/// A view of a strided expression with the extents `shape`, in which operand dimension j is result dimension
/// map.target(j). Dimensions of the shape that the operand does not span are repeated by a stride of 0. An rvalue is
/// moved into the view; the view refers to an lvalue.
template <std::size_t Rank, strided_expression E>
auto lift_strided_operand(E&& e, const dimension_map& map, const shape_list& shape) {
  auto view_extents = view_shape<Rank>::make_array(shape.size());
  auto view_strides = view_shape<Rank, std::ptrdiff_t>::make_array(shape.size());
  const shape_list own = shape_of(e);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    view_extents[d] = shape[d];
    const bool repeated = shape[d] == 1 || !map.equals_result(d, own, shape);
    view_strides[d] = repeated ? 0 : static_cast<std::ptrdiff_t>(e.strides()[map.source(d)]);
  }
  const auto offset = static_cast<std::size_t>(e.data_offset());
  return xt::strided_view(std::forward<E>(e), std::move(view_extents), std::move(view_strides), offset,
                          xt::layout_type::dynamic);
}

/// Makes a view with one slice for each result dimension from the first mapped dimension on: all() for mapped
/// dimensions, newaxis() for unmapped ones.
template <auto MakeMap, class E, std::size_t... K>
auto lift_by_view(E&& e, std::index_sequence<K...>) {
  constexpr std::size_t first = MakeMap().target(0);
  const auto slice = []<std::size_t D>(std::integral_constant<std::size_t, D>) {
    if constexpr (MakeMap().source(D) == dimension_map::unmapped) return xt::newaxis();
    else return xt::all();
  };
  return xt::view(std::forward<E>(e), slice(std::integral_constant<std::size_t, first + K>{})...);
}

/// Lifts an operand by a map known at compile time. xtensor aligns shapes at the last dimension, so an operand that is
/// mapped to the trailing dimensions (also a scalar) is passed on unchanged.
template <auto MakeMap, class E>
decltype(auto) lift_to_rank(E&& e) {
  constexpr dimension_map map = MakeMap();
  if constexpr (map.is_trailing()) {
    return std::forward<E>(e);
  } else {
    return lift_by_view<MakeMap>(std::forward<E>(e), std::make_index_sequence<map.result_rank() - map.target(0)>{});
  }
}

/// Broadcasts an operand by a dimension map known at run time; `Rank` is the rank of the result, if it is known.
template <std::size_t Rank, class E>
decltype(auto) lift_to_rank(E&& e, const dimension_map& map) {
  if constexpr (number<E> || array_operand_rank<E> == 0 || (Rank != unknown_rank && array_operand_rank<E> == Rank)) {
    return std::forward<E>(e);
  } else {
    const shape_list lifted = map.lift(shape_of(e));
    if constexpr (strided_expression<E>) {
      return lift_strided_operand<Rank>(std::forward<E>(e), map, lifted);
    } else {
      auto shape = view_shape<Rank>::make_array(lifted.size());
      for (std::size_t d = 0; d < lifted.size(); ++d) shape[d] = lifted[d];
      return xt::reshape_view(std::forward<E>(e), std::move(shape));
    }
  }
}

}  // namespace partita::detail
