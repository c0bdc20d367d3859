// What lies beyond the borders of a tensor: where a ghost cell takes its value from, and how wide ghosts are.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/per_dimension.hpp>
#include <type_traits>

namespace partita {

/// What a ghost cell beyond the border of the global tensor holds, along one dimension of extent n.
enum class boundary {
  none,       ///< there are no ghosts beyond the border
  zero,       ///< 0
  constant,   ///< the value that was given
  periodic,   ///< the cell at g mod n, however often the tensor fits into the halo
  reflect,    ///< the cell at -g or 2 (n - 1) - g; the border itself is not repeated, so the width is at most n - 1
  replicate,  ///< the cell at the border
  function    ///< what a function of the global index gives, which is below 0 or from n on
};

/// Which cells around a block are exchanged.
enum class halo_shape {
  box,  ///< all of them, corners as well
  star  ///< those beside the block along one dimension, as a stencil without corners reads them: 2 d messages, not 3^d
        ///< - 1
};

/// How many cells a block grows in front of its first index and behind its last, along each dimension: `{.before = {1,
/// 2}, .after = 1}`. `.shape = halo_shape::star` leaves the corners out, and `.of_empty_blocks = true` surrounds blocks
/// without elements, too.
template <std::size_t Rank>
struct halo_widths {
  per_dimension<Rank> before{};
  per_dimension<Rank> after{};
  halo_shape shape = halo_shape::box;
  bool of_empty_blocks = false;

  friend constexpr bool operator==(const halo_widths&, const halo_widths&) = default;
};

/// The boundary along each dimension, on both sides, and the value of boundary::constant. One for all dimensions
/// (`boundary::periodic`), one each (`{boundary::periodic, boundary::zero}`), or one each for either side, in two
/// arrays. The value is one for all sides, or one each for either side.
template <std::size_t Rank>
struct halo_boundaries {
  std::array<boundary, Rank> before{};
  std::array<boundary, Rank> after{};
  std::array<double, Rank> value_before{};
  std::array<double, Rank> value_after{};

  constexpr halo_boundaries(boundary everywhere, double constant = 0) {  // NOLINT: one means all
    before.fill(everywhere), after.fill(everywhere);
    value_before.fill(constant), value_after.fill(constant);
  }
  constexpr halo_boundaries(const std::array<boundary, Rank>& each, double constant = 0)  // NOLINT
      : halo_boundaries(each, each, constant) {}
  constexpr halo_boundaries(const std::array<boundary, Rank>& in_front, const std::array<boundary, Rank>& behind,
                            double constant = 0)
      : before(in_front), after(behind) {
    value_before.fill(constant), value_after.fill(constant);
  }
  constexpr halo_boundaries(const std::array<boundary, Rank>& in_front, const std::array<boundary, Rank>& behind,
                            const std::array<double, Rank>& constants_in_front,
                            const std::array<double, Rank>& constants_behind)
      : before(in_front), after(behind), value_before(constants_in_front), value_after(constants_behind) {}

  template <class... More>
    requires(((std::is_same_v<More, boundary> || (sizeof...(More) > 1 && std::is_arithmetic_v<More>)) && ...) &&
             sizeof...(More) > 0)
  constexpr halo_boundaries(boundary first, More... others) {
    constexpr bool one_each = sizeof...(More) + 1 == Rank && (std::is_same_v<More, boundary> && ...);
    static_assert(one_each,
                  "partita::halo_exchange(p, widths, boundary): requires one boundary for all dimensions, or one for "
                  "each; different sides take two lists, {{before...}, {after...}}, and a constant follows a list, "
                  "{{boundary::constant, boundary::zero}, 3.0}");
    if constexpr (one_each) before = after = {first, others...};
  }

  /// Whether there is such a boundary on any side.
  constexpr bool any(boundary b) const {
    for (std::size_t d = 0; d < Rank; ++d)
      if (before[d] == b || after[d] == b) return true;
    return false;
  }
  friend constexpr bool operator==(const halo_boundaries&, const halo_boundaries&) = default;
};

/// Whether a ghost cell there has a value that is no cell's of the tensor.
constexpr bool is_outside(boundary b) {
  return b == boundary::zero || b == boundary::constant || b == boundary::function;
}

}  // namespace partita
