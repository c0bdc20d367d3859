// A position in an index space, and the number of a position in C order (the last dimension varies fastest).
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/extents.hpp>
#include <type_traits>

namespace partita {

/// A position in a tensor or a grid: one coordinate for each dimension.
template <std::size_t Rank>
using index = std::array<std::size_t, Rank>;

/// Returns a position unchanged. An argument of any other type is a compile-time error with a readable message.
template <std::size_t Rank, class Index>
constexpr index<Rank> index_from(const Index& i) {
  static_assert(std::is_same_v<Index, index<Rank>>,
                "partita::index: requires a position as a partita::index of that rank, or as one std::size_t for each "
                "dimension between braces");
  if constexpr (std::is_same_v<Index, index<Rank>>) return i;
  else return {};
}

/// Returns a position that is written in braces, with all coordinates: {1} is not a position in a space of rank 2.
template <std::size_t Rank, std::size_t N>
constexpr index<Rank> index_from(const std::size_t (&coordinates)[N]) {
  static_assert(N == Rank,
                "partita::index: requires one coordinate for each dimension between the braces of a position; add "
                "those that are missing, or take away those that are too many");
  index<Rank> i{};
  for (std::size_t d = 0; d < Rank && d < N; ++d) i[d] = coordinates[d];
  return i;
}

/// The C-order number of position `i` in a space of the given shape. Requires a position inside the space (not checked,
/// because inner loops call the function).
template <std::size_t Rank>
constexpr std::size_t flat_index(const index<Rank>& i, const std::array<std::size_t, Rank>& shape) {
  std::size_t number = 0;
  for (std::size_t d = 0; d < Rank; ++d) number = number * shape[d] + i[d];
  return number;
}

/// The position with C-order number `number` in a space of the given shape. Requires number < volume [shape_error].
template <std::size_t Rank>
constexpr index<Rank> index_of(std::size_t number, const std::array<std::size_t, Rank>& shape) {
  index<Rank> i{};
  std::size_t remaining = number;
  bool has_positions = true;  // a space with an extent of 0 has no position
  for (std::size_t d = Rank; d-- > 0 && has_positions;) {
    has_positions = shape[d] != 0;
    if (has_positions) i[d] = remaining % shape[d], remaining /= shape[d];
  }
  if (remaining != 0 || !has_positions)
    throw shape_error(text("partita::index_of(number, shape): requires a number below the volume of the shape ")
                      << shape << ", got " << number);
  return i;
}

/// The number of positions in a space of the given shape. An overflow of `std::size_t` is a shape_error.
template <std::size_t Rank>
constexpr std::size_t volume_of(const std::array<std::size_t, Rank>& shape) {
  return product_of(shape, "partita::volume_of(shape)");
}

}  // namespace partita
