// The operations take, scatter_add and scatter of rows at indices that are the elements of a tensor, which may have any
// sharding. The operations are declared in the same form as a user-defined operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/sharded/compare.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/operations.hpp>
#include <utility>

namespace partita {
namespace detail {

/// Calls f(index, offset in the tensor with the whole dimension, offset in the tensor with the dimensions of the
/// indices) for each pair of elements that take or scatter_add combines.
template <class T, class F>
void for_each_indexed_element(const tensor_part<const T>& indices, const shape_list& target_extents,
                              std::size_t dimension, std::size_t extent, F f) {
  const dimension_loops n(target_extents, dimension, indices.shape.size());
  for (std::size_t k = 0; k < n.middle; ++k) {
    const std::size_t index = index_of_element(indices[k], extent);
    for (std::size_t o = 0; o < n.outer; ++o)
      for (std::size_t i = 0; i < n.inner; ++i)
        f(index, (o * extent + index) * n.inner + i, (o * n.middle + k) * n.inner + i);
  }
}

template <std::size_t D>
struct add_rows_operation;

/// The operation (x, indices) -> the rows of x at the indices, whose dimensions replace dimension D.
template <std::size_t D>
struct take_rows_operation {
  static constexpr bool on_integers = true;          ///< accepts integers, also in traced programs
  static constexpr std::uint32_t adjoint_reads = 2;  ///< bit mask: the adjoint reads operand 1, the indices

  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of these shapes
    return rules::gather(static_cast<std::ptrdiff_t>(D))(x).named("take");
  }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<const T>& indices, const tensor_part<T>& y) const {
    const std::size_t extent = x.extents[D];
    for_each_indexed_element(indices, y.shape, D, extent, [&](std::size_t index, std::size_t there, std::size_t here) {
      y[here] = index < extent ? x[there] : T(0);
    });
  }
  template <class X>
  X adjoint(std::size_t i, const X& dy, const X& x, const X& indices, const X&) const {  ///< none for the indices
    if (i == 1) return {};
    return apply_op(add_rows_operation<D>{x.extents()[D]}, dy, indices);
  }
};

/// The operation (rows, indices) -> a tensor of `extent` rows along dimension D, each of which is the sum of the rows
/// with its index.
template <std::size_t D>
struct add_rows_operation {
  static constexpr bool on_integers = true;          ///< accepts integers, also in traced programs
  static constexpr std::uint32_t adjoint_reads = 2;  ///< bit mask: the adjoint reads operand 1, the indices
  static constexpr std::size_t parameters = 1;       ///< number of data members, each equal on all workers
  std::size_t extent;                                ///< of dimension D of the result

  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of these shapes
    const std::size_t rows = x[1].size();
    if (x[0].size() < D + rows)
      throw shape_error(text("partita::scatter_add: requires updates with the dimensions of the indices ")
                        << x[1] << " from dimension " << D << " on, got " << x[0]);
    partita::rule r;
    const separate_factors f(r, x[0]);
    r.begin_operand();
    f.write(r);
    r.begin_operand();
    for (std::size_t k = 0; k < rows; ++k) r.add_dimension(f[D + k]);
    r.begin_result();
    for (std::size_t d = 0; d < x[0].size(); ++d) {
      if (d == D) r.add_whole_dimension();
      if (d < D || d >= D + rows) r.add_dimension(f[d]);
    }
    if (x[0].size() == D) r.add_whole_dimension();
    return r.complete().linear_in({0}).named("scatter_add");
  }
  shape_list result_extents(const shape_span& x) const {  ///< those of the rows; D has `extent`
    shape_list y;
    for (std::size_t d = 0; d < D; ++d) y.push_back(x[0][d]);
    y.push_back(extent);
    for (std::size_t d = D + x[1].size(); d < x[0].size(); ++d) y.push_back(x[0][d]);
    return y;
  }
  template <class T>
  void local(const tensor_part<const T>& rows, const tensor_part<const T>& indices, const tensor_part<T>& y) const {
    for (T& element : y) element = T(0);
    for_each_indexed_element(indices, rows.shape, D, extent,
                             [&](std::size_t index, std::size_t there, std::size_t here) {
                               if (index < extent) y[there] = static_cast<T>(y[there] + rows[here]);
                             });
  }
  template <class X>
  X adjoint(std::size_t i, const X& dy, const X&, const X& indices, const X&) const {  ///< none for the indices
    if (i == 1) return {};
    return apply_op(take_rows_operation<D>{}, dy, indices);
  }
};

/// A tensor like x whose elements are all 1, also where x is NaN or infinite.
template <class X>
auto ones_like(const X& x) {
  return add(multiply(equal_to(x, 0), 0), 1);
}

template <class X>
std::size_t extent_of(const X& x, std::size_t d, const char* call) {  ///< throws unless x has dimension d
  const shape_list all = operand_extents(x);
  return all[checked_dimension(static_cast<std::ptrdiff_t>(d), all.size(), call)];
}

/// The types X are all arrays, or all tensors.
template <class... X>
concept arrays_or_tensors = (ranked_array<X> && ...) || (tensor_value<X> && ...);

/// Adds the sums of the updates at the indices, computed by `op`, to x, or replaces elements of x by these sums.
/// Indices of arrays are integers or elements of the type of x.
template <bool Replaces, class Op, class X, class Indices, class Updates>
auto apply_updates(const Op& op, const char* call, const X& x, const Indices& indices, const Updates& updates) {
  if constexpr (tensor_kind<X> == 0) {
    const xt::xtensor<element_of<X>, rank_of<Indices>> said = xt::cast<element_of<X>>(indices);
    return as_array<rank_of<X>>(
        apply_updates<Replaces>(op, call, as_run_time(x), as_run_time(said), as_run_time(updates)));
  } else {
    const auto sums = apply_op(op, updates, indices);
    if (sums.extents() != x.extents())
      throw shape_error(text("partita::")
                        << call << ": requires updates that fit indices and x, got updates of " << updates.extents()
                        << " and indices of " << indices.extents() << " for x of " << x.extents());
    if constexpr (Replaces) return where(apply_op(op, ones_like(updates), indices), sums, x);
    else return add(x, sums);
  }
}

}  // namespace detail

/// Takes the elements of x along dimension D at indices that are the elements of a tensor. The dimensions of the result
/// that come from the indices are sharded as the indices are. For an index that is not valid, the elements of the
/// result are 0. The indices, also those of plain arrays, have the element type of x, like the result of `argmax`.
/// Shapes:   the result has the extents of x, with the extents of the indices in place of the extent of dimension D.
/// Cost:     a reshard of x if dimension D is sharded; the indices are usually not moved.
/// Adjoint:  adds each element of dy to the element of dx at its index; the indices have no gradient.
template <class X, class Indices, std::size_t D>
  requires((detail::any_tensor<X> && detail::tensor_value<Indices>) || detail::are_arrays_of_one_type<X, Indices>)
auto take(const X& x, const Indices& indices, dimensions_t<D>) {
  static_assert(detail::has_dimensions<X, D>, PARTITA_REQUIRES_DIMENSION("partita::take(x, indices, dimensions<d>)"));
  if constexpr (detail::has_dimensions<X, D>) return apply_op(detail::take_rows_operation<D>{}, x, indices);
}
/// Adds each update to x at its index along dimension D: `scatter_add(x, indices, updates, dimensions<0>)`. If x is a
/// tensor, the indices have the element type of x; if x is a plain array, the indices may also be integers. An update
/// whose index is not valid is ignored.
/// Shapes:   the updates have the extents of x, with the extents of the indices in place of the extent of dimension D
///           [shape_error].
/// Cost:     if the indices are sharded, the summed updates are usually reduced over the axes that shard the indices.
/// Adjoint:  the gradient with respect to x is dy, and the gradient with respect to the updates is `take` of dy at the
///           indices. The indices have no gradient.
template <class X, class Indices, class Updates, std::size_t D>
  requires detail::arrays_or_tensors<X, Indices, Updates>
auto scatter_add(const X& x, const Indices& indices, const Updates& updates, dimensions_t<D>) {
  static_assert(detail::has_dimensions<X, D>,
                PARTITA_REQUIRES_DIMENSION("partita::scatter_add(x, indices, updates, dimensions<d>)"));
  if constexpr (detail::has_dimensions<X, D>)
    return detail::apply_updates<false>(detail::add_rows_operation<D>{detail::extent_of(x, D, "scatter_add")},
                                        "scatter_add", x, indices, updates);
}
/// Replaces the elements of x at the indices along dimension D by the updates. Updates with equal indices are summed.
/// Shapes:   those of scatter_add.
/// Adjoint:  the gradient with respect to x is dy where no element was replaced, and 0 elsewhere; the gradient with
///           respect to the updates is `take` of dy at the indices.
template <class X, class Indices, class Updates, std::size_t D>
  requires detail::arrays_or_tensors<X, Indices, Updates>
auto scatter(const X& x, const Indices& indices, const Updates& updates, dimensions_t<D>) {
  static_assert(detail::has_dimensions<X, D>,
                PARTITA_REQUIRES_DIMENSION("partita::scatter(x, indices, updates, dimensions<d>)"));
  if constexpr (detail::has_dimensions<X, D>)
    return detail::apply_updates<true>(detail::add_rows_operation<D>{detail::extent_of(x, D, "scatter")}, "scatter", x,
                                       indices, updates);
}

}  // namespace partita
