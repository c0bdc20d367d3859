// Functions that reorder, repeat, omit or zero elements of tensors: flip, roll, tile, expand, strided slices,
// triangles, squeeze, unsqueeze and stack.
#pragma once

#include <array>
#include <cstddef>
#include <partita/sharded/detail/rearrange_operations.hpp>
#include <partita/sharded/parts.hpp>

namespace partita {

/// Reverses the order of the elements of x along some dimensions: `flip(x, dimensions<0, 1>)`.
/// Cost:     a copy. If a flipped dimension is sharded, each worker also receives the elements of its block of the
///           result that it does not hold.
/// Adjoint:  flips dy.
template <detail::any_tensor X, std::size_t... D>
auto flip(const X& x, dimensions_t<D...>) {
  static_assert(detail::has_dimensions<X, D...>, PARTITA_REQUIRES_DIMENSIONS("partita::flip(x, dimensions<d...>)"));
  if constexpr (detail::has_dimensions<X, D...>) return apply_op(detail::flip_operation<D...>{}, x);
}
/// Shifts x cyclically along dimensions: `roll(x, dimensions<0, 1>, 2, -1)` gives y[i, j] = x[i - 2, j + 1], as in
/// NumPy.
/// Cost:     if shifted dimensions are sharded, each worker receives the elements that its block of the result reads.
///           If a block of the result reads both the last and the first index of x along a dimension, its worker
///           receives all elements along this dimension, also those that the block does not read.
/// Adjoint:  rolls dy by the negative shifts.
template <detail::any_tensor X, std::size_t... D>
auto roll(const X& x, dimensions_t<D...>, const detail::type_at_every_index<D, std::ptrdiff_t>&... by) {
  static_assert(detail::has_dimensions<X, D...>,
                PARTITA_REQUIRES_DIMENSIONS("partita::roll(x, dimensions<d...>, shift...)"));
  if constexpr (detail::has_dimensions<X, D...>) return apply_op(detail::roll_operation<D...>{{}, {by...}}, x);
}
/// Repeats x along some dimensions: `tile(x, dimensions<0>, 3)` is three copies of x joined along dimension 0.
/// Cost:     a copy. If a repeated dimension is sharded, each worker receives the elements that its block of the result
///           reads, or all elements along the dimension if the block goes on into another copy.
/// Adjoint:  the sum of dy over the copies.
template <detail::any_tensor X, std::size_t... D>
auto tile(const X& x, dimensions_t<D...>, const detail::type_at_every_index<D, std::size_t>&... times) {
  static_assert(detail::has_dimensions<X, D...>,
                PARTITA_REQUIRES_DIMENSIONS("partita::tile(x, dimensions<d...>, times...)"));
  if constexpr (detail::has_dimensions<X, D...>) return apply_op(detail::tile_operation<D...>{{}, {times...}}, x);
}
/// Repeats the elements of x along dimensions of extent 1: `expand(x, dimensions<1>, 8)` of a 4 x 1 tensor is a 4 x 8
/// tensor.
/// Shapes:   the expanded dimensions of x have extent 1 [shape_error].
/// Cost:     a copy; no communication, unless an expanded dimension of x is sharded. A traced program may shard the
///           expanded dimensions of the result.
/// Adjoint:  the sum of dy along the expanded dimensions.
template <detail::any_tensor X, std::size_t... D>
auto expand(const X& x, dimensions_t<D...>, const detail::type_at_every_index<D, std::size_t>&... to) {
  static_assert(detail::has_dimensions<X, D...>,
                PARTITA_REQUIRES_DIMENSIONS("partita::expand(x, dimensions<d...>, extent...)"));
  if constexpr (detail::has_dimensions<X, D...>) return apply_op(detail::expand_operation<D...>{{to...}}, x);
}
/// Takes every step-th element along some dimensions: `strided_slice(x, dimensions<0>, {1, 9, 2})` takes the indices 1,
/// 3, 5 and 7.
/// Shapes:   {start, stop, step} for each named dimension, inside of the extent of x [shape_error].
/// Cost:     if sliced dimensions are sharded, each worker receives the elements of x from the first to the last that
///           its block of the result needs.
/// Adjoint:  dx is dy at the indices of x that the slice took, and 0 at all other indices.
template <detail::any_tensor X, std::size_t... D>
auto strided_slice(const X& x, dimensions_t<D...>, const detail::type_at_every_index<D, index_progression>&... of) {
  static_assert(detail::has_dimensions<X, D...>,
                PARTITA_REQUIRES_DIMENSIONS("partita::strided_slice(x, dimensions<d...>, {start, stop, step}...)"));
  if constexpr (detail::has_dimensions<X, D...>) return apply_op(detail::strided_operation<D...>{{}, {of...}}, x);
}
/// The lower triangle of the matrices in the last two dimensions: x[i, j] where j - i <= diagonal, 0 elsewhere. `triu`
/// gives the upper triangle, where j - i >= diagonal.
/// Cost:     no communication, unless another reduction than a sum or a mean is pending.
/// Adjoint:  the same triangle of dy.
template <detail::any_tensor X>
auto tril(const X& x, std::ptrdiff_t diagonal = 0) {
  static_assert(detail::has_matrix_rank<X>, "partita::tril(x): requires a tensor of at least two dimensions");
  if constexpr (detail::has_matrix_rank<X>) return apply_op(detail::triangle_operation<true>{diagonal}, x);
}
template <detail::any_tensor X>
auto triu(const X& x, std::ptrdiff_t diagonal = 0) {  ///< x[i, j] where j - i >= diagonal, 0 elsewhere
  static_assert(detail::has_matrix_rank<X>, "partita::triu(x): requires a tensor of at least two dimensions");
  if constexpr (detail::has_matrix_rank<X>) return apply_op(detail::triangle_operation<false>{diagonal}, x);
}
/// Removes dimensions of extent 1: `squeeze(x, dimensions<1>)`. `unsqueeze(x, dimensions<1>)` adds a dimension of
/// extent 1, as dimension 1 of the result.
/// Shapes:   the dimensions that are removed have extent 1 [shape_error].
/// Cost:     no copy, except of plain arrays; no communication, unless a removed dimension is sharded.
/// Adjoint:  squeeze and unsqueeze are adjoint to each other.
template <class X, std::size_t... D>  // xtensor's squeeze for plain arrays is less constrained
  requires detail::any_tensor<X>
auto squeeze(X&& x, dimensions_t<D...>) {
  static_assert(detail::has_dimensions<X, D...>, PARTITA_REQUIRES_DIMENSIONS("partita::squeeze(x, dimensions<d...>)"));
  if constexpr (detail::has_dimensions<X, D...>) return detail::call(detail::squeeze_operation<D...>{}, x);
}
template <detail::any_tensor X, std::size_t... D>
auto unsqueeze(const X& x, dimensions_t<D...>) {  ///< adds dimensions of extent 1: D of the result
  static_assert(detail::are_distinct_dimensions<D...>,
                "partita::unsqueeze(x, dimensions<d...>): requires dimensions of the result, each once");
  if constexpr (detail::are_distinct_dimensions<D...>) return detail::call(detail::unsqueeze_operation<D...>{}, x);
}
/// Joins tensors of equal extents along a new dimension: `stack(dimensions<0>, x, y, z)`.
/// Cost:     that of concatenate.
/// Adjoint:  the gradient of tensor k is the slice of dy at index k of the new dimension.
template <std::size_t D, class... X>
  requires(detail::any_tensor<X> && ...)
auto stack(dimensions_t<D>, const X&... x) {
  return concatenate(dimensions<D>, unsqueeze(x, dimensions<D>)...);
}

}  // namespace partita
