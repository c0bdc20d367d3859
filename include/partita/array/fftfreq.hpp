// The frequencies of the numbers of a spectrum, in the order of NumPy's fftfreq and rfftfreq.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/xtensor.hpp>
#include <partita/core/error.hpp>

namespace partita {
namespace detail {

/// Computes the frequencies of the spectrum of n points, or of half of the spectrum.
inline xt::xtensor<double, 1> sampling_frequencies(const char* call, std::size_t n, bool is_half_spectrum,
                                                   double sample_spacing) {
  if (n == 0 || !(sample_spacing > 0))
    throw shape_error(text("partita::") << call << "(n, spacing): requires at least one point and a positive spacing, "
                                        << "got n = " << n << "; give the number of points that are transformed");
  xt::xtensor<double, 1> all(std::array<std::size_t, 1>{is_half_spectrum ? n / 2 + 1 : n});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto wave = static_cast<double>(i);
    all(i) = (is_half_spectrum || 2 * i < n ? wave : wave - static_cast<double>(n)) /
             (static_cast<double>(n) * sample_spacing);
  }
  return all;
}

}  // namespace detail

/// The frequencies of the n numbers of a spectrum, in periods per unit of length: 0, 1, 2, … and then …, -2, -1, each
/// divided by n * sample_spacing, where sample_spacing is the distance between neighbouring points. `rfftfreq` returns
/// the frequencies 0, 1, …, n / 2, each divided by n * sample_spacing.
/// Shapes:   n numbers for fftfreq, n / 2 + 1 numbers for rfftfreq.
/// Requires: at least one point, and a positive spacing [shape_error].
/// Cost:     no communication: `shard(everyone, layout, fftfreq(n))` splits the frequencies as the spectrum is split.
/// Adjoint:  none.
/// Source:   numpy.fft.fftfreq and rfftfreq
inline xt::xtensor<double, 1> fftfreq(std::size_t n, double sample_spacing = 1) {
  return detail::sampling_frequencies("fftfreq", n, false, sample_spacing);
}
/// The frequencies of half of the spectrum of n points: 0, 1, …, n / 2, each divided by n * sample_spacing.
inline xt::xtensor<double, 1> rfftfreq(std::size_t n, double sample_spacing = 1) {
  return detail::sampling_frequencies("rfftfreq", n, true, sample_spacing);
}

}  // namespace partita
