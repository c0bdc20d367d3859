// Rules of mixtures of experts: tokens are sent to the experts that a gate chose, and the results are combined.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/operation.hpp>

namespace partita {
namespace detail {

/// The operation tokens [s,h], gate [s,e] -> sent [e,c,h] with `with.count` places c for each expert, weights [s,k],
/// places [k,s], experts [s,k], with k = `with.axes[0]`. The assignment of places depends on all tokens and all
/// experts; the data of one expert and one column does not depend on other experts or columns.
constexpr rule expert_dispatch_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 2, 2, "expert_dispatch");
  if (shapes[0].size() != 2 || shapes[1].size() != 2)
    throw shape_error(text("partita::rules::expert_dispatch: requires tokens [s, h] and a gate [s, e], not ")
                      << shapes[0] << " and " << shapes[1] << "; reshape them");
  const std::ptrdiff_t chosen = with.axes.empty() ? 1 : with.axes[0];
  rule r;
  const std::size_t s = r.add_factor(dynamic, 's', factor_kind::replicate), h = r.add_factor(dynamic, 'h'),
                    all = r.add_factor(dynamic, '_', factor_kind::replicate), e = r.add_factor(shapes[1][1], 'e'),
                    c = r.add_factor(with.count == 0 ? dynamic : with.count, 'c', factor_kind::replicate),
                    k = r.add_factor(static_cast<std::size_t>(chosen), 'k', factor_kind::replicate);
  const auto add = [&](std::initializer_list<std::size_t> factors) {
    for (const std::size_t f : factors) r.add_dimension(f);
  };
  r.begin_operand(), add({s, h});
  r.begin_operand(), add({s, all});
  r.begin_result(), add({e, c, h});
  r.begin_result(), add({s, k});
  r.begin_result(), add({k, s});
  r.begin_result(), add({s, k});
  r.complete();
  r.factors[h].kind = r.factors[e].kind = factor_kind::pass_through;  // results without h or e do not depend on them
  return r.with(linearity::none);
}
// [rule]
constexpr rule expert_combine_rule(const shape_span&, const attributes&) {
  return rule("rh,sk,sk->sh").replicate("r").linear_in({0, 1});
}
// [/rule]

}  // namespace detail

namespace rules {

/// The operation tokens [s,h], gate [s,e] -> sent [e,c,h], weights [s,k], places [k,s], experts [s,k]: every token goes
/// to k of the experts, each of which has c places. Tokens must be unsharded; experts and columns may be sharded.
constexpr operation expert_dispatch(std::size_t chosen, std::size_t places) {
  return {"expert_dispatch",
          &detail::expert_dispatch_rule,
          {.axes = {static_cast<std::ptrdiff_t>(chosen)}, .count = places}};
}
// [operation]
/// The operation rows [r,h], weights [s,k], places [s,k] -> tokens [s,h], the weighted sum of the rows at k places.
/// Axes may shard tokens and columns; the result is partial over the axes that shard k.
inline constexpr operation expert_combine{"expert_combine", &detail::expert_combine_rule, {}};
// [/operation]

}  // namespace rules
}  // namespace partita
