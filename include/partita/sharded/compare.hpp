// Elementwise comparisons, which give masks of 1 and 0 for `where` and for products.
#pragma once

#include <cstddef>
#include <partita/sharded/element_operations.hpp>
#include <type_traits>

namespace partita {
namespace detail {

/// Compares by `Of` if both are tensors, by `OfNumber` for a tensor and a number, and by `ToNumber` for a number and a
/// tensor.
template <element_function Of, element_function OfNumber, element_function ToNumber, class L, class R>
auto compared(const L& l, const R& r) {
  if constexpr (!any_tensor<R>) return call(elements_op<OfNumber>{static_cast<double>(r)}, l);
  else if constexpr (!any_tensor<L>) return call(elements_op<ToNumber>{static_cast<double>(l)}, r);
  else return elements_of_two<Of>(l, r);
}
}  // namespace detail

// For plain arrays, array/elementwise.hpp also defines these functions, and xtensor defines the operators. `a == b` is
// not included: for arrays it means whether all elements are equal.
#define PARTITA_COMPARISON(operation, of, of_number, to_number)               \
  template <class L, class R>                                                 \
    requires detail::tensor_operands<L, R>                                    \
  auto operation(L&& l, R&& r) {                                              \
    using e = detail::element_function;                                       \
    return detail::compared<e::of, e::of_number, e::to_number>(l, r);         \
  }                                                                           \
  template <class L, class R, std::ptrdiff_t... D>                            \
    requires detail::tensor_operands<L, R>                                    \
  auto operation(L&& l, R&& r, broadcast_dimensions_t<D...>) {                \
    return detail::elements_of_two<detail::element_function::of, D...>(l, r); \
  }
PARTITA_COMPARISON(less, less, less_than_number, greater_than_number)
PARTITA_COMPARISON(less_equal, less_equal, at_most_number, at_least_number)
PARTITA_COMPARISON(equal_to, equal, equal_number, equal_number)
PARTITA_COMPARISON(not_equal_to, not_equal, not_equal_number, not_equal_number)
#undef PARTITA_COMPARISON

/// The same with the operands exchanged.
template <class L, class R, class... Dims>
  requires detail::tensor_operands<L, R>
auto greater(L&& l, R&& r, Dims... dims) {
  return less(r, l, dims...);
}
template <class L, class R, class... Dims>
  requires detail::tensor_operands<L, R>
auto greater_equal(L&& l, R&& r, Dims... dims) {
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
