// The operands of array broadcasting: an xtensor expression, or a plain number.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <partita/array/xtensor.hpp>
#include <partita/core/extents.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/core/short_list.hpp>
#include <type_traits>

namespace partita {

/// Fallback for extents that are not numbers: a compile-time error with a readable message.
template <>
class extents<detail::rank_not_given - 1> : public detail::rejected_call {
 public:
  static constexpr std::size_t rank() { return 1; }  ///< any rank, as the call is rejected
  template <class... A>
  explicit extents(const A&...) {  ///< always an error
    static_assert(detail::dependent_false<A...>,
                  "partita::extents(n, ...): requires numbers, one for each dimension; for a container of them, "
                  "std::array, and dynamic_extents<rank>(array)");
  }
};
template <class... A>
  requires(sizeof...(A) > 0 && !(std::is_convertible_v<A, std::size_t> && ...))
extents(const A&...) -> extents<detail::rank_not_given - 1>;

/// T is an xtensor expression: a container, a view, a lazy function.
template <class T>
concept array_expression = xt::is_xexpression<std::remove_cvref_t<T>>::value;

namespace detail {

template <class T>
inline constexpr bool is_complex_number = false;  ///< whether T is a std::complex
template <class T>
inline constexpr bool is_complex_number<std::complex<T>> = true;

/// T is a C++ number, which is treated as an array of rank 0.
template <class T>
concept number = std::is_arithmetic_v<std::remove_cvref_t<T>> || is_complex_number<std::remove_cvref_t<T>>;

/// T is an array or a number.
template <class T>
concept array_operand = array_expression<T> || number<T>;

/// L and R are operands of a binary operation, and at least one of them is an array.
template <class L, class R>
concept array_operands = array_operand<L> && array_operand<R> && (array_expression<L> || array_expression<R>);

inline constexpr std::size_t unknown_rank = static_cast<std::size_t>(-1);  ///< the rank, if the type does not say it

/// The extents in the type of an expression: static extents, dynamic extents with a static rank, or `void` if the rank
/// is dynamic.
template <class Shape>
struct extents_from_shape_type {
  using type = void;
};
template <class Shape>
  requires requires { std::tuple_size<Shape>::value; }
struct extents_from_shape_type<Shape> {
  using type = dynamic_extents<std::tuple_size<Shape>::value>;
};
template <std::size_t... E>
struct extents_from_shape_type<xt::fixed_shape<E...>> {
  using type = extents<E...>;
};

template <class T>
struct extents_type_of {  ///< implements array_extents
  using type = typename extents_from_shape_type<std::remove_cvref_t<typename T::shape_type>>::type;
};
template <number T>
struct extents_type_of<T> {
  using type = extents<>;  ///< the extents of a number
};
/// The extents in the type of an operand, or `void` if its rank is dynamic; a number has rank 0.
template <class T>
using array_extents = typename extents_type_of<std::remove_cvref_t<T>>::type;

template <class T>
inline constexpr bool has_known_rank_v = !std::is_void_v<array_extents<T>>;  ///< whether the type of T says its rank

template <class Extents>
inline constexpr std::size_t rank_of_extents = Extents::rank();  ///< unknown_rank for void
template <>
inline constexpr std::size_t rank_of_extents<void> = unknown_rank;
/// The rank of an operand, or `unknown_rank`. (xt::get_rank treats a view as dynamic.)
template <class T>
inline constexpr std::size_t array_operand_rank = rank_of_extents<array_extents<T>>;

template <class T>
struct element_from_operand {  ///< implements operand_element
  using type = typename T::value_type;
};
template <number T>
struct element_from_operand<T> {
  using type = T;  ///< a number is its own element
};
/// The element type of an array, or the type of a number.
template <class T>
using operand_element = typename element_from_operand<std::remove_cvref_t<T>>::type;

/// Copies the shape of an operand to a shape_list.
template <array_operand T>
shape_list shape_of(const T& operand) {
  shape_list shape;
  if constexpr (array_expression<T>)
    for (const auto extent : operand.shape()) shape.push_back(static_cast<std::size_t>(extent));
  return shape;
}

/// An expression E has a pointer to its element (0, …, 0) and strides.
template <class E>
concept strided_expression = array_expression<E> && requires(const std::remove_cvref_t<E>& e) {
  { *e.data() } -> std::convertible_to<typename std::remove_cvref_t<E>::value_type>;
  { e.data_offset() } -> std::convertible_to<std::size_t>;
  { e.strides()[0] };
};

template <class T, std::size_t Rank>
struct array_with_rank_type {  ///< implements array_with_rank
  using type = xt::xtensor<T, Rank>;
};
template <class T>
struct array_with_rank_type<T, unknown_rank> {
  using type = xt::xarray<T>;  ///< for a dynamic rank
};
/// The xtensor container for elements T, with a static rank or a dynamic rank.
template <class T, std::size_t Rank>
using array_with_rank = typename array_with_rank_type<T, Rank>::type;
/// The container that an expression is evaluated into.
template <class E>
using evaluated_array = array_with_rank<operand_element<E>, array_operand_rank<E>>;

}  // namespace detail
}  // namespace partita
