// The order in which workers execute the steps of a pipeline: one order of all tasks and movements, of which each
// worker executes its part. There is no deadlock, because the first event of the order that is not done yet does not
// wait for any other event.
#pragma once

#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/plan/pipeline_order.hpp>
#include <partita/plan/step_order.hpp>
#include <vector>

namespace partita::detail {

/// Numbers the tasks and movements to which the recorded steps of a pipeline belong.
struct pipeline_numbering {
  std::uint32_t stages = 0, micro_batches = 0;  ///< the numbers of stages and of micro-batches

  /// The passes of a stage, and the movements of its result and of its cotangent to another stage.
  enum task_kind : std::uint32_t { forward, backward, y_move, dy_move };
  /// The number of a pass of a stage for a micro-batch, or of the movement of the stage's result (y_move) or cotangent
  /// (dy_move).
  std::uint32_t of(task_kind which, std::uint32_t stage, std::uint32_t micro_batch) const {
    return (which * micro_batches + micro_batch) * stages + stage;
  }
  std::uint32_t count() const { return 4 * stages * micro_batches; }  ///< the number of all passes and movements
};

/// Orders the recorded steps by a simulated run. A movement between groups of workers begins when the sender's task is
/// done; the receivers post their receive before the task that they execute at that time, and finish the movement
/// before the task that needs it. If the run has separate passes for the gradients of weights, a backward pass has the
/// steps that compute the cotangent for the previous stage, and the other steps belong to the pass of the weights.
PARTITA_DECL std::vector<ordered_step> order_pipeline_steps(const pipeline_shape& shape, const pipeline_run& run,
                                                            const std::vector<step_use>& steps);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/pipeline_events.ipp>
#endif
