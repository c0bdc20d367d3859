// Changes the extents of spectra by truncation or zero padding, and shifts frequencies, for arrays, sharded tensors and
// traced values, with gradients. partita.hpp does not include this header.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/resized_line.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/sharded/complex.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/rearrange.hpp>

namespace partita {
namespace detail {

/// Returns a tensor of extent `extent` along dimension D. The `count` elements of x from index `from` on are at the
/// indices from `to` on, and all other elements are 0.
template <std::size_t D, class X>
X move_part(const X& x, std::size_t from, std::size_t count, std::size_t to, std::size_t extent) {
  return apply_op(pad_operation<true, D>{{margin{to, extent - to - count}}, 0},
                  apply_op(slice_operation<D>{{interval{from, from + count}}}, x));
}
/// Multiplies the elements of x at index `at` along dimension D by `factor`.
template <std::size_t D, class X>
X scale_wave(const X& x, std::size_t at, double factor) {
  return add(x, multiply(move_part<D>(x, at, 1, at, operand_extents(x)[D]), factor - 1));
}

/// Changes the number of points of spectrum x along dimension D.
template <std::size_t D, class X>
X resize_line(const X& x, const resized_line& line) {
  if (line.n == line.m) return x;
  const double factor = line.factor();
  const X from = line.is_lengthened() && factor != 1 ? scale_wave<D>(x, line.shared_wave(), factor) : x;
  const auto [rising, falling] = line.wave_ranges();
  X y = move_part<D>(from, rising.source_start, rising.count, rising.destination_start, line.extent());
  if (!line.is_half_spectrum)
    return add(y, move_part<D>(from, falling.source_start, falling.count, falling.destination_start, line.extent()));
  return !line.is_lengthened() && factor != 1 ? scale_wave<D>(y, line.shared_wave(), factor) : y;
}

/// Changes the numbers of points of spectrum x along each of the dimensions D. If `real` is not 0, x has half of the
/// spectrum of `real` real numbers along the last of these dimensions.
template <std::size_t... D, class X>
X resize_lines(const char* call, const X& x, std::size_t real, const std::array<std::size_t, sizeof...(D)>& points) {
  const shape_list extents = operand_extents(x);
  X y = x;
  std::size_t k = 0;
  const auto resize = [&]<std::size_t At>(dimensions_t<At>) {
    const std::size_t n = extents[checked_dimension(static_cast<std::ptrdiff_t>(At), extents.size(), call)],
                      m = points[k++];
    if (n == 0 || m == 0)
      throw shape_error(text("partita::") << call << ": requires at least one point along dimension " << At
                                          << ", got a spectrum of extents " << extents << " for " << m << " points");
    const bool is_half_spectrum = real != 0 && k == points.size();
    y = resize_line<At>(y, {is_half_spectrum ? real : n, m, is_half_spectrum});
  };
  (resize(dimensions<D>), ...);
  return y;
}

/// Throws a shape_error unless the half spectrum of n real numbers along dimension d has the extents of x.
inline void require_half_spectrum(const char* call, const shape_list& x, std::size_t d, std::size_t n) {
  if (n == 0 || half_spectrum_extent(n) != x[checked_dimension(static_cast<std::ptrdiff_t>(d), x.size(), call)])
    throw shape_error(text("partita::") << call << ": requires n / 2 + 1 numbers along dimension " << d
                                        << " for n real numbers, got n = " << n << " and a tensor of extents " << x
                                        << "; 2 (m - 1) and 2 (m - 1) + 1 real numbers have a half spectrum of m");
}

template <class X, std::size_t... D>
auto shifted_frequencies(const char* call, const X& x, bool is_inverse) {  ///< is_inverse: by ifftshift
  const shape_list extents = operand_extents(x);
  const auto shift = [&](std::size_t d) {
    const std::size_t n = extents[checked_dimension(static_cast<std::ptrdiff_t>(d), extents.size(), call)];
    return static_cast<std::ptrdiff_t>(is_inverse ? n - n / 2 : n / 2);
  };
  return apply_op(roll_operation<D...>{{}, {shift(D)...}}, x);
}

template <std::size_t... D>
inline constexpr std::size_t last_of = std::array{D...}.back();  ///< the last of the listed dimensions

template <std::size_t>
using point_count_along = std::size_t;  ///< one argument for each dimension of a call

}  // namespace detail

/// Changes the number of points n of a spectrum along some dimensions to m, by truncation or zero padding:
/// `resize_spectrum(z, dimensions<0, 1>, 12, 12)` changes 8 x 8 points to 12 x 12 points. If two fields are resized to
/// 3/2 of their points before they are multiplied, the old waves of their product have no aliasing errors.
/// Shapes:   those of z, except that the extent of each listed dimension becomes the m that is given for it.
/// Requires: complex elements in the order of fftfreq, and dimensions that z has, each once [compile time]; at least
///           one point along each listed dimension, before and after [shape_error].
/// Cost:     copies. A sharded dimension stays sharded: each worker receives the elements of its block of the result.
/// Adjoint:  the exact transpose of the map.
///
/// The coefficients of waves do not change: with fourier_norm::forward the fields are equal at common points, with
/// other norms the field is multiplied by a power of n / m. If the smaller number k of n and m is even, wave k / 2 of k
/// points is also wave -k / 2. If the number of points grows, half of the coefficient of wave k / 2 goes to each of the
/// waves k / 2 and -k / 2; if it shrinks, their coefficients are added. So padding and then truncating gives z again,
/// and fields of real numbers stay real.
/// Source:   scipy.signal.resample
template <detail::any_tensor X, std::size_t... D>
auto resize_spectrum(const X& z, dimensions_t<D...>, const detail::point_count_along<D>&... m) {
  constexpr bool takes = detail::complex_tensor<X> && sizeof...(D) > 0 && detail::has_dimensions<X, D...>;
  static_assert(takes,
                "partita::resize_spectrum(z, dimensions<...>, points...): requires complex elements and dimensions "
                "that z has, each once");
  if constexpr (takes) {
    return detail::resize_lines<D...>("resize_spectrum", z, 0, {m...});
  } else {
    return detail::rejected_call{};
  }
}
/// Changes the number of points of half of a spectrum, as rfft computes it of n real numbers along the last listed
/// dimension, as in `resize_half_spectrum(y, dimensions<0, 1>, n, 12, 12)`.
/// Shapes:   those of y, except that the extent of each listed dimension becomes the m that is given for it, and that
///           of the last listed dimension becomes m / 2 + 1.
/// Requires: n / 2 + 1 numbers along the last listed dimension [shape_error].
/// Cost:     that of resize_spectrum.
/// Adjoint:  the exact transpose of the map. If the number of points along the last listed dimension shrinks to an even
///           m, the map doubles wave m / 2, because irfft reads only the real part of this wave.
template <detail::any_tensor X, std::size_t... D>
auto resize_half_spectrum(const X& y, dimensions_t<D...>, std::size_t n, const detail::point_count_along<D>&... m) {
  constexpr bool takes = detail::complex_tensor<X> && sizeof...(D) > 0 && detail::has_dimensions<X, D...>;
  static_assert(takes,
                "partita::resize_half_spectrum(y, dimensions<...>, n, points...): requires complex elements and "
                "dimensions that y has, each once");
  if constexpr (takes) {
    detail::require_half_spectrum("resize_half_spectrum(y, dimensions<...>, n, points...)", detail::operand_extents(y),
                                  detail::last_of<D...>, n);
    return detail::resize_lines<D...>("resize_half_spectrum", y, n, {m...});
  } else {
    return detail::rejected_call{};
  }
}

/// Puts the frequencies of a spectrum in rising order, …, -1, 0, 1, …: fftshift(fftfreq(n)) is sorted. ifftshift is the
/// inverse of fftshift.
/// Shapes:   those of x.
/// Requires: dimensions that x has, each once [compile time].
/// Cost:     that of roll.
/// Adjoint:  fftshift and ifftshift are adjoint to each other.
/// Source:   numpy.fft.fftshift and ifftshift
template <detail::any_tensor X, std::size_t... D>
auto fftshift(const X& x, dimensions_t<D...>) {
  static_assert(detail::has_dimensions<X, D...>,
                "partita::fftshift(x, dimensions<...>): requires dimensions that x has, each once");
  if constexpr (detail::has_dimensions<X, D...>) return detail::shifted_frequencies<X, D...>("fftshift", x, false);
  else return detail::rejected_call{};
}
template <detail::any_tensor X, std::size_t... D>
auto ifftshift(const X& x, dimensions_t<D...>) {  ///< the inverse of fftshift
  static_assert(detail::has_dimensions<X, D...>,
                "partita::ifftshift(x, dimensions<...>): requires dimensions that x has, each once");
  if constexpr (detail::has_dimensions<X, D...>) return detail::shifted_frequencies<X, D...>("ifftshift", x, true);
  else return detail::rejected_call{};
}

}  // namespace partita
