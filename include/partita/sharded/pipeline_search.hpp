// The stages, layouts and micro-batches by which a step of a network in layers takes the least estimated time.
#pragma once

#include <cstddef>
#include <functional>
#include <partita/core/config.hpp>
#include <partita/plan/pipeline_order.hpp>
#include <partita/plan/search.hpp>
#include <partita/plan/step_plan.hpp>
#include <vector>

namespace partita {

/// A network in layers, one after the other, and the number of workers that train it.
struct pipeline_network {
  std::size_t layers = 1, workers = 1;
  std::size_t rows = 1;  ///< of a batch
  /// The layers from `first` to before `last` as a program on a mesh of so many workers, for a micro-batch of so many
  /// rows. Its first input is what arrives from the stage before, its last value goes to the next stage.
  std::function<graph(std::size_t workers, std::size_t first, std::size_t last, std::size_t rows)> program{};
};

/// What a search of a pipeline compares, and by which model.
struct pipeline_search_options {
  mesh_links links{};                    ///< of the mesh of a stage
  mesh_link between{};                   ///< from one stage to the next
  std::size_t memory = ~std::size_t{0};  ///< bytes of each worker
  std::vector<std::size_t> stages{};     ///< numbers of stages; if it is empty, all that divide the workers
  std::vector<std::size_t> micro_batches{1, 2, 4, 8, 16, 32};
  std::vector<pipeline_order> orders{pipeline_order::one_forward_one_backward, pipeline_order::gpipe,
                                     pipeline_order::zero_bubble};
  search_options layouts{};  ///< by which the layouts of each stage are found
};

/// One stage of the answer: its layers, the layouts of its inputs and weights, and the cost of one micro-batch.
struct found_stage {
  std::size_t first = 0, last = 0;
  search_candidate layouts{};
};

/// The fastest pipeline that was found; one stage is a step without a pipeline.
struct pipeline_answer {
  std::vector<found_stage> stages{};
  std::size_t workers_of_stage = 1, micro_batches = 1;
  pipeline_order order = pipeline_order::one_forward_one_backward;
  pipeline_times times{};      ///< of the stages, for one micro-batch
  pipeline_run run{};          ///< simulated with these times
  double updating = 0;         ///< seconds of the optimiser, once for each step
  std::size_t peak = 0;        ///< bytes of a worker: weights, states, and the micro-batches that a stage keeps
  std::size_t candidates = 0;  ///< pipelines that were compared

  double seconds() const { return run.seconds + updating; }
};

/// Finds the number of stages, their layers and layouts, the number of micro-batches and their order that minimise the
/// estimated time of a training step. All stages have equally many workers. The layers are divided so that the longest
/// stage is as short as possible by the times of single layers; the layouts of a stage are those of `search`, for one
/// micro-batch. Of backward passes half are taken to be the gradients of weights where an order separates them.
/// Requires: a program of each stage; at least one number of stages that divides the workers [partition_error]; a
///           pipeline that fits into `memory` [partition_error, which names the least that was found].
/// Cost:     a search for each layer and each stage, for each number of stages and of rows; no communication.
PARTITA_DECL pipeline_answer search_pipeline(const pipeline_network& network,
                                             const pipeline_search_options& options = {});

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/sharded/impl/pipeline_search.ipp>
#endif
