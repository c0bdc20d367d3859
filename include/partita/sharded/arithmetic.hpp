// The operators + - * / for tensors.
#pragma once

#include <partita/sharded/operations.hpp>

namespace partita {

/// Elementwise operators for two tensors of the same rank, or for a tensor and a number: `x + y` is add(x, y), `x - y`
/// is subtract(x, y), `x * y` is multiply(x, y), and `x / y` is divide(x, y).
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
