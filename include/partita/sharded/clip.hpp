// Limits the elements of a tensor to an interval.
#pragma once

#include <partita/sharded/element_functions.hpp>
#include <type_traits>

namespace partita {

/// Limits each element of x to at least `low` and at most `high`: `clip(x, 0, 6)`. NaN stays NaN.
/// Shapes:   those of x, a plain array, a sharded tensor, or a value of a traced program; the result has the layout of
///           x; pending maxima and minima stay pending, and other pending reductions are executed first.
/// Requires: two numbers, low <= high [shape_error], the same on all workers.
/// Cost:     one pass; no communication, unless x is partial.
/// Adjoint:  dx = dy where low <= x <= high, else 0.
template <class X, class Low, class High>  // xtensor's clip for plain arrays is less constrained
  requires(detail::any_tensor<X> && std::is_arithmetic_v<std::remove_cvref_t<Low>> &&
           std::is_arithmetic_v<std::remove_cvref_t<High>>)
auto clip(X&& x, Low&& lowest, High&& highest) {  ///< limits each element of x to [lowest, highest]
  const auto low = static_cast<double>(lowest), high = static_cast<double>(highest);
  if (!(low <= high))
    throw shape_error("partita::clip(x, low, high): requires low <= high; give the smaller one first");
  return detail::call(detail::elements_op<element_functions::clip>{{low, high}}, x);
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
