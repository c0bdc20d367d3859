// Pooling and upsampling as functions of tensors: batch, channels and features cut as they like.
#pragma once

#include <array>
#include <cstddef>
#include <partita/nn/pooling.hpp>
#include <partita/nn/upsampling.hpp>
#include <partita/sharded/convolve.hpp>
#include <partita/sharded/detail/sample_operations.hpp>

namespace partita {
namespace detail {

/// The operation of a layer's rule on a tensor.
template <template <class, std::size_t> class Operation, std::size_t D, class Rule, class X>
auto sampled(const Rule& rule, const X& x) {
  const shape_list shape = extents_of_any(x);
  if (shape.size() != D + 2)
    throw shape_error(text(rule.name()) << ": requires x = batch x channels x " << D << " features, got " << shape);
  Operation<Rule, D + 2> op{{rule, shape_array<D + 2>(shape)}};
  const text problem = rule.objection(op.of.x);
  if (!problem.empty()) throw shape_error(text(rule.name()) << ": " << problem);
  return operate(op, x);
}

}  // namespace detail

#define PARTITA_SAMPLES(function, options_type, rule, operation)                                        \
  template <std::size_t D, class X>                                                                     \
    requires detail::any_tensor<X>                                                                      \
  auto function(const X& x, const options_type<D>& options) {                                           \
    static_assert(detail::has_features_of<D, X>(),                                                      \
                  "partita::" #function "<D>(x, options): requires x = batch x channels x D features"); \
    if constexpr (detail::has_features_of<D, X>())                                                      \
      return detail::sampled<detail::operation, D>(                                                     \
          detail::rule<D + 2>("partita::" #function "<D>(x, options)", options), x);                    \
  }

/// The largest element under each window, of equal ones the first: `max_pool<2>(x, {.kernel = {2, 2}})`; and, as the
/// layers of these names, the mean, as many of both as are asked for, and values between inputs:
/// `adaptive_average_pool<2>(x, {.size = {1, 1}})`, `upsample<2>(x, {.scale = 2})`.
/// Shapes:   x is batch x channels x D features, the result has the same batch and channels.
/// Requires: what the layers require [shape_error].
/// Cost:     nothing moves where features are whole; where they are cut, the inputs beyond its block that a worker's
///           outputs look at. Sums that are owed pass, but for the largest.
/// Adjoint:  to the inputs that were looked at; that of the largest reads x, and chooses once more.
PARTITA_SAMPLES(max_pool, max_pooling_options, sliding_rule, largest_operation)
PARTITA_SAMPLES(average_pool, average_pooling_options, sliding_rule, sample_operation)
PARTITA_SAMPLES(adaptive_max_pool, adaptive_pooling_options, adaptive_rule, largest_operation)
PARTITA_SAMPLES(adaptive_average_pool, adaptive_pooling_options, adaptive_rule, sample_operation)
PARTITA_SAMPLES(upsample, upsampling_options, upsampling_rule, sample_operation)
#undef PARTITA_SAMPLES

}  // namespace partita
