// Tensors whose elements stand in another order, are repeated, left out or set to 0: flip, roll, tile, expand, strided
// slices, triangles, squeeze, unsqueeze and stack.
#pragma once

#include <array>
#include <cstddef>
#include <partita/sharded/detail/rearrange_operations.hpp>
#include <partita/sharded/parts.hpp>

namespace partita {

/// x in reverse order along some dimensions: `flip(x, dimensions<0, 1>)`.
/// Cost:     where these dimensions are sharded, each worker receives its block of the result; a copy.
/// Adjoint:  flip.
template <detail::any_tensor X, std::size_t... D>
auto flip(const X& x, dimensions_t<D...>) {
  static_assert(detail::has_dimensions<X, D...>, PARTITA_REQUIRES_DIMENSIONS("partita::flip(x, dimensions<d...>)"));
  if constexpr (detail::has_dimensions<X, D...>) return operate(detail::flip_operation<D...>{}, x);
}
/// x shifted along some dimensions, where what leaves at the end returns at the start: `roll(x, dimensions<0, 1>, 2,
/// -1)` gives y[i, j] = x[i - 2, j + 1], as NumPy does.
/// Cost:     where these dimensions are sharded, each worker receives what its block reads; the workers at the seam
///           receive the whole dimension.
/// Adjoint:  roll by the negative shifts.
template <detail::any_tensor X, std::size_t... D>
auto roll(const X& x, dimensions_t<D...>, const detail::shift_along<D>&... by) {
  static_assert(detail::has_dimensions<X, D...>,
                PARTITA_REQUIRES_DIMENSIONS("partita::roll(x, dimensions<d...>, shift...)"));
  if constexpr (detail::has_dimensions<X, D...>) return operate(detail::roll_operation<D...>({by...}), x);
}
/// x repeated along some dimensions: `tile(x, dimensions<0>, 3)` stands three times below itself.
/// Cost:     where these dimensions are sharded, each worker receives what its block reads; a copy.
/// Adjoint:  the sum of the copies.
template <detail::any_tensor X, std::size_t... D>
auto tile(const X& x, dimensions_t<D...>, const detail::count_along<D>&... times) {
  static_assert(detail::has_dimensions<X, D...>,
                PARTITA_REQUIRES_DIMENSIONS("partita::tile(x, dimensions<d...>, times...)"));
  if constexpr (detail::has_dimensions<X, D...>) return operate(detail::tile_operation<D...>({times...}), x);
}
/// Repeats the one index of some dimensions up to these extents: `expand(x, dimensions<1>, 8)` of 4 x 1 is 4 x 8.
/// Shapes:   these dimensions of x have extent 1 [shape_error].
/// Cost:     nothing moves; a copy. The new extents may be sharded.
/// Adjoint:  the sum along these dimensions.
template <detail::any_tensor X, std::size_t... D>
auto expand(const X& x, dimensions_t<D...>, const detail::count_along<D>&... to) {
  static_assert(detail::has_dimensions<X, D...>,
                PARTITA_REQUIRES_DIMENSIONS("partita::expand(x, dimensions<d...>, extent...)"));
  if constexpr (detail::has_dimensions<X, D...>) return operate(detail::expand_operation<D...>{{to...}}, x);
}
/// Every step-th element along some dimensions: `strided_slice(x, dimensions<0>, {1, 9, 2})` has the indices 1, 3,
/// 5, 7.
/// Shapes:   for each dimension start, stop and step [shape_error].
/// Cost:     where these dimensions are sharded, each worker receives the elements of x between the first and the last
///           that its block of the result needs.
/// Adjoint:  the elements at their places, and zeros between them.
template <detail::any_tensor X, std::size_t... D>
auto strided_slice(const X& x, dimensions_t<D...>, const detail::progression_along<D>&... of) {
  static_assert(detail::has_dimensions<X, D...>,
                PARTITA_REQUIRES_DIMENSIONS("partita::strided_slice(x, dimensions<d...>, {start, stop, step}...)"));
  if constexpr (detail::has_dimensions<X, D...>) return operate(detail::strided_operation<D...>({of...}), x);
}
/// The lower triangle of the matrices in the last two dimensions, up to a diagonal: x[i, j] where j - i <= diagonal, 0
/// elsewhere; `triu` the upper triangle, where j - i >= diagonal.
/// Cost:     nothing moves.
/// Adjoint:  the same triangle.
template <detail::any_tensor X>
auto tril(const X& x, std::ptrdiff_t diagonal = 0) {
  static_assert(detail::may_be_matrices<X>, "partita::tril(x): requires a tensor of at least two dimensions");
  if constexpr (detail::may_be_matrices<X>) return operate(detail::triangle_operation<true>{diagonal}, x);
}
template <detail::any_tensor X>
auto triu(const X& x, std::ptrdiff_t diagonal = 0) {
  static_assert(detail::may_be_matrices<X>, "partita::triu(x): requires a tensor of at least two dimensions");
  if constexpr (detail::may_be_matrices<X>) return operate(detail::triangle_operation<false>{diagonal}, x);
}
/// x without dimensions of extent 1: `squeeze(x, dimensions<1>)`. `unsqueeze(x, dimensions<1>)` adds such a dimension,
/// which is dimension 1 of the result.
/// Shapes:   the dimensions that are removed have extent 1 [shape_error].
/// Cost:     nothing moves or is copied.
/// Adjoint:  the other one.
template <class X, std::size_t... D>  // xtensor has a less constrained squeeze for plain arrays
  requires detail::any_tensor<X>
auto squeeze(X&& x, dimensions_t<D...>) {
  static_assert(detail::has_dimensions<X, D...>, PARTITA_REQUIRES_DIMENSIONS("partita::squeeze(x, dimensions<d...>)"));
  if constexpr (detail::has_dimensions<X, D...>) return detail::call(detail::squeeze_operation<D...>{}, x);
}
template <detail::any_tensor X, std::size_t... D>
auto unsqueeze(const X& x, dimensions_t<D...>) {
  static_assert(detail::distinct_dimensions<D...>,
                "partita::unsqueeze(x, dimensions<d...>): requires dimensions of the result, each once");
  if constexpr (detail::distinct_dimensions<D...>) return detail::call(detail::unsqueeze_operation<D...>{}, x);
}
/// Joins tensors of equal extents along a new dimension: `stack(dimensions<0>, x, y, z)`.
/// Cost:     that of concatenate.
/// Adjoint:  the slices of the cotangent.
template <std::size_t D, class... X>
  requires(detail::any_tensor<X> && ...)
auto stack(dimensions_t<D>, const X&... x) {
  return concatenate(dimensions<D>, unsqueeze(x, dimensions<D>)...);
}

}  // namespace partita
