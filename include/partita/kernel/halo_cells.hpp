// The cells of a worker's block with ghosts: its own cells, the cells that need no ghosts, and the ghosts.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/box.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/plan/halo_plan.hpp>
#include <type_traits>

namespace partita {

/// The position of a block and of its ghost cells in the global tensor.
template <std::size_t Rank>
struct halo_cells {
  box<Rank> own{};       ///< the block's own cells, in global indices
  box<Rank> interior{};  ///< the own cells whose neighbours within the halo widths are all own cells
  /// The global position of the first cell, which may be a ghost; negative beyond a border.
  std::array<std::ptrdiff_t, Rank> window_start{};

  halo_cells() = default;  ///< no cells
  halo_cells(const box<Rank>& block, const halo_widths<Rank>& widths, const std::array<std::ptrdiff_t, Rank>& first)
      : own(block), interior(block), window_start(first) {
    for (std::size_t d = 0; d < Rank; ++d) {
      const std::size_t size = block.stop[d] - block.start[d];
      interior.start[d] = widths.before[d] < size ? block.start[d] + widths.before[d] : block.stop[d];
      interior.stop[d] =
          widths.before[d] + widths.after[d] < size ? block.stop[d] - widths.after[d] : interior.start[d];
    }
    if (interior.empty()) interior.stop = interior.start;
  }
  /// The index, in the block with ghosts, of the cell at a global position.
  template <class... Position>
  index<Rank> at(Position... i) const {
    static_assert(sizeof...(Position) == Rank,
                  "partita::halo_cells::at(i...): requires one coordinate for each dimension of the tensor");
    const std::array<std::ptrdiff_t, Rank> position{static_cast<std::ptrdiff_t>(i)...};
    index<Rank> local{};
    for (std::size_t d = 0; d < Rank; ++d) local[d] = static_cast<std::size_t>(position[d] - window_start[d]);
    return local;
  }
};

namespace detail {

/// Calls f(i) for the index i of each cell of a box, in C order.
template <std::size_t Rank, class F>
void for_each_cell(const box<Rank>& b, F& f) {
  constexpr bool takes_index = std::is_invocable_v<F&, const index<Rank>&>;
  static_assert(takes_index,
                "partita::for_interior(cells, f), for_border: requires an f that is called with the global index of a "
                "cell; write [&](const auto& i) { ... u(i[0], i[1]) ... }");
  if (!takes_index || b.empty()) return;
  index<Rank> i = b.start;
  for (;;) {
    if constexpr (takes_index) f(static_cast<const index<Rank>&>(i));
    std::size_t d = Rank;
    while (d > 0 && ++i[d - 1] == b.stop[d - 1]) --d, i[d] = b.start[d];
    if (d == 0) return;
  }
}

}  // namespace detail

/// Calls f(i) for the global indices of the interior cells, which need no ghosts, in C order. A program can compute
/// these cells between `start` and `finish`.
template <std::size_t Rank, class F>
void for_interior(const halo_cells<Rank>& cells, F f) {
  detail::for_each_cell(cells.interior, f);
}
/// Calls f(slab) for disjoint boxes that cover this worker's own cells outside the interior, so that f can loop over
/// whole rows.
template <std::size_t Rank, class F>
void for_border_boxes(const halo_cells<Rank>& cells, F f) {
  box<Rank> slab = cells.own;
  for (std::size_t d = 0; d < Rank; ++d) {
    slab.stop[d] = cells.interior.start[d];
    if (!slab.empty()) f(static_cast<const box<Rank>&>(slab));
    slab.start[d] = cells.interior.stop[d], slab.stop[d] = cells.own.stop[d];
    if (!slab.empty()) f(static_cast<const box<Rank>&>(slab));
    slab.start[d] = cells.interior.start[d], slab.stop[d] = cells.interior.stop[d];
  }
}
/// Calls f(i) for the global indices of this worker's own cells outside the interior, slab by slab.
template <std::size_t Rank, class F>
void for_border(const halo_cells<Rank>& cells, F f) {
  for_border_boxes(cells, [&](const box<Rank>& slab) { detail::for_each_cell(slab, f); });
}

PARTITA_FALLBACK_OVERLOAD(for_interior) {
  static_assert(detail::dependent_false<Given...>,
                "partita::for_interior(cells, f): requires the cells of a halo exchange first, h.cells()");
}
PARTITA_FALLBACK_OVERLOAD(for_border) {
  static_assert(detail::dependent_false<Given...>,
                "partita::for_border(cells, f): requires the cells of a halo exchange first, h.cells()");
}

}  // namespace partita
