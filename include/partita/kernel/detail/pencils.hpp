// The choice of pencils: the layouts through which a tensor passes, so that each transformed dimension is whole in one
// of them. The choice is a pure function of extents and grids; no communication.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/core/short_list.hpp>
#include <vector>

namespace partita::detail {

/// A transform along some dimensions of a tensor, from one layout to another.
struct pencil_request {
  shape_list extents;         ///< the extents of the tensor, or of half of its spectrum if that is moved
  shape_list grid_x, grid_y;  ///< the partitions; grid_y is empty if the layout of the result is free
  shape_list dimensions;      ///< the dimensions to transform
  std::size_t workers = 1;    ///< the number of workers that may hold the layouts in between
  bool in_place = false;      ///< x and the result have one layout: equal partitions, x is balanced
  std::size_t first_dimension = no_dimension;  ///< this dimension must be transformed before all others
  std::size_t last_dimension = no_dimension;   ///< this dimension must be transformed after all others

  static constexpr std::size_t no_dimension = static_cast<std::size_t>(-1);
};

/// A layout of the route, and the dimensions that are transformed in this layout, in order.
struct pencil {
  shape_list grid;
  shape_list dimensions;

  friend bool operator==(const pencil&, const pencil&) = default;
};

/// Chooses the layouts from x to the result, with one move between each layout and the next; one layout alone moves
/// nothing.
///
/// The cost of a route is a sum of block sizes: for each move the largest block of both layouts, for each transformed
/// dimension the largest block of its layout, as a move or a transform accesses a block about once. Among equal costs
/// the fewest moves win, then the fewest pairs of workers that exchange boxes. Therefore a dimension that is not cut is
/// transformed in place, slabs win if all workers have a slab (two moves there and back, or one if the layout of the
/// result is free), and pencils win if slabs would leave too many workers idle. No layout in between has the whole
/// array on one worker, unless the array has only one line that is longer than 1, which must be whole in one layout.
/// Cost: at most 2^d layouts for d transformed dimensions, each the best of all grids of at most `workers` workers.
PARTITA_DECL std::vector<pencil> choose_pencils(const pencil_request& request);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/pencils.ipp>
#endif
