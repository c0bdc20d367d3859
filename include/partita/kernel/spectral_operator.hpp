// Operators on real fields in a periodic box that multiply each wave by a factor: derivatives, the solutions of
// Poisson's and Helmholtz's equations, and the truncation of the spectrum. partita.hpp does not include this header:
// include it where FFTW is installed.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numbers>
#include <optional>
#include <partita/core/hash.hpp>
#include <partita/core/version.hpp>
#include <partita/kernel/block_from.hpp>
#include <partita/kernel/fourier_transform.hpp>
#include <string>
#include <type_traits>
#include <utility>

namespace partita {

/// The wave number at index i of n, in the order of NumPy's fftfreq: first 0, 1, 2, ... and then ..., -2, -1. For an
/// even n, index n / 2 has the wave number -n / 2.
constexpr std::ptrdiff_t wave_number(std::size_t i, std::size_t n) {
  return static_cast<std::ptrdiff_t>(i) - (2 * i < n ? 0 : static_cast<std::ptrdiff_t>(n));
}

/// A box with periodic boundaries: its numbers of points along each dimension, and its lengths, 2 pi by default.
template <std::size_t Rank>
struct periodic_box {
  std::array<std::size_t, Rank> points{};  ///< the number of points along each dimension
  std::array<double, Rank> lengths = [] {  ///< the periods, in any unit of length
    std::array<double, Rank> all{};
    all.fill(2 * std::numbers::pi);
    return all;
  }();

  /// The wave number at index i along dimension d, in radians per unit of length.
  double angular_wave_number(std::size_t d, std::size_t i) const {
    return 2 * std::numbers::pi / lengths[d] * static_cast<double>(wave_number(i, points[d]));
  }
  PARTITA_FORMER_NAME("use angular_wave_number") double wave(std::size_t d, std::size_t i) const {  ///< the former name
    return angular_wave_number(d, i);
  }
  /// The square of the length of the wave vector at an index: minus the Laplacian multiplies the wave by this number.
  double square(const index<Rank>& i) const {
    double sum = 0;
    for (std::size_t d = 0; d < Rank; ++d) sum += angular_wave_number(d, i[d]) * angular_wave_number(d, i[d]);
    return sum;
  }
  /// Whether the wave at index i along dimension d has two points per period, and therefore no direction.
  bool is_nyquist(std::size_t d, std::size_t i) const { return 2 * i == points[d]; }
  /// Whether the 2/3 rule (Orszag, Journal of the Atmospheric Sciences 28, 1971) keeps the wave at an index: products
  /// of two fields of kept waves have no aliases among the kept waves.
  bool two_thirds_rule_keeps(const index<Rank>& i) const {
    bool all = true;
    for (std::size_t d = 0; d < Rank; ++d)
      all = all && 3 * std::abs(wave_number(i[d], points[d])) < static_cast<std::ptrdiff_t>(points[d]);
    return all;
  }
  PARTITA_FORMER_NAME("use two_thirds_rule_keeps") bool is_low(const index<Rank>& i) const {  ///< the former name
    return two_thirds_rule_keeps(i);
  }
  /// The extents of half of the spectrum of a real field: `points`, but n / 2 + 1 along the last dimension.
  std::array<std::size_t, Rank> half_spectrum() const {
    std::array<std::size_t, Rank> half = points;
    half[Rank - 1] = half[Rank - 1] / 2 + 1;
    return half;
  }
};

namespace detail {

/// Returns p with run-time extents; p must have the rank of the box whose fields the operator takes [compile time].
template <std::size_t Rank, class P>
dynamic_partition<Rank> partition_of_box(const partition<P>& p) {
  static_assert(P::rank() == Rank,
                "partita: requires a partition of the rank of the box; reshape() the partition with extents of 1");
  if constexpr (P::rank() == Rank) return p.as_dynamic();
  else throw rejected_call();
}
/// The error message if x is not this worker's balanced block of a field of these points; empty if it is.
template <std::size_t Rank, class X>
text describe_unbalanced_field(const char* name, const dynamic_partition<Rank>& p,
                               const std::array<std::size_t, Rank>& points, const X& x) {
  text problem;
  const auto cuts = decomposition<Rank>::balanced(points, p.grid().shape());
  const auto shape = shape_array<Rank>(x.shape());
  if (p.active() && shape != cuts.shape(p.index()))
    problem << "partita::" << name << "(p, box)(x): requires the balanced block of a field of " << points
            << ", which is " << cuts.shape(p.index()) << " on worker " << p.world().id() << ", got " << shape
            << "; repartition the field";
  return problem;
}
/// A number that identifies an operator that multiplies the waves of a box by factors: a hash of the box, and of the
/// factors of wave 0 and of waves 1 and 2 along each dimension and along all dimensions. Factors are hashed as floats,
/// because functions of the C library may differ in the last bits between machines.
template <std::size_t Rank, class Box, class Factor>
std::uint64_t factors_fingerprint(const Box& box, const std::array<std::size_t, Rank>& waves, const Factor& factor) {
  hasher all(130);
  all.mix(box.points).mix(box.lengths);
  for (std::size_t k = 0; k < 2 * Rank + 3; ++k) {
    index<Rank> i{};
    for (std::size_t d = 0; d < Rank; ++d)
      if (const std::size_t at = 1 + k % 2; (k / 2 == d || k / 2 == Rank) && at < waves[d]) i[d] = at;
    const auto value = std::complex<double>(factor(i));
    all.mix(static_cast<float>(value.real())).mix(static_cast<float>(value.imag()));
  }
  return all.value();
}
/// The factors by which an operator solves Poisson's equation, one for each wave of a box: 0 for the mean.
template <std::size_t Rank, class Box>
auto poisson_factors(const Box& box) {
  return [&box](const index<Rank>& i) {
    const double square = box.square(i);
    return square > 0 ? 1 / square : 0.0;
  };
}
/// The factors by which an operator solves Helmholtz's equation. Requires: a positive shift [shape_error].
template <std::size_t Rank, class Box>
auto helmholtz_factors(const Box& box, double shift) {
  if (!(shift > 0))
    throw shape_error(text("partita::helmholtz_solver(p, box, shift): requires a positive shift, got ")
                      << std::to_string(shift).c_str() << "; poisson_solver solves the equation without it");
  return [&box, shift](const index<Rank>& i) { return 1 / (shift + box.square(i)); };
}
/// Whether X is a field of real numbers of rank Rank, which transforms of the kind Kind take.
template <class Kind, std::size_t Rank, class X>
consteval bool is_real_field() {
  if constexpr (has_rank<X, Rank>()) return !std::is_void_v<fourier_result_type<Kind, element_of<X>, true>>;
  else return false;
}

}  // namespace detail

/// Multiplies each wave of a real field by a factor; made by spectral_derivative, poisson_solver, …. fourier_transform
/// chooses the layout of the spectrum.
/// Shapes:   x is this worker's block on p, in the balanced decomposition of box.points; so is the result.
/// Requires: balanced blocks [shape_error, on all workers]; elements float or double [compile time].
/// Cost:     two Fourier transforms, of real numbers to half of their spectrum and back.
/// Adjoint:  the operator with the conjugate factors.
template <std::size_t Rank>
class spectral_operator {
 public:
  /// `factor(i)` is the factor of the wave at index i of half of the spectrum. The wave with the opposite wave vector
  /// gets the conjugate factor, so that the result is real.
  template <class P, class Factor>
  spectral_operator(const partition<P>& p, const periodic_box<Rank>& box, Factor factor)
      : p_(detail::partition_of_box<Rank>(p)),
        box_(box),
        transform_(p_, std::nullopt, real_to_complex, {.real_extent = box.points[Rank - 1]}),
        inverse_transform_(transform_.inverse(dynamic_extents<Rank>(box.points))),
        factors_(
            block_from<std::complex<double>>(transform_.result_partition(dynamic_extents<Rank>(box.points)),
                                             decomposition<Rank>::balanced(box.half_spectrum(), spectrum_grid_shape()),
                                             [&](const index<Rank>& i) { return std::complex<double>(factor(i)); })),
        fingerprint_(detail::factors_fingerprint<Rank>(box, box.half_spectrum(), factor)) {}

  template <class X>
  auto operator()(const X& x) const {
    if constexpr (accepts_block<X>()) return multiply_by_factors<false>(x);
    else return detail::rejected_call{};
  }
  template <class Y>
  auto adjoint(const Y& dy) const {  ///< multiplies each wave by the conjugate factor
    if constexpr (accepts_block<Y>()) return multiply_by_factors<true>(dy);
    else return detail::rejected_call{};
  }

 private:
  friend struct detail::kernel_access;
  void throw_together_(const text& error_message) const {  ///< throws a worker's error on all; at checks::local its own
    detail::kernel_access::throw_together(transform_, error_message);
  }

  template <class Each>
  struct all_dimension_transforms;
  template <std::size_t... D>
  struct all_dimension_transforms<std::index_sequence<D...>> {          ///< types of the transforms along D
    using transform = fourier_operator<real_to_complex_t, Rank, D...>;  ///< a field to half of its spectrum
    using inverse = fourier_operator<complex_to_real_t, Rank, D...>;    ///< half of a spectrum to a field
  };
  using dimension_transforms = all_dimension_transforms<std::make_index_sequence<Rank>>;  ///< along all dimensions

  std::array<std::size_t, Rank> spectrum_grid_shape() const {  ///< the workers along each dimension of the spectrum
    return transform_.result_partition(dynamic_extents<Rank>(box_.points)).grid().shape();
  }
  template <class X>
  static consteval bool accepts_block() {  ///< whether X is a field of float or double of the box's rank
    constexpr bool real = detail::is_real_field<real_to_complex_t, Rank, X>();
    static_assert(real,
                  "partita::spectral_operator(p, box)(x): requires an xtensor expression of the rank of the box, of "
                  "float or double; take the real and the imaginary parts of complex numbers");
    return real;
  }
  template <bool Conjugate, class X>
  auto multiply_by_factors(const X& x) const {  ///< transforms x, multiplies its waves by factors, and transforms back
    p_.world().state()->log_local_operation(detail::mixed(fingerprint_, Conjugate ? 1 : 0),
                                            "partita::spectral_operator", box_.points);
    const text problem = detail::describe_unbalanced_field("spectral_operator", p_, box_.points, x);
    auto waves = detail::kernel_access::call(transform_, x, problem);
    using wave = typename decltype(waves)::value_type;  ///< a complex number
    for (std::size_t k = 0; k < waves.size(); ++k)
      waves.data()[k] *= wave(Conjugate ? std::conj(factors_.data()[k]) : factors_.data()[k]);
    return inverse_transform_(waves);
  }

  dynamic_partition<Rank> p_;                                 ///< the partition of fields and results
  periodic_box<Rank> box_;                                    ///< the points and the lengths of the fields
  typename dimension_transforms::transform transform_;        ///< from p_ to a layout that it chooses
  typename dimension_transforms::inverse inverse_transform_;  ///< from that layout to p_
  xt::xtensor<std::complex<double>, Rank> factors_;           ///< the factors of this worker's waves
  std::uint64_t fingerprint_;  ///< a hash of the box and of some factors, equal on all workers
};

/// The derivative of a given order along a dimension: exact for the waves that the points can distinguish. For odd
/// orders the wave with two points per period has no derivative at the points, and its factor is 0.
/// Requires: a dimension of the box [partition_error].
template <class P, std::size_t Rank>
spectral_operator<Rank> spectral_derivative(const partition<P>& p, const periodic_box<Rank>& box, std::size_t dimension,
                                            unsigned order = 1) {
  if (dimension >= Rank)
    throw partition_error(text("partita::spectral_derivative(p, box, dimension): requires a dimension below the rank ")
                          << Rank << " of the box, got " << dimension << "; count dimensions from 0");
  return {p, box, [&](const index<Rank>& i) {
            if (order % 2 == 1 && box.is_nyquist(dimension, i[dimension])) return std::complex<double>(0);
            std::complex<double> all = 1;
            for (unsigned k = 0; k < order; ++k)
              all *= std::complex<double>(0, box.angular_wave_number(dimension, i[dimension]));
            return all;
          }};
}

/// The solution u of Poisson's equation -Laplacian(u) = f with mean 0; the mean of f has no influence.
template <class P, std::size_t Rank>
spectral_operator<Rank> poisson_solver(const partition<P>& p, const periodic_box<Rank>& box) {
  return {p, box, detail::poisson_factors<Rank>(box)};
}
/// The solution u of Helmholtz's equation shift u - Laplacian(u) = f.
/// Requires: a positive shift [shape_error].
template <class P, std::size_t Rank>
spectral_operator<Rank> helmholtz_solver(const partition<P>& p, const periodic_box<Rank>& box, double shift) {
  return {p, box, detail::helmholtz_factors<Rank>(box, shift)};
}
/// Keeps the waves that the 2/3 rule keeps, and removes all other waves.
template <class P, std::size_t Rank>
spectral_operator<Rank> spectral_truncation(const partition<P>& p, const periodic_box<Rank>& box) {
  return {p, box, [&](const index<Rank>& i) { return box.two_thirds_rule_keeps(i) ? 1.0 : 0.0; }};
}

}  // namespace partita
