// Defines the functions that sharded/detail/pipeline_stages.hpp declares.
#pragma once

#include <bit>
#include <partita/comm/fingerprint.hpp>
#include <partita/core/hash.hpp>
#include <partita/sharded/detail/pipeline_stages.hpp>
#include <utility>

namespace partita::detail {

PARTITA_DEF const traced_function& pipeline_stages::stage::program(std::size_t rows) const {
  for (std::size_t k = 0; k < row_counts.size(); ++k)
    if (row_counts[k] == rows) return programs[k];
  return programs.front();
}

PARTITA_DEF pipeline_stages::pipeline_stages(const world& everyone, const std::vector<pipeline_stage>& stages,
                                             const pipeline_options& options, std::uint64_t element_type) {
  place_stages(everyone, stages, options, element_type);
  trace_stages(stages);
  agree_on_pipeline(everyone, options);
}

PARTITA_DEF void pipeline_stages::place_stages(const world& everyone, const std::vector<pipeline_stage>& stages,
                                               const pipeline_options& options, std::uint64_t element_type) {
  const auto are_on_same_workers = [](const placed_mesh& a, const placed_mesh& b) {
    return a.size() == b.size() && a.workers().contain(b.workers());
  };
  local_error wrong;
  if (stages.empty() || options.micro_batches == 0 || options.rows < options.micro_batches)
    wrong = local_error(text("partita::pipeline: requires stages, and at least one row for each micro-batch, got ")
                        << stages.size() << " stages and " << options.rows << " rows for " << options.micro_batches
                        << " micro-batches; give .rows and .micro_batches");
  for (std::size_t s = 0; s < stages.size() && !wrong.any(); ++s)
    if (!stages[s].program)
      wrong = local_error(text("partita::pipeline: requires a function that traces each stage, but stage ")
                          << s << " has none; give .program");
  hasher all;
  all.mix(stages.size()).mix(options.rows).mix(options.micro_batches).mix(element_type);
  agree_if_checked(*everyone.state(), all.value(), wrong,
                   [&] { return text("partita::pipeline of ") << stages.size() << " stages"; });
  for (const pipeline_stage& one : stages) {
    auto on = bound_mesh::of(everyone, one.where);
    std::uint32_t group = 0;
    for (std::uint32_t s = 0; s < stages_.size(); ++s) {
      if (are_on_same_workers(stages_[s].on->where(), on->where())) {
        group = shape_.group_of[s];
        break;
      }
      group = shape_.group_of[s] >= group ? shape_.group_of[s] + 1 : group;
    }
    shape_.group_of.push_back(group);
    stages_.push_back({std::move(on), {}, {}});
  }
  shape_.micro_batches = static_cast<std::uint32_t>(options.micro_batches);
  for (std::size_t m = 0; m < options.micro_batches; ++m)
    micro_batch_rows_.push_back(balanced_part(options.rows, options.micro_batches, m));
}

PARTITA_DEF void pipeline_stages::trace_stages(const std::vector<pipeline_stage>& stages) {
  for (std::size_t s = 0; s < stages.size(); ++s)
    for (const interval& part : micro_batch_rows_) {
      const std::size_t rows = part.stop - part.start;
      stage& one = stages_[s];
      if (!one.row_counts.empty() && one.row_counts.back() == rows) continue;
      one.row_counts.push_back(rows);
      one.programs.push_back(stages[s].program(rows));
    }
}

PARTITA_DEF void pipeline_stages::agree_on_pipeline(const world& everyone, const pipeline_options& options) {
  local_error wrong;
  hasher all;
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    all.mix(stages_[s].on->fingerprint());
    for (std::size_t p = 0; p < stages_[s].programs.size(); ++p) {
      const traced_function& program = stages_[s].programs[p];
      all.mix(program.fingerprint());
      const graph& g = program.operations();
      const std::size_t inputs = program.inputs_.size();
      if (wrong.any()) continue;
      if (inputs < arguments_before_parameters(s))
        wrong =
            local_error(text("partita::pipeline: requires that stage ")
                        << s << " has " << arguments_before_parameters(s) << " arguments before its parameters, got "
                        << inputs << "; the last stage has the targets as its second argument");
      else if (const std::size_t k = argument_with_wrong_rows(s, p); k < 2)
        wrong = local_error(text("partita::pipeline: requires that stage ")
                            << s << " takes " << stages_[s].row_counts[p] << " rows of the "
                            << (k == 0 ? "inputs" : "targets") << ", got extents " << g[program.inputs_[k]].shape
                            << "; trace it for the number of rows with which its .program is called");
      else if (!(g.on() == stages_[s].on->mesh()))
        wrong = {failure::partition, text("partita::pipeline: requires that stage ")
                                         << s << " is traced on the mesh that is placed, " << stages_[s].on->mesh()
                                         << ", got " << g.on() << "; place the mesh of its layouts"};
      else if (s > 0 && !(g[program.inputs_[0]].shape == result_shape(s - 1, p)))
        wrong = local_error(text("partita::pipeline: requires that a stage takes what the stage before makes, "
                                 "but stage ")
                            << s << " takes extents " << g[program.inputs_[0]].shape << ", and stage " << s - 1
                            << " makes " << result_shape(s - 1, p) << "; trace both for the same rows");
      else if (s + 1 == stages_.size() && shape_size(g[program.result_].shape) != 1)
        wrong = local_error(text("partita::pipeline: requires that the last stage makes the loss, of one "
                                 "element, got extents ")
                            << g[program.result_].shape << "; take the mean over the rows in it");
    }
  }
  all.mix(static_cast<std::size_t>(options.order));
  for (const auto* list : {&options.times.forward, &options.times.backward, &options.times.weights}) {
    all.mix(list->size());
    for (const double one : *list) all.mix(std::bit_cast<std::uint64_t>(one));
  }
  all.mix(std::bit_cast<std::uint64_t>(options.times.transfer_seconds)).mix(options.memory);
  for (const auto& list : options.tasks) {
    all.mix(list.size());
    for (const pipeline_task& one : list)
      all.mix(static_cast<std::size_t>(one.pass)).mix(one.stage).mix(one.micro_batch);
  }
  fingerprint_ = all.value();
  agree_if_checked(*everyone.state(), fingerprint_, wrong,
                   [&] { return text("partita::pipeline of ") << stages_.size() << " stages"; });
}

PARTITA_DEF std::size_t pipeline_stages::argument_with_wrong_rows(std::size_t stage, std::size_t k) const {
  const traced_function& program = stages_[stage].programs[k];
  const auto has_expected_rows = [&](std::size_t argument) {
    const shape_list& extents = program.operations()[program.inputs_[argument]].shape;
    return extents.size() > 0 && extents[0] == stages_[stage].row_counts[k];
  };
  if (stage == 0 && !has_expected_rows(0)) return 0;
  return stage + 1 == stages_.size() && !has_expected_rows(1) ? 1 : 2;
}

PARTITA_DEF shape_list pipeline_stages::result_shape(std::size_t stage, std::size_t k) const {
  const traced_function& program = stages_[stage].programs[k];
  return program.operations()[program.result_].shape;
}

}  // namespace partita::detail
