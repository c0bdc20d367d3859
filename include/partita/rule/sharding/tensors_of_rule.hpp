// A rule made of the tensors of another rule, for example for the adjoint of a product.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <partita/rule/sharding/rule.hpp>

namespace partita::detail {

/// Builds a rule whose tensors are tensors of another rule, with their dimensions, factors and sizes.
constexpr rule select_tensors(const rule& of, std::initializer_list<std::size_t> operands, std::size_t result,
                              const char* name) {
  rule r;
  for (; r.factor_count < of.factor_count; ++r.factor_count) {
    r.factors[r.factor_count] = of.factors[r.factor_count];
    r.factors[r.factor_count].kind = factor_kind::pass_through;
    r.factors[r.factor_count].how = pending_reduction::sum;
    r.factors[r.factor_count].broadcasts = false;
  }
  const auto add = [&](std::size_t t) {
    for (std::size_t d = 0; d < of.rank(t); ++d) {
      r.add_dimension();
      for (std::size_t k = 0; k < of.at(t, d).count; ++k) r.add_term(of.term(of.at(t, d), k));
    }
  };
  for (const std::size_t t : operands) r.begin_operand(), add(t);
  r.begin_result(), add(result);
  return r.complete().with(linearity::multilinear).named(name);
}

}  // namespace partita::detail
