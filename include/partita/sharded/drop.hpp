// Dropout as a function of tensors. The mask is a function of global indices, so it does not depend on the sharding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/version.hpp>
#include <partita/nn/dropout.hpp>
#include <partita/rule/sharding/rules/elementwise.hpp>
#include <partita/sharded/operate.hpp>

namespace partita {
namespace detail {

struct drop_operation {                              ///< dropout as an operation; see apply_dropout()
  static constexpr bool on_integers = true;          ///< accepts integers, also in traced programs
  static constexpr std::uint32_t adjoint_reads = 0;  ///< bit mask; 0: the adjoint reads dy only
  static constexpr std::size_t parameters = 2;       ///< number of data members, each equal on all workers
  dropout_options options;                           ///< the probability that an element is set to 0, and the seed
  std::uint64_t step;                                ///< the number of the training step, for a new mask in each step

  static constexpr partita::rule rule(const shape_span& x) { return rules::add(x).named("drop"); }  ///< elementwise
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< computes this worker's block of y
    const T scale = static_cast<T>(options.probability < 1 ? 1 / (1 - options.probability) : 0);
    random_words words(options.seed, step);
    const std::size_t rank = y.shape.size(), row = rank == 0 ? 1 : y.shape[rank - 1];
    for (std::size_t k = 0; k < y.size(); k += row) {
      std::size_t remaining = k, first = 0, stride = 1;
      for (std::size_t d = rank; d-- > 0;) {
        first += (y.box[d].start + remaining % y.shape[d]) * stride;
        remaining /= y.shape[d];
        stride *= y.extents[d];
      }
      for (std::size_t j = 0; j < row; ++j) {
        const bool kept = static_cast<double>(words[first + j]) * 0x1p-32 >= options.probability;
        y[k + j] = kept ? static_cast<T>(x[k + j] * scale) : T(0);
      }
    }
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X&, const X&) const {  ///< applies the same mask to dy
    return apply_op(*this, dy);
  }
};

}  // namespace detail

/// Sets each element x to 0 with the given probability, and otherwise to x / (1 - probability), as in `apply_dropout(x,
/// {.probability = 0.1, .seed = 7}, step)`. For every layout the mask equals that of the layer `dropout` with the same
/// options at the same step.
/// Requires: a probability from 0 to 1 [shape_error].
/// Cost:     no communication, unless another reduction than a sum or a mean is pending; sums and means stay pending.
///           The generator Philox4x32-10 is usually called once per four elements.
/// Adjoint:  apply_dropout of dy with the same mask.
template <detail::any_tensor X>
auto apply_dropout(const X& x, const dropout_options& options, std::uint64_t step) {
  if (!(options.probability >= 0 && options.probability <= 1))
    throw shape_error("partita::apply_dropout(x, options, step): requires a probability from 0 to 1");
  return apply_op(detail::drop_operation{options, step}, x);
}
template <class X>
PARTITA_FORMER_NAME("use apply_dropout")
auto drop(const X& x, const dropout_options& options, std::uint64_t step) {  ///< the former name of apply_dropout
  return apply_dropout(x, options, step);
}

}  // namespace partita
