// Windows: the cells that a worker needs along each dimension; windows may overlap and reach beyond the borders.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/error.hpp>
#include <partita/plan/decomposition.hpp>
#include <partita/rule/boundary.hpp>
#include <partita/rule/sliding.hpp>
#include <utility>
#include <vector>

namespace partita {

/// A half-open range of cells along a dimension of extent n; cells below 0, and cells n and above, are beyond the
/// borders.
struct window {
  std::ptrdiff_t start = 0;  ///< the first cell; negative before the border
  std::ptrdiff_t stop = 0;   ///< one past the last cell

  constexpr std::size_t size() const { return stop > start ? static_cast<std::size_t>(stop - start) : 0; }
  friend constexpr bool operator==(const window&, const window&) = default;
};

/// The windows of the parts along each dimension.
template <std::size_t Rank>
using windows_of_parts = std::array<std::vector<window>, Rank>;

namespace detail {

/// Calls f(at, range) for the runs of a window: the cells from `at` on hold the indices of `range`, in their order.
/// Cells that hold no index of the tensor are in no run.
template <class F>
void for_each_run(window w, std::size_t n, boundary before, boundary after, F f) {
  const auto extent = static_cast<std::ptrdiff_t>(n);
  if (n == 0) return;
  for (std::ptrdiff_t g = w.start; g < w.stop;) {
    const bool inside = g >= 0 && g < extent;
    const boundary b = g < 0 ? before : after;
    std::ptrdiff_t from = g, until = g < 0 ? 0 : g < extent ? extent : w.stop;
    if (w.stop < until) until = w.stop;
    if (!inside && (b == boundary::none || is_outside(b))) {
      g = until;
      continue;
    }
    if (!inside && b == boundary::periodic) {
      from = (g % extent + extent) % extent;
      if (g + extent - from < until) until = g + extent - from;
    } else if (!inside) {
      from = b == boundary::replicate ? (g < 0 ? 0 : extent - 1) : g < 0 ? -g : 2 * (extent - 1) - g;
      until = g + 1;
    }
    f(static_cast<std::size_t>(g - w.start),
      interval{static_cast<std::size_t>(from), static_cast<std::size_t>(from + until - g)});
    g = until;
  }
}

/// The cells of a window that some index of the tensor fills, as indices in the window.
inline interval cells_from_tensor(window w, std::size_t n, boundary before, boundary after) {
  const auto size = static_cast<std::ptrdiff_t>(w.size());
  const auto clamp = [&](std::ptrdiff_t cells) { return cells < 0 ? 0 : cells < size ? cells : size; };
  const auto first = clamp(is_outside(before) || n == 0 ? -w.start : 0);
  const auto last = size - clamp(is_outside(after) || n == 0 ? w.stop - static_cast<std::ptrdiff_t>(n) : 0);
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(first < last ? last : first)};
}

}  // namespace detail

/// The windows of blocks that grow by these widths; a window ends at a border if the boundary there is boundary::none.
/// A block without an index along a dimension does not grow along this dimension, unless widths.of_empty_blocks is set.
template <std::size_t Rank>
windows_of_parts<Rank> halo_windows(const decomposition<Rank>& blocks, const halo_widths<Rank>& widths,
                                    const halo_boundaries<Rank>& edges) {
  windows_of_parts<Rank> windows;
  for (std::size_t d = 0; d < Rank; ++d) {
    const auto n = static_cast<std::ptrdiff_t>(blocks.cuts[d].extent());
    for (std::size_t part = 0; part < blocks.cuts[d].parts(); ++part) {
      window w;
      if (const interval piece = blocks.cuts[d].part(part); piece.size() > 0 || widths.of_empty_blocks) {
        w.start = static_cast<std::ptrdiff_t>(piece.start) - static_cast<std::ptrdiff_t>(widths.before[d]);
        w.stop = static_cast<std::ptrdiff_t>(piece.stop) + static_cast<std::ptrdiff_t>(widths.after[d]);
        if (edges.before[d] == boundary::none && w.start < 0) w.start = 0;
        if (edges.after[d] == boundary::none && w.stop > n) w.stop = n;
      }
      windows[d].push_back(w);
    }
  }
  return windows;
}

/// The cells that a sliding kernel reads for a range of outputs: from the kernel's first cell at the first output to
/// its last cell at the last output.
constexpr window input_window(const sliding& kernel, interval places) {
  if (places.size() == 0) return {};
  return {kernel.first_cell(places.start),
          kernel.first_cell(places.stop - 1) + static_cast<std::ptrdiff_t>(kernel.reach())};
}

/// The error message for blocks of a tensor of these extents that cannot grow by these widths; else an empty text.
template <std::size_t Rank>
text halo_error(const std::array<std::size_t, Rank>& extents, const halo_widths<Rank>& widths,
                const halo_boundaries<Rank>& edges) {
  text problem;
  for (std::size_t d = 0; d < Rank && problem.empty(); ++d)
    for (const auto& [width, b] : {std::pair(widths.before[d], edges.before[d]), {widths.after[d], edges.after[d]}})
      if (b == boundary::reflect && extents[d] > 0 && width >= extents[d] && problem.empty())
        problem << "requires reflected ghosts of a width below the extent of the tensor, got a width of " << width
                << " along dimension " << d << " of extents " << extents
                << "; give a smaller width, or take boundary::periodic or boundary::replicate";
  return problem;
}

}  // namespace partita
