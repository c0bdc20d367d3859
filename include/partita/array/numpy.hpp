// NumPy's implicit promotion of ranks, available only in namespace numpy: numpy::add(matrix, row).
#pragma once

#include <array>
#include <partita/array/elementwise.hpp>
#include <partita/rule/numpy_broadcast.hpp>
#include <utility>

namespace partita::numpy {

/// Applies f to each tuple of elements of arrays whose shapes are aligned at their last dimensions. Lazy.
/// Shapes:   operands of lower rank are extended on the left with ones; corresponding extents must be equal or 1.
/// Requires: at least one array [compile time]; extents that NumPy broadcasts [shape_error].
/// Cost:     none; assigning the result costs one pass over it.
/// Adjoint:  the chain rule for f, then the adjoint of array_broadcast for each operand.
template <class F, class... E>
  requires(sizeof...(E) > 0 && (detail::array_operand<E> && ...) && (array_expression<E> || ...))
auto elementwise(F f, E&&... e) {
  const std::array<shape_list, sizeof...(E)> shapes{detail::shape_of(e)...};
  if (const auto judged = judge_numpy_broadcast(shapes.data(), shapes.size()); !judged.verdict)
    throw shape_error(explain_numpy(judged.verdict, detail::function_name<F>::name, shapes.data(), shapes.size()));
  return detail::make_expression(std::move(f), std::forward<E>(e)...);
}

#define PARTITA_NUMPY_OPERATION(operation)                                                          \
  template <class L, class R>                                                                       \
    requires detail::array_operands<L, R>                                                           \
  auto operation(L&& l, R&& r) {                                                                    \
    return numpy::elementwise(function::operation{}, detail::convert_number<R>(std::forward<L>(l)), \
                              detail::convert_number<L>(std::forward<R>(r)));                       \
  }
PARTITA_NUMPY_OPERATION(add)
PARTITA_NUMPY_OPERATION(subtract)
PARTITA_NUMPY_OPERATION(multiply)
PARTITA_NUMPY_OPERATION(divide)
PARTITA_NUMPY_OPERATION(remainder)
PARTITA_NUMPY_OPERATION(power)
PARTITA_NUMPY_OPERATION(maximum)
PARTITA_NUMPY_OPERATION(minimum)
PARTITA_NUMPY_OPERATION(atan2)
PARTITA_NUMPY_OPERATION(bitwise_and)
PARTITA_NUMPY_OPERATION(bitwise_or)
PARTITA_NUMPY_OPERATION(bitwise_xor)
PARTITA_NUMPY_OPERATION(equal_to)
PARTITA_NUMPY_OPERATION(not_equal_to)
PARTITA_NUMPY_OPERATION(less)
PARTITA_NUMPY_OPERATION(less_equal)
PARTITA_NUMPY_OPERATION(greater)
PARTITA_NUMPY_OPERATION(greater_equal)
#undef PARTITA_NUMPY_OPERATION

}  // namespace partita::numpy
