// The inputs and weights that make one output of a pooling or interpolation layer, along one dimension.
//
// In several dimensions, pooling and interpolation are the product of the taps along each dimension.
#pragma once

#include <cstddef>
#include <partita/plan/cut.hpp>
#include <partita/rule/sliding.hpp>
#include <utility>
#include <vector>

namespace partita {

/// The inputs of a range of outputs, stored one output after the other.
struct taps {
  std::vector<std::size_t> first{0};  ///< the taps of output o are those from first[o] to first[o + 1]
  std::vector<std::size_t> input{};   ///< global indices in the whole tensor; inputs outside the tensor are left out
  std::vector<double> weight{};
  std::vector<double> divisor{};  ///< the divisor of the weighted sum of each output

  std::size_t outputs() const { return divisor.size(); }
  void tap(std::size_t index, double by = 1) {
    input.push_back(index);
    weight.push_back(by);
  }
  /// Completes an output.
  void end(double divided_by = 1) {
    first.push_back(input.size());
    divisor.push_back(divided_by);
  }
  /// The range from the lowest input to the highest.
  interval footprint() const {
    interval all;
    for (std::size_t k = 0; k < input.size(); ++k) {
      all.start = k == 0 || input[k] < all.start ? input[k] : all.start;
      all.stop = input[k] + 1 > all.stop ? input[k] + 1 : all.stop;
    }
    return all;
  }
};

/// Each output is the input of the same index.
inline taps taps_of_identity(interval outputs) {
  taps all;
  for (std::size_t o = outputs.start; o < outputs.stop; ++o) all.tap(o), all.end();
  return all;
}

/// A sliding kernel: all weights are 1; the divisor counts the cells of the window inside the tensor or, with
/// `padding_counts`, inside the padded tensor.
inline taps taps_of_window(const sliding& kernel, interval outputs, std::size_t n, bool padding_counts) {
  taps all;
  const auto extent = static_cast<std::ptrdiff_t>(n), padded = static_cast<std::ptrdiff_t>(n + kernel.padding);
  for (std::size_t o = outputs.start; o < outputs.stop; ++o) {
    double inside = 0, counted = 0;
    for (std::size_t t = 0; t < kernel.kernel; ++t) {
      const std::ptrdiff_t i = kernel.first_cell(o) + static_cast<std::ptrdiff_t>(t * kernel.dilation);
      counted += i < padded ? 1 : 0;
      if (i < 0 || i >= extent) continue;
      all.tap(static_cast<std::size_t>(i));
      inside += 1;
    }
    all.end(padding_counts ? counted : inside);
  }
  return all;
}

/// An adaptive window: output o of m uses the inputs from floor(o n / m) to ceil((o + 1) n / m).
inline taps taps_of_adaptive_window(interval outputs, std::size_t n, std::size_t m) {
  taps all;
  for (std::size_t o = outputs.start; o < outputs.stop; ++o) {
    const std::size_t start = o * n / m, stop = ((o + 1) * n + m - 1) / m;
    for (std::size_t i = start; i < stop; ++i) all.tap(i);
    all.end(static_cast<double>(stop - start));
  }
  return all;
}

/// The positions of outputs between inputs: `step` inputs apart, or from the first to the last input (`align_corners`).
struct interpolation {
  bool linear = false;  ///< if false, the nearest input to the left
  bool align_corners = false;
  double step = 1;  ///< the distance of two outputs, in inputs

  taps taps_of(interval outputs, std::size_t n, std::size_t m) const {
    taps all;
    for (std::size_t o = outputs.start; o < outputs.stop; ++o) {
      const auto at = static_cast<double>(o);
      if (!linear) {
        const auto i = static_cast<std::size_t>(at * step);
        all.tap(i < n ? i : n - 1);
      } else {
        const double from = align_corners ? (m > 1 ? at * static_cast<double>(n - 1) / static_cast<double>(m - 1) : 0)
                                          : (at + 0.5) * step - 0.5;
        const double f = from > 0 ? from : 0;
        const auto i = static_cast<std::size_t>(f);
        const double share = f - static_cast<double>(i);
        if (i + 1 >= n) {
          all.tap(n - 1);
        } else {
          all.tap(i, 1 - share);
          if (share > 0) all.tap(i + 1, share);
        }
      }
      all.end();
    }
    return all;
  }
};

}  // namespace partita
