// A position in an index space, and its number in C order (the last dimension runs fastest).
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/extents.hpp>

namespace partita {

/// One coordinate for each dimension.
template <std::size_t Rank>
using index = std::array<std::size_t, Rank>;

/// The C-order number of position `i` in a space of the given shape.
template <std::size_t Rank>
constexpr std::size_t number_of(const index<Rank>& i, const std::array<std::size_t, Rank>& shape) {
  std::size_t number = 0;
  for (std::size_t d = 0; d < Rank; ++d) number = number * shape[d] + i[d];
  return number;
}

/// The position with C-order number `number` in a space of the given shape.
template <std::size_t Rank>
constexpr index<Rank> index_of(std::size_t number, const std::array<std::size_t, Rank>& shape) {
  index<Rank> i{};
  for (std::size_t d = Rank; d-- > 0;) {
    i[d] = number % shape[d];
    number /= shape[d];
  }
  return i;
}

/// How many positions a space of the given shape has.
template <std::size_t Rank>
constexpr std::size_t volume_of(const std::array<std::size_t, Rank>& shape) {
  std::size_t product = 1;
  for (std::size_t extent : shape) product *= extent;
  return product;
}

}  // namespace partita
