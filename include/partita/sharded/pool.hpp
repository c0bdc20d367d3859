// Pooling and upsampling as functions of tensors; batch, channels and features may be sharded in any combination.
#pragma once

#include <array>
#include <cstddef>
#include <partita/nn/pooling.hpp>
#include <partita/nn/upsampling.hpp>
#include <partita/sharded/convolve.hpp>
#include <partita/sharded/detail/sample_operations.hpp>

namespace partita {
namespace detail {

/// Applies the operation of a pooling or interpolation rule to a tensor.
template <template <class, std::size_t> class Operation, std::size_t D, class Rule, class X>
auto apply_sampling_rule(const Rule& rule, const X& x) {
  const shape_list shape = operand_extents(x);
  if (shape.size() != D + 2)
    throw shape_error(text(rule.name()) << ": requires x = batch x channels x " << D << " features, got " << shape);
  Operation<Rule, D + 2> op{{rule, shape_array<D + 2>(shape)}};
  const text problem = rule.error_message(op.sampling.input_extents);
  if (!problem.empty()) throw shape_error(text(rule.name()) << ": " << problem);
  return apply_op(op, x);
}

}  // namespace detail

/// `max_pool<2>(x, {.kernel = {2, 2}})` returns the largest element of each window. average_pool returns means of
/// windows, adaptive_max_pool and adaptive_average_pool pool to a given output size, and upsample interpolates, as in
/// `adaptive_average_pool<2>(x, {.size = {1, 1}})`, `upsample<2>(x, {.scale = 2})`.
/// Shapes:   x is batch x channels x D features; the result has the same batch and channels.
/// Requires: what the layers of the same names in nn/ require [shape_error].
/// Cost:     no communication if features are not sharded and x is not partial. If features are sharded, each worker
///           receives the elements of x outside of its block that its outputs read. Max pooling executes pending
///           reductions first; for the other functions pending sums stay pending.
/// Adjoint:  adds dy, times the weights of the function, to dx at the elements of x that were read. The adjoint of max
///           pooling reads x and finds the largest elements again.
template <std::size_t D, detail::any_tensor X>
auto max_pool(const X& x, const max_pooling_options<D>& options) {
  constexpr bool fits = detail::has_feature_rank<D, X>();
  static_assert(fits, "partita::max_pool<D>(x, options): requires x = batch x channels x D features");
  if constexpr (fits)
    return detail::apply_sampling_rule<detail::max_pool_operation, D>(
        detail::window_geometry<D + 2>("partita::max_pool<D>(x, options)", options), x);
}
template <std::size_t D, detail::any_tensor X>
auto average_pool(const X& x, const average_pooling_options<D>& options) {  ///< the mean of each window
  constexpr bool fits = detail::has_feature_rank<D, X>();
  static_assert(fits, "partita::average_pool<D>(x, options): requires x = batch x channels x D features");
  if constexpr (fits)
    return detail::apply_sampling_rule<detail::sample_operation, D>(
        detail::window_geometry<D + 2>("partita::average_pool<D>(x, options)", options), x);
}
template <std::size_t D, detail::any_tensor X>
auto adaptive_max_pool(const X& x, const adaptive_pooling_options<D>& options) {  ///< maxima for a given output size
  constexpr bool fits = detail::has_feature_rank<D, X>();
  static_assert(fits, "partita::adaptive_max_pool<D>(x, options): requires x = batch x channels x D features");
  if constexpr (fits)
    return detail::apply_sampling_rule<detail::max_pool_operation, D>(
        detail::adaptive_rule<D + 2>("partita::adaptive_max_pool<D>(x, options)", options), x);
}
template <std::size_t D, detail::any_tensor X>
auto adaptive_average_pool(const X& x, const adaptive_pooling_options<D>& options) {  ///< means for an output size
  constexpr bool fits = detail::has_feature_rank<D, X>();
  static_assert(fits, "partita::adaptive_average_pool<D>(x, options): requires x = batch x channels x D features");
  if constexpr (fits)
    return detail::apply_sampling_rule<detail::sample_operation, D>(
        detail::adaptive_rule<D + 2>("partita::adaptive_average_pool<D>(x, options)", options), x);
}
template <std::size_t D, detail::any_tensor X>
auto upsample(const X& x, const upsampling_options<D>& options) {  ///< interpolates along the features
  constexpr bool fits = detail::has_feature_rank<D, X>();
  static_assert(fits, "partita::upsample<D>(x, options): requires x = batch x channels x D features");
  if constexpr (fits)
    return detail::apply_sampling_rule<detail::sample_operation, D>(
        detail::upsampling_rule<D + 2>("partita::upsample<D>(x, options)", options), x);
}

}  // namespace partita
