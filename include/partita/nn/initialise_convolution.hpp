// Alternative initial weights of a convolution. The values are functions of the index in the global W, so they are the
// same for every partition.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <partita/array/as_element.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/nn/convolution.hpp>
#include <partita/nn/detail/uniform.hpp>
#include <utility>

namespace partita {

/// Sets W(o, c, t, …) = f(o, c, t, …), where o is the global output channel, c the input channel within the group, and
/// t, … the tap, and sets the bias to 0.
template <class T, std::size_t Features, class F>
void initialise(convolution<T, Features>& layer, F f) {
  const box<Features + 2> mine = layer.weight_box();
  layer.weight().resize(mine.shape());
  for (std::size_t k = 0; k < layer.weight().size(); ++k) {
    auto i = index_of(k, mine.shape());
    for (std::size_t d = 0; d < Features + 2; ++d) i[d] += mine.start[d];
    layer.weight().data()[k] =
        detail::as_element<T>(detail::call_at_index(f, i, std::make_index_sequence<Features + 2>()));
  }
  layer.bias().fill(T(0));
}

namespace detail {
/// Makes W uniform in [-b, b], b = sqrt(6 / fan), and the bias 0.
template <class T, std::size_t Features>
void initialise_uniform(convolution<T, Features>& layer, std::size_t fan, std::uint64_t seed) {
  const auto whole = layer.options().weight_shape();
  const double bound = std::sqrt(6.0 / static_cast<double>(fan));
  initialise(layer,
             [&](const index<Features + 2>& i) { return draw_uniform<T>(bound, seed, partita::flat_index(i, whole)); });
}
}  // namespace detail

/// Makes W uniform in [-b, b], b = sqrt(6 / weights of one output) (He et al., 2015, for relu), and the bias 0.
template <class T, std::size_t Features>
void kaiming_uniform(convolution<T, Features>& layer, std::uint64_t seed) {
  detail::initialise_uniform(layer, layer.options().weight_shape()[1] * layer.options().taps(), seed);
}

/// Makes W uniform in [-b, b], b = sqrt(6 / (n + m)), where n is the number of weights of one output and m is the
/// number of output channels times the number of taps (Glorot and Bengio 2010), and the bias 0.
template <class T, std::size_t Features>
void xavier_uniform(convolution<T, Features>& layer, std::uint64_t seed) {
  const auto whole = layer.options().weight_shape();
  detail::initialise_uniform(layer, (whole[0] + whole[1]) * layer.options().taps(), seed);
}

}  // namespace partita
