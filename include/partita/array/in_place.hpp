// Element-wise operations that write to their first operand, which keeps its shape.
//
// xtensor's own `a += b` resizes a container to the broadcast shape, and writes past the end of a view; the operations
// of this header do neither.
#pragma once

#include <cstddef>
#include <partita/array/elementwise.hpp>
#include <partita/array/overlapping.hpp>
#include <utility>

namespace partita {

namespace detail {

/// Whether `target` and `operand` are known to share no memory; false for a lazy operand.
template <class Target, class E>
bool is_disjoint(const Target& target, const E& operand) {
  if constexpr (number<E>) {
    return true;
  } else if constexpr (strided_expression<Target> && strided_expression<E>) {
    const auto addresses = [](const auto& e) {
      return address_range(e.data() + static_cast<std::ptrdiff_t>(e.data_offset()), e.shape(), e.strides(),
                           e.dimension());
    };
    return are_disjoint(addresses(target), addresses(operand));
  } else {
    return false;
  }
}

/// Sets target = f(target, e), for an e that shares no memory with the target.
template <class F, class Target, class E, class Dims>
void assign_in_place(F f, Target& target, const E& e, const Dims& dims) {
  auto expression = make_lifted_expression(std::move(f), std::as_const(target), e, dims);
  if constexpr (row_assignable<Target, decltype(expression)>) assign_rows(target, expression);
  else xt::noalias(target) = expression;
}

}  // namespace detail

/// target = f(target, x), element by element; only x may have the smaller rank.
/// Shapes:   as in elementwise(f, target, x, dims), whose result must have the shape of the target.
/// Requires: an x that broadcasts to the target [compile time as far as known; shape_error, before anything is
///           written].
/// Cost:     one pass over the target; x is evaluated first unless x is a plain block of memory that does not overlap
///           the target.
/// Adjoint:  the chain rule for f, then the adjoint of array_broadcast for x.
template <class F, array_expression Target, class E, broadcast_dimensions_choice Dims = broadcast_dimensions_t<>>
  requires detail::array_operand<E>
void elementwise_in_place(F f, Target&& target, E&& x, const Dims& dims = {}) {
  using namespace detail;
  using target_extents = array_extents<Target>;  ///< what the type of the target says of its extents
  using operand_extents = array_extents<E>;      ///< what the type of x says of its extents
  require_broadcastable<F>(target, x, dims);
  if constexpr (has_known_rank_v<Target> && has_known_rank_v<E>)
    static_assert(
        target_extents::rank() >= operand_extents::rank(),
        "partita::elementwise_in_place(f, target, x): requires a target of at least the rank of x, because it "
        "keeps its shape; use elementwise, which makes a new array");
  const shape_list a = shape_of(target), b = shape_of(x);
  if (!(broadcast_shape(a, b, to_dimension_list(dims)) == a))
    throw shape_error(text("partita::") << function_name<F>::name
                                        << "_in_place(target, x): requires a result of the target's shape, which is "
                                        << a << "; x is " << b << "; use " << function_name<F>::name
                                        << ", which makes a new array");
  if (is_disjoint(target, x)) {
    assign_in_place(std::move(f), target, x, dims);
  } else if constexpr (array_expression<E>) {
    assign_in_place(std::move(f), target, evaluated_array<E>(x), dims);
  }
}

/// Computes target += x in place; subtract_in_place, multiply_in_place and divide_in_place compute -=, *= and /=.
/// Shapes, Requires, Cost, Adjoint: as for elementwise_in_place.
template <array_expression Target, class E, broadcast_dimensions_choice Dims = broadcast_dimensions_t<>>
void add_in_place(Target&& target, E&& x, const Dims& dims = {}) {
  elementwise_in_place(function::add{}, target, x, dims);
}
template <array_expression Target, class E, broadcast_dimensions_choice Dims = broadcast_dimensions_t<>>
void subtract_in_place(Target&& target, E&& x, const Dims& dims = {}) {  ///< target -= x
  elementwise_in_place(function::subtract{}, target, x, dims);
}
template <array_expression Target, class E, broadcast_dimensions_choice Dims = broadcast_dimensions_t<>>
void multiply_in_place(Target&& target, E&& x, const Dims& dims = {}) {  ///< target *= x
  elementwise_in_place(function::multiply{}, target, x, dims);
}
template <array_expression Target, class E, broadcast_dimensions_choice Dims = broadcast_dimensions_t<>>
void divide_in_place(Target&& target, E&& x, const Dims& dims = {}) {  ///< target /= x
  elementwise_in_place(function::divide{}, target, x, dims);
}

}  // namespace partita
