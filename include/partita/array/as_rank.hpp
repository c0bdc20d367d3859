// Arrays with a static rank, made from arrays of dynamic rank, ranges, numbers and lists of numbers.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <partita/array/expression.hpp>
#include <partita/array/strided.hpp>
#include <span>  // <span> includes the concepts of ranges; <ranges> would take 0.1 s more to compile
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {
namespace detail {

/// An array of rank Rank that refers to the memory at `first`, which another object owns. Strides are in elements.
template <class T, std::size_t Rank>
auto view_of_memory(T* first, const std::array<std::size_t, Rank>& shape,
                    const std::array<std::ptrdiff_t, Rank>& strides) {
  return xt::adapt(std::move(first), strided<T, Rank>{first, shape, strides}.size(), xt::no_ownership(), shape,
                   strides);
}

/// E has memory with strides; its rank may be static or dynamic.
template <class E>
concept array_in_memory = array_expression<E> && requires(E& e) {
  { e.data() } -> std::convertible_to<const void*>;
  { e.strides() };
  { e.data_offset() } -> std::convertible_to<std::size_t>;
};

/// Whether the memory of an E outlives the E object: E is a view of an array that is an lvalue, or of foreign memory.
template <class E>
inline constexpr bool memory_outlives_view = false;
template <class CT, class... Slices>
inline constexpr bool memory_outlives_view<xt::xview<CT, Slices...>> = std::is_lvalue_reference_v<CT>;
template <class CT, class S, xt::layout_type L, class FST>
inline constexpr bool memory_outlives_view<xt::xstrided_view<CT, S, L, FST>> = std::is_lvalue_reference_v<CT>;
template <class P, class A, xt::layout_type L, class SC, class Tag>
inline constexpr bool
    memory_outlives_view<xt::xarray_adaptor<xt::xbuffer_adaptor<P, xt::no_ownership, A>, L, SC, Tag>> = true;
template <class P, class A, std::size_t N, xt::layout_type L, class Tag>
inline constexpr bool
    memory_outlives_view<xt::xtensor_adaptor<xt::xbuffer_adaptor<P, xt::no_ownership, A>, N, L, Tag>> = true;

/// Returns the extents of a shape; throws a shape_error unless there are Rank of them.
template <std::size_t Rank, class Shape>
std::array<std::size_t, Rank> require_shape_of_rank(const Shape& shape) {
  if (shape.size() != Rank)
    throw shape_error(text("partita::as_rank<")
                      << Rank << ">(a): requires an array of rank " << Rank << ", got one of rank " << shape.size()
                      << " and extents " << std::vector<std::size_t>(shape.begin(), shape.end())
                      << "; reshape it, or ask for as_rank<" << shape.size() << ">(a)");
  std::array<std::size_t, Rank> all{};
  for (std::size_t d = 0; d < Rank; ++d) all[d] = static_cast<std::size_t>(shape[d]);
  return all;
}

/// R is a contiguous range of numbers with a known size, such as std::vector.
template <class R>
concept range_in_memory = !array_expression<R> && std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                          number<std::ranges::range_value_t<R>>;

}  // namespace detail

/// Makes an array whose rank the compiler knows: `b(as_rank<2>(a))` for an xt::xarray a.
/// Shapes:   `a` is an xtensor expression of Rank dimensions, a contiguous range of numbers (std::vector, std::array,
///           std::span; rank 1), a number (rank 0) or a list {1.0, 2.0} (rank 1).
/// Requires: `a` has Rank dimensions [compile time where its type determines this, else shape_error on this worker].
/// Cost:     none where the memory of `a` outlives the call: the result refers to that memory, must not outlive `a`,
///           and is writable if `a` is writable. Temporaries and lazy expressions are evaluated into an xt::xtensor; an
///           xt::xarray rvalue passes its memory to the result.
template <std::size_t Rank, class A>
auto as_rank(A&& a) {
  using E = std::remove_cvref_t<A>;
  constexpr bool memory_outlives_call = std::is_lvalue_reference_v<A&&> || detail::memory_outlives_view<E>;
  if constexpr (ranked_array<A> && rank_of<A> != Rank) {
    static_assert(
        detail::dependent_false<E>,
        "partita::as_rank<Rank>(a): requires an array of rank Rank, and the type of a says another; reshape a, "
        "or leave as_rank out");
  } else if constexpr (array_expression<A>) {
    using T = element_of<A>;
    const auto shape = detail::require_shape_of_rank<Rank>(a.shape());
    if constexpr (detail::array_in_memory<std::remove_reference_t<A>> && memory_outlives_call) {
      std::array<std::ptrdiff_t, Rank> strides{};
      for (std::size_t d = 0; d < Rank; ++d) strides[d] = static_cast<std::ptrdiff_t>(a.strides()[d]);
      const bool empty = strided<T, Rank>{nullptr, shape, strides}.size() == 0;  // the data pointer may then be null
      return detail::view_of_memory(empty ? a.data() : a.data() + a.data_offset(), shape, strides);
    } else {
      xt::xtensor<T, Rank> own;
      if constexpr (std::is_same_v<A, xt::xarray<T, xt::layout_type::row_major>>) {
        own.storage() = std::move(a.storage());
        own.resize(shape);
      } else {
        own = a;
      }
      return own;
    }
  } else if constexpr (detail::range_in_memory<A>) {
    static_assert(Rank == 1,
                  "partita::as_rank<Rank>(a): requires Rank 1 for a range of numbers; adapt its memory with "
                  "xt::adapt(a, shape) for another");
    const std::array<std::size_t, 1> shape{static_cast<std::size_t>(std::ranges::size(a))};
    if constexpr (memory_outlives_call || std::ranges::borrowed_range<A>) {
      return detail::view_of_memory(std::ranges::data(a), shape, std::array<std::ptrdiff_t, 1>{1});
    } else {
      xt::xtensor<std::ranges::range_value_t<A>, 1> own(shape);
      std::copy_n(std::ranges::data(a), own.size(), own.begin());
      return own;
    }
  } else if constexpr (detail::number<A>) {
    static_assert(Rank == 0,
                  "partita::as_rank<Rank>(a): requires Rank 0 for a number; use xt::ones or xt::full_like to "
                  "fill an array with it");
    if constexpr (memory_outlives_call)
      return detail::view_of_memory(std::addressof(a), std::array<std::size_t, 0>{}, {});
    else return xt::xtensor<E, 0>(a);
  } else {
    static_assert(
        detail::dependent_false<E>,
        "partita::as_rank<Rank>(a): requires an xtensor expression, a contiguous range of numbers or a number; "
        "copy a into an xt::xtensor<T, Rank>");
  }
}

/// Makes a tensor of rank 1 from a list of numbers: `as_rank<1>({1.0, 2.0, 3.0})`.
template <std::size_t Rank, detail::number T>
xt::xtensor<T, 1> as_rank(std::initializer_list<T> list) {
  static_assert(Rank == 1, "partita::as_rank<Rank>({a, b, ...}): requires Rank 1 for a list of numbers");
  return xt::xtensor<T, 1>(list);
}

}  // namespace partita
