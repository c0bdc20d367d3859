// First values of weights, by the index in the global matrix: the same on every partition.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <partita/nn/linear.hpp>
#include <type_traits>

namespace partita {

namespace detail {
/// A value of f as an element: a real one also where elements are complex.
template <class T, class Value>
T as_element(const Value& value) {
  if constexpr (!std::is_arithmetic_v<T> && std::is_arithmetic_v<Value>) return T(static_cast<typename T::value_type>(value));
  else return static_cast<T>(value);
}
}  // namespace detail

/// Sets W(i, j) = f(i, j) for the global indices of the layer, and the bias to 0.
template <class T, linear_algorithm A, class F>
void initialise(linear<T, A>& layer, F f) {
  const box<2> mine = layer.weight_box();
  for (std::size_t i = mine.start[0]; i < mine.stop[0]; ++i)
    for (std::size_t j = mine.start[1]; j < mine.stop[1]; ++j)
      layer.weight()(i - mine.start[0], j - mine.start[1]) = detail::as_element<T>(f(i, j));
  layer.bias().fill(T(0));
}

namespace detail {
/// A counter-based random number in [0, 1): a function of seed and counter alone (the finaliser of splitmix64, twice).
inline double uniform_at(std::uint64_t seed, std::uint64_t counter) {
  const auto mix = [](std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  };
  const std::uint64_t bits = mix(mix(seed + 0x9e3779b97f4a7c15ULL) + (counter + 1) * 0x9e3779b97f4a7c15ULL);
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}
template <class T, linear_algorithm A>
void uniform(linear<T, A>& layer, double bound, std::uint64_t seed) {
  const std::size_t columns = layer.options().in_features;
  initialise(layer, [=](std::size_t i, std::size_t j) { return bound * (2 * uniform_at(seed, i * columns + j) - 1); });
}
}  // namespace detail

/// Uniform in (-b, b), b = sqrt(6 / in_features) (He et al. 2015, for relu); the bias is 0. One seed, one global W.
template <class T, linear_algorithm A>
void kaiming_uniform(linear<T, A>& layer, std::uint64_t seed) {
  detail::uniform(layer, std::sqrt(6.0 / static_cast<double>(layer.options().in_features)), seed);
}

/// Uniform in (-b, b), b = sqrt(6 / (in_features + out_features)) (Glorot and Bengio 2010); the bias is 0.
template <class T, linear_algorithm A>
void xavier_uniform(linear<T, A>& layer, std::uint64_t seed) {
  detail::uniform(layer, std::sqrt(6.0 / static_cast<double>(layer.options().in_features + layer.options().out_features)), seed);
}

}  // namespace partita
