// Fallback rules, which are correct for every operation, or for every operation that treats the entries of a batch
// independently.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/operation.hpp>

namespace partita {
namespace detail {

/// The rule of unknown operations: results have the ranks `with.sizes`; if `with.x`, dimension 0 of tensors is a batch.
constexpr rule fallback_rule(const shape_span& shapes, const attributes& with) {
  rule r;
  const std::size_t batch = with.x ? r.add_factor(dynamic, 'b') : 0;
  if (with.x) r.factors[batch].extents_may_differ = true;
  // All unsharded dimensions share one factor, because they need not be distinguished.
  const std::size_t whole = r.add_factor(dynamic, '_', factor_kind::replicate);
  r.factors[whole].extents_may_differ = true;
  const auto add = [&](std::size_t rank) {
    for (std::size_t d = 0; d < rank; ++d) r.add_dimension(d == 0 && with.x ? batch : whole);
  };
  for (std::size_t t = 0; t < shapes.size(); ++t) r.begin_operand(), add(shapes[t].size());
  for (const std::ptrdiff_t rank : with.sizes) r.begin_result(), add(static_cast<std::size_t>(rank));
  return r.complete().with(linearity::none);
}

}  // namespace detail

namespace rules {

/// An operation whose tensors are replicated on every worker, which is correct for every operation.
constexpr operation replicated(const attributes::extents_list& result_ranks) {
  return {"replicated", &detail::fallback_rule, {.sizes = result_ranks}};
}
/// An operation in which dimension 0 of every tensor is sharded in the same way and all other dimensions are unsharded.
/// The rule is correct for operations that treat each entry of a batch independently.
constexpr operation data_parallel(const attributes::extents_list& result_ranks) {
  return {"data_parallel", &detail::fallback_rule, {.sizes = result_ranks, .x = true}};
}

}  // namespace rules
}  // namespace partita
