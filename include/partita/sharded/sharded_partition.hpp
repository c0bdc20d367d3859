// Converts a sharding to a partition and the cuts of a tensor, which kernels use.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/plan/decomposition.hpp>
#include <partita/plan/grid.hpp>
#include <partita/plan/mesh_block.hpp>
#include <partita/plan/placed_mesh.hpp>
#include <vector>

namespace partita {

/// The division of the n indices of a dimension over axes of a mesh: one part per combination of the axes' coordinates,
/// major axis first. The first axis divides all indices, each next axis divides the parts of the axis before, so the
/// parts may differ from equally many balanced parts: dividing 10 over 2 x 4 parts gives 2, 1, 1, 1, 2, 1, 1, 1.
PARTITA_DECL cut mesh_cut(const mesh& m, axis_list axes, std::size_t n);

/// The workers and the extents of a partition that holds one copy of a sharded tensor, and the division of the tensor's
/// dimensions. Workers that differ along mesh axes that shard no dimension hold different copies (or summands) of the
/// tensor. Each copy has a separate partition with the same division.
template <std::size_t Rank>
struct sharded_partition {
  grid<dynamic_extents<Rank>> arrangement;  ///< the workers that hold the copy
  decomposition<Rank> cuts;                 ///< the division of each dimension
  std::size_t copies;                       ///< the number of partitions that hold a copy of the tensor
};

/// The partition of one copy of a tensor of this shape. With `partition p(everyone, s.arrangement)`, `repartition(q, p,
/// result_cuts(s.cuts))` makes the blocks of the sharding.
/// Shapes:   one extent for each dimension of the sharding.
/// Requires: Rank is the rank of sharding and shape [shape_error]; the mesh of the sharding is that of `where`, and
///           `copy` is below the number of copies [partition_error].
/// Cost:     time proportional to the number of workers of the mesh plus the number of parts; no communication.
template <std::size_t Rank>
sharded_partition<Rank> partition_of(const sharding& s, const shape_list& shape, const placed_mesh& where,
                                     std::size_t copy = 0) {
  if (s.rank() != Rank || shape.size() != Rank)
    throw shape_error(text("partita::partition_of: requires a sharding and a shape of rank ")
                      << Rank << ", got " << s << " and " << shape << "; name their rank");
  if (!(s.on == where.mesh()))
    throw partition_error(text("partita::partition_of: requires a sharding on the mesh that is placed, ")
                          << "" << where.mesh() << ", got " << s << " on " << s.on << "; make it from that mesh");
  std::array<std::size_t, Rank> extents{};
  for (std::size_t d = 0; d < Rank; ++d) extents[d] = s.on.size(s.cuts[d]);
  std::size_t copies = 1;
  const std::uint32_t used = s.cut_axes();
  for (std::size_t a = 0; a < s.on.rank(); ++a)
    if ((used >> a & 1U) == 0) copies *= s.on.size(a);
  if (copy >= copies)
    throw partition_error(text("partita::partition_of: requires a copy below ")
                          << copies << " (what the axes leave that cut nothing), got " << copy);
  const std::size_t places = volume_of(extents);
  std::vector<std::size_t> ids(places);
  for (std::size_t worker = 0; worker < s.on.size(); ++worker) {
    std::size_t mine = 0, place = 0;
    for (std::size_t a = 0; a < s.on.rank(); ++a)
      if ((used >> a & 1U) == 0) mine = mine * s.on.size(a) + coordinate_of(s.on, worker, a);
    if (mine != copy) continue;
    for (std::size_t d = 0; d < Rank; ++d)
      for (std::size_t k = 0; k < s.cuts[d].size(); ++k)
        place = place * s.on.size(s.cuts[d][k]) + coordinate_of(s.on, worker, s.cuts[d][k]);
    ids[place] = where.worker(worker);
  }
  return {grid<dynamic_extents<Rank>>(dynamic_extents<Rank>(extents), workers(ids)),
          decomposition<Rank>::make([&](std::size_t d) { return mesh_cut(s.on, s.cuts[d], shape[d]); }), copies};
}
/// The partition of the first copy of a tensor, on the first workers of a world.
template <std::size_t Rank>
sharded_partition<Rank> partition_of(const sharding& s, const shape_list& shape) {
  return partition_of<Rank>(s, shape, placed_mesh(s.on));
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/sharded/impl/sharded_partition.ipp>
#endif
