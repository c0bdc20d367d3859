// Functions that read, replace or add to elements and rows of tensors at indices: take_along_axis, gather_nd,
// add_along_axis, put_along_axis, scatter_add_nd and scatter_nd.
#pragma once

#include <array>
#include <cstddef>
#include <partita/sharded/bind_indices.hpp>
#include <partita/sharded/detail/gather_operations.hpp>
#include <vector>

namespace partita {
namespace detail {

template <class X, class Indices>
concept both_traced = tensor_kind<X> == 3 && tensor_kind<Indices> == 3;
/// The extents of the first K dimensions of x.
template <std::size_t K, class X>
shape_list leading_extents(const X& x, const char* call) {
  shape_list all = operand_extents(x), first;
  if (all.size() < K)
    throw shape_error(text("partita::") << call << "<K>: requires x with at least K = " << K
                                        << " dimensions, got extents " << all);
  for (std::size_t d = 0; d < K; ++d) first.push_back(all[d]);
  return first;
}

/// The elements of `input` at indices along dimension `along`; see take_along_axis.
template <class T, class I>
sharded_tensor<T> take_along(const sharded_tensor<T>& input, const sharded_tensor<I>& given, std::size_t along) {
  constexpr const char* call = "take_along_axis(x, indices, dimensions<D>)";
  const auto on = input.state()->on;
  bool fits = given.rank() == input.rank() && along < given.rank();
  for (std::size_t d = 0; d < given.rank() && fits; ++d) fits = d == along || given.extents()[d] == input.extents()[d];
  if (given.state()->on != on)
    throw partition_error("partita::take_along_axis: requires x and indices on one mesh; shard both on the same one");
  if (!fits)
    throw shape_error(text("partita::") << call << ": requires indices whose extents differ from those of x along D = "
                                        << along << " alone, got " << given.extents() << " and " << input.extents());
  const sharded_tensor<T> x = reduce_if_partial(input, call);
  const sharded_tensor<I> indices = reduce_if_partial(given, call);
  const shape_list extents = x.extents();
  const auto b = plan_binding(
      {on, layout_of(x.layout()), layout_of(indices.layout()), extents, indices.extents()}, "partita::take_along_axis",
      [&](local_error& message) {
        // For each index, compute the number of the element of x that has index 0 along D, and the stride along D.
        std::size_t step = 1;
        for (std::size_t d = along + 1; d < extents.size(); ++d) step *= extents[d];
        auto box = indices.state()->box();
        std::vector<std::size_t> wanted = row_offsets(box, extents, along);
        for (std::size_t k = 0; k < wanted.size(); ++k) {
          const std::size_t index = index_of_element(indices.data()[k], extents[along]);
          if (index >= extents[along]) set_index_error(message, "partita::take_along_axis", along, extents[along], k);
          wanted[k] += index * step;
        }
        return wanted;
      },
      along);
  return take_rows(b, x, call);
}

/// The rows of `input` at indices of its first K dimensions; see gather_nd.
template <std::size_t K, class T, class I>
sharded_tensor<T> gather_rows(const sharded_tensor<T>& input, const sharded_tensor<I>& given) {
  constexpr const char* call = "gather_nd<K>(x, indices)";
  const auto on = input.state()->on;
  if (given.state()->on != on)
    throw partition_error("partita::gather_nd: requires x and indices on one mesh; shard both on the same one");
  if (given.rank() == 0 || given.extents()[given.rank() - 1] != K || input.rank() < K)
    throw shape_error(text("partita::") << call << ": requires indices whose last extent is K = " << K
                                        << ", which count the first K dimensions of x, got indices of "
                                        << given.extents() << " and x of " << input.extents());
  const sharded_tensor<T> x = reduce_if_partial(input, call);
  sharding whole = layout_of(given.layout().without_partials());
  whole.cuts[given.rank() - 1] = axis_list();  // the K indices of one row of x must be on one worker
  const sharded_tensor<I> indices = on ? reshard_rows(given, whole, call) : given;
  shape_list extents, counts;
  for (std::size_t d = 0; d < K; ++d) extents.push_back(x.extents()[d]);
  for (std::size_t d = 0; d + 1 < given.rank(); ++d) counts.push_back(given.extents()[d]);
  const auto b =
      plan_binding({on, layout_of_rank(x.layout(), K), layout_of_rank(whole, given.rank() - 1), extents, counts},
                   "partita::gather_nd", [&](local_error& message) {
                     std::vector<std::size_t> wanted(indices.size() / K, 0);
                     for (std::size_t k = 0; k < indices.size(); ++k) {
                       const std::size_t d = k % K, index = index_of_element(indices.data()[k], extents[d]);
                       if (index >= extents[d]) set_index_error(message, "partita::gather_nd", d, extents[d], k);
                       wanted[k / K] = wanted[k / K] * extents[d] + index;
                     }
                     return wanted;
                   });
  return take_rows(b, x, call);
}

}  // namespace detail

/// The elements at indices along dimension D, as NumPy's take_along_axis: `y(i, j) = x(i, indices(i, j))` is
/// `take_along_axis(x, indices, dimensions<1>)`. If the indices are argsort of x along D, the result is x sorted along
/// D; if they are argmax of x along D, with D kept as a dimension of extent 1, the result is the maxima. Collective.
/// Shapes: indices and result have equal extents, which are those of x except along D. Any dimension of x and of the
/// indices may be sharded, also D; the result is sharded as the indices are.
/// Requires: indices that are whole numbers below the extent of D; x and indices on one mesh [partition_error]; extents
/// as described under Shapes [shape_error]; no call in a dry run or while a program is bound [error]. In a traced
/// program the indices have the element type of x, and invalid indices give zeros, as in `take`.
/// Cost: an index exchange is planned and executed; an element is sent at most once to each other worker that takes it,
/// and no tensor is gathered. Pending reductions are executed first. A traced program reshards x if D is sharded.
/// Adjoint: adds each element of dy to the element of dx at its index; indices have no gradient.
template <class T, class I, std::size_t D>
sharded_tensor<T> take_along_axis(const sharded_tensor<T>& x, const sharded_tensor<I>& indices, dimensions_t<D>) {
  return detail::take_along(x, indices, D);
}
template <class T, auto Layout, class I, auto LayoutOfIndices, std::size_t D>
auto take_along_axis(const typed_sharded<T, Layout>& x, const typed_sharded<I, LayoutOfIndices>& indices,
                     dimensions_t<D>) {
  constexpr auto result_layout = detail::layout_of(layout_of_name<LayoutOfIndices>.without_partials());
  return typed_sharded<T, name_of_layout<result_layout>>(
      detail::take_along(x.run_time_tensor(), indices.run_time_tensor(), D));
}
template <ranked_array X, ranked_array Indices, std::size_t D>
auto take_along_axis(const X& x, const Indices& indices, dimensions_t<D>) {  ///< elements of array x at indices along D
  static_assert(rank_of<X> == rank_of<Indices> && D < rank_of<X>,
                "partita::take_along_axis(x, indices, dimensions<D>): requires x and indices of one rank above D");
  if constexpr (rank_of<X> == rank_of<Indices> && D < rank_of<X>)
    return detail::as_array<rank_of<X>>(detail::take_along(detail::as_run_time(x), detail::as_run_time(indices), D));
  else return detail::rejected_call{};
}
template <class X, class Indices, std::size_t D>
  requires detail::both_traced<X, Indices>
auto take_along_axis(const X& x, const Indices& indices, dimensions_t<D>) {
  return apply_op(detail::take_along_operation<D>{}, x, indices);
}
PARTITA_FALLBACK_OVERLOAD(take_along_axis) {
  static_assert(
      detail::dependent_false<Given...>,
      "partita::take_along_axis(x, indices, dimensions<D>): requires two arrays, two sharded tensors, both with "
      "layouts in their types or both without, or two values of a traced program");
  return detail::rejected_call{};
}

/// The elements or rows of x at indices of its first K dimensions: `y(n, …) = x(indices(n, 0), …, indices(n, K - 1),
/// …)` is `gather_nd<K>(x, indices)`. Collective.
/// Shapes: indices have extent K along their last dimension; the result has the other dimensions of the indices,
/// sharded as in the indices, followed by the dimensions of x after the first K. Requirements, cost and adjoint are
/// those of take_along_axis, with rows in place of elements. The last dimension of the indices is gathered, and so are
/// the dimensions of x after the first K, which stay sharded only in traced programs.
template <std::size_t K, class T, class I>
sharded_tensor<T> gather_nd(const sharded_tensor<T>& x, const sharded_tensor<I>& indices) {
  static_assert(K > 0, "partita::gather_nd<K>(x, indices): requires K of 1 or more");
  return detail::gather_rows<K>(x, indices);
}
template <std::size_t K, class T, auto Layout, class I, auto LayoutOfIndices>
auto gather_nd(const typed_sharded<T, Layout>& x, const typed_sharded<I, LayoutOfIndices>& indices) {
  constexpr std::size_t rank = layout_of_name<Layout>.rank(), counted = layout_of_name<LayoutOfIndices>.rank();
  static_assert(K > 0 && K <= rank && counted > 0,
                "partita::gather_nd<K>(x, indices): requires x of rank K or more, and indices of rank 1 or more");
  if constexpr (K > 0 && K <= rank && counted > 0) {
    constexpr auto lines = detail::layout_of_rank(layout_of_name<LayoutOfIndices>, counted - 1);
    return typed_sharded<T, name_of_layout<detail::layout_of_rank(lines, counted - 1 + rank - K)>>(
        detail::gather_rows<K>(x.run_time_tensor(), indices.run_time_tensor()));
  } else {
    return detail::rejected_call{};
  }
}
template <std::size_t K, ranked_array X, ranked_array Indices>
auto gather_nd(const X& x, const Indices& indices) {  ///< rows of array x at indices of its first K dimensions
  constexpr bool fits = K > 0 && K <= rank_of<X> && rank_of<Indices> > 0;
  static_assert(fits, "partita::gather_nd<K>(x, indices): requires x of rank K or more, and indices of rank 1 or more");
  if constexpr (fits)
    return detail::as_array<rank_of<Indices> - 1 + rank_of<X> - K>(
        detail::gather_rows<K>(detail::as_run_time(x), detail::as_run_time(indices)));
  else return detail::rejected_call{};
}
template <std::size_t K, class X, class Indices>
  requires detail::both_traced<X, Indices>
auto gather_nd(const X& x, const Indices& indices) {
  static_assert(K > 0, "partita::gather_nd<K>(x, indices): requires K of 1 or more");
  return apply_op(detail::gather_nd_operation<K>{}, x, indices);
}

PARTITA_FALLBACK_OVERLOAD(gather_nd) {
  static_assert(detail::dependent_false<Given...>,
                "partita::gather_nd<K>(x, indices): requires K, the number of dimensions that are counted, and two "
                "arrays, two sharded tensors, both with layouts in their types or both without, or two values of a "
                "traced program");
  return detail::rejected_call{};
}
PARTITA_FALLBACK_OVERLOAD_OF_VALUES(gather_nd)

/// Adds each update to the element of x whose index along D is in `indices` and whose other indices are those of the
/// update: `add_along_axis(x, indices, updates, dimensions<1>)`. The function `put_along_axis` replaces elements by the
/// updates. Updates with equal indices are summed; an update whose index is not valid is ignored.
/// Shapes: updates and indices have equal extents, which are those of x except along D [shape_error].
/// Requires: three arrays or three tensors; indices of tensors have the element type of x, as in `take`.
/// Cost: that of scatter_add.
/// Adjoint: the gradient with respect to the updates is the elements of dy at the indices. The gradient with respect to
/// x is dy; for put_along_axis it is 0 where an element was replaced. The indices have no gradient.
template <class X, class Indices, class Updates, std::size_t D>
  requires detail::arrays_or_tensors<X, Indices, Updates>
auto add_along_axis(const X& x, const Indices& indices, const Updates& updates, dimensions_t<D>) {
  static_assert(detail::has_dimensions<X, D>,
                PARTITA_REQUIRES_DIMENSION("partita::add_along_axis(x, indices, updates, dimensions<d>)"));
  if constexpr (detail::has_dimensions<X, D>)
    return detail::apply_updates<false>(detail::add_along_axis_operation<D>{detail::extent_of(x, D, "add_along_axis")},
                                        "add_along_axis", x, indices, updates);
}
template <class X, class Indices, class Updates, std::size_t D>
  requires detail::arrays_or_tensors<X, Indices, Updates>
auto put_along_axis(const X& x, const Indices& indices, const Updates& updates, dimensions_t<D>) {  ///< sets elements
  static_assert(detail::has_dimensions<X, D>,
                PARTITA_REQUIRES_DIMENSION("partita::put_along_axis(x, indices, updates, dimensions<d>)"));
  if constexpr (detail::has_dimensions<X, D>)
    return detail::apply_updates<true>(detail::add_along_axis_operation<D>{detail::extent_of(x, D, "put_along_axis")},
                                       "put_along_axis", x, indices, updates);
}

/// Adds each update to the element or row of x at its indices of the first K dimensions: `scatter_add_nd<2>(x, indices,
/// updates)`. The function `scatter_nd` replaces rows by updates.
/// Shapes: indices have extent K along their last dimension; updates have the other dimensions of the indices, followed
/// by the dimensions of x after the first K [shape_error].
/// Requirements, cost and adjoint are those of add_along_axis (scatter_add_nd) and put_along_axis (scatter_nd), with
/// rows in place of elements.
template <std::size_t K, class X, class Indices, class Updates>
  requires detail::arrays_or_tensors<X, Indices, Updates>
auto scatter_add_nd(const X& x, const Indices& indices, const Updates& updates) {
  static_assert(K > 0, "partita::scatter_add_nd<K>(x, indices, updates): requires K of 1 or more");
  return detail::apply_updates<false>(
      detail::scatter_add_nd_operation<K>{detail::leading_extents<K>(x, "scatter_add_nd")}, "scatter_add_nd", x,
      indices, updates);
}
template <std::size_t K, class X, class Indices, class Updates>
  requires detail::arrays_or_tensors<X, Indices, Updates>
auto scatter_nd(const X& x, const Indices& indices, const Updates& updates) {  ///< replaces the rows at the indices
  static_assert(K > 0, "partita::scatter_nd<K>(x, indices, updates): requires K of 1 or more");
  return detail::apply_updates<true>(detail::scatter_add_nd_operation<K>{detail::leading_extents<K>(x, "scatter_nd")},
                                     "scatter_nd", x, indices, updates);
}

}  // namespace partita
