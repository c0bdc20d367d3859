// The spectrum of a line of n points as the spectrum of m points: which waves are kept, their positions, and the factor
// of the wave that is both positive and negative.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/fourier_rule.hpp>

namespace partita::detail {

/// A range of waves: the index of its first wave in the source, the number of waves, and the first index in the result.
struct kept_waves {
  std::size_t from = 0, count = 0, to = 0;
};

/// The change of the spectrum of n points, or of half of it, to the spectrum of m points, by truncation or zeros.
///
/// If N = min(n, m) is even, the waves N / 2 and -N / 2 of N points are one wave: each of both gets half of it where
/// waves are added, and it becomes their sum where waves are removed. Therefore both ranges of kept waves include the
/// wave N / 2. Half of a spectrum has only the first range, and a factor of 2 replaces the sum.
struct resized_line {
  std::size_t n = 0, m = 0;
  bool half = false;

  constexpr bool grows() const { return n < m; }
  constexpr std::size_t shorter_length() const { return grows() ? n : m; }
  /// Whether one wave of the shorter line is both positive and negative; that wave is the wave `last()`.
  constexpr bool is_shared() const { return n != m && shorter_length() > 0 && shorter_length() % 2 == 0; }
  constexpr std::size_t last() const { return shorter_length() / 2; }
  /// The extent of the spectrum before the change; `extent()` is the extent after the change.
  constexpr std::size_t extent_before() const { return half ? half_spectrum(n) : n; }
  constexpr std::size_t extent() const { return half ? half_spectrum(m) : m; }

  /// The range of waves from 0 on, and the range of negative waves. A line that keeps its length has one range.
  constexpr std::array<kept_waves, 2> kept_ranges() const {
    if (n == m) return {kept_waves{0, extent(), 0}, {}};
    return {kept_waves{0, last() + 1, 0}, half ? kept_waves{} : kept_waves{n - last(), last(), m - last()}};
  }
  /// Whether one wave of the result is the sum of two waves; `doubles()`: whether two waves are made of one.
  constexpr bool adds() const { return is_shared() && !half && !grows(); }
  constexpr bool doubles() const { return is_shared() && !half && grows(); }
  /// The factor of the wave `last()`, applied before the waves are copied if the line grows, otherwise afterwards.
  constexpr double factor() const { return !is_shared() ? 1 : grows() ? 0.5 : half ? 2 : 1; }
};

}  // namespace partita::detail
