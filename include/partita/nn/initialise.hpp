// Alternative initial weights of a linear layer. The values are functions of the global index, so they are the same for
// every partition.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <partita/array/as_element.hpp>
#include <partita/nn/detail/uniform.hpp>
#include <partita/nn/linear.hpp>

namespace partita {

/// Sets W(i, j) = f(i, j), where i and j are indices of the global W, and sets the bias to 0.
template <class T, linear_algorithm A, class F>
void initialise(linear<T, A>& layer, F f) {
  const box<2> mine = layer.weight_box();
  layer.weight().resize(mine.shape());
  for (std::size_t i = mine.start[0]; i < mine.stop[0]; ++i)
    for (std::size_t j = mine.start[1]; j < mine.stop[1]; ++j)
      layer.weight()(i - mine.start[0], j - mine.start[1]) = detail::as_element<T>(f(i, j));
  layer.bias().fill(T(0));
}

namespace detail {
/// Makes W uniform in [-bound, bound], and the bias 0.
template <class T, linear_algorithm A>
void initialise_uniform(linear<T, A>& layer, double bound, std::uint64_t seed) {
  const std::size_t columns = layer.options().in_features;
  initialise(layer, [=](std::size_t i, std::size_t j) { return draw_uniform<T>(bound, seed, i * columns + j); });
}
}  // namespace detail

/// Makes W uniform in [-b, b], where b = sqrt(6 / in_features) (He et al., 2015, for relu), and the bias 0. The global
/// W depends on its extents and the seed, not on the partition.
template <class T, linear_algorithm A>
void kaiming_uniform(linear<T, A>& layer, std::uint64_t seed) {
  detail::initialise_uniform(layer, std::sqrt(6.0 / static_cast<double>(layer.options().in_features)), seed);
}

/// Makes W uniform in [-b, b], b = sqrt(6 / (in_features + out_features)) (Glorot and Bengio 2010), and the bias 0.
template <class T, linear_algorithm A>
void xavier_uniform(linear<T, A>& layer, std::uint64_t seed) {
  detail::initialise_uniform(
      layer, std::sqrt(6.0 / static_cast<double>(layer.options().in_features + layer.options().out_features)), seed);
}

}  // namespace partita
