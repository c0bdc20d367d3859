// The largest element of each window, for max pooling.
#pragma once

#include <array>
#include <cstddef>
#include <partita/nn/detail/windowed.hpp>
#include <vector>

namespace partita::detail {

/// A reduction for windowed_layer. An output is the largest input of its window; of equal inputs, the first in C order
/// is chosen, and a NaN is larger than all numbers.
class max_of_taps {
 public:
  template <class T, std::size_t Rank>
  xt::xtensor<T, Rank> forward(const local_taps<Rank>& worker_taps, const T* window) {
    auto y = uninitialised<T, Rank>(worker_taps.outputs);
    forward(worker_taps, window, y.data());
    return y;
  }
  /// Sets y to the largest input of each window, and keeps the offsets of these inputs for backward().
  template <class T, std::size_t Rank>
  void forward(const local_taps<Rank>& worker_taps, const T* window, T* y) {
    argmax_.assign(volume_of(worker_taps.outputs), none);
    for (std::size_t k = 0; k < argmax_.size(); ++k) {
      const auto o = index_of(k, worker_taps.outputs);
      T largest = maximum_t::identity<T>();
      std::array<std::size_t, Rank> tap{};
      for (std::size_t d = 0; d < Rank; ++d) tap[d] = worker_taps.by_dimension[d].first[o[d]];
      bool more = true;
      for (std::size_t d = 0; d < Rank; ++d) more = more && tap[d] < worker_taps.by_dimension[d].first[o[d] + 1];
      while (more) {
        std::size_t at = 0;
        for (std::size_t d = 0; d < Rank; ++d)
          at = at * worker_taps.window[d] + worker_taps.by_dimension[d].input[tap[d]];
        const T value = window[at];
        if (argmax_[k] == none || value > largest || (value != value && largest == largest))
          largest = value, argmax_[k] = at;
        std::size_t d = Rank;
        while (d > 0 && ++tap[d - 1] == worker_taps.by_dimension[d - 1].first[o[d - 1] + 1])
          tap[d - 1] = worker_taps.by_dimension[d - 1].first[o[d - 1]], --d;
        more = d > 0;
      }
      y[k] = largest;
    }
  }
  template <class T, std::size_t Rank>
  xt::xtensor<T, Rank> backward(const local_taps<Rank>& worker_taps, const xt::xtensor<T, Rank>& dy) const {
    auto gradient = uninitialised<T, Rank>(worker_taps.window);
    backward(worker_taps, dy.data(), gradient.data());
    return gradient;
  }
  /// Sets the gradient of the window: each input gets the sum of dy over the outputs that chose it, 0 if none did.
  template <class T, std::size_t Rank>
  void backward(const local_taps<Rank>& worker_taps, const T* dy, T* gradient) const {
    for (std::size_t k = 0; k < volume_of(worker_taps.window); ++k) gradient[k] = T(0);
    for (std::size_t k = 0; k < argmax_.size(); ++k)
      if (argmax_[k] != none) gradient[argmax_[k]] = static_cast<T>(gradient[argmax_[k]] + dy[k]);
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);  ///< in argmax_, for an output without inputs
  std::vector<std::size_t> argmax_;  ///< for each output, the offset in the window of the input that it was taken from
};

}  // namespace partita::detail
