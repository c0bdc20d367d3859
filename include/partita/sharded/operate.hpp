// User-defined operations. A struct that declares a rule, a local function and an adjoint can be used like any other
// operation.
#pragma once

#include <partita/core/version.hpp>
#include <partita/sharded/call.hpp>

namespace partita {
namespace detail {

template <class Op>
inline constexpr bool declares_rule = requires(const shape_span& shapes) { partita::rule(Op::rule(shapes)); };

}  // namespace detail

/// Applies an operation that `op` declares. `static constexpr rule rule(const shape_span&)` gives its rule from the
/// operands' shapes. `local(x..., y)` takes `tensor_part`s and sets this worker's block of the result. For
/// differentiation, `adjoint(i, dy, x..., y)` returns the cotangent of operand i, computed by operations of tensors, or
/// `{}` if operand i has no gradient. An operation with data members, which must be equal on all workers, declares
/// their number, `static constexpr std::size_t parameters = 1`; the next agreement compares the members.
/// Shapes:   those of the rule. Extents that the rule does not determine are those of `op.result_extents(shapes)`.
/// Requires: a local function that does not communicate, and whose result does not depend on how its operands are
///           sharded. The rule may be linear only if the function is linear; a rule made from notation is linear unless
///           `.with(linearity::none)` is added.
/// Cost:     the movements that the rule requires, and the local function.
/// Adjoint:  the function `adjoint` that op declares.
template <class Op, class... X>
auto apply_op(const Op& op, const X&... x) {
  static_assert((detail::any_tensor<X> && ...), "partita::apply_op(op, x...): requires tensors or arrays as operands");
  static_assert(sizeof...(X) < 32,
                "partita::apply_op(op, x...): requires fewer than 32 operands; apply it to parts of them");
  static_assert(detail::declares_rule<Op>,
                "partita::apply_op(op, x...): requires an operation that declares `static constexpr partita::rule "
                "rule(const partita::shape_span&)`; see docs/sharded.md");
  if constexpr ((detail::any_tensor<X> && ...) && detail::declares_rule<Op>) return detail::call(op, x...);
}
template <class Op, class... X>
PARTITA_FORMER_NAME("use apply_op")
auto operate(const Op& op, const X&... x) {  ///< the former name of apply_op
  return apply_op(op, x...);
}

}  // namespace partita
