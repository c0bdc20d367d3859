// A kernel that slides along one dimension: how many places it has, and which cells it meets there.
#pragma once

#include <cstddef>

namespace partita {

/// `kernel` taps, `dilation` apart, at every `stride`-th cell, from `padding` cells in front of the first on.
struct sliding {
  std::size_t kernel = 1;
  std::size_t stride = 1;
  std::size_t padding = 0;
  std::size_t dilation = 1;
  bool ceil_mode = false;  ///< one more place for what is left over, unless it begins in the padding behind

  /// From the first tap to the last, holes included.
  constexpr std::size_t reach() const { return dilation * (kernel - 1) + 1; }
  /// How many places there are on n cells, none if the kernel does not fit: floor((n + 2 padding - reach) / stride) +
  /// 1, with ceil_mode as PyTorch counts.
  constexpr std::size_t places(std::size_t n) const {
    if (n + 2 * padding < reach()) return 0;
    const std::size_t steps = n + 2 * padding - reach(), whole = steps / stride;
    const bool one_more = ceil_mode && steps % stride != 0 && (whole + 1) * stride < n + padding;
    return whole + 1 + (one_more ? 1 : 0);
  }
  /// The cell under the first tap at a place; negative in the padding.
  constexpr std::ptrdiff_t first_cell(std::size_t place) const {
    return static_cast<std::ptrdiff_t>(place * stride) - static_cast<std::ptrdiff_t>(padding);
  }

  friend constexpr bool operator==(const sliding&, const sliding&) = default;
};

}  // namespace partita
