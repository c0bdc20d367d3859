// The geometry of a kernel that slides along one dimension: the number of its positions, and the cells that it covers.
#pragma once

#include <cstddef>

namespace partita {

/// A kernel of `kernel` taps, `dilation` apart, that moves by `stride` cells, from `padding` cells before the tensor.
struct sliding {
  std::size_t kernel = 1, stride = 1, padding = 0, dilation = 1;  ///< in cells; `kernel`: in taps
  bool ceil_mode = false;  ///< adds a position for the remaining cells, unless it starts in the padding at the end

  /// The number of cells from the first tap to the last, including both.
  constexpr std::size_t reach() const { return dilation * (kernel - 1) + 1; }
  /// The number of positions of the kernel on n cells, 0 if the kernel does not fit: floor((n + 2 padding - reach) /
  /// stride) + 1; with ceil_mode as PyTorch computes it.
  constexpr std::size_t output_extent(std::size_t n) const {
    if (n + 2 * padding < reach()) return 0;
    const std::size_t steps = n + 2 * padding - reach(), whole = steps / stride;
    const bool one_more = ceil_mode && steps % stride != 0 && (whole + 1) * stride < n + padding;
    return whole + 1 + (one_more ? 1 : 0);
  }
  /// The cell under the first tap at position `place`; negative in the padding before the tensor.
  constexpr std::ptrdiff_t first_cell(std::size_t place) const {
    return static_cast<std::ptrdiff_t>(place * stride) - static_cast<std::ptrdiff_t>(padding);
  }

  friend constexpr bool operator==(const sliding&, const sliding&) = default;
};

}  // namespace partita
