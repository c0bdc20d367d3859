// The moves of a Fourier transform on a cluster that does not exist: the layouts that choose_pencils chooses, exact
// counts of the exchange plans of all workers, and the time that cluster_model.hpp estimates.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <partita/kernel/detail/pencils.hpp>
#include <partita/plan/cost.hpp>
#include <vector>
#include "cluster_model.hpp"

namespace partita {

/// One move of a transform. Messages and elements are those of all workers together; `most_sent` and `most_messages`
/// are those of the worker that sends most; `node` is the slowest node.
struct transform_move {
  std::array<std::size_t, 3> from{}, to{};
  movement_cost cost{};
  /// The elements that must leave their worker in any move after which the same lines are whole: all parts of each line
  /// except the largest part.
  std::size_t least_elements = 0;
  node_exchange node{};
};

/// The moves of a transform along all dimensions of a tensor; `simulated_nodes` nodes are simulated.
inline std::vector<transform_move> moves_of_transform(const detail::pencil_request& request,
                                                      const cluster_parameters& parameters, std::size_t element_bytes,
                                                      std::size_t simulated_nodes = 16) {
  const auto three = [](const shape_list& all) { return std::array<std::size_t, 3>{all[0], all[1], all[2]}; };
  const auto layout = [](const std::array<std::size_t, 3>& shape) {
    return grid<dynamic_extents<3>>(dynamic_extents<3>(shape));
  };
  const std::array<std::size_t, 3> tensor = three(request.extents);
  const std::size_t volume = tensor[0] * tensor[1] * tensor[2];
  const std::vector<detail::pencil> pencils = detail::choose_pencils(request);
  std::vector<transform_move> all;
  for (std::size_t k = 0; k + 1 < pencils.size(); ++k) {
    transform_move move{three(pencils[k].grid), three(pencils[k + 1].grid)};
    const auto from = layout(move.from), to = layout(move.to);
    const auto there = decomposition<3>::balanced(tensor, move.from),
               then = decomposition<3>::balanced(tensor, move.to);
    move.cost = cost_of(from, there, to, then);
    for (std::size_t d = 0; d < 3; ++d)
      if (move.to[d] == 1)
        move.least_elements = std::max(
            move.least_elements, volume / tensor[d] * (tensor[d] - balanced_part(tensor[d], move.from[d], 0).size()));
    move.node = simulate_nodes(
        parameters, request.workers, element_bytes,
        [&](std::size_t worker) { return plan_repartition(from, there, to, then, worker); }, simulated_nodes);
    all.push_back(move);
  }
  return all;
}

}  // namespace partita
