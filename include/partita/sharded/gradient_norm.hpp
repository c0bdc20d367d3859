// The global norm of all gradients, in which each element counts once in every layout, and clipping by this norm.
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <partita/core/config.hpp>
#include <partita/nn/update_rule.hpp>
#include <partita/sharded/call.hpp>
#include <partita/sharded/cut_further.hpp>
#include <tuple>
#include <vector>

namespace partita {
namespace detail {

/// The gradients of value_and_gradient as run-time tensors, which share their blocks.
template <class... G>
auto list_gradients(const std::tuple<G...>& gradients) {
  static_assert((any_tensor<G> && ...), "partita: requires a tuple of gradients, as value_and_gradient gives them");
  using first = std::tuple_element_t<0, std::tuple<G...>>;
  std::vector<sharded_tensor<element_of_tensor<first>>> all;
  std::apply([&](const auto&... g) { (all.push_back(as_run_time(g)), ...); }, gradients);
  return all;
}

/// The layout that a tensor of layout s gets when its pending sums are taken. Each axis with a pending sum shards a
/// dimension of the result if possible, so that no two workers sum the same elements.
PARTITA_DECL sharding reduced_layout(const sharding& s, const shape_list& extents);

/// Whether this worker counts its block in the norm. Of the workers that hold the same block, only the first one (with
/// coordinate 0 along the mesh axes that do not shard the tensor) counts it.
PARTITA_DECL bool is_first_holder(const bound_mesh& on, const sharding& s);

/// The norm of tensors without pending sums on one mesh. Collective: the workers sum one number of each worker, for all
/// tensors together.
template <class T>
double norm_of_list(const std::vector<sharded_tensor<T>>& all) {
  using real = real_of<T>;
  const auto on = all.empty() ? nullptr : all[0].state()->on;
  double squares = 0;
  for (const auto& g : all) {
    if (g.state()->on != on)
      throw partition_error("partita::global_norm: requires gradients on one mesh of one world; take them apart");
    if (on && !is_first_holder(*on, g.layout())) continue;
    const real* x = reinterpret_cast<const real*>(g.data());
    double sums[8] = {};  // the processor overlaps additions to different sums
    const std::size_t n = g.size() * real_part<T>::count, even = n / 8 * 8;
    const auto square = [x](std::size_t k) { return static_cast<double>(x[k]) * static_cast<double>(x[k]); };
    for (std::size_t k = 0; k < even; k += 8)
      for (std::size_t j = 0; j < 8; ++j) sums[j] += square(k + j);
    for (std::size_t k = even; k < n; ++k) squares += square(k);
    for (const double one : sums) squares += one;
  }
  if (!on) return std::sqrt(squares);
  tensor_block<double> here{shape_list()};
  here.fill(squares);
  sharding parts(on->mesh(), 0);
  for (std::size_t a = 0; a < on->mesh().rank(); ++a) parts = parts.partial(a);
  return std::sqrt(tensor_of(on, parts, shape_list(), std::move(here)).number());
}

/// Throws an error if the limit of a norm is negative or NaN.
PARTITA_DECL void require_limit(const char* call, double most);
/// The factor by which clipping scales every element.
inline double clipping_factor(double norm, double most) { return norm > most ? most / norm : 1; }

template <class X>
void scale_elements(X& x, double factor) {  ///< multiplies this worker's block by factor
  if (factor == 1) return;
  auto* const elements = x.data();
  const std::size_t n = x.size();
  using real = real_of<std::remove_cvref_t<decltype(*elements)>>;
  for (std::size_t k = 0; k < n; ++k) elements[k] *= static_cast<real>(factor);
}

}  // namespace detail

/// The square root of the sum of squares of all elements of all gradients. Replicated elements count once, and pending
/// sums are taken first.
/// Requires: at least one gradient, and all gradients on one mesh [partition_error].
/// Cost:     a reduce_scatter of each partial gradient (an all_reduce if it cannot be sharded further), whose result is
///           not kept, and the sum of one number of each worker. Every worker of the world gets the same norm.
///           Collective.
template <class... G>
double global_norm(const std::tuple<G...>& gradients) {
  auto all = detail::list_gradients(gradients);
  for (auto& g : all)
    if (g.layout().is_partial()) g = reshard(g, detail::reduced_layout(g.layout(), g.extents()));
  return detail::norm_of_list(all);
}

/// Scales all gradients by one factor so that their global norm is at most `most`; returns the norm before scaling.
/// Requires: a limit that is not negative [shape_error]. Partial gradients stay partial. Before a step of a
/// sharded_optimiser, use step(gradients, clip_norm{most}) instead, which reduces partial gradients only once.
template <class... G>
double clip_by_global_norm(std::tuple<G...>& gradients, double most) {
  constexpr const char* call = "clip_by_global_norm";
  detail::require_limit("partita::clip_by_global_norm(gradients, most)", most);
  const auto all = detail::list_gradients(gradients);
  using T = typename std::remove_cvref_t<decltype(all[0])>::value_type;
  if (!all.empty())
    detail::record_operation<T>(hasher().mix(call).mix(most).value(), call, all[0].state()->on.get(), all[0].extents(),
                                all);
  const double norm = global_norm(gradients), factor = detail::clipping_factor(norm, most);
  std::apply([&](auto&... g) { (detail::scale_elements(g, factor), ...); }, gradients);
  return norm;
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/sharded/impl/gradient_norm.ipp>
#endif
