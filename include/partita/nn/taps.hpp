// The inputs and weights that make one output of a pooling or interpolation layer, along one dimension.
//
// In several dimensions, an output has an input for each combination of its taps along the dimensions; the weights of
// these taps are multiplied.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/plan/cut.hpp>
#include <partita/rule/sliding.hpp>
#include <vector>

namespace partita {

/// The inputs of a range of outputs, stored one output after the other.
struct taps {
  std::vector<std::size_t> first{0};  ///< output o has the taps from number first[o] to before first[o + 1]
  std::vector<std::size_t> input{};   ///< each tap's input index; inputs outside of the tensor are left out
  std::vector<double> weight{};       ///< each tap's weight
  std::vector<double> divisor{};      ///< for each output the divisor of its weighted sum

  std::size_t outputs() const { return divisor.size(); }  ///< the number of outputs
  /// Adds a tap to the current output: the input `index`, with the weight `by`.
  PARTITA_DECL void tap(std::size_t index, double by = 1);
  /// Completes the taps of an output, whose weighted sum is divided by `output_divisor`.
  PARTITA_DECL void end(double output_divisor = 1);
  /// The range of input indices from the lowest to the highest input of all taps.
  PARTITA_DECL interval footprint() const;
};

/// The taps of the identity: each output is the input of the same index.
PARTITA_DECL taps taps_of_identity(interval outputs);

/// The taps of a sliding kernel, whose weights are all 1. The divisor of an output is the number of cells of its window
/// inside the tensor or, with `includes_padding`, inside the padded tensor.
PARTITA_DECL taps taps_of_window(const sliding& kernel, interval outputs, std::size_t n, bool includes_padding);

/// The taps of adaptive windows: output o of m uses the inputs from floor(o n / m) to before ceil((o + 1) n / m).
PARTITA_DECL taps taps_of_adaptive_window(interval outputs, std::size_t n, std::size_t m);

/// The positions of an interpolation's outputs: they are `step` inputs apart or, with `align_corners`, spread evenly
/// from the first to the last input.
struct interpolation {
  bool linear = false;  ///< whether to interpolate between two inputs; if false, the nearest input to the left is taken
  bool align_corners = false;  ///< whether the first and last outputs equal the first and last inputs; linear only
  double step = 1;             ///< the distance of two outputs, in inputs

  /// The taps of some of m outputs along a dimension of n inputs.
  PARTITA_DECL taps taps_of(interval outputs, std::size_t n, std::size_t m) const;
};

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/nn/impl/taps.ipp>
#endif
