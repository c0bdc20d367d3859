// The order in which the workers of a pipeline do the passes of its stages for each micro-batch, and a simulation of
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/core/text.hpp>
#include <vector>

namespace partita {

/// What a stage does for one micro-batch.
enum class pipeline_pass : std::uint8_t {
  forward,
  backward,  ///< the cotangent of its input, and of its weights unless they have a pass of their own
  weights    ///< the gradients of its weights
};
constexpr const char* name_of(pipeline_pass pass) {
  constexpr const char* names[] = {"forward", "backward", "weights"};
  return names[static_cast<std::size_t>(pass)];
}

/// One pass of one stage for one micro-batch.
struct pipeline_task {
  pipeline_pass pass = pipeline_pass::forward;
  std::uint32_t stage = 0, micro_batch = 0;

  friend bool operator==(const pipeline_task&, const pipeline_task&) = default;
};

/// How a pipeline orders its tasks.
enum class pipeline_order : std::uint8_t {
  gpipe,                     ///< all forward passes, then all backward passes
  one_forward_one_backward,  ///< a backward pass as soon as there is one; few micro-batches are kept at one time
  interleaved,               ///< the same where each group of workers has several stages, the later ones first
  zero_bubble                ///< the gradients of weights fill the times in which others wait
};

/// The shape of a pipeline: its stages, the group of workers that has each stage, and its micro-batches.
struct pipeline_shape {
  std::vector<std::uint32_t> group_of{};  ///< for each stage
  std::uint32_t micro_batches = 1;

  std::uint32_t stages() const { return static_cast<std::uint32_t>(group_of.size()); }
  PARTITA_DECL std::uint32_t groups() const;
  /// A number for each pass of each stage and micro-batch, below `numbers()`.
  std::size_t number(const pipeline_task& one) const {
    return (static_cast<std::size_t>(one.pass) * stages() + one.stage) * micro_batches + one.micro_batch;
  }
  std::size_t numbers() const { return std::size_t{3} * stages() * micro_batches; }
};

/// Seconds of the passes of each stage for one micro-batch, and of a movement between two stages. An empty list is one
/// of zeros.
struct pipeline_times {
  std::vector<double> forward{}, backward{}, weights{};
  double moving = 0;

  PARTITA_DECL double of(const pipeline_task& one) const;
};

/// For each group of workers what it does, in order.
using pipeline_tasks = std::vector<std::vector<pipeline_task>>;
/// Whether the gradients of weights have a pass of their own.
PARTITA_DECL bool has_weights(const pipeline_tasks& tasks);

/// The tasks of a pipeline in one of the usual orders.
/// Requires: a stage and a micro-batch; times that are numbers from 0 on, of all stages or of none [partition_error].
PARTITA_DECL pipeline_tasks tasks_of(pipeline_order order, const pipeline_shape& shape, const pipeline_times& times);

/// A task with the times between which it is done.
struct simulated_task {
  pipeline_task task{};
  std::uint32_t group = 0;
  double from = 0, until = 0;
};
/// A run of a pipeline, in the order in which tasks begin.
struct pipeline_run {
  std::vector<simulated_task> tasks{};
  double seconds = 0;
  /// The share of the time of all groups in which they do nothing: (stages - 1) / (micro-batches + stages - 1) of
  /// `one_forward_one_backward` with equal stages.
  double idle = 0;
  std::uint32_t most_kept = 0;  ///< the most micro-batches whose forward values one stage keeps at one time
};

/// Simulates tasks in these orders. A task begins when its group has done the tasks before it, and what it needs has
/// arrived: of the stage before (forward), of the stage behind and its own forward pass (backward), of its own backward
/// pass (weights).
/// Requires: what `tasks_of` requires; each task once, by the group that has its stage; the backward passes of a stage,
///           and the passes of its weights, in ascending order of micro-batches, so that gradients are summed in one
///           order [partition_error]; an order in which nothing waits for ever [partition_error, which names the
///           circle].
PARTITA_DECL pipeline_run simulate(const pipeline_shape& shape, const pipeline_tasks& tasks,
                                   const pipeline_times& times);

/// Writes a task: "backward of stage 1 for micro-batch 0".
template <std::size_t Capacity>
basic_text<Capacity>& operator<<(basic_text<Capacity>& out, const pipeline_task& one) {
  return out << name_of(one.pass) << " of stage " << one.stage << " for micro-batch " << one.micro_batch;
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/pipeline_order.ipp>
#endif
