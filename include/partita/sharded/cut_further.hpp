// Shards a layout along additional axes, for the state of an optimiser that is split over data-parallel workers.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/sharding.hpp>

namespace partita {

/// Returns the layout without pending sums in which axis a also shards a dimension: the dimension for which the largest
/// block becomes smallest, and the first of several such dimensions. Resharding a tensor without pending sums to this
/// layout needs no message: each worker slices its block.
/// Shapes:   one extent for each dimension of the layout [shape_error].
/// Requires: an axis of the layout's mesh [partition_error]. No dimension is sharded further if the axis already shards
///           a dimension, or if the largest block would not become smaller.
constexpr sharding cut_further(const sharding& layout, const shape_list& extents, std::size_t a) {
  if (extents.size() != layout.rank())
    throw shape_error(text("partita::cut_further: requires an extent for each dimension of the layout ")
                      << "" << layout << ", got " << extents);
  sharding s(layout.on, layout.rank());
  s.cuts = layout.cuts;
  if ((s.cut_axes() >> s.on.checked_axis(a) & 1U) != 0) return s;
  const auto largest = [&](std::size_t d, std::size_t parts) {
    const std::size_t pieces = s.on.size(s.cuts[d]) * parts;
    return (extents[d] + pieces - 1) / pieces;
  };
  std::size_t best = s.rank();
  for (std::size_t d = 0; d < s.rank(); ++d) {
    const std::size_t now = largest(d, 1), then = largest(d, s.on.size(a));
    if (then == now) continue;
    if (best == s.rank() || then * largest(best, 1) < largest(best, s.on.size(a)) * now) best = d;
  }
  if (best < s.rank()) s.cuts[best].push_back(a);
  return s;
}
/// Shards a layout along the axes that the text `axes` names, one after the other: `"data"` or `"pod+data"`. An empty
/// text names no axis.
constexpr sharding cut_further(const sharding& layout, const shape_list& extents, const char* axes) {
  sharding s = layout;
  while (*axes != '\0') {
    std::size_t length = 0;
    while (axes[length] != '\0' && axes[length] != '+') ++length;
    s = cut_further(s, extents, s.on.number(axes, length));
    axes += length;
    if (*axes == '+') ++axes;
  }
  return s;
}

}  // namespace partita
