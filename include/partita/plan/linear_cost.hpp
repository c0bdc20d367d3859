// The estimated cost of each algorithm of a linear layer, and the choice of the cheapest algorithm.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/index.hpp>
#include <partita/core/product.hpp>
#include <partita/plan/between_nodes.hpp>
#include <partita/plan/cut.hpp>
#include <partita/rule/linear_rule.hpp>

namespace partita {

/// The size of the problem y = x W^T + b, independent of the distribution of x, W and y.
struct linear_problem {
  std::size_t batch = 0;  ///< the number of rows of x: the product of all extents but the last
  std::size_t in_features = 0, out_features = 0, element_bytes = 4;  ///< of x; of y; the bytes of an element
  bool bias = true;                                                  ///< whether the layer adds a bias
};

/// The work of one worker in a forward call and its adjoint, and its peak memory in these calls. The memory does not
/// include the caller's inputs x and dy, and the results; it is assumed that the caller frees y before the adjoint.
struct linear_cost {
  std::size_t flops = 0;       ///< floating-point operations of the three products
  std::size_t sent_bytes = 0;  ///< bytes of messages between nodes; on one node blocks are read and written in place
  std::size_t received_bytes = 0;  ///< bytes of messages from other nodes
  std::size_t messages = 0;        ///< the number of messages that are sent or received
  /// the worker's weights, bias, their gradients and activations at their peak, in bytes, if there is only one node
  std::size_t peak_bytes = 0;
  std::size_t staging = 0;  ///< bytes of the buffer for blocks of other workers that the worker adds up

  friend constexpr bool operator==(const linear_cost&, const linear_cost&) = default;
};

/// The cost for the worker at `place` of a partition p_w of extents `shape`. With weight_stationary, x is on row 0 of
/// p_w, and y on column 0; with the other algorithms, both are on all workers of p_w. Requires a shape that suits the
/// algorithm, and a place inside the shape; numbers that overflow are a shape_error.
constexpr linear_cost predict(linear_algorithm algorithm, const linear_problem& problem,
                              const std::array<std::size_t, 2>& shape, const index<2>& place) {
  const auto times = [](const auto... factors) {
    return product_of(std::array<std::size_t, sizeof...(factors)>{factors...}, "partita::predict(linear)");
  };
  const std::size_t workers = times(shape[0], shape[1]), worker = place[0] * shape[1] + place[1];
  const std::size_t rows = balanced_part(problem.out_features, shape[0], place[0]).size();
  const std::size_t columns = balanced_part(problem.in_features, shape[1], place[1]).size();
  const std::size_t x = times(problem.batch, columns),
                    y = times(problem.batch, rows);  // the worker's block of x, and the product
  const std::size_t bias = problem.bias && place[1] == 0 ? rows : 0;
  linear_cost cost;
  cost.flops = times(6U, problem.batch, rows, columns);
  std::size_t forward = 0, adjoint = 0, staging = 0;
  const auto round_trip = [&](std::size_t size, std::size_t position,
                              std::size_t block) {  // sum and broadcast
    const block_routes routes{size, times(block, problem.element_bytes)};
    for (const block_traffic& one :
         {routes.traffic_of_broadcast(position, block), routes.traffic_of_sum(position, block)}) {
      cost.sent_bytes += one.sent_elements;
      cost.received_bytes += one.received_elements;
      if (block != 0) cost.messages += one.messages;
    }
  };
  const auto to_all = [&](std::size_t features) {  // gather parts on all members, and reduce-scatter whole blocks
    const std::size_t part = problem.batch * balanced_part(features, workers, worker).size(),
                      whole = times(problem.batch, features);
    cost.sent_bytes += (workers - 1) * part + whole - part;
    cost.received_bytes += whole - part + (workers - 1) * part;
    for (std::size_t k = 0; k < workers; ++k) {
      const std::size_t other = problem.batch * balanced_part(features, workers, k).size();
      if (k != worker) cost.messages += 2 * ((part != 0 ? 1U : 0U) + (other != 0 ? 1U : 0U));
    }
    staging = (workers - 1) * part;  // the parts of other workers, before the worker adds them
    return part;
  };
  // Add the communication of the algorithm, and its peak memory beside the weights and x.
  if (algorithm == weight_stationary) {
    round_trip(shape[0], place[0], x);
    round_trip(shape[1], place[1], y);
    forward = y;
    adjoint = y + x;
  } else if (algorithm == column_parallel) {
    const std::size_t part = to_all(problem.in_features);
    forward = y;
    adjoint = x + staging + part;
  } else {
    const std::size_t part = to_all(problem.out_features);
    forward = y + staging + part;
    adjoint = y + x;
  }
  cost.sent_bytes = times(cost.sent_bytes, problem.element_bytes);
  cost.received_bytes = times(cost.received_bytes, problem.element_bytes);
  const std::size_t elements_held = 2 * (times(rows, columns) + bias) + x + (forward > adjoint ? forward : adjoint);
  cost.peak_bytes = times(elements_held, problem.element_bytes);
  cost.staging = times(staging, problem.element_bytes);
  return cost;
}

/// The cost for the worker with the most work, which is the worker at the first place: its parts are the largest.
constexpr linear_cost predict(linear_algorithm algorithm, const linear_problem& problem,
                              const std::array<std::size_t, 2>& shape) {
  return predict(algorithm, problem, shape, index<2>{});
}

/// The speed of a machine, to compare arithmetic with communication. The default speeds are typical orders of magnitude
/// of one core and of a network; the default memory is unlimited.
struct linear_machine {
  double flops_per_second = 1e11, bytes_per_second = 5e9, seconds_per_message = 2e-6;  ///< of one worker
  std::size_t memory = ~std::size_t{0};  ///< the memory of each worker for the layer, in bytes

  constexpr double seconds(const linear_cost& cost) const {  ///< the estimated time of a worker with this cost
    return static_cast<double>(cost.flops) / flops_per_second +
           static_cast<double>(cost.sent_bytes + cost.received_bytes) / bytes_per_second +
           static_cast<double>(cost.messages) * seconds_per_message;
  }
};

/// The choice of an algorithm, the partition of its weights, and the cost for the busiest worker.
struct linear_choice {
  bool is_possible = false;  ///< whether any algorithm is suitable; if not, the other members have no meaning
  linear_algorithm algorithm = weight_stationary;  ///< the fastest algorithm
  std::array<std::size_t, 2> p_w{};                ///< the extents of the partition of W
  linear_cost cost{};                              ///< the cost for the busiest worker
  double seconds = 0;                              ///< the estimated time of the busiest worker
};

/// The fastest algorithm for an x that is split into x_parts parts and a y that is split into y_parts parts, among the
/// algorithms that do not exceed the available workers and memory. column_parallel and row_parallel are considered if
/// x_parts == y_parts; weight_stationary needs x_parts * y_parts workers.
constexpr linear_choice choose(const linear_problem& problem, std::size_t x_parts, std::size_t y_parts,
                               std::size_t workers, const linear_machine& machine = {}) {
  linear_choice best;
  const auto consider = [&](linear_algorithm algorithm, const std::array<std::size_t, 2>& p_w) {
    std::size_t places = 0;
    if (!multiply(p_w[0], p_w[1], places) || places > workers) return;
    const linear_cost cost = predict(algorithm, problem, p_w);
    const double seconds = machine.seconds(cost);
    if (cost.peak_bytes > machine.memory || (best.is_possible && seconds >= best.seconds)) return;
    best = {true, algorithm, p_w, cost, seconds};
  };
  if (x_parts == y_parts) {  // first, so that they win if costs are equal: they need fewer workers
    consider(column_parallel, {x_parts, 1});
    consider(row_parallel, {1, x_parts});
  }
  consider(weight_stationary, {y_parts, x_parts});
  return best;
}

}  // namespace partita
