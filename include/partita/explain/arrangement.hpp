// The partition argument of a picture: a partition (anything that has a grid), or a grid. Pictures need no workers and
// no MPI.
#pragma once

#include <partita/plan/grid.hpp>

namespace partita::detail {

/// The grid of a partition, or the grid itself.
template <class P>
auto grid_in(const P& p) {
  if constexpr (requires { p.grid(); }) return p.grid();
  else return p;
}
template <class P>
using extents_in = typename P::extents_type;

}  // namespace partita::detail
