// Requirements of a Fourier transform on its arguments at compile time, and on its blocks in memory.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <partita/array/fourier_rule.hpp>
#include <partita/array/real_part.hpp>
#include <partita/array/strided.hpp>
#include <type_traits>
#include <utility>

namespace partita::detail {

/// The element types of input and result of a kind of transform, for a given element type; void if not accepted.
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
using fourier_result_type = decltype(fourier_result<Kind, T, Forward>());

/// Whether the arguments of fourier_transform fit together; if not, the compiler prints one error message.
template <class Kind, std::size_t RankX, std::size_t RankY, std::size_t... D>
consteval bool has_fourier_transform() {
  constexpr std::size_t most = 8;  // chosen: all sets of dimensions are tried as pencils
  static_assert(RankX == RankY,
                "partita::fourier_transform<D...>(p_x, p_y): requires partitions of equal rank; reshape() one of them "
                "with extents of 1");
  static_assert(
      sizeof...(D) > 0 && sizeof...(D) <= most,
      "partita::fourier_transform<D...>(p_x, p_y): requires the dimensions to transform, 1 to 8 of them; write "
      "fourier_transform<0, 1>(p_x, p_y)");
  constexpr bool inside = ((D < RankX) && ...);
  static_assert(inside,
                "partita::fourier_transform<D...>(p_x, p_y): requires dimensions of the partitions, below their rank");
  constexpr bool once = [] {
    constexpr std::size_t all[] = {D..., 0};
    for (std::size_t a = 0; a < sizeof...(D); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (all[a] == all[b]) return false;
    return true;
  }();
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

/// The lowest address of a block's elements, and the address behind the highest element.
template <class T, std::size_t Rank>
std::pair<std::uintptr_t, std::uintptr_t> address_range(const strided<T, Rank>& block) {
  if (block.size() == 0) return {0, 0};
  std::ptrdiff_t low = 0, high = 1;
  for (std::size_t d = 0; d < Rank; ++d) {
    const std::ptrdiff_t span = (static_cast<std::ptrdiff_t>(block.shape[d]) - 1) * block.strides[d];
    (span < 0 ? low : high) += span;
  }
  const auto at = [&](std::ptrdiff_t n) {
    return reinterpret_cast<std::uintptr_t>(block.data) + static_cast<std::uintptr_t>(n) * sizeof(T);
  };
  return {at(low), at(high)};
}

}  // namespace partita::detail
