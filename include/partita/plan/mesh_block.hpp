// The block of a tensor that a worker of a mesh holds.
//
// The axes of a dimension partition it one after the other, major first: each axis splits every part that the axes
// before it made into balanced parts. A block of a dimension sharded by "a+b" is therefore always a part of a block of
// the same dimension sharded by "a", even if the extent is not divisible, and an all-gather along "b" gives the block
// of "a".
#pragma once

#include <cstddef>
#include <partita/plan/cut.hpp>
#include <partita/rule/sharding/sharding.hpp>

namespace partita {

/// The coordinate of a worker along axis a of a mesh; workers are numbered in C order over the axes. A worker or an
/// axis outside the mesh is a partition_error.
constexpr std::size_t coordinate_of(const mesh& m, std::size_t worker, std::size_t a) {
  if (worker >= m.size() || m.checked_axis(a) != a)
    throw partition_error(text("partita::mesh_block: requires a worker of the mesh, below ")
                          << m.size() << ", got worker " << worker);
  for (std::size_t k = m.rank(); k-- > a + 1;) worker /= m.size(k);
  return worker % m.size(a);
}

/// The number of the part that a worker holds of a dimension that is sharded by the axes `cut`.
constexpr std::size_t part_number(const mesh& m, axis_list cut, std::size_t worker) {
  std::size_t number = 0;
  for (std::size_t k = 0; k < cut.size(); ++k) number = number * m.size(cut[k]) + coordinate_of(m, worker, cut[k]);
  return number;
}
/// The indices of part `number` of a dimension of n indices that is sharded by the axes `cut`.
constexpr interval part_of_dimension(const mesh& m, axis_list cut, std::size_t n, std::size_t number) {
  interval part{0, n};
  std::size_t step = m.size(cut);
  for (std::size_t k = 0; k < cut.size(); ++k) {
    step /= m.size(cut[k]);
    const interval own = balanced_part(part.size(), m.size(cut[k]), number / step % m.size(cut[k]));
    part = {part.start + own.start, part.start + own.stop};
  }
  return part;
}

/// The indices that a worker holds of a dimension of n indices that is sharded by the axes `cut`.
constexpr interval mesh_part(const mesh& m, axis_list cut, std::size_t n, std::size_t worker) {
  return part_of_dimension(m, cut, n, part_number(m, cut, worker));
}

/// The indices that a worker holds of each dimension of a tensor. A shape of a different rank is a shape_error.
constexpr short_list<interval> mesh_block(const sharding& s, const shape_list& shape, std::size_t worker) {
  if (shape.size() != s.rank())
    throw shape_error(text("partita::mesh_block(sharding, shape, worker): requires a shape of the sharding's rank ")
                      << s.rank() << ", got the shape " << shape);
  short_list<interval> block;
  for (std::size_t d = 0; d < s.rank(); ++d) block.push_back(mesh_part(s.on, s.cuts[d], shape[d], worker));
  return block;
}

}  // namespace partita
