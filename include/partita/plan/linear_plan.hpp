// The plan of one worker in a linear layer: its weights, the movement of x to it, and the reduction of its products.
#pragma once

#include <cstddef>
#include <partita/core/box.hpp>
#include <partita/plan/group_plan.hpp>
#include <partita/rule/linear_rule.hpp>
#include <vector>

namespace partita {

/// The plan of one worker in a linear layer; the adjoint uses the same groups in the opposite direction.
struct linear_plan {
  std::size_t worker = 0;                          ///< the worker whose plan this is
  linear_algorithm algorithm = weight_stationary;  ///< how x, y and W are distributed
  bool holds_weights = false;                      ///< whether the worker is active on p_w
  bool has_bias = false;                           ///< whether the worker adds the bias
  box<2> weights{};                                ///< the worker's box of the global W, out x in
  group_plan input{};                              ///< weight_stationary: the broadcast of x from p_x to p_w
  group_plan output{};                             ///< weight_stationary: the sum of the products from p_w to p_y
  std::vector<std::size_t> members{};  ///< column_parallel, row_parallel: the workers that gather x or scatter y

  friend bool operator==(const linear_plan&, const linear_plan&) = default;
};

}  // namespace partita
