// A number for each dimension, or one that all of them share.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

namespace partita {

/// N numbers: `{3, 5}` one for each dimension, `3` or `{3}` that for all of them.
template <std::size_t N>
struct per_dimension : std::array<std::size_t, N> {
  constexpr per_dimension(const std::array<std::size_t, N>& each = {}) : std::array<std::size_t, N>(each) {}  // NOLINT
  template <class... Number>
    requires(sizeof...(Number) > 0 && (std::is_integral_v<Number> && ...))
  constexpr per_dimension(Number... numbers) : per_dimension() {  // NOLINT: numbers in braces, or one
    static_assert(sizeof...(Number) == N || sizeof...(Number) == 1,
                  "partita::per_dimension<N>: requires one number for each of N dimensions, or one for all of them");
    if constexpr (sizeof...(Number) == 1) this->fill((static_cast<std::size_t>(numbers), ...));
    else if constexpr (sizeof...(Number) == N) *this = std::array<std::size_t, N>{static_cast<std::size_t>(numbers)...};
  }
};

}  // namespace partita
