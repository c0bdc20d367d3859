// Makes this worker's block of a tensor: from a function of the global index, or from an existing expression.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/as_element.hpp>
#include <partita/array/number_list.hpp>
#include <partita/array/strided.hpp>
#include <partita/comm/partition.hpp>
#include <partita/core/extents.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/plan/decomposition.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {
namespace detail {

/// The block of a worker outside of a partition. It has no elements; if its rank is at least 2, its dimension 0 has the
/// extent of the first block along dimension 0. For rank 0 the block has the value 0.
template <class T, std::size_t Rank>
auto make_empty_block(const decomposition<Rank>& cuts) {
  if constexpr (Rank == 0) return zero_volume<T, 0>();
  else return zero_volume<T, Rank>(cuts.cuts[0].parts() == 0 ? 0 : cuts.cuts[0].size(0));
}

/// Calls the function f(i, j, …) with the coordinates of a position, or f(index) if f takes an index.
template <class F, std::size_t Rank, std::size_t... D>
decltype(auto) call_at_index(F& f, const index<Rank>& i, std::index_sequence<D...>) {
  if constexpr (std::is_invocable_v<F&, decltype(i[D])...>) {
    return f(i[D]...);
  } else {  // tested second, because a generic f may seem to accept an index
    constexpr bool takes_index = std::is_invocable_v<F&, const index<Rank>&>;
    static_assert(takes_index,
                  "partita::block_from(p, extents, f): requires an f that can be called with a global index: f(i, j, "
                  "...), one std::size_t for each dimension, or f(partita::index<rank>)");
    if constexpr (takes_index) return f(i);
    else return 0;
  }
}

/// T, or the type of f(i, j, …) if T is void.
template <class T, class F, std::size_t Rank>
using element_type_of_function = std::conditional_t<
    std::is_void_v<T>,
    std::remove_cvref_t<decltype(call_at_index(std::declval<F&>(), index<Rank>{}, std::make_index_sequence<Rank>()))>,
    T>;

/// Whether the arguments after a partition are the decomposition or the extents of a tensor, followed by a function.
template <std::size_t Rank, class... A>
inline constexpr bool first_argument_is_extents = false;
template <std::size_t Rank, class Cuts, class F>
inline constexpr bool first_argument_is_extents<Rank, Cuts, F> =
    is_extents<Cuts> || std::is_convertible_v<const Cuts&, number_list<Rank>>;
template <std::size_t Rank, std::size_t N, class F>
inline constexpr bool first_argument_is_extents<Rank, decomposition<N>, F> = true;

}  // namespace detail

/// Makes this worker's block of the tensor whose element at the global index (i, j, …) is f(i, j, …), as in
/// `block_from(p_x, extents(8, 16), [](auto i, auto j) { return 16.0 * i + j; })`.
/// Shapes:   the result is this worker's block of the decomposition; its elements have type T, or the type that f
///           returns. An inactive worker gets a block without elements, in which dimension 0 has the extent of the
///           first block if the rank is at least 2; for rank 0 it gets the value 0.
/// Requires: a decomposition with as many blocks as p has workers along each dimension [partition_error].
/// Cost:     one call of f for each element of the block; no communication.
template <class T = void, class P, std::size_t Rank, class F>
auto block_from(const partition<P>& p, const decomposition<Rank>& cuts, F f) {
  static_assert(
      P::rank() == Rank,
      "partita::block_from(p, extents, f): requires a partition of the tensor's rank; reshape() it with extents "
      "of 1");
  using element = detail::element_type_of_function<T, F, Rank>;
  constexpr auto dimensions = std::make_index_sequence<Rank>();
  if (cuts.parts() != p.extents().array())
    throw partition_error(
        text("partita::block_from(p, cuts, f): requires cuts into as many parts as p has, got cuts into ")
        << cuts.parts() << " for p = " << p.extents().array() << "; make the decomposition for the extents of p");
  if constexpr (Rank == 0) {
    auto block = zero_volume<element, 0>();
    if (p.active()) block() = detail::as_element<element>(detail::call_at_index(f, index<0>{}, dimensions));
    return block;
  } else {
    if (!p.active()) return detail::make_empty_block<element>(cuts);
    std::array<std::vector<std::size_t>, Rank> global;  // the global index of each local index
    std::array<std::size_t, Rank> shape{};
    for (std::size_t d = 0; d < Rank; ++d) {
      cuts.cuts[d].for_pieces(p.index()[d], [&](interval piece, std::size_t) {
        for (std::size_t i = piece.start; i < piece.stop; ++i) global[d].push_back(i);
      });
      shape[d] = global[d].size();
    }
    auto block = uninitialised<element, Rank>(shape);
    for (std::size_t k = 0; k < block.size(); ++k) {
      index<Rank> i = index_of(k, shape);
      for (std::size_t d = 0; d < Rank; ++d) i[d] = global[d][i[d]];
      block.data()[k] = detail::as_element<element>(detail::call_at_index(f, i, dimensions));
    }
    return block;
  }
}

/// Makes this worker's block of a tensor of these global extents in the balanced decomposition.
template <class T = void, class P, std::size_t... E, class F>
auto block_from(const partition<P>& p, const extents<E...>& global, F f) {
  static_assert(
      P::rank() == sizeof...(E),
      "partita::block_from(p, extents, f): requires a partition of the tensor's rank; reshape() it with extents "
      "of 1");
  if constexpr (P::rank() == sizeof...(E))
    return block_from<T>(p, decomposition<sizeof...(E)>::balanced(global.array(), p.extents().array()), std::move(f));
}

/// Makes this worker's balanced block of a tensor whose extents are in braces or an array: `block_from(p, {n, m}, f)`.
template <class T = void, class P, class F>
auto block_from(const partition<P>& p, const detail::number_list<P::rank()>& global, F f) {
  return block_from<T>(p, decomposition<P::rank()>::balanced(global, p.extents().array()), std::move(f));
}

/// Fallback for a call without extents between the partition and the function: a compile-time error.
template <class T = void, class P, class... A>
  requires(!detail::first_argument_is_extents<P::rank(), A...>)
auto block_from(const partition<P>&, const A&...) {
  static_assert(detail::dependent_false<A...>,
                "partita::block_from(p, extents, f): requires the extents of the whole tensor, then f; write "
                "block_from(p, extents(8, 12), f), or block_from(p, {8, 12}, f)");
  return detail::rejected_call{};
}

/// Returns `x` if this worker is active on p. Otherwise returns a block without elements, which keeps the extent of x
/// along dimension 0 if the rank is at least 2 (for rank 0, the value 0): `b(block_on(p_x, a + 1.0))`. If x is a lazy
/// expression, only active workers evaluate it.
template <class P, ranked_array X>
auto block_on(const partition<P>& p, const X& x) {
  using block = xt::xtensor<element_of<X>, rank_of<X>>;
  if (p.active()) return block(x);
  if constexpr (rank_of<X> == 0) return zero_volume<element_of<X>, 0>();
  else return zero_volume<element_of<X>, rank_of<X>>(static_cast<std::size_t>(x.shape()[0]));
}

}  // namespace partita
