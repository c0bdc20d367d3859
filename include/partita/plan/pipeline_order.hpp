// The order in which the workers of a pipeline execute the passes of its stages for each micro-batch, and the
// simulation of such an order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/core/text.hpp>
#include <vector>

namespace partita {

/// The kinds of passes of a stage for one micro-batch.
enum class pipeline_pass : std::uint8_t {
  forward,   ///< computes the output of the stage
  backward,  ///< computes the cotangent of the input, and of the weights unless `weights` passes do
  weights    ///< computes the gradients of the stage's weights
};
constexpr const char* name_of(pipeline_pass pass) {  ///< the enumerator as text
  constexpr const char* names[] = {"forward", "backward", "weights"};
  return names[static_cast<std::size_t>(pass)];
}

/// A task of a pipeline: one pass of one stage for one micro-batch.
struct pipeline_task {
  pipeline_pass pass = pipeline_pass::forward;  ///< what the task computes
  std::uint32_t stage = 0, micro_batch = 0;     ///< both counted from 0

  friend bool operator==(const pipeline_task&, const pipeline_task&) = default;
};

/// The usual orders of the tasks of a pipeline.
enum class pipeline_order : std::uint8_t {
  gpipe,                     ///< all forward passes, then all backward passes
  one_forward_one_backward,  ///< a backward pass as soon as possible, so that a stage keeps few micro-batches
  interleaved,               ///< several stages per group in Megatron-LM's order, or else one_forward_one_backward
  zero_bubble                ///< passes for gradients of weights fill the times in which groups would wait
};

/// The shape of a pipeline: its stages, the group of workers of each stage, and its micro-batches.
struct pipeline_shape {
  std::vector<std::uint32_t> group_of{};  ///< the group of workers of each stage
  std::uint32_t micro_batches = 1;        ///< the number of micro-batches of a step

  std::uint32_t stages() const { return static_cast<std::uint32_t>(group_of.size()); }  ///< The number of stages.
  PARTITA_DECL std::uint32_t groups() const;  ///< The number of groups of workers.
  /// A number for each task of the pipeline, below `task_count()`.
  std::size_t number(const pipeline_task& one) const {
    return (static_cast<std::size_t>(one.pass) * stages() + one.stage) * micro_batches + one.micro_batch;
  }
  /// The number of tasks, with separate passes for the gradients of weights.
  std::size_t task_count() const { return std::size_t{3} * stages() * micro_batches; }
};

/// Seconds of the passes of each stage for one micro-batch, and of a movement between two stages. If a list is empty,
/// all its times are 0.
struct pipeline_times {
  std::vector<double> forward{}, backward{}, weights{};  ///< for each stage, the seconds of a pass
  double transfer_seconds = 0;                           ///< the seconds of a movement to another group of workers

  PARTITA_DECL double of(const pipeline_task& one) const;  ///< The seconds of a task.
};

/// For each group of workers, its tasks in their order.
using pipeline_tasks = std::vector<std::vector<pipeline_task>>;
/// Whether the tasks contain separate passes for the gradients of weights.
PARTITA_DECL bool has_weights(const pipeline_tasks& tasks);

/// The tasks of a pipeline in one of the usual orders.
/// Requires: a stage and a micro-batch; lists of times >= 0, one for each stage, or empty lists [partition_error].
PARTITA_DECL pipeline_tasks tasks_of(pipeline_order order, const pipeline_shape& shape, const pipeline_times& times);

/// A task with its group and its start and end times.
struct simulated_task {
  pipeline_task task{};        ///< the task that was executed
  std::uint32_t group = 0;     ///< the group of workers that executes the task
  double from = 0, until = 0;  ///< its start and end, in seconds since the run began
};
/// A simulated run of a pipeline: the tasks in the order in which they begin.
struct pipeline_run {
  std::vector<simulated_task> tasks{};  ///< in the order in which they begin
  double seconds = 0;                   ///< the time until the last task has ended
  /// The fraction of the time of all groups in which they compute nothing: (stages - 1) / (micro-batches + stages - 1)
  /// for `one_forward_one_backward` with equal stages, one for each group, and no time for transfers.
  double idle = 0;
  std::uint32_t most_kept = 0;  ///< the most micro-batches of which one stage keeps forward values
};

/// Simulates a pipeline whose groups execute their tasks in these orders. A task begins when its group has finished the
/// group's earlier tasks, and the task's inputs have arrived: from the stage before (forward), from the next stage and
/// the stage's own forward pass (backward), from the stage's own backward pass (weights).
/// Requires: what `tasks_of` requires; each task once, by the group of its stage; the backward passes of a stage, and
///           the passes of its weights, in ascending order of micro-batches, so that gradients are summed in one order
///           [partition_error]; an order without a deadlock [partition_error, which names the cycle of tasks].
PARTITA_DECL pipeline_run simulate(const pipeline_shape& shape, const pipeline_tasks& tasks,
                                   const pipeline_times& times);

/// Writes a task, such as "backward of stage 1 for micro-batch 0".
template <std::size_t Capacity>
basic_text<Capacity>& operator<<(basic_text<Capacity>& out, const pipeline_task& one) {
  return out << name_of(one.pass) << " of stage " << one.stage << " for micro-batch " << one.micro_batch;
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/pipeline_order.ipp>
#endif
