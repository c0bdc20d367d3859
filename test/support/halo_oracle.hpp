// A reference halo exchange by its definition: the cell of the tensor that each ghost cell copies, if it copies a cell.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <partita/core/index.hpp>
#include <partita/plan/decomposition.hpp>
#include <partita/rule/boundary.hpp>

namespace test {

template <std::size_t Rank>
using cell = std::array<std::ptrdiff_t, Rank>;

/// The cell of the tensor that a ghost cell copies; no cell outside a border of zeros or of a constant.
template <std::size_t Rank>
std::optional<partita::index<Rank>> original(cell<Rank> g, const partita::index<Rank>& extents,
                                             const partita::halo_boundaries<Rank>& boundaries) {
  partita::index<Rank> i{};
  for (std::size_t d = 0; d < Rank; ++d) {
    const auto n = static_cast<std::ptrdiff_t>(extents[d]);
    const partita::boundary b = g[d] < 0 ? boundaries.before[d] : boundaries.after[d];
    if (n == 0) return {};  // an empty tensor has no cell to copy
    if (g[d] < 0 || g[d] >= n) {
      if (partita::is_outside(b)) return {};
      if (b == partita::boundary::periodic)
        while (g[d] < 0 || g[d] >= n) g[d] += g[d] < 0 ? n : -n;
      else if (b == partita::boundary::replicate) g[d] = g[d] < 0 ? 0 : n - 1;
      else g[d] = g[d] < 0 ? -g[d] : 2 * n - 2 - g[d];
    }
    i[d] = static_cast<std::size_t>(g[d]);
  }
  return i;
}

/// The cells of a block with ghosts: the first index and the number of cells along each dimension.
template <std::size_t Rank>
struct grown_block {
  cell<Rank> first{};
  std::array<std::size_t, Rank> shape{};
};
template <std::size_t Rank>
grown_block<Rank> grown_block_of(const partita::decomposition<Rank>& cuts, const partita::index<Rank>& position,
                                 const partita::halo_widths<Rank>& widths,
                                 const partita::halo_boundaries<Rank>& boundaries) {
  const auto own = cuts.block(position);
  if (own.empty() && !widths.of_empty_blocks) return {{}, cuts.shape(position)};
  grown_block<Rank> g;
  for (std::size_t d = 0; d < Rank; ++d) {
    const auto n = static_cast<std::ptrdiff_t>(cuts.cuts[d].extent());
    const partita::interval part = cuts.cuts[d].part(position[d]);
    auto start = static_cast<std::ptrdiff_t>(part.start) - static_cast<std::ptrdiff_t>(widths.before[d]);
    auto stop = static_cast<std::ptrdiff_t>(part.stop) + static_cast<std::ptrdiff_t>(widths.after[d]);
    if (boundaries.before[d] == partita::boundary::none && start < 0) start = 0;
    if (boundaries.after[d] == partita::boundary::none && stop > n) stop = n;
    g.first[d] = start;
    g.shape[d] = static_cast<std::size_t>(stop - start);
  }
  return g;
}

/// Whether a cell is outside the block along more than one dimension, that is in a corner or edge.
template <std::size_t Rank>
bool is_corner(const partita::decomposition<Rank>& cuts, const partita::index<Rank>& position, const cell<Rank>& at) {
  std::size_t outside_dimensions = 0;
  for (std::size_t d = 0; d < Rank; ++d) {
    const partita::interval part = cuts.cuts[d].part(position[d]);
    const bool own = at[d] >= static_cast<std::ptrdiff_t>(part.start) && at[d] < static_cast<std::ptrdiff_t>(part.stop);
    outside_dimensions += own ? 0 : 1;
  }
  return outside_dimensions > 1;
}

/// Calls f(k, original) for the k-th cell, in C order, of a block with ghosts, and for the cell that it copies.
template <std::size_t Rank, class F>
void for_cells(const grown_block<Rank>& g, const partita::index<Rank>& extents,
               const partita::halo_boundaries<Rank>& boundaries, F f) {
  for (std::size_t k = 0; k < partita::volume_of(g.shape); ++k) {
    const auto local = partita::index_of(k, g.shape);
    cell<Rank> at{};
    for (std::size_t d = 0; d < Rank; ++d) at[d] = g.first[d] + static_cast<std::ptrdiff_t>(local[d]);
    f(k, original<Rank>(at, extents, boundaries));
  }
}

}  // namespace test
