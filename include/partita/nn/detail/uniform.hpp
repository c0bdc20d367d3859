// Random elements as functions of a seed and a counter only. Each worker computes the elements of its block, and the
// global tensor is the same for every partition.
#pragma once

#include <cstdint>
#include <numbers>
#include <partita/array/expression.hpp>

namespace partita::detail {

/// A random number in [0, 1), made from seed and counter by applying the finaliser of splitmix64 twice.
inline double draw_uniform(std::uint64_t seed, std::uint64_t counter) {
  const auto mix = [](std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  };
  const std::uint64_t bits = mix(mix(seed + 0x9e3779b97f4a7c15ULL) + (counter + 1) * 0x9e3779b97f4a7c15ULL);
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}

/// A random element, uniform in [-bound, bound]. Both parts of a complex element are uniform in [-bound / sqrt(2),
/// bound / sqrt(2)], so that the mean of |w|^2 is the same as for real elements.
template <class T>
T draw_uniform(double bound, std::uint64_t seed, std::uint64_t counter) {
  if constexpr (is_complex_number<T>) {
    using real = typename T::value_type;
    const double each = bound / std::numbers::sqrt2;
    return {draw_uniform<real>(each, seed, 2 * counter), draw_uniform<real>(each, seed, 2 * counter + 1)};
  } else {
    return static_cast<T>(bound * (2 * draw_uniform(seed, counter) - 1));
  }
}

}  // namespace partita::detail
