// The partition argument of a picture: a partition (any type with a grid) or a grid. A picture needs no MPI.
#pragma once

#include <partita/plan/grid.hpp>

namespace partita::detail {

/// Returns the grid of a partition; a grid is returned as it is.
template <class P>
auto worker_grid(const P& p) {
  if constexpr (requires { p.grid(); }) return p.grid();
  else return p;
}
/// The type of the extents of a partition or of a grid, such as extents<2, 3>.
template <class P>
using grid_shape = typename P::extents_type;

}  // namespace partita::detail
