// The stages of a pipeline, and the options of its training step.
#pragma once

#include <cstddef>
#include <functional>
#include <partita/plan/pipeline_order.hpp>
#include <partita/sharded/schedule_options.hpp>
#include <partita/sharded/traced_function.hpp>

namespace partita {

/// One stage of a pipeline: a function that traces the program of the stage for a number of rows, and the mesh on whose
/// workers the stage runs.
///   {[&](std::size_t rows) { return trace(block, spec(m.layout("data", ""), {rows, 64}), spec({64, 64})); },
///    placed_mesh(m, workers(0, 2))}
/// The first argument of the program is a micro-batch: of the inputs in the first stage, of the results of the stage
/// before it in every other stage. In the last stage the second argument is the micro-batch of the targets, and the
/// result is the loss: one element, the mean over the rows of the micro-batch. The other arguments of the program are
/// the parameters of the stage.
struct pipeline_stage {
  std::function<traced_function(std::size_t rows)> program{};  ///< traces the stage for a micro-batch of so many rows
  placed_mesh where;                                           ///< the mesh of the stage, and its workers
};

struct pipeline_options {  ///< the options of a training step of a pipeline
  std::size_t rows = 0;    ///< the number of rows of the whole batch, before it is divided into micro-batches
  /// The number of micro-batches of a batch. Micro-batches are as equal as possible; the last ones may have one row
  /// fewer.
  std::size_t micro_batches = 1;
  pipeline_order order = pipeline_order::one_forward_one_backward;  ///< of the tasks, if `tasks` is empty
  /// The order of the tasks of each group of workers; if `tasks` is empty, `order` determines the order. Groups are
  /// numbered in the order of their first stages.
  pipeline_tasks tasks{};
  /// The times by which the order is simulated. Without times, all stages count as equally long, and a backward pass as
  /// twice as long as a forward pass.
  pipeline_times times{};
  /// The most bytes of storage for intermediate values that any worker may use. If the order needs more, all workers
  /// throw an error that states the bytes that it needs, and the bytes that suffice if one micro-batch is computed
  /// after the other.
  std::size_t memory = schedule_options::unlimited;
};

}  // namespace partita
