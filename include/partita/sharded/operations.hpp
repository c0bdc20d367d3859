// Operations on tensors: the same call accepts plain arrays, sharded tensors and traced values.
#pragma once

#include <cstddef>
#include <partita/array/elementwise.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/rule/broadcast_extents.hpp>
#include <partita/rule/kernel_dimensions.hpp>
#include <partita/rule/permute.hpp>
#include <partita/rule/sharding/rules/matmul.hpp>
#include <partita/rule/sharding/rules/shape.hpp>
#include <partita/sharded/einsum.hpp>
#include <partita/sharded/element_functions.hpp>
#include <partita/sharded/reductions.hpp>

namespace partita {
namespace detail {

struct matmul_op {                                   ///< the operation of matmul(a, b)
  static constexpr bool uses_matrix_product = true;  ///< so that a bound operation sets the product of BLAS
  static constexpr partita::rule rule(const shape_span& shapes) { return rules::matmul(shapes); }  ///< that of matmul
  applied_operation make_applied_operation(const partita::rule& r) const { return {r, block_work::product}; }
};

template <std::ptrdiff_t... P>
struct transpose_op {  ///< the operation of transpose(x); P is empty or the new order of dimensions
  static constexpr partita::rule rule(const shape_span& shapes) {  ///< the sharding rule for operands of these shapes
    operation o{"transpose", &transpose_rule, {}};
    if constexpr (sizeof...(P) > 0) o.with.axes = {P...};
    else
      for (std::size_t d = shapes[0].size(); d-- > 0;) o.with.axes.push_back(static_cast<std::ptrdiff_t>(d));
    return o(shapes);
  }
  applied_operation make_applied_operation(const partita::rule& r) const { return {r, block_work::sum_or_repeat}; }
};

/// Whether P is a permutation of the dimensions of X. If the type X does not determine the rank, P may have any length.
template <class X, std::size_t... P>
inline constexpr bool is_dimension_order = is_permutation_of_axes(axes_order<sizeof...(P)>{P...}) &&
                                           (static_rank<X>() == dynamic || static_rank<X>() == sizeof...(P));

}  // namespace detail

// --- elementwise operations, with XLA's broadcasting ---

PARTITA_ELEMENT_FUNCTION_OF_TWO(add, add_number, add_number)
PARTITA_ELEMENT_FUNCTION_OF_TWO(subtract, subtract_number, number_minus)
PARTITA_ELEMENT_FUNCTION_OF_TWO(multiply, scale, scale)
PARTITA_ELEMENT_FUNCTION_OF_TWO(divide, divide_by_number, number_over)

/// The elementwise maximum, `maximum(x, y)`, or minimum, `minimum(x, y)`, of two tensors. Of two equal elements the
/// result is that of y; if one element is NaN, the result is NaN.
/// Adjoint: dy for the element that is the result, half of dy for each of two equal elements, and dy for both if one is
/// NaN.
template <class L, class R>
  requires detail::tensor_operands<L, R>
auto apply_extremum(maximum_t, L&& l, R&& r) {
  return detail::apply_to_two_tensors<element_functions::maximum>(l, r);
}
template <class L, class R>
  requires detail::tensor_operands<L, R>
auto apply_extremum(minimum_t, L&& l, R&& r) {  ///< the elementwise minimum(l, r)
  return detail::apply_to_two_tensors<element_functions::minimum>(l, r);
}

namespace detail {
template <class C, class A, class B>
concept where_operands = any_tensor<C> && tensor_or_number<A> && tensor_or_number<B> &&
                         (tensor_value<C> || tensor_value<A> || tensor_value<B>);
}  // namespace detail
/// Selects the elements of a where the condition is not 0, and of b where it is 0: `where(condition, a, b)`. One of a
/// and b may be a number. The condition has no gradient.
template <class C, class A, class B>
  requires detail::where_operands<C, A, B>
auto where(C&& condition, A&& a, B&& b) {
  namespace f = element_functions;
  constexpr bool one_rank = detail::are_of_one_rank<C, A, B>();
  static_assert(one_rank,
                "partita::where(condition, a, b): requires operands of one rank, or scalars; reshape(x, extents) gives "
                "the smaller one extents of 1");
  if constexpr (!one_rank) return detail::rejected_call{};
  else if constexpr (!detail::any_tensor<A>)
    return detail::call(detail::elements_op<f::number_where_true>{{static_cast<double>(a)}}, condition, b);
  else if constexpr (!detail::any_tensor<B>)
    return detail::call(detail::elements_op<f::number_where_false>{{static_cast<double>(b)}}, condition, a);
  else return detail::call(detail::elements_op<f::where>{}, condition, a, b);
}

// --- products and shapes ---

/// The product of matrices, of batches of matrices, or of vectors. If the contracted dimension is sharded, the result
/// is usually partial.
template <class A, class B>
  requires(detail::any_tensor<A> && detail::any_tensor<B>)
auto matmul(const A& a, const B& b) {
  return detail::call(detail::matmul_op{}, a, b);
}
/// Transposes x: puts its dimensions in reverse order, or in the order that `permute<...>` gives.
template <class X>
  requires detail::tensor_value<X>
auto transpose(X&& x) {
  return detail::call(detail::transpose_op<>{}, x);
}
template <class X, std::size_t... P>
  requires detail::any_tensor<X>
auto transpose(X&& x, permute_t<P...>) {
  static_assert(detail::is_dimension_order<X, P...>,
                "partita::transpose(x, permute<...>): requires each of 0, 1, ..., rank(x) - 1 once; permute<1, 0> "
                "transposes a matrix");
  if constexpr (detail::is_dimension_order<X, P...>)
    return detail::call(detail::transpose_op<static_cast<std::ptrdiff_t>(P)...>{}, x);
  else return detail::rejected_call{};
}

namespace detail {

inline rule rule_of_reshape(const shape_list& from, const shape_list& extents) {  ///< throws unless sizes are equal
  if (shape_size(extents) != shape_size(from))
    throw shape_error(text("partita::reshape: requires extents of as many elements as x has, got ")
                      << extents << " for " << from);
  return bind_shapes(reshape_rule(from, extents).named("reshape"), shape_span(&from, 1));
}
template <class T>
sharded_tensor<T> reshaped_tensor(const sharded_tensor<T>& x, const shape_list& extents) {  ///< see reshape(x, extents)
  return run_operation<T>({rule_of_reshape(x.extents(), extents), block_work::reshape}, {x});
}

}  // namespace detail

/// A tensor with the given extents that has the elements of x in C order. If a worker's block of x cannot be a block of
/// the result, x is gathered along dimensions that are merged or split. For a typed tensor the layout of the result
/// must be given: `reshape<m.layout("data", "")>(x, {6, 4})`. reshape<layout> accepts all kinds of tensors: run-time
/// tensors and traced values also get the layout, and plain arrays get its rank.
template <class T>
sharded_tensor<T> reshape(const sharded_tensor<T>& x, const shape_list& extents) {
  return detail::reshaped_tensor(x, extents);
}
template <sharding S, class T, auto Layout>
sharded<T, S> reshape(const typed_sharded<T, Layout>& x, const shape_list& extents) {
  return sharded<T, S>(reshard(detail::reshaped_tensor(x.run_time_tensor(), extents), S));
}
template <sharding S, class T>
sharded_tensor<T> reshape(const sharded_tensor<T>& x, const shape_list& extents) {
  return reshard(detail::reshaped_tensor(x, extents), S);
}
template <sharding S, ranked_array X>
auto reshape(const X& x, const shape_list& extents) {
  if (extents.size() != S.rank())
    throw shape_error(text("partita::reshape<layout>(x, extents): requires extents of the rank of the layout, ")
                      << S.rank() << ", got " << extents);
  return detail::as_array<S.rank()>(detail::reshaped_tensor(detail::as_run_time(x), extents));
}
template <ranked_array X, std::size_t... E>
auto reshape(const X& x, const extents<E...>& all) {  ///< an array of these extents with the elements of x in C order
  return detail::as_array<sizeof...(E)>(detail::reshaped_tensor(detail::as_run_time(x), shape_list(all)));
}
template <class T, std::size_t... E>
sharded_tensor<T> reshape(const sharded_tensor<T>& x, const extents<E...>& all) {
  return detail::reshaped_tensor(x, shape_list(all));
}

/// Forbids implicit reshards of this thread, except in backward passes, while the object exists: an operation that has
/// to move an operand throws a partition_error that names the operand, its axes and the bytes; use `reshard` before.
class no_implicit_reshard {
 public:
  no_implicit_reshard() { ++detail::run_state.no_implicit_reshard_scopes; }  ///< begins the scope; scopes nest
  ~no_implicit_reshard() { --detail::run_state.no_implicit_reshard_scopes; }
  no_implicit_reshard(const no_implicit_reshard&) = delete;
  no_implicit_reshard& operator=(const no_implicit_reshard&) = delete;
};

}  // namespace partita
