// The stages of a pipeline on their workers, traced for each number of rows of a micro-batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/core/config.hpp>
#include <partita/plan/cut.hpp>
#include <partita/plan/pipeline_order.hpp>
#include <partita/sharded/detail/bound_mesh.hpp>
#include <partita/sharded/pipeline_options.hpp>
#include <partita/sharded/traced_function.hpp>
#include <vector>

namespace partita::detail {

/// The stages of a pipeline, which fit together and must be equal on all workers.
class pipeline_stages {
 public:
  /// A stage, its mesh on workers, and its program for each size of a micro-batch.
  struct stage {
    std::shared_ptr<bound_mesh> on;         ///< the mesh of the stage
    std::vector<std::size_t> row_counts;    ///< the number of rows for which each program was traced
    std::vector<traced_function> programs;  ///< the traced program for each of the row_counts

    /// The program for micro-batches of `rows` rows.
    PARTITA_DECL const traced_function& program(std::size_t rows) const;
  };

  pipeline_stages() = default;
  /// Traces the stages for elements of the type whose type_number() is `element_type`. Collective: all workers agree
  /// (except at checks::local) that their stages and options are equal and fit together, or throw the same error.
  PARTITA_DECL pipeline_stages(const world& everyone, const std::vector<pipeline_stage>& stages,
                               const pipeline_options& options, std::uint64_t element_type);

  std::size_t size() const { return stages_.size(); }  ///< the number of stages
  const stage& operator[](std::size_t k) const { return stages_[k]; }
  const pipeline_shape& shape() const { return shape_; }  ///< the workers of the stages, and the micro-batches
  /// For each micro-batch, the interval of its rows among the rows of the batch.
  const std::vector<interval>& micro_batch_rows() const { return micro_batch_rows_; }
  /// The number of arguments of a stage before its parameters.
  std::size_t arguments_before_parameters(std::size_t k) const { return k + 1 == stages_.size() ? 2 : 1; }
  /// A hash of the stages and of the options, which is equal on all workers.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  /// Checks the options, and sets the meshes of the stages, the shape of the pipeline and the rows of micro-batches.
  PARTITA_DECL void place_stages(const world& everyone, const std::vector<pipeline_stage>& stages,
                                 const pipeline_options& options, std::uint64_t element_type);
  PARTITA_DECL void trace_stages(const std::vector<pipeline_stage>& stages);  ///< once for each size of a micro-batch
  /// Makes all workers agree that their stages and options are equal and fit together, or throw the same error.
  PARTITA_DECL void agree_on_pipeline(const world& everyone, const pipeline_options& options);
  /// The first argument of program number `program` of a stage that must have one row per sample but has a different
  /// number of rows: 0 (inputs) or 1 (targets); or 2 if there is no such argument.
  PARTITA_DECL std::size_t argument_with_wrong_rows(std::size_t stage, std::size_t program) const;
  PARTITA_DECL shape_list result_shape(std::size_t stage, std::size_t program) const;  ///< of a stage's program

  std::vector<stage> stages_;               ///< the stages, in the order in which data pass them
  pipeline_shape shape_;                    ///< see shape()
  std::vector<interval> micro_batch_rows_;  ///< see micro_batch_rows()
  std::uint64_t fingerprint_ = 0;           ///< see fingerprint()
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/pipeline_stages.ipp>
#endif
