// Clip: elements brought between two numbers.
#pragma once

#include <partita/sharded/compare.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <type_traits>

namespace partita {

/// Each element of x, but no less than `low` and no more than `high`: `clip(x, 0, 6)`. A NaN comes through.
/// Shapes:   those of x, a plain array, a sharded tensor, or a value of a traced program; the result has the layout of
///           x with its sums taken.
/// Requires: two numbers, low <= high [shape_error], the same on all workers.
/// Cost:     two comparisons and two selections of each element; no communication, unless x is partial.
/// Adjoint:  dy where low <= x <= high, 0 elsewhere.
template <class X, class Low, class High>  // of arrays xtensor has one that is less constrained
  requires(detail::any_tensor<X> && std::is_arithmetic_v<std::remove_cvref_t<Low>> &&
           std::is_arithmetic_v<std::remove_cvref_t<High>>)
auto clip(X&& x, Low&& lowest, High&& highest) {
  const auto low = static_cast<double>(lowest), high = static_cast<double>(highest);
  if (!(low <= high))
    throw shape_error("partita::clip(x, low, high): requires low <= high; give the smaller one first");
  return detail::by_tensor(x,
                           [&](const auto& v) { return where(less(v, low), low, where(greater(v, high), high, v)); });
}
template <class X, class... Given>
  requires(detail::tensor_value<X> && !(sizeof...(Given) == 2 && (std::is_arithmetic_v<Given> && ...)))
auto clip(const X&, const Given&...) {
  static_assert(detail::dependent_false<X>,
                "partita::clip(x, low, high): requires a tensor or an array of a known rank, and two numbers; of "
                "tensors take maximum and minimum");
  return detail::rejected_call{};
}

}  // namespace partita
