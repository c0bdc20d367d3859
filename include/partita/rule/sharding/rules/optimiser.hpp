// Rules of optimisers: parameters, their gradients and their state are updated element by element.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/operation.hpp>

namespace partita {
namespace detail {

/// The rule of update: the parameter, then operands in any order. Operands of the parameter's shape are sharded like
/// the parameter, all other operands (rates, powers) are replicated. `with.count` results (one if 0) have the
/// parameter's shape; the results after these are replicated, and `with.sizes` lists the number of dimensions of each
/// of them. Gradients must not be partial.
constexpr rule update_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 2, most_operands, "update");
  const shape_list& x = shapes[0];
  rule r;
  const separate_factors f(r, x);
  const std::size_t whole = r.add_factor(dynamic, '_', factor_kind::replicate);
  r.factors[whole].extents_may_differ = true;
  for (std::size_t t = 0; t < shapes.size(); ++t) {
    r.begin_operand();
    if (shapes[t] == x) f.write(r);
    for (std::size_t d = 0; !(shapes[t] == x) && d < shapes[t].size(); ++d) r.add_dimension(whole);
  }
  for (std::size_t j = 0; j < (with.count == 0 ? 1 : with.count); ++j) r.begin_result(), f.write(r);
  for (const std::ptrdiff_t rank : with.sizes) {
    r.begin_result();
    for (std::ptrdiff_t d = 0; d < rank; ++d) r.add_dimension(whole);
  }
  r.complete();
  for (std::size_t d = 0; d < x.size(); ++d)
    r.factors[f[d]].kind = factor_kind::pass_through;  // results that lack this factor are replicated, not partial
  return r.with(linearity::none);
}

}  // namespace detail

namespace rules {

/// An update of a parameter: `results` tensors of the parameter's shape, and replicated results of the given ranks.
/// Operands of the parameter's shape are sharded like the parameter; other operands are replicated.
constexpr operation update(std::size_t results, const attributes::extents_list& whole_result_ranks = {}) {
  return {"update", &detail::update_rule, {.sizes = whole_result_ranks, .count = results}};
}
/// The update parameter, rate, gradient -> parameter.
inline constexpr operation sgd = update(1).named("sgd");
/// The update parameter, gradient, velocity, rate -> parameter, velocity.
inline constexpr operation momentum = update(2).named("momentum");
/// The update parameter, gradient, rate, two moments, powers of two decays -> parameter, two moments, powers.
inline constexpr operation adam = update(3, {1, 1}).named("adam");
/// Adam with decoupled weight decay.
inline constexpr operation adamw = update(3, {1, 1}).named("adamw");

}  // namespace rules
}  // namespace partita
