// Boundary conditions of a tensor, which give the values of ghost cells beyond its borders, and halo widths, which give
// the number of ghost cells.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/per_dimension.hpp>
#include <type_traits>

namespace partita {

/// The value of a ghost cell beyond the border of the global tensor, along one dimension of extent n.
enum class boundary {
  none,       ///< the block has no ghost cells beyond the border
  zero,       ///< ghost cells are 0
  constant,   ///< ghost cells have a constant value, which the caller gives
  periodic,   ///< a ghost cell at g is a copy of the cell at g mod n, even if the halo is wider than the tensor
  reflect,    ///< a ghost cell at g is a copy of the cell at -g or 2 (n - 1) - g; halo width at most n - 1
  replicate,  ///< ghost cells are copies of the border cell
  function    ///< a ghost cell has the value of a function of the global index, which is negative or at least n
};

/// The neighbouring cells of a block that a halo exchange copies.
enum class halo_shape {
  box,  ///< all neighbouring cells, including corners
  star  ///< no corners, for stencils along the axes: in d dimensions, 2 d messages instead of 3^d - 1
};

/// The number of ghost cells before the first and after the last index of a block, along each dimension, as in
/// `{.before = {1, 2}, .after = 1}`. `.shape = halo_shape::star` leaves out the corners, and `.of_empty_blocks = true`
/// adds ghost cells to blocks without elements, too.
template <std::size_t Rank>
struct halo_widths {
  per_dimension<Rank> before{};        ///< ghost cells before the first index
  per_dimension<Rank> after{};         ///< ghost cells after the last index
  halo_shape shape = halo_shape::box;  ///< whether corners are exchanged
  bool of_empty_blocks = false;        ///< whether blocks without elements get ghost cells, too

  friend constexpr bool operator==(const halo_widths&, const halo_widths&) = default;
};

/// The boundary condition of each side of a tensor, and the value for boundary::constant. Give one condition for all
/// dimensions (`boundary::periodic`), one for each dimension (`{boundary::periodic, boundary::zero}`), or two arrays:
/// the conditions of the sides before the first index, and of the sides after the last index. Give one constant for all
/// sides, or one constant for each side.
template <std::size_t Rank>
struct halo_boundaries {
  std::array<boundary, Rank> before{};      ///< the conditions of the sides before the first index
  std::array<boundary, Rank> after{};       ///< the conditions of the sides after the last index
  std::array<double, Rank> value_before{};  ///< of ghost cells before the first index, for boundary::constant
  std::array<double, Rank> value_after{};   ///< of ghost cells after the last index, for boundary::constant

  constexpr halo_boundaries(boundary kind, double constant = 0) {  // NOLINT: one condition for all dimensions
    before.fill(kind), after.fill(kind);
    value_before.fill(constant), value_after.fill(constant);
  }
  constexpr halo_boundaries(const std::array<boundary, Rank>& each, double constant = 0)  // NOLINT
      : halo_boundaries(each, each, constant) {}
  constexpr halo_boundaries(const std::array<boundary, Rank>& lower, const std::array<boundary, Rank>& upper,
                            double constant = 0)
      : before(lower), after(upper) {
    value_before.fill(constant), value_after.fill(constant);
  }
  constexpr halo_boundaries(const std::array<boundary, Rank>& lower, const std::array<boundary, Rank>& upper,
                            const std::array<double, Rank>& lower_constants,
                            const std::array<double, Rank>& upper_constants)
      : before(lower), after(upper), value_before(lower_constants), value_after(upper_constants) {}

  template <class... More>
    requires(((std::is_same_v<More, boundary> || (sizeof...(More) > 1 && std::is_arithmetic_v<More>)) && ...) &&
             sizeof...(More) > 0)
  constexpr halo_boundaries(boundary first, More... others) {  ///< one condition for each dimension
    constexpr bool one_each = sizeof...(More) + 1 == Rank && (std::is_same_v<More, boundary> && ...);
    static_assert(one_each,
                  "partita::halo_exchange(p, widths, boundary): requires one boundary for all dimensions, or one for "
                  "each; different sides take two lists, {{before...}, {after...}}, and a constant follows a list, "
                  "{{boundary::constant, boundary::zero}, 3.0}");
    if constexpr (one_each) before = after = {first, others...};
  }

  /// Whether any side of any dimension has the boundary condition b.
  constexpr bool any(boundary b) const {
    for (std::size_t d = 0; d < Rank; ++d)
      if (before[d] == b || after[d] == b) return true;
    return false;
  }
  friend constexpr bool operator==(const halo_boundaries&, const halo_boundaries&) = default;
};

/// Whether ghost cells of the boundary condition b have a value that is not copied from a cell of the tensor.
constexpr bool is_outside(boundary b) {
  return b == boundary::zero || b == boundary::constant || b == boundary::function;
}

}  // namespace partita
