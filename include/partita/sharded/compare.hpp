// Elementwise comparisons of tensors. The results of comparisons are masks of 1 and 0, for `where` and for products.
#pragma once

#include <cstddef>
#include <partita/sharded/element_operations.hpp>

namespace partita {
// The comparisons of two operands are functions; `<`, `<=`, `>` and `>=` are also operators. For plain arrays,
// array/elementwise.hpp defines the comparison functions, and xtensor the operators. This header defines no operator
// ==, because for arrays `a == b` compares whole arrays.
PARTITA_ELEMENT_FUNCTION_OF_TWO(less, less_number, greater_number)
PARTITA_ELEMENT_FUNCTION_OF_TWO(less_equal, less_equal_number, greater_equal_number)
PARTITA_ELEMENT_FUNCTION_OF_TWO(equal_to, equal_to_number, equal_to_number)
PARTITA_ELEMENT_FUNCTION_OF_TWO(not_equal_to, not_equal_to_number, not_equal_to_number)

/// Computes x > y as y < x, and (greater_equal) x >= y as y <= x.
template <class L, class R, class... Dims>
  requires detail::tensor_operands<L, R>
auto greater(L&& l, R&& r, Dims... dims) {
  return less(r, l, dims...);
}
template <class L, class R, class... Dims>
  requires detail::tensor_operands<L, R>
auto greater_equal(L&& l, R&& r, Dims... dims) {  ///< computes l >= r as r <= l
  return less_equal(r, l, dims...);
}

template <class L, class R>
  requires detail::tensor_operands<L, R>
auto operator<(L&& l, R&& r) {
  return less(l, r);
}
template <class L, class R>
  requires detail::tensor_operands<L, R>
auto operator<=(L&& l, R&& r) {
  return less_equal(l, r);
}
template <class L, class R>
  requires detail::tensor_operands<L, R>
auto operator>(L&& l, R&& r) {
  return less(r, l);
}
template <class L, class R>
  requires detail::tensor_operands<L, R>
auto operator>=(L&& l, R&& r) {
  return less_equal(r, l);
}

}  // namespace partita
