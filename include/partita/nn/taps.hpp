// The inputs and weights that make one output of a pooling or interpolation layer, along one dimension.
//
// In several dimensions, pooling and interpolation are the product of the taps along each dimension.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
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
  PARTITA_DECL void tap(std::size_t index, double by = 1);
  /// Completes an output.
  PARTITA_DECL void end(double divided_by = 1);
  /// The range from the lowest input to the highest.
  PARTITA_DECL interval footprint() const;
};

/// Each output is the input of the same index.
PARTITA_DECL taps taps_of_identity(interval outputs);

/// A sliding kernel: all weights are 1; the divisor counts the cells of the window inside the tensor or, with
/// `padding_counts`, inside the padded tensor.
PARTITA_DECL taps taps_of_window(const sliding& kernel, interval outputs, std::size_t n, bool padding_counts);

/// An adaptive window: output o of m uses the inputs from floor(o n / m) to ceil((o + 1) n / m).
PARTITA_DECL taps taps_of_adaptive_window(interval outputs, std::size_t n, std::size_t m);

/// The positions of outputs between inputs: `step` inputs apart, or from the first to the last input (`align_corners`).
struct interpolation {
  bool linear = false;  ///< if false, the nearest input to the left
  bool align_corners = false;
  double step = 1;  ///< the distance of two outputs, in inputs

  PARTITA_DECL taps taps_of(interval outputs, std::size_t n, std::size_t m) const;
};

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/nn/impl/taps.ipp>
#endif
