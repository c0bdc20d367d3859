// The rule of an operation's gradient, derived from the rule of the operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/rule/sharding/bound.hpp>

namespace partita {

/// Selects the tensors that a gradient reads and computes, one bit for each tensor: values of operands and of results,
/// gradients of results, and the requested gradients of operands.
struct gradient_parts {
  tensor_set operands = ~tensor_set{0};           ///< the operands whose values are read
  tensor_set results = 0;                         ///< the results whose values are read
  tensor_set result_gradients = ~tensor_set{0};   ///< the results whose gradients are read
  tensor_set operand_gradients = ~tensor_set{0};  ///< the operands whose gradients are computed
};

/// The rule of an operation's gradient: operands, results, result gradients -> operand gradients; `parts` selects them.
/// A gradient has the dimensions of its tensor. Factors that an operand lacks (also by broadcasting) are summed in its
/// gradient, so the gradient is partial over the axes that shard them. Factors that must be unsharded in the operation
/// must be unsharded in its gradient.
/// Shapes:   the rule must be bound, and its broadcast dimensions must be known.
/// Requires: a rule without "..." [shape_error].
/// Cost:     no allocation; constexpr.
/// Adjoint:  operand gradients are linear in the result gradients, and partial if all of these are partial.
constexpr rule gradient(const rule& of, gradient_parts parts = {}) {
  if (of.has_ellipsis())
    throw shape_error("partita::gradient: requires a rule whose dimensions are known; give bind_shapes(rule, shapes)");
  rule g;
  for (; g.factor_count < of.factor_count; ++g.factor_count) g.factors[g.factor_count] = of.factors[g.factor_count];
  const auto add = [&](std::size_t t) {
    for (std::size_t d = 0; d < of.rank(t); ++d) {
      g.add_dimension();
      for (std::size_t k = 0; k < of.at(t, d).count; ++k) g.add_term(of.term(of.at(t, d), k));
    }
  };
  // 1. Add the operands of the gradient's rule: the values that the gradient reads, then the gradients of results.
  for (std::size_t i = 0; i < of.operand_count; ++i)
    if (contains(parts.operands, i)) g.begin_operand(), add(i);
  for (std::size_t j = 0; j < of.result_count; ++j)
    if (contains(parts.results, j)) g.begin_operand(), add(of.operand_count + j);
  g.constant = first_tensors(g.operand_count);
  for (std::size_t j = 0; j < of.result_count; ++j)
    if (contains(parts.result_gradients, j)) g.begin_operand(), add(of.operand_count + j);
  // 2. Add the results of the gradient's rule: the requested gradients of operands.
  std::uint32_t factors_of_all_results = ~std::uint32_t{0};
  for (std::size_t i = 0; i < of.operand_count; ++i)
    if (contains(parts.operand_gradients, i)) {
      g.begin_result(), add(i);
      factors_of_all_results &= of.factors_of(i);
    }
  // 3. Propagate the factors that all results have; sum over the other factors.
  for (std::size_t f = 0; f < g.factor_count; ++f) {
    factor& one = g.factors[f];
    one.how = pending_reduction::sum;
    if (one.kind == factor_kind::pass_through || one.kind == factor_kind::reduce)
      one.kind = (factors_of_all_results >> f & 1U) != 0 ? factor_kind::pass_through : factor_kind::reduce;
  }
  g.how = linearity::additive;
  g.has_equivalent_operands = of.has_equivalent_operands;
  rule named = g.named(of.name());
  std::size_t end = 0;
  while (named.letters_of_name[end] != '\0') ++end;
  for (const char* c = " gradient"; *c != '\0' && end < rule::most_letters; ++c) named.letters_of_name[end++] = *c;
  return named;
}

}  // namespace partita
