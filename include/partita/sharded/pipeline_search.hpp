// Searches for the stages, the layouts and the number of micro-batches with which a training step of a network takes
// the least estimated time.
#pragma once

#include <cstddef>
#include <functional>
#include <partita/core/config.hpp>
#include <partita/plan/pipeline_order.hpp>
#include <partita/plan/search.hpp>
#include <partita/plan/step_plan.hpp>
#include <vector>

namespace partita {

/// A network of consecutive layers, and the number of workers that train it.
struct pipeline_network {
  std::size_t layers = 1, workers = 1;  ///< the numbers of layers and of workers
  std::size_t rows = 1;                 ///< the number of rows of a batch
  /// Returns the layers with numbers from `first` to `last` - 1 as a program on a mesh of `workers` workers, for a
  /// micro-batch of `rows` rows. The first input of the program is the result of the previous stage; its last value is
  /// the result for the next stage.
  std::function<graph(std::size_t workers, std::size_t first, std::size_t last, std::size_t rows)> program{};
};

/// The options of a search of a pipeline: the candidates, and the model of their costs.
struct pipeline_search_options {
  mesh_links links{};                    ///< the links of the mesh of a stage
  mesh_link between{};                   ///< the link from one stage to the next
  std::size_t memory = ~std::size_t{0};  ///< the most bytes that each worker may use
  std::vector<std::size_t> stages{};  ///< numbers of stages to try; empty: all divisors of the workers up to `layers`
  std::vector<std::size_t> micro_batches{1, 2, 4, 8, 16, 32};  ///< the numbers of micro-batches to try
  /// The orders of tasks to try.
  std::vector<pipeline_order> orders{pipeline_order::one_forward_one_backward, pipeline_order::gpipe,
                                     pipeline_order::zero_bubble};
  search_options layouts{};  ///< the options of the search of the layouts of each stage
};

/// One stage of the found pipeline: its layers, the layouts of its inputs and weights, and the cost of a micro-batch.
struct found_stage {
  std::size_t first_layer = 0, end_layer = 0;  ///< the layers from first_layer to end_layer - 1
  search_candidate layouts{};                  ///< of the stage's inputs and weights
};

/// The fastest pipeline that was found. A pipeline of one stage is a training step without a pipeline.
struct pipeline_answer {
  std::vector<found_stage> stages{};                                ///< first stage first
  std::size_t workers_of_stage = 1, micro_batches = 1;              ///< workers of each stage; micro-batches of a batch
  pipeline_order order = pipeline_order::one_forward_one_backward;  ///< of the tasks
  pipeline_times times{};                                           ///< the times of the stages, for one micro-batch
  pipeline_run run{};                                               ///< the run that was simulated with these times
  double update_seconds = 0;   ///< the seconds of the optimiser's update in each step, on the slowest stage
  std::size_t peak = 0;        ///< the most bytes on a worker: weights, optimiser states, kept micro-batches
  std::size_t candidates = 0;  ///< the number of pipelines that were compared

  double seconds() const { return run.seconds + update_seconds; }  ///< the estimated time of a training step
};

/// Finds the number of stages, the layers and layouts of each stage, the number of micro-batches, and the order of
/// their tasks that together, of all combinations that are tried, minimise the estimated time of a training step. Every
/// stage has the same number of workers. The layers are divided so that, by the times of single layers, the longest
/// stage is as short as possible; the layouts of a stage are found by `search`, for one micro-batch. If an order
/// computes the gradients of weights in separate tasks, these tasks count as half of the backward pass.
/// Requires: a program for each stage; at least one number of stages that divides the workers [partition_error]; a
///           pipeline that fits into `memory` [partition_error, which states the least memory that was found].
/// Cost:     a search for each layer and each stage, for each number of stages and of rows; no communication.
PARTITA_DECL pipeline_answer search_pipeline(const pipeline_network& network,
                                             const pipeline_search_options& options = {});

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/sharded/impl/pipeline_search.ipp>
#endif
