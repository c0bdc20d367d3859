// Fourier transforms of sharded tensors, arrays and traced values, with gradients. FFTW computes the local transforms.
// partita.hpp does not include this header. Programs can include this header where FFTW is installed (Debian:
// libfftw3-dev, pkg-config fftw3 fftw3f).
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <partita/array/fftfreq.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/sharded/complex.hpp>
#include <partita/sharded/detail/fourier_steps.hpp>
#include <partita/sharded/operate.hpp>
#include <partita/sharded/spectrum.hpp>
#include <type_traits>
#include <utility>

namespace partita {
namespace detail {

/// A bit for each of the dimensions D.
template <std::size_t... D>
inline constexpr std::uint32_t dimension_mask = ((D < most_dimensions ? std::uint32_t{1} << D : 0U) | ... | 0U);
/// A bit for each of the dimensions D except the last one in the list.
template <std::size_t... D>
inline constexpr std::uint32_t mask_without_last = dimension_mask<D...> & ~(std::uint32_t{1} << last_of<D...>);

/// The layout of the result of a transform along the dimensions First, then along Then, both bit masks. Template
/// arguments are names of layouts, not shardings, because g++ 12 fails on shardings.
template <auto Layout, std::uint32_t First, std::uint32_t Then>
inline constexpr sharding result_layout =
    layout_after_transform(layout_after_transform(layout_of_name<Layout>, First, First | Then), Then, First | Then);
/// The name of the result_layout of a transform.
template <auto Layout, std::uint32_t First, std::uint32_t Then>
inline constexpr layout_name<layout_text(result_layout<Layout, First, Then>).size()> transform_layout_name =
    make_layout_name<layout_text(result_layout<Layout, First, Then>).size()>(result_layout<Layout, First, Then>);

/// Applies the transform `of` to a tensor or an array x that is not a traced value. `of` transforms a run-time tensor
/// along the dimensions in the mask First, and then along those in the mask Then. For a typed tensor, the masks
/// determine the layout of the result.
template <std::uint32_t First, std::uint32_t Then, class X, class Transform>
auto transform_at_run_time(const X& x, const Transform& of) {
  auto y = of(as_run_time(x));
  if constexpr (tensor_kind<X> == 1)
    return typed_sharded<element_of_tensor<decltype(y)>,
                         transform_layout_name<std::remove_cvref_t<X>::name, First, Then>>(std::move(y));
  else if constexpr (tensor_kind<X> == 2) return y;
  else return as_array<rank_of<X>>(std::move(y));
}

/// Applies a transform that does not change the element type to tensors of any kind.
template <std::size_t... D, class X>
auto transform_call(const char* name, const X& x, const transform_kind& kind) {
  constexpr std::uint32_t all = dimension_mask<D...>;
  require_transform(name, operand_extents(x), {D...}, kind);
  const auto of = [&](const auto& z) { return transform_all(name, z, all, all, kind); };
  if constexpr (tensor_kind<X> == 3) {
    X y = x;
    ((y = call(transform_operation<D, complex_tensor<X>>{kind.inverse, kind.norm, kind.kind, kind.real}, y)), ...);
    return y;
  } else {
    return transform_at_run_time<all, 0>(x, of);
  }
}
/// Applies a cosine or sine transform to tensors of any kind.
template <std::size_t... D, class X>
auto real_transform_call(const char* name, const X& x, bool sine, std::size_t type, bool inverse, fourier_norm norm) {
  constexpr bool takes = real_tensor<X> && sizeof...(D) > 0 && has_dimensions<X, D...>;
  static_assert(takes,
                "partita::dct, idct, dst, idst(x, dimensions<...>): requires elements of float or double, and "
                "dimensions that x has, each once; real(z) and imag(z) are real");
  if constexpr (takes) {
    if (type < 1 || type > 4)
      throw error((text("partita::") << name << "(x, dimensions<...>, type): requires type 1, 2, 3 or 4, got " << type)
                      .c_str());
    constexpr std::array cosines{real_transform::dct_1, real_transform::dct_2, real_transform::dct_3,
                                 real_transform::dct_4},
        sines{real_transform::dst_1, real_transform::dst_2, real_transform::dst_3, real_transform::dst_4};
    return transform_call<D...>(name, x, {inverse, norm, line_kind::real_to_real, (sine ? sines : cosines)[type - 1]});
  } else {
    return rejected_call{};
  }
}
template <std::size_t... D, class X>
auto rfft_call(const X& x, fourier_norm norm) {  ///< halves the spectrum along the last of D
  constexpr std::uint32_t all = dimension_mask<D...>, others = mask_without_last<D...>;
  constexpr std::size_t last = last_of<D...>;
  require_transform("rfft", operand_extents(x), {D...});
  const auto of = [&](const auto& z) {
    using complex = std::complex<element_of_tensor<decltype(z)>>;
    return transform_all("rfft", transform_half_spectrum<complex>("rfft", z, last, all, norm, z.extents()[last]),
                         others, all, {false, norm});
  };
  if constexpr (tensor_kind<X> == 3) {
    traced_complex y = trace_element_change(half_spectrum_operation<false, last>{norm, x.extents()[last]}, x);
    ((y = D == last ? y : call(transform_operation<D, true>{false, norm}, y)), ...);
    return y;
  } else {
    return transform_at_run_time<dimension_mask<last>, others>(x, of);
  }
}
template <std::size_t... D, class X>
auto irfft_call(const X& x, std::size_t n, fourier_norm norm) {  ///< gives n real numbers along the last of D
  constexpr std::uint32_t all = dimension_mask<D...>, others = mask_without_last<D...>;
  constexpr std::size_t last = last_of<D...>;
  require_transform("irfft", operand_extents(x), {D...});
  require_half_spectrum("irfft(y, dimensions<...>, n)", operand_extents(x), last, n);
  const auto of = [&](const auto& z) {
    using real = real_of<element_of_tensor<decltype(z)>>;
    return transform_half_spectrum<real>("irfft", transform_all("irfft", z, others, all, {true, norm}), last, all, norm,
                                         n);
  };
  if constexpr (tensor_kind<X> == 3) {
    traced_complex y = x;
    ((y = D == last ? y : call(transform_operation<D, true>{true, norm}, y)), ...);
    return trace_element_change(half_spectrum_operation<true, last>{norm, n}, y);
  } else {
    return transform_at_run_time<others, dimension_mask<last>>(x, of);
  }
}

}  // namespace detail

/// The discrete Fourier transform along dimensions with NumPy's norms, and its inverse: `fft(z, dimensions<0, 1>)`.
/// Shapes: those of z, a plain array, a sharded tensor of any kind or a traced value.
/// Requires: complex elements of float or double, and dimensions that z has, each once [compile time; shape_error if
/// the rank is known at run time].
/// Cost: transforms by FFTW. A sharded dimension that is transformed is made whole (not sharded) by one reshard; its
/// axes then shard another dimension, or none if the rank is 1. In a traced program completion chooses the layouts.
/// Adjoint: the conjugate transpose, which is the transform in the other direction with the same factor.
template <detail::any_tensor X, std::size_t... D>
auto fft(const X& z, dimensions_t<D...>, fourier_norm norm = fourier_norm::backward) {
  constexpr bool takes = detail::complex_tensor<X> && sizeof...(D) > 0 && detail::has_dimensions<X, D...>;
  static_assert(takes,
                "partita::fft(z, dimensions<...>): requires complex elements and dimensions that z has, each once; "
                "rfft is for real numbers");
  if constexpr (takes) return detail::transform_call<D...>("fft", z, {false, norm});
  else return detail::rejected_call{};
}
template <detail::any_tensor X, std::size_t... D>
auto ifft(const X& z, dimensions_t<D...>, fourier_norm norm = fourier_norm::backward) {  ///< the inverse of fft
  constexpr bool takes = detail::complex_tensor<X> && sizeof...(D) > 0 && detail::has_dimensions<X, D...>;
  static_assert(takes,
                "partita::ifft(z, dimensions<...>): requires complex elements and dimensions that z has, each once");
  if constexpr (takes) return detail::transform_call<D...>("ifft", z, {true, norm});
  else return detail::rejected_call{};
}
/// The Fourier transform of real numbers. The result holds only half of the spectrum along the last listed dimension:
/// `rfft(x, dimensions<0, 1>)`.
/// Shapes: those of x, except that the extent n of the last listed dimension becomes n / 2 + 1.
/// Requires: elements of float or double [compile time].
/// Cost: that of fft. The last listed dimension is transformed first, so that the other transforms work on half of the
/// spectrum.
/// Adjoint: the transpose of the transform as a map between real vector spaces.
template <detail::any_tensor X, std::size_t... D>
auto rfft(const X& x, dimensions_t<D...>, fourier_norm norm = fourier_norm::backward) {
  constexpr bool takes = detail::real_tensor<X> && sizeof...(D) > 0 && detail::has_dimensions<X, D...>;
  static_assert(takes,
                "partita::rfft(x, dimensions<...>): requires real elements and dimensions that x has, each once");
  if constexpr (takes) return detail::rfft_call<D...>(x, norm);
  else return detail::rejected_call{};
}
/// The inverse of rfft, which computes n real numbers along the last listed dimension: `irfft(y, dimensions<0, 1>, 8)`.
/// Shapes: those of y, with n along the last listed dimension.
/// Requires: complex elements [compile time]; n / 2 + 1 numbers along the last listed dimension [shape_error].
/// Cost: that of ifft. The last listed dimension is transformed last, so that the other transforms work on half of the
/// spectrum.
/// Adjoint: the transpose of the transform as a map between real vector spaces.
template <detail::any_tensor X, std::size_t... D>
auto irfft(const X& y, dimensions_t<D...>, std::size_t n, fourier_norm norm = fourier_norm::backward) {
  constexpr bool takes = detail::complex_tensor<X> && sizeof...(D) > 0 && detail::has_dimensions<X, D...>;
  static_assert(
      takes, "partita::irfft(y, dimensions<...>, n): requires complex elements and dimensions that y has, each once");
  if constexpr (takes) return detail::irfft_call<D...>(y, n, norm);
  else return detail::rejected_call{};
}

/// Cosine and sine transforms of types 1 to 4 along dimensions, and their inverses: `dct(x, dimensions<0, 1>)`.
/// Shapes: those of x.
/// Requires: elements of float or double, and dimensions that x has, each once [compile time, or shape_error]; a type
/// from 1 to 4 [error]; at least two elements for a cosine transform of type 1 [shape_error].
/// Cost: that of fft.
/// Adjoint: the transpose of the transform.
/// Source: scipy.fft.dct, idct, dst, idst
template <detail::any_tensor X, std::size_t... D>
auto dct(const X& x, dimensions_t<D...>, std::size_t type = 2, fourier_norm norm = fourier_norm::backward) {
  return detail::real_transform_call<D...>("dct", x, false, type, false, norm);
}
template <detail::any_tensor X, std::size_t... D>
auto idct(const X& x, dimensions_t<D...>, std::size_t type = 2, fourier_norm norm = fourier_norm::backward) {
  return detail::real_transform_call<D...>("idct", x, false, type, true, norm);
}
template <detail::any_tensor X, std::size_t... D>
auto dst(const X& x, dimensions_t<D...>, std::size_t type = 2, fourier_norm norm = fourier_norm::backward) {
  return detail::real_transform_call<D...>("dst", x, true, type, false, norm);
}
template <detail::any_tensor X, std::size_t... D>
auto idst(const X& x, dimensions_t<D...>, std::size_t type = 2, fourier_norm norm = fourier_norm::backward) {
  return detail::real_transform_call<D...>("idst", x, true, type, true, norm);
}

}  // namespace partita
