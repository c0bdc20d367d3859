// Defines the functions that kernel/detail/pencils.hpp declares.
#pragma once

#include <cstddef>
#include <partita/kernel/detail/pencils.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The layouts through which a Fourier transform moves its tensor, and the estimated cost of moves and transforms.
struct pencil_route {
  std::vector<pencil> layouts;           ///< the layouts, from x to the result
  std::size_t cost = 0, peer_count = 0;  ///< in elements, as choose_pencils() adds; a worker's exchanges, estimated

  bool costs_less_than(const pencil_route& other) const {  // compares costs, then moves, then peers
    if (cost != other.cost) return cost < other.cost;
    if (layouts.size() != other.layouts.size()) return layouts.size() < other.layouts.size();
    return peer_count < other.peer_count;
  }
};

/// Searches for the cheapest sequence of layouts for one Fourier transform.
class pencil_search {
 public:
  explicit pencil_search(const pencil_request& request) : request_(request) {
    for (const std::size_t n : request_.extents) element_count_ *= n;
  }

  std::vector<pencil> find_best_pencils() {  // the layouts of the cheapest route
    if (request_.grid_y.empty()) {           // if x need not move, the result has the layout of x
      pencil_search search_in_place(request_);
      search_in_place.request_.grid_y = request_.grid_x;
      shape_list left = request_.dimensions;
      dimensions_to_transform(request_.grid_x, left);
      if (left.empty()) return search_in_place.find_best_pencils();
    }
    const std::size_t subsets = std::size_t{1} << request_.dimensions.size();
    for (const bool allows_gathering : {false, true}) {
      // For each set of transformed dimensions, layouts in which these dimensions are not distributed. Sets with the
      // last dimensions come first: a grid numbers its workers in row-major order, so that moves from {a, b, 1} to {a,
      // 1, b} to {1, a, b} stay within rows and columns of the grid, and each worker keeps a part of its block.
      std::vector<shape_list> between;
      for (std::size_t whole_dimension_set = subsets; --whole_dimension_set > 0;) {
        for (const shape_list& grid : best_grids_of_set(whole_dimension_set))
          if (allows_gathering || largest_block(grid) != element_count_) between.push_back(grid);
      }
      keep_route_if_better({});
      for (const shape_list& a : between) {
        keep_route_if_better({a});
        for (const shape_list& b : between) keep_route_if_better({a, b});
      }
      if (has_route_) break;
    }
    return std::move(route_.layouts);
  }

 private:
  /// Whether each line of the tensor along dimension d is on one worker.
  bool is_whole(const shape_list& grid, std::size_t d) const { return grid[d] == 1 || request_.extents[d] <= 1; }

  /// The number of elements of the largest block in a layout.
  std::size_t largest_block(const shape_list& grid) const {
    std::size_t n = 1;
    for (std::size_t d = 0; d < grid.size(); ++d) n *= (request_.extents[d] + grid[d] - 1) / grid[d];
    return n;
  }
  /// An estimate of the number of blocks of the second layout that one block of the first layout overlaps.
  static std::size_t estimate_peers(const shape_list& from, const shape_list& to) {
    std::size_t n = 1;
    for (std::size_t d = 0; d < from.size(); ++d) n *= from[d] == to[d] ? 1 : (to[d] + from[d] - 1) / from[d];
    return n;
  }

  /// Removes from `left` the dimensions that can be transformed in the layout `grid`, and returns them in order.
  shape_list dimensions_to_transform(const shape_list& grid, shape_list& left) const {
    shape_list done, rest;
    const auto must_wait = [&](std::size_t d) {
      for (const std::size_t other : left)
        if (other != d && other == request_.first_dimension) return true;
      return false;
    };
    bool all = true;
    const bool required_first_is_whole =
        request_.first_dimension == request_.no_dimension || is_whole(grid, request_.first_dimension);
    for (const std::size_t d : left)
      if (d == request_.first_dimension && required_first_is_whole) done.push_back(d);
    for (const std::size_t d : left) {
      if (d == request_.first_dimension || d == request_.last_dimension) continue;
      if (is_whole(grid, d) && (required_first_is_whole || !must_wait(d))) done.push_back(d);
      else rest.push_back(d), all = false;
    }
    for (const std::size_t d : left) {
      if (d == request_.first_dimension && !required_first_is_whole) rest.push_back(d);
      if (d != request_.last_dimension) continue;
      if (all && is_whole(grid, d)) done.push_back(d);
      else rest.push_back(d);
    }
    left = rest;
    return done;
  }

  /// Keeps the route from p_x through the layouts `between` to p_y (if given) if the route transforms all dimensions
  /// and is better than the best route so far.
  void keep_route_if_better(std::vector<shape_list> between) {
    const bool given = !request_.grid_y.empty();
    if (given) between.push_back(request_.grid_y);
    if (given && between.size() == 1 && request_.in_place) between.clear();
    shape_list left = request_.dimensions;
    pencil_route route;
    const auto add = [&](const shape_list& grid, const shape_list& done) {
      route.cost += done.size() * largest_block(grid);
      route.layouts.push_back({grid, done});
    };
    add(request_.grid_x, dimensions_to_transform(request_.grid_x, left));
    for (std::size_t k = 0; k < between.size(); ++k) {
      const shape_list& from = route.layouts.back().grid;
      const std::size_t a = largest_block(from), b = largest_block(between[k]);
      route.cost += a > b ? a : b;
      route.peer_count += estimate_peers(from, between[k]);
      const shape_list done = dimensions_to_transform(between[k], left);
      if (done.empty() && (!given || k + 1 < between.size())) return;  // a layout without transforms is useless
      add(between[k], done);
    }
    if (!left.empty() || (has_route_ && !route.costs_less_than(route_))) return;
    has_route_ = true;
    route_ = std::move(route);
  }

  /// Returns one or two grids that do not distribute the dimensions of a set (bit k of the set stands for the k-th
  /// transformed dimension). The results have the smallest possible largest block and, among such grids, the fewest
  /// estimated pairs of workers that exchange boxes with p_x and p_y. Among the remaining grids, the first result
  /// divides the first dimensions into the most parts, and the second has the smallest sum of its extents.
  std::vector<shape_list> best_grids_of_set(std::size_t whole_dimension_set) {
    best_grid_ = {};
    auto grid = shape_list::filled(request_.extents.size(), 1);
    try_cuts(grid, 0, request_.workers, whole_dimension_set);
    if (best_grid_with_fewest_parts_ == best_grid_) return {best_grid_};
    return {best_grid_, best_grid_with_fewest_parts_};
  }
  static std::size_t part_count(const shape_list& grid) {  // the sum of the extents
    std::size_t n = 0;
    for (const std::size_t parts : grid) n += parts;
    return n;
  }
  bool keeps_dimension_whole(std::size_t whole_dimension_set, std::size_t d) const {  // whether d is in the set
    for (std::size_t k = 0; k < request_.dimensions.size(); ++k)
      if (request_.dimensions[k] == d && (whole_dimension_set >> k & 1U) != 0) return true;
    return false;
  }
  /// Tries all grid extents of the dimensions from d on whose product is at most `workers`.
  void try_cuts(shape_list& grid, std::size_t d, std::size_t workers, std::size_t whole_dimension_set) {
    if (d == grid.size()) {
      const std::size_t block = largest_block(grid);
      const std::size_t peer_count =
          estimate_peers(request_.grid_x, grid) + (request_.grid_y.empty() ? 0 : estimate_peers(grid, request_.grid_y));
      const bool better = best_grid_.empty() || block < best_block_size_ ||
                          (block == best_block_size_ && peer_count < best_peer_count_);
      if (better)
        best_grid_ = best_grid_with_fewest_parts_ = grid, best_block_size_ = block, best_peer_count_ = peer_count;
      else if (block == best_block_size_ && peer_count == best_peer_count_ &&
               part_count(grid) < part_count(best_grid_with_fewest_parts_))
        best_grid_with_fewest_parts_ = grid;
      return;
    }
    const std::size_t most = keeps_dimension_whole(whole_dimension_set, d) ? 1
                             : workers < request_.extents[d]               ? workers
                                                                           : request_.extents[d];
    for (std::size_t parts = most == 0 ? 1 : most; parts > 0; --parts) {
      grid[d] = parts;
      try_cuts(grid, d + 1, workers / parts, whole_dimension_set);
    }
    grid[d] = 1;
  }

  pencil_request request_;                                 ///< the transform for which layouts are chosen
  std::size_t element_count_ = 1;                          ///< the number of elements of the tensor
  bool has_route_ = false;                                 ///< whether a route was found
  pencil_route route_;                                     ///< the best route so far
  shape_list best_grid_, best_grid_with_fewest_parts_;     ///< the results of best_grids_of_set()
  std::size_t best_block_size_ = 0, best_peer_count_ = 0;  ///< of best_grid_: largest block's elements; estimated peers
};

PARTITA_DEF std::vector<pencil> choose_pencils(const pencil_request& request) {
  return pencil_search(request).find_best_pencils();
}

}  // namespace partita::detail
