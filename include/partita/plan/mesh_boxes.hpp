// The boxes of a tensor that the workers of a mesh hold, and those that they want in a reshard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/plan/box_overlaps.hpp>
#include <partita/plan/placed_mesh.hpp>
#include <partita/plan/reshard_exchange.hpp>
#include <vector>

namespace partita {

namespace detail {

/// The number, in C order, of a place of the mesh among the places that differ from it only along `axes` (as bits).
constexpr std::size_t index_along_axes(const mesh& m, std::size_t place, std::uint32_t axes) {
  std::size_t n = 0;
  for (std::size_t a = 0; a < m.rank(); ++a)
    if ((axes >> a & 1U) != 0) n = n * m.size(a) + coordinate_of(m, place, a);
  return n;
}

}  // namespace detail

/// The boxes that the workers of a mesh hold of a tensor, indexed by worker id. Each box of a partial tensor belongs to
/// one summand.
PARTITA_DECL std::vector<worker_box> boxes_on_mesh(const placed_mesh& mesh_workers, std::size_t workers,
                                                   const sharding& s, const shape_list& shape);

/// The boxes of an exchange. If summands are gathered, every box has a leading dimension that numbers the summands. If
/// the source is replicated, a worker receives from the replica with equal coordinates along the axes of replication.
PARTITA_DECL box_overlaps overlaps_of(const reshard_exchange& e, const shape_list& shape,
                                      const placed_mesh& mesh_workers, std::size_t workers);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/mesh_boxes.ipp>
#endif
