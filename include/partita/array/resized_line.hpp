// The spectrum of a line of points as that of another number of points: which waves stay and where, and the factors of
// the wave that is positive and negative at once.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/fourier_rule.hpp>

namespace partita::detail {

/// A range of waves, and the index of the first of them in the result.
struct kept_waves {
  std::size_t from = 0, count = 0, to = 0;
};

/// The spectrum of n points, or half of it, becomes that of m points, by truncation or zeros.
///
/// If N = min(n, m) is even, the waves N / 2 and -N / 2 are one: it becomes half of each where waves are added, and
/// their sum where waves are removed. So both ranges of kept waves have it. Half of a spectrum has only the first
/// range, and stands for the sum by a factor of 2.
struct resized_line {
  std::size_t n = 0, m = 0;
  bool half = false;

  constexpr bool grows() const { return n < m; }
  constexpr std::size_t least() const { return grows() ? n : m; }
  /// Whether a wave of the shorter line is positive and negative at once; then it is the wave `last()`.
  constexpr bool is_shared() const { return n != m && least() > 0 && least() % 2 == 0; }
  constexpr std::size_t last() const { return least() / 2; }
  /// The extents of both spectra.
  constexpr std::size_t extent_before() const { return half ? half_spectrum(n) : n; }
  constexpr std::size_t extent() const { return half ? half_spectrum(m) : m; }

  /// Waves from 0 on, and negative ones. A line that keeps its length has one range.
  constexpr std::array<kept_waves, 2> kept() const {
    if (n == m) return {kept_waves{0, extent(), 0}, {}};
    return {kept_waves{0, last() + 1, 0}, half ? kept_waves{} : kept_waves{n - last(), last(), m - last()}};
  }
  /// Whether one wave of the result is the sum of two, and whether two are made of one.
  constexpr bool adds() const { return is_shared() && !half && !grows(); }
  constexpr bool doubles() const { return is_shared() && !half && grows(); }
  /// The factor of the wave `last()`, before the ranges are moved if the line grows, else after it.
  constexpr double factor() const { return !is_shared() ? 1 : grows() ? 0.5 : half ? 2 : 1; }
};

}  // namespace partita::detail
