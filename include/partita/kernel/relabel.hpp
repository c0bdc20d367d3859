// Reorders the workers of a grid so that as much of a tensor as possible is already on its destination worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/plan/repartition_plan.hpp>
#include <vector>

namespace partita {

namespace detail {

/// Solves the assignment problem: returns the columns for rows 0, 1, … with the least sum of costs (n x n, C order),
/// found by shortest augmenting paths with potentials (Kuhn 1955, Munkres 1957, in the O(n^3) form of Jonker and
/// Volgenant 1987).
template <class Cost>
std::vector<std::size_t> solve_assignment(const std::vector<Cost>& cost, std::size_t n) {
  constexpr Cost infinite = Cost{1} << 61;
  std::vector<Cost> u(n + 1, 0), v(n + 1, 0);
  std::vector<std::size_t> row_of(n + 1, 0), before(n + 1, 0);  // by column, counted from 1; 0 means none
  for (std::size_t row = 1; row <= n; ++row) {
    // Add one row: a search like Dijkstra's for the shortest augmenting path from this row to a free column.
    std::vector<Cost> slack(n + 1, infinite);
    std::vector<char> seen(n + 1, 0);
    std::size_t column = 0;
    row_of[0] = row;
    do {
      seen[column] = 1;
      const std::size_t i = row_of[column];
      Cost least = infinite;
      std::size_t next = 0;
      for (std::size_t j = 1; j <= n; ++j) {
        if (seen[j] != 0) continue;
        const Cost reduced = cost[(i - 1) * n + (j - 1)] - u[i] - v[j];
        if (reduced < slack[j]) slack[j] = reduced, before[j] = column;
        if (slack[j] < least) least = slack[j], next = j;
      }
      // Update the potentials so that the edge to the next column has reduced cost 0.
      for (std::size_t j = 0; j <= n; ++j) {
        if (seen[j] != 0) u[row_of[j]] += least, v[j] -= least;
        else slack[j] -= least;
      }
      column = next;
    } while (row_of[column] != 0);
    // Exchange the assigned and unassigned pairs along the augmenting path.
    for (; column != 0; column = before[column]) row_of[column] = row_of[before[column]];
  }
  std::vector<std::size_t> chosen(n);
  for (std::size_t j = 1; j <= n; ++j) chosen[row_of[j] - 1] = j - 1;
  return chosen;
}

}  // namespace detail

/// The destination grid with its workers in the order that moves the fewest elements; among equally good orders, as
/// many workers as possible keep their places. The extents of the grid are unchanged.
/// Requires: two decompositions of one tensor, over their grids [shape_error].
/// Cost:     O(all overlaps + n^3) time and O(n^2) memory for n destination workers; computed once, by every worker.
template <class Src, class Dst, class From, std::size_t Rank>
grid<Dst> relabelled(const grid<Src>& src, const From& from, const grid<Dst>& dst, const decomposition<Rank>& to,
                     const axes_order<Rank>& axes = same_axes<Rank>()) {
  const std::size_t n = dst.size();
  std::vector<std::int64_t> cost(n * n, 0);  // cost[place, worker] is minus the elements that need not move
  // Keeping a worker at its place counts 1, keeping an element n + 1: places only decide between equally good orders.
  for (std::size_t k = 0; k < n; ++k) cost[k * n + k] = -1;
  for (std::size_t column = 0; column < n; ++column) {
    const std::size_t worker = dst.workers()[column];
    if (!src.contains(worker)) continue;
    const auto plan = plan_repartition(src, from, dst, to, worker, axes);
    const auto reduce_cost = [&](std::size_t place, std::size_t elements) {
      cost[place * n + column] -= static_cast<std::int64_t>(elements * (n + 1));
    };
    for (const auto& b : plan.kept) reduce_cost(column, b.where.volume());
    for (const auto& b : plan.sends) reduce_cost(dst.place(b.worker), b.where.volume());
  }
  const std::vector<std::size_t> chosen = detail::solve_assignment(cost, n);
  std::vector<std::size_t> order(n);
  for (std::size_t place = 0; place < n; ++place) order[place] = dst.workers()[chosen[place]];
  return {dst.extents(), workers(order)};
}

}  // namespace partita
