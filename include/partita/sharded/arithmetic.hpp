// The operators + - * / for tensors.
#pragma once

#include <partita/sharded/operations.hpp>

namespace partita {

/// `x + y` is add(x, y), and likewise - * /: elementwise, for tensors of the same rank, or for a tensor and a number.
/// Operands of other types are an error.
template <class L, class R>
  requires(detail::tensor_value<L> || detail::tensor_value<R>)
auto operator+(L&& l, R&& r) {
  return add(l, r);
}
template <class L, class R>
  requires(detail::tensor_value<L> || detail::tensor_value<R>)
auto operator-(L&& l, R&& r) {
  return subtract(l, r);
}
template <class L, class R>
  requires(detail::tensor_value<L> || detail::tensor_value<R>)
auto operator*(L&& l, R&& r) {
  return multiply(l, r);
}
template <class L, class R>
  requires(detail::tensor_value<L> || detail::tensor_value<R>)
auto operator/(L&& l, R&& r) {
  return divide(l, r);
}

}  // namespace partita
