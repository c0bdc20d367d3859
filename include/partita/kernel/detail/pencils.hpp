// The choice of pencils: the layouts through which a tensor passes, so that each transformed dimension is undistributed
// in one of these layouts. The choice is a pure function of extents and grids; no communication.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/core/short_list.hpp>
#include <vector>

namespace partita::detail {

/// A transform along some dimensions of a tensor, from one layout to another.
struct pencil_request {
  shape_list extents;         ///< the extents of the tensor, or of its half spectrum if the half spectrum is moved
  shape_list grid_x, grid_y;  ///< the grids of p_x and p_y; grid_y is empty if the result may have any layout
  shape_list dimensions;      ///< the dimensions to transform
  std::size_t workers = 1;    ///< the number of workers that intermediate layouts may use
  bool in_place = false;  ///< whether x is balanced, and p_y is p_x or not given; then the result may keep x's layout
  std::size_t first_dimension = no_dimension;  ///< this dimension must be transformed before all others
  std::size_t last_dimension = no_dimension;   ///< this dimension must be transformed after all others

  static constexpr std::size_t no_dimension = static_cast<std::size_t>(-1);  ///< any dimension may be first or last
};

/// A layout of the route, and the dimensions that are transformed in this layout, in order.
struct pencil {
  shape_list grid;        ///< the number of parts along each dimension
  shape_list dimensions;  ///< the dimensions that are transformed in this layout, in order

  friend bool operator==(const pencil&, const pencil&) = default;
};

/// Chooses the layouts from x to the result, with one move between each layout and the next; one layout alone moves
/// nothing.
///
/// The cost of a route is a sum of block sizes: for each move the largest block of both layouts, for each transformed
/// dimension the largest block of its layout, as a move or a transform accesses a block about once. Among equal costs
/// the fewest moves win, then the fewest pairs of workers that exchange boxes. Therefore a dimension that p_x does not
/// cut is usually transformed without a move, slabs win if all workers have a slab (with two moves, to another layout
/// and back, or one move if the result may have any layout), and pencils win if slabs would leave too many workers
/// idle. An intermediate layout has the whole array on one worker only if no other route exists, as for an array of a
/// single line.
/// Cost: less than 2^(d + 1) intermediate layouts and all ordered pairs of them, for d transformed dimensions; each of
///       these layouts is a best grid among all grids of at most `workers` workers.
PARTITA_DECL std::vector<pencil> choose_pencils(const pencil_request& request);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/pencils.ipp>
#endif
