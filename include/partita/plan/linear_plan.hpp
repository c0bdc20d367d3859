// What one worker does in a linear layer: the weights it holds, how x comes to it, where its product is summed.
#pragma once

#include <cstddef>
#include <partita/core/box.hpp>
#include <partita/plan/group_plan.hpp>
#include <partita/rule/linear_rule.hpp>
#include <vector>

namespace partita {

/// The plan of one worker; the adjoint follows the same groups the other way.
struct linear_plan {
  std::size_t worker = 0;
  linear_algorithm algorithm = weight_stationary;
  bool multiplies = false;             ///< active on p_w
  bool has_bias = false;               ///< and adds the bias
  box<2> weights{};                    ///< of the global W, out x in
  group_plan input{};                  ///< weight_stationary: the broadcast of x from p_x to p_w
  group_plan output{};                 ///< weight_stationary: the sum of the products from p_w to p_y
  std::vector<std::size_t> members{};  ///< column_parallel and row_parallel: who gathers x or scatters y together

  friend bool operator==(const linear_plan&, const linear_plan&) = default;
};

}  // namespace partita
