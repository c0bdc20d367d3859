// Requirements of a Fourier transform on its arguments at compile time, and on its blocks in memory.
#pragma once

#include <complex>
#include <cstddef>
#include <partita/array/fourier_rule.hpp>
#include <partita/array/overlapping.hpp>
#include <partita/array/real_part.hpp>
#include <partita/array/strided.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/requirements.hpp>
#include <partita/rule/kernel_dimensions.hpp>
#include <type_traits>

namespace partita::detail {

/// Returns a value of the element type that a transform (its adjoint, if Forward is false) gives for an input with
/// elements T. The return type is void if this kind of transform does not accept T.
template <class Kind, class T, bool Forward>
constexpr auto fourier_result() {
  constexpr bool takes_real =
      is_real_to_real<Kind> || std::is_same_v<Kind, std::conditional_t<Forward, real_to_complex_t, complex_to_real_t>>;
  constexpr bool gives_real =
      is_real_to_real<Kind> || std::is_same_v<Kind, std::conditional_t<Forward, complex_to_real_t, real_to_complex_t>>;
  using real = real_of<T>;
  constexpr bool of_fftw = std::is_same_v<real, float> || std::is_same_v<real, double>;
  constexpr bool takes = std::is_same_v<T, real> == takes_real && of_fftw;
  if constexpr (!takes) return;
  else if constexpr (gives_real) return real();
  else return std::complex<real>();
}
template <class Kind, class T, bool Forward>
using fourier_result_type = decltype(fourier_result<Kind, T, Forward>());  ///< void if T is not accepted

/// Whether the arguments of fourier_transform fit together; if not, the compiler prints one error message.
template <class Kind, std::size_t RankX, std::size_t RankY, std::size_t... D>
consteval bool has_fourier_transform() {
  constexpr std::size_t most = 8;  // chosen: the search for pencils tries all sets of dimensions
  static_assert(RankX == RankY,
                "partita::fourier_transform<D...>(p_x, p_y): requires partitions of equal rank; reshape() one of them "
                "with extents of 1");
  static_assert(
      sizeof...(D) > 0 && sizeof...(D) <= most,
      "partita::fourier_transform<D...>(p_x, p_y): requires the dimensions to transform, 1 to 8 of them; write "
      "fourier_transform<0, 1>(p_x, p_y)");
  constexpr bool inside = are_dimensions_below_rank<RankX, D...>;
  static_assert(inside,
                "partita::fourier_transform<D...>(p_x, p_y): requires dimensions of the partitions, below their rank");
  constexpr bool once = are_distinct_dimensions<D...>;
  static_assert(once, "partita::fourier_transform<D...>(p_x, p_y): requires each dimension once; leave out the second");
  constexpr bool kinds = [] {
    if constexpr (is_real_to_real<Kind>) return Kind::size == 1 || Kind::size == sizeof...(D);
    else return true;
  }();
  static_assert(kinds,
                "partita::fourier_transform<D...>(p_x, p_y, real_to_real(kinds...)): requires one kind for each "
                "dimension, or one for all of them");
  return RankX == RankY && sizeof...(D) > 0 && sizeof...(D) <= most && inside && once && kinds;
}

/// Whether a transform of this kind accepts a field X; if not, the compiler prints one error message.
template <class Kind, std::size_t Rank, class X>
consteval bool accepts_fourier_input() {
  static_assert(has_known_rank<X>(),
                "partita::fourier_transform(p_x, p_y)(x): requires an xtensor expression whose rank is part of its "
                "type; as_rank<2>(a) gives it one");
  static_assert(!ranked_array<X> || has_rank<X, Rank>(),
                PARTITA_REQUIRES_RANK_OF_PARTITIONS("partita::fourier_transform(p_x, p_y)(x)"));
  if constexpr (has_rank<X, Rank>()) {
    constexpr bool suits = !std::is_void_v<fourier_result_type<Kind, element_of<X>, true>>;
    static_assert(
        suits,
        "partita::fourier_transform(p_x, p_y, kind)(x): requires the elements of its kind, of float or double: "
        "complex numbers for complex_to_complex and complex_to_real, real ones for real_to_complex and "
        "real_to_real");
    return suits;
  } else {
    return false;
  }
}
/// Whether the adjoint of a transform of this kind accepts a field Y.
template <class Kind, std::size_t Rank, class Y>
consteval bool accepts_fourier_cotangent() {
  static_assert(has_known_rank<Y>() && has_rank<Y, Rank>(),
                "partita::fourier_transform(p_x, p_y).adjoint(dy): requires an xtensor expression of the rank of its "
                "partitions, which is part of its type");
  if constexpr (has_rank<Y, Rank>()) {
    constexpr bool suits = !std::is_void_v<fourier_result_type<Kind, element_of<Y>, false>>;
    static_assert(
        suits,
        "partita::fourier_transform(p_x, p_y, kind).adjoint(dy): requires the elements of its result, of float "
        "or double: complex numbers for complex_to_complex and real_to_complex, real ones for complex_to_real "
        "and real_to_real");
    return suits;
  } else {
    return false;
  }
}
/// Whether a call accepts fields of the types First and X..., all of which must have one element type.
template <class Kind, std::size_t Rank, bool Forward, class First, class... X>
consteval bool accepts_fourier_fields() {
  constexpr bool each = [] {
    if constexpr (Forward)
      return accepts_fourier_input<Kind, Rank, First>() && (accepts_fourier_input<Kind, Rank, X>() && ...);
    else return accepts_fourier_cotangent<Kind, Rank, First>() && (accepts_fourier_cotangent<Kind, Rank, X>() && ...);
  }();
  if constexpr (each) {
    constexpr bool alike = (std::is_same_v<element_of<X>, element_of<First>> && ...);
    static_assert(alike,
                  "partita::fourier_transform(p_x, p_y)(x...): requires fields with elements of one type; transform "
                  "fields of different types one by one");
    return alike;
  } else {
    return false;
  }
}
/// Whether the result of rank Rank with elements T can be written into a view of the caller.
template <class View, class T, std::size_t Rank>
consteval bool accepts_fourier_view() {
  constexpr bool fit = is_view_of<View, T, Rank>();
  static_assert(
      fit,
      "partita::fourier_transform(p_x, p_y).into(x, view): requires a view with memory (an xt::xtensor, or an "
      "xt::view of ranges of one) of the rank and the elements of the result, which is not const");
  return fit;
}

/// Whether two blocks share the memory of an element. If their elements have different types, the answer is true
/// whenever the address ranges of the blocks overlap, even if the elements are only interleaved.
template <class In, class Out, std::size_t Rank>
bool shares_memory(const strided<const In, Rank>& x, const strided<Out, Rank>& y) {
  if constexpr (std::is_same_v<In, Out>) return overlapping<In, Rank>(x, y);
  else
    return !are_disjoint(address_range(x.data, x.shape, x.strides, Rank),
                         address_range(y.data, y.shape, y.strides, Rank));
}

}  // namespace partita::detail
