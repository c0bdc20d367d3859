// The choice of pencils: through which layouts a tensor passes, so that each transformed dimension is whole once. A
// pure function of extents and grids; no communication.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/core/short_list.hpp>
#include <vector>

namespace partita::detail {

/// A transform along some dimensions of a tensor, from one layout to another.
struct pencil_request {
  shape_list extents;                ///< of the tensor; of half of the spectrum, where that is what is moved
  shape_list grid_x, grid_y;         ///< the partitions; grid_y is empty if the layout of the result is free
  shape_list dimensions;             ///< those to transform
  std::size_t workers = 1;           ///< how many may hold the layouts in between
  bool in_place = false;             ///< both partitions are the same, and x is balanced: their layouts are the same
  std::size_t before_all = no_such;  ///< this dimension must be transformed before all others
  std::size_t after_all = no_such;   ///< this one after all others

  static constexpr std::size_t no_such = static_cast<std::size_t>(-1);
};

/// A layout on the way, and the dimensions that are transformed there, in this order.
struct pencil {
  shape_list grid;
  shape_list dimensions;

  friend bool operator==(const pencil&, const pencil&) = default;
};

/// The layouts from x to the result, one move between each and the next; one layout alone moves nothing.
///
/// The cost of a route is the largest block for each move (of the two layouts) and for each transformed dimension: both
/// read and write it about once. Of equal costs the fewest moves win, then the fewest pairs of workers that exchange
/// boxes. So a dimension that is not cut is transformed where it is, slabs win where all workers have one (two moves
/// there and back, or one if the result needs none), and pencils win where slabs would leave too many workers idle. No
/// layout in between has the whole array on one worker, unless the array has only one line that is longer than 1, which
/// must be whole somewhere.
/// Cost: O(2^d) layouts of d transformed dimensions, each the best of the grids of at most so many workers.
PARTITA_DECL std::vector<pencil> choose_pencils(const pencil_request& request);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/pencils.ipp>
#endif
