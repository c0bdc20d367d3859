// Foreign memory as an array: a pointer with extents and strides, a range with extents, and any type with the members
// of an Eigen matrix or of an mdspan. This header includes no header of Eigen or mdspan.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <partita/array/as_rank.hpp>
#include <partita/array/number_list.hpp>
#include <span>
#include <type_traits>

namespace partita {
namespace detail {

/// M has the members of an Eigen matrix that has its elements in memory.
template <class M>
concept matrix_in_memory = requires(M& m) {
  { *m.data() };
  { m.rows() } -> std::convertible_to<std::ptrdiff_t>;
  { m.cols() } -> std::convertible_to<std::ptrdiff_t>;
  { m.rowStride() } -> std::convertible_to<std::ptrdiff_t>;
  { m.colStride() } -> std::convertible_to<std::ptrdiff_t>;
};

/// Whether the type M refers to the memory of another object, as Eigen's maps and blocks do: M::PlainObject is not M,
/// and M has a trivial destructor.
template <class M>
inline constexpr bool refers_to_matrix = false;
template <class M>
  requires requires { typename M::PlainObject; }
inline constexpr bool refers_to_matrix<M> =
    !std::is_same_v<typename M::PlainObject, M> && std::is_trivially_destructible_v<M>;

/// Whether the type M fixes one row or one column, as an Eigen vector does.
template <class M>
inline constexpr bool is_vector = false;
template <class M>
  requires requires { M::RowsAtCompileTime, M::ColsAtCompileTime; }
inline constexpr bool is_vector<M> =
    static_cast<int>(M::RowsAtCompileTime) == 1 || static_cast<int>(M::ColsAtCompileTime) == 1;

/// M has the members of an mdspan.
template <class M>
concept span_of_dimensions = requires(M& m) {
  { *m.data_handle() };
  { m.extent(0) } -> std::convertible_to<std::size_t>;
  { m.stride(0) } -> std::convertible_to<std::size_t>;
  { std::remove_cvref_t<M>::rank() } -> std::convertible_to<std::size_t>;
};

}  // namespace detail

/// An array that reads and writes foreign memory in place: `as_rank<2>(pointer, {rows, columns})`, or with strides
/// `as_rank<2>(pointer, {rows, columns}, {1, leading_dimension})`. Strides are in elements; if they are not given, the
/// last dimension varies fastest. Extents and strides may have any integer type, in braces, arrays or extents.
/// Requires: memory that outlives the result; extents that are not negative [shape_error, on this worker].
/// Cost:     none, no element is copied.
template <std::size_t Rank, detail::number T>
auto as_rank(T* first, const detail::number_list<Rank>& shape,
             const detail::number_list<Rank, std::ptrdiff_t>& strides) {
  return detail::view_of_memory<T, Rank>(first, shape, strides);
}
template <std::size_t Rank, detail::number T>
auto as_rank(T* first, const detail::number_list<Rank>& shape) {
  return detail::view_of_memory<T, Rank>(first, shape, dense_block<T, Rank>(first, shape).strides);
}

/// A contiguous range (std::vector, std::span) as an array of given extents: `as_rank<2>(v, {rows, columns})`.
/// Requires: as many elements as the product of the extents [shape_error, on this worker]; a range that outlives the
///           result.
template <std::size_t Rank, std::ranges::contiguous_range R>
  requires(std::ranges::sized_range<R> && (std::is_lvalue_reference_v<R&&> || std::ranges::borrowed_range<R>))
auto as_rank(R&& range, const detail::number_list<Rank>& given) {
  const std::array<std::size_t, Rank>& shape = given;
  const std::size_t places = product_of(shape, "partita::as_rank<Rank>(range, extents)");
  if (const auto elements = static_cast<std::size_t>(std::ranges::size(range)); elements != places)
    throw shape_error(text("partita::as_rank<")
                      << Rank << ">(range, extents): requires as many elements as the extents " << shape
                      << " have places (" << places << "), got " << elements << "; give other extents");
  return as_rank<Rank>(std::ranges::data(range), given);
}

/// An Eigen matrix, map or block as an array, by `as_rank<2>(m)`, in row-major or column-major order, or an Eigen
/// vector, by `as_rank<1>(v)`.
/// Requires: a matrix that outlives the result. Cost: none, except that a temporary that owns its elements is copied.
template <std::size_t Rank, class M>
  requires detail::matrix_in_memory<std::remove_reference_t<M>>
auto as_rank(M&& m) {
  using matrix = std::remove_cvref_t<M>;
  static_assert(Rank == 2 || (Rank == 1 && detail::is_vector<matrix>),
                "partita::as_rank<Rank>(m): requires Rank 2 for a matrix, or 1 where its type says one row or one "
                "column; write as_rank<2>(m)");
  const std::array<std::size_t, 2> shape{static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols())};
  const std::array<std::ptrdiff_t, 2> strides{static_cast<std::ptrdiff_t>(m.rowStride()),
                                              static_cast<std::ptrdiff_t>(m.colStride())};
  const auto there = [&] {
    if constexpr (Rank == 1) {
      const std::size_t along = shape[1] == 1 ? 0 : 1;
      return as_rank<1>(m.data(), {shape[0] * shape[1]}, {strides[along]});
    } else {
      return as_rank<2>(m.data(), shape, strides);
    }
  }();
  if constexpr (std::is_lvalue_reference_v<M&&> || detail::refers_to_matrix<matrix>) return there;
  else return xt::xtensor<element_of<decltype(there)>, Rank>(there);
}

/// Makes an array of an mdspan (also of a temporary mdspan, as submdspan returns it) or of a type with the members of
/// an mdspan: `as_rank<N>(m)`. No element is copied.
template <std::size_t Rank, class M>
  requires detail::span_of_dimensions<std::remove_reference_t<M>>
auto as_rank(M&& m) {
  static_assert(std::remove_cvref_t<M>::rank() == Rank,
                "partita::as_rank<Rank>(m): requires the rank of the span; write as_rank<M::rank()>(m)");
  std::array<std::size_t, Rank> shape{};
  std::array<std::ptrdiff_t, Rank> strides{};
  for (std::size_t d = 0; d < Rank; ++d) {
    shape[d] = static_cast<std::size_t>(m.extent(d));
    strides[d] = static_cast<std::ptrdiff_t>(m.stride(d));
  }
  return as_rank<Rank>(&*m.data_handle(), shape, strides);
}

}  // namespace partita
