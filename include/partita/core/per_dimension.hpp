// A number for each dimension, or one number for all dimensions.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace partita {

template <std::size_t N, class Others = std::make_index_sequence<(N > 1 ? N - 1 : 0)>>
struct per_dimension;
/// N numbers: `{3, 5}` gives one number for each dimension, and `3` or `{3}` the same number for all.
template <std::size_t N, std::size_t... D>
struct per_dimension<N, std::index_sequence<D...>> : std::array<std::size_t, N> {
  constexpr per_dimension(const std::array<std::size_t, N>& each = {}) : std::array<std::size_t, N>(each) {}  // NOLINT
  constexpr per_dimension(std::size_t first, decltype(D)... others) : std::array<std::size_t, N>{first, others...} {}
  constexpr per_dimension(std::conditional_t<(N > 1), std::size_t, std::index_sequence<>> all) { this->fill(all); }
  /// Fallback: another count of numbers is a compile-time error with a readable message.
  template <class... Number>
    requires(sizeof...(Number) > 1 && sizeof...(Number) != N && (std::is_integral_v<Number> && ...))
  constexpr per_dimension(Number...) {
    static_assert(sizeof...(Number) == N, "partita::per_dimension<N>: requires N numbers, or one for all of them");
  }
};

}  // namespace partita
