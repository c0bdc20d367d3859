// The order in which a worker executes the steps of a pipeline: one order of all tasks and movements for all workers,
// of which each executes its part. Therefore nothing waits for ever: of all that workers wait for, the first in this
// order can be done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/plan/pipeline_order.hpp>
#include <partita/plan/step_order.hpp>
#include <vector>

namespace partita::detail {

/// The numbers of the tasks and movements to which the recorded steps of a pipeline belong.
struct pipeline_numbers {
  std::uint32_t stages = 0, micro_batches = 0;

  enum part : std::uint32_t { forward, backward, to_next, to_last };
  /// A pass of a stage, or the movement of its result to the next stage or of its cotangent to the one before.
  std::uint32_t of(part which, std::uint32_t stage, std::uint32_t micro_batch) const {
    return (which * micro_batches + micro_batch) * stages + stage;
  }
  std::uint32_t count() const { return 4 * stages * micro_batches; }
};

/// The order of recorded steps, by a simulated run. A movement between stages of different groups begins when the task
/// before it is done, its receivers have made room for it before the task that they do then, and it is finished before
/// the task that needs it. If the run has passes for the gradients of weights, a backward pass consists of the steps
/// that the cotangent for the stage before needs, and the other steps belong to the pass of the weights.
PARTITA_DECL std::vector<ordered_step> pipeline_events(const pipeline_shape& shape, const pipeline_run& run,
                                                       const std::vector<step_use>& steps);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/pipeline_events.ipp>
#endif
