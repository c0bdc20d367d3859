// Fourier, cosine and sine transforms along one dimension: their kinds and norms, the extents of their results, and the
// factors with which a transform of FFTW becomes the requested transform, its inverse, or its exact adjoint.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>

namespace partita {

/// Which direction of a transform is divided by the number by which both directions together multiply their input (the
/// number of points; about twice as much for cosines and sines), with NumPy's names: the inverse (backward), the
/// transform itself (forward), or each direction by the square root (ortho, which also makes cosine and sine transforms
/// orthogonal, as SciPy does).
enum class fourier_norm { backward, ortho, forward };

/// The discrete cosine and sine transforms of types I to IV, as SciPy and FFTW define them (REDFT00, 10, 01, 11 and
/// RODFT00, 10, 01, 11), and the discrete Hartley transform: y_k = sum_j x_j (cos(2 pi jk/n) + sin(2 pi jk/n)).
enum class real_transform { dct_1, dct_2, dct_3, dct_4, dst_1, dst_2, dst_3, dst_4, hartley };

/// Options of the kernel fourier_transform.
struct fourier_options {
  fourier_norm norm = fourier_norm::backward;  ///< which direction is divided, and by which number
  bool inverse = false;                        ///< compute the inverse transform; complex_to_real always is an inverse
  std::size_t real_extent = 0;  ///< the real elements along the last transformed dimension; complex_to_real requires it
  bool measure = false;         ///< whether FFTW times its algorithms before the first call (FFTW_MEASURE)
};

/// A transform of complex numbers to complex numbers.
struct complex_to_complex_t {};
inline constexpr complex_to_complex_t complex_to_complex{};  ///< selects this kind in fourier_transform
/// A transform of real numbers to half of their spectrum (n / 2 + 1 of n complex numbers along the last transformed
/// dimension).
struct real_to_complex_t {};
inline constexpr real_to_complex_t real_to_complex{};  ///< selects this kind in fourier_transform
/// A transform of half of a spectrum to real numbers: the inverse of real_to_complex.
struct complex_to_real_t {};
inline constexpr complex_to_real_t complex_to_real{};  ///< selects this kind in fourier_transform
/// A transform of real numbers to real numbers: a cosine, sine or Hartley transform along each dimension.
template <std::size_t N>
struct real_to_real_t {
  static constexpr std::size_t size = N;     ///< the number of given transforms
  std::array<real_transform, N> transforms;  ///< one for each transformed dimension, or one for all
};
/// Makes the kind of a real-to-real transform: one real_transform for each transformed dimension, in the order of these
/// dimensions, or one for all of them.
template <class... Kind>
  requires(sizeof...(Kind) > 0 && (std::is_same_v<Kind, real_transform> && ...))
constexpr real_to_real_t<sizeof...(Kind)> real_to_real(Kind... kinds) {
  return {{kinds...}};
}

namespace detail {

/// The element types of the input and of the result of a transform along one dimension.
enum class line_kind { complex_to_complex, real_to_complex, complex_to_real, real_to_real };

/// Factors of the first and of the last element of a line of elements along one dimension.
struct end_factors {
  double first = 1, last = 1;  ///< multiply the first and the last element; 1 leaves it unchanged

  constexpr bool has_factors() const { return first != 1 || last != 1; }  ///< whether a factor is not 1
  /// These factors with the first multiplied by f, and the last by l.
  constexpr end_factors multiplied_by(double f, double l) const { return {first * f, last * l}; }
};

/// One transform of FFTW along one dimension: elements at the ends of a line are multiplied before and after the
/// transform, and all elements by `factor`.
struct line_transform {
  std::size_t dimension = 0;                       ///< the dimension of the block that is transformed
  line_kind kind = line_kind::complex_to_complex;  ///< the element types of its input and result
  bool is_backward = false;                        ///< whether the sign of the exponent is +
  real_transform real = real_transform::dct_1;     ///< which transform it is, if `kind` is real_to_real
  end_factors before{}, after{};                   ///< multiply the ends of a line before and after the transform
  double factor = 1;                               ///< multiplies all elements of the result
};

/// The transform that inverts `kind`, except for a factor.
constexpr real_transform inverse_kind(real_transform kind) {
  return kind == real_transform::dct_2   ? real_transform::dct_3
         : kind == real_transform::dct_3 ? real_transform::dct_2
         : kind == real_transform::dst_2 ? real_transform::dst_3
         : kind == real_transform::dst_3 ? real_transform::dst_2
                                         : kind;
}

/// The factor by which a transform of n elements and its unnormalised inverse together multiply the elements.
constexpr double normalisation_factor(line_kind kind, real_transform real, std::size_t n) {
  const auto points = static_cast<double>(n);
  if (kind != line_kind::real_to_real || real == real_transform::hartley) return points;
  return real == real_transform::dct_1   ? 2 * (points - 1)
         : real == real_transform::dst_1 ? 2 * (points + 1)
                                         : 2 * points;
}

/// Makes the transform along a dimension of n elements. If the input or the result is half of a spectrum, n is the
/// number of real elements.
inline line_transform make_transform(std::size_t dimension, line_kind kind, real_transform real, bool inverse,
                                     fourier_norm norm, std::size_t n) {
  line_transform line{dimension, kind, inverse, inverse ? inverse_kind(real) : real};
  if (n == 0) return line;
  const double points = normalisation_factor(kind, real, n);
  if (norm == fourier_norm::ortho) line.factor = 1 / std::sqrt(points);
  else if ((norm == fourier_norm::backward) == inverse) line.factor = 1 / points;
  if (kind != line_kind::real_to_real || norm != fourier_norm::ortho) return line;
  constexpr double half = 0.70710678118654752440, twice = 1.41421356237309504880;  // the square roots of 1/2 and of 2
  switch (line.real) {
    case real_transform::dct_1:
      line.before = {twice, twice}, line.after = {half, half};
      break;
    case real_transform::dct_2:
      line.after.first = half;
      break;
    case real_transform::dct_3:
      line.before.first = twice;
      break;
    case real_transform::dst_2:
      line.after.last = half;
      break;
    case real_transform::dst_3:
      line.before.last = twice;
      break;
    default:
      break;
  }
  return line;
}

/// The transpose of a line's transform, as a linear map of real and imaginary parts; n is that of make_transform.
///
/// Each number of half of a spectrum stands for two numbers of the whole spectrum, except the first and, if n is even,
/// the last: the transpose of a transform to half of a spectrum adds each number once, where the inverse adds it twice.
/// The matrices of cosine and sine transforms are symmetric or each other's transposes, except for end factors.
constexpr line_transform adjoint_transform(const line_transform& line, std::size_t n) {
  line_transform back = line;
  back.before = line.after;
  back.after = line.before;
  back.is_backward = !line.is_backward;
  const bool even = n % 2 == 0;
  if (line.kind == line_kind::real_to_complex) {
    back.kind = line_kind::complex_to_real;
    back.factor *= 0.5;
    back.before = back.before.multiplied_by(2, even ? 2 : 1);
  } else if (line.kind == line_kind::complex_to_real) {
    back.kind = line_kind::real_to_complex;
    back.factor *= 2;
    back.after = back.after.multiplied_by(0.5, even ? 0.5 : 1);
  } else if (line.kind == line_kind::real_to_real) {
    back.real = inverse_kind(line.real);
    switch (line.real) {
      case real_transform::dct_1:
        back.before = back.before.multiplied_by(2, 2), back.after = back.after.multiplied_by(0.5, 0.5);
        break;
      case real_transform::dct_2:
        back.before = back.before.multiplied_by(2, 1);
        break;
      case real_transform::dct_3:
        back.after = back.after.multiplied_by(0.5, 1);
        break;
      case real_transform::dst_2:
        back.before = back.before.multiplied_by(1, 2);
        break;
      case real_transform::dst_3:
        back.after = back.after.multiplied_by(1, 0.5);
        break;
      default:
        break;
    }
  }
  return back;
}

/// Whether Kind is a type that selects a kind of transform in fourier_transform.
template <class Kind>
inline constexpr bool is_fourier_kind =
    std::is_same_v<Kind, complex_to_complex_t> || std::is_same_v<Kind, real_to_complex_t> ||
    std::is_same_v<Kind, complex_to_real_t>;
template <std::size_t N>
inline constexpr bool is_fourier_kind<real_to_real_t<N>> = true;
/// Whether Kind selects a transform of real numbers to real numbers.
template <class Kind>
inline constexpr bool is_real_to_real = false;
template <std::size_t N>
inline constexpr bool is_real_to_real<real_to_real_t<N>> = true;

/// The kind of transform along the k-th of `all` transformed dimensions: half of a spectrum is taken along the last.
template <class Kind>
constexpr line_kind line_kind_of_dimension(std::size_t k, std::size_t all) {
  if constexpr (is_real_to_real<Kind>) return line_kind::real_to_real;
  else if (k + 1 < all || std::is_same_v<Kind, complex_to_complex_t>) return line_kind::complex_to_complex;
  else return std::is_same_v<Kind, real_to_complex_t> ? line_kind::real_to_complex : line_kind::complex_to_real;
}

/// The number of complex numbers in half of the spectrum of n real numbers.
constexpr std::size_t half_spectrum_extent(std::size_t n) { return n / 2 + 1; }

}  // namespace detail
}  // namespace partita
