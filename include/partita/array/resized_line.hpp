// Changes the spectrum of a line of n points to the spectrum of m points: which waves are kept, their positions, and
// the factor of the Nyquist wave, which is both a positive and a negative wave.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/fourier_rule.hpp>

namespace partita::detail {

/// A range of waves: the index of its first wave in the source, the number of waves, and the first index in the result.
struct wave_range {
  std::size_t source_start = 0, count = 0, destination_start = 0;  ///< indices in both spectra; count: of waves
};

/// The change of the spectrum of n points, or of half of it, to the spectrum of m points, by truncation or zeros.
///
/// If N = min(n, m) is even, N points have only one wave for both N / 2 and -N / 2. In the spectrum of a longer line,
/// each of the waves N / 2 and -N / 2 is half of that wave; in the spectrum of a shorter line, that wave is the sum of
/// both. Therefore both ranges of kept waves include the wave N / 2. In half of a spectrum only the first range exists,
/// and instead of a sum the wave N / 2 is doubled.
struct resized_line {
  std::size_t n = 0, m = 0;       ///< the number of points before and after the change
  bool is_half_spectrum = false;  ///< whether only half of the spectrum is stored, as that of real numbers

  constexpr bool is_lengthened() const { return n < m; }  ///< whether zeros are added, not waves removed
  constexpr std::size_t shorter_length() const { return is_lengthened() ? n : m; }  ///< the smaller number of points
  /// Whether the wave `shared_wave()` of the shorter line is both positive and negative; false if the length is kept.
  constexpr bool has_shared_nyquist_wave() const { return n != m && shorter_length() > 0 && shorter_length() % 2 == 0; }
  constexpr std::size_t shared_wave() const { return shorter_length() / 2; }  ///< the highest wave of the shorter line
  /// The number of waves of the spectrum before its length is changed.
  constexpr std::size_t source_extent() const { return is_half_spectrum ? half_spectrum_extent(n) : n; }
  /// The number of waves of the spectrum after its length is changed.
  constexpr std::size_t extent() const { return is_half_spectrum ? half_spectrum_extent(m) : m; }

  /// The kept waves from 0 on, and the kept negative waves: none in half of a spectrum, or if the length is kept,
  /// where the first range has all waves.
  constexpr std::array<wave_range, 2> wave_ranges() const {
    if (n == m) return {wave_range{0, extent(), 0}, {}};
    return {wave_range{0, shared_wave() + 1, 0},
            is_half_spectrum ? wave_range{} : wave_range{n - shared_wave(), shared_wave(), m - shared_wave()}};
  }
  /// Whether one wave of the result is the sum of two waves of the source.
  constexpr bool adds_two_waves() const { return has_shared_nyquist_wave() && !is_half_spectrum && !is_lengthened(); }
  /// Whether one wave of the source becomes two waves of the result.
  constexpr bool splits_one_wave() const { return has_shared_nyquist_wave() && !is_half_spectrum && is_lengthened(); }
  /// The factor of the wave `shared_wave()`. If the line grows, the factor multiplies the wave of the source before it
  /// is copied (or all its copies); otherwise the wave of the result.
  constexpr double factor() const {
    return !has_shared_nyquist_wave() ? 1 : is_lengthened() ? 0.5 : is_half_spectrum ? 2 : 1;
  }
};

}  // namespace partita::detail
