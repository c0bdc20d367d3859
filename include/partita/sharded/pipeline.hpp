// Pipeline parallelism: the stages of a network are on different workers, and micro-batches pass through them, forward
// and backward.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <partita/comm/numbers_by_worker.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/plan/pipeline_order.hpp>
#include <partita/sharded/detail/outside_tensors.hpp>
#include <partita/sharded/detail/pipeline_events.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/schedule_options.hpp>
#include <partita/sharded/traced_function.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// One stage of a pipeline: a function that traces its program for a number of rows, and its mesh on workers.
///   {[&](std::size_t rows) { return trace(block, spec(m.layout("data", ""), {rows, 64}), spec({64, 64})); },
///    placed_mesh(m, workers(0, 2))}
/// The first argument is the micro-batch: of the inputs in the first stage, then the result of the stage before. In the
/// last stage the second argument is the micro-batch of the targets, and the result is the loss, of one element, the
/// mean over the rows. The other arguments of the program are the parameters of the stage.
struct pipeline_stage {
  std::function<traced_function(std::size_t rows)> program{};
  placed_mesh where;
};

struct pipeline_options {
  std::size_t rows = 0;  ///< the number of rows of a batch
  /// The number of parts of a batch, which are as equal as possible; the last parts may have one row fewer.
  std::size_t micro_batches = 1;
  pipeline_order order = pipeline_order::one_forward_one_backward;
  /// The order of the tasks of each group of workers, if it is not one of the orders of `order`. Groups are numbered in
  /// the order of their first stages.
  pipeline_tasks tasks{};
  /// The times by which the order is simulated. Without times, all stages count as equally long, and a backward pass as
  /// twice as long as a forward pass.
  pipeline_times times{};
  /// The limit of bytes of storage for intermediate values on any worker. If the order needs more, all workers throw an
  /// error that states the bytes that it needs, and the least possible number of bytes.
  std::size_t memory = schedule_options::unlimited;
};

/// A training step of a network in stages: `pipeline<double> step(everyone, stages, {.rows = 64, .micro_batches = 8})`.
///   const auto& loss = step(x, targets, parameters);   // parameters[s] are those of stage s
///   const auto& gradients = step.gradients();          // gradients[s][k] of parameters[s][k]
/// The gradients are those of the mean over all rows. Gradients are summed in ascending order of micro-batches, so that
/// every order of the pipeline gives the same bits.
/// Shapes:   those with which the stages were traced [shape_error, on all workers].
/// Requires: stages on workers of the world; an order without deadlock, which is checked at construction
///           [partition_error, on all workers, which names the cycle].
/// Cost:     one agreement for each step, then the computation and movements of the stages. A result goes to the next
///           stage in one movement, which the receivers post early. A repeated step plans nothing.
template <class T>
class pipeline {
  static_assert(std::is_floating_point_v<T>,
                "partita::pipeline<T>: requires elements of float or double, as derivatives are no integers");

 public:
  using value_type = T;
  using parameters = std::vector<std::vector<sharded_tensor<T>>>;  ///< one list for each stage

  pipeline(const world& everyone, const std::vector<pipeline_stage>& stages, const pipeline_options& options)
      : all_workers_mesh_(detail::bound_mesh::of(everyone, placed_mesh(mesh{axis{"workers", everyone.size()}}))) {
    all_workers_mesh_->one_call([&] {
      find_shape(stages, options);
      trace_stages(stages);
      agree_on_pipeline(options);
      all_workers_mesh_->channels();
      record(options);
      order(options);
    });
  }

  PARTITA_FALLBACK_CONSTRUCTOR(pipeline) {
    static_assert(detail::dependent_false<T, Given...>,
                  "partita::pipeline<T>(everyone, stages, options): requires the world, a list of pipeline_stage, and "
                  "options that say their names; write pipeline<double> step(everyone, stages, {.rows = 64})");
  }

  /// Makes one training step. Returns the loss, the mean over all rows, on the mesh of the last stage.
  const sharded_tensor<T>& operator()(const sharded_tensor<T>& x, const sharded_tensor<T>& targets,
                                      const parameters& weights) {
    all_workers_mesh_->one_call([&] {
      agree(x, targets, weights);
      x_.take(steps_, x);
      targets_.take(steps_, targets);
      for (std::size_t s = 0; s < parameters_.size(); ++s)
        for (std::size_t k = 0; k < parameters_[s].size(); ++k) parameters_[s][k].take(steps_, weights[s][k]);
      detail::ensure_unique_memory(steps_, loss_, loss_block_number_);
      for (std::size_t s = 0; s < gradients_.size(); ++s)
        for (std::size_t k = 0; k < gradients_[s].size(); ++k)
          detail::ensure_unique_memory(steps_, gradients_[s][k], gradient_numbers_[s][k]);
      steps_.run(false);
    });
    x_.memory = targets_.memory = {};
    for (auto& of_stage : parameters_)
      for (auto& one : of_stage) one.memory = {};
    return loss_;
  }
  /// The gradients of the parameters in the last step. Each gradient has the layout of its parameter's cotangents.
  const parameters& gradients() const { return gradients_; }
  /// The simulated run of the pipeline that determined the order of its tasks.
  const pipeline_run& simulated() const { return run_; }
  /// The measured times of this worker's last step. Times are measured from the first call of measured() on.
  timetable measured() { return steps_.measured(); }
  /// The bytes of storage for the intermediate values of all stages on this worker.
  std::size_t bytes_held() const { return steps_.bytes_held(); }

 private:
  using numbers = detail::pipeline_numbering;
  /// A stage, its mesh on workers, and its program for each size of a micro-batch.
  struct stage_on_workers {
    std::shared_ptr<detail::bound_mesh> on;
    std::vector<std::size_t> rows;  ///< the rows for which each of the programs was traced
    std::vector<traced_function> programs;

    const traced_function& program(std::size_t program_for_rows) const {
      for (std::size_t k = 0; k < rows.size(); ++k)
        if (rows[k] == program_for_rows) return programs[k];
      return programs.front();
    }
  };

  static bool are_on_same_workers(const placed_mesh& a, const placed_mesh& b) {
    return a.size() == b.size() && a.workers().contain(b.workers());
  }
  void find_shape(const std::vector<pipeline_stage>& stages, const pipeline_options& options) {
    detail::local_error wrong;
    if (stages.empty() || options.micro_batches == 0 || options.rows < options.micro_batches)
      wrong = detail::local_error(
          text("partita::pipeline: requires stages, and at least one row for each micro-batch, got ")
          << stages.size() << " stages and " << options.rows << " rows for " << options.micro_batches
          << " micro-batches; give .rows and .micro_batches");
    for (std::size_t s = 0; s < stages.size() && !wrong.any(); ++s)
      if (!stages[s].program)
        wrong = detail::local_error(text("partita::pipeline: requires a function that traces each stage, but stage ")
                                    << s << " has none; give .program");
    hasher all;
    all.mix(stages.size()).mix(options.rows).mix(options.micro_batches).mix(detail::type_number<T>());
    detail::agree_if_checked(*all_workers_mesh_->everyone().state(), all.value(), wrong,
                             [&] { return text("partita::pipeline of ") << stages.size() << " stages"; });
    for (const pipeline_stage& one : stages) {
      auto on = detail::bound_mesh::of(all_workers_mesh_->everyone(), one.where);
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
      parts_.push_back(balanced_part(options.rows, options.micro_batches, m));
  }
  void trace_stages(const std::vector<pipeline_stage>& stages) {
    for (std::size_t s = 0; s < stages.size(); ++s)
      for (const interval& part : parts_) {
        const std::size_t rows = part.stop - part.start;
        stage_on_workers& one = stages_[s];
        if (!one.rows.empty() && one.rows.back() == rows) continue;
        one.rows.push_back(rows);
        one.programs.push_back(stages[s].program(rows));
      }
  }
  std::size_t first_parameter(std::size_t stage) const { return stage + 1 == stages_.size() ? 2 : 1; }

  /// Makes all workers agree that their stages and options are equal and fit together, or throw the same error.
  void agree_on_pipeline(const pipeline_options& options) {
    detail::local_error wrong;
    hasher all;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      all.mix(stages_[s].on->fingerprint());
      for (std::size_t p = 0; p < stages_[s].programs.size(); ++p) {
        const traced_function& program = stages_[s].programs[p];
        all.mix(program.fingerprint());
        const graph& g = program.operations();
        const std::size_t inputs = program.inputs_.size();
        if (wrong.any()) continue;
        if (inputs < first_parameter(s))
          wrong = detail::local_error(text("partita::pipeline: requires that stage ")
                                      << s << " has " << first_parameter(s) << " arguments before its parameters, got "
                                      << inputs << "; the last stage has the targets as its second argument");
        else if (const std::size_t k = second_row_count(s, p); k < 2)
          wrong =
              detail::local_error(text("partita::pipeline: requires that stage ")
                                  << s << " takes " << stages_[s].rows[p] << " rows of the "
                                  << (k == 0 ? "inputs" : "targets") << ", got extents " << g[program.inputs_[k]].shape
                                  << "; trace it for the number of rows with which its .program is called");
        else if (!(g.on() == stages_[s].on->mesh()))
          wrong = {detail::failure::partition, text("partita::pipeline: requires that stage ")
                                                   << s << " is traced on the mesh that is placed, "
                                                   << stages_[s].on->mesh() << ", got " << g.on()
                                                   << "; place the mesh of its layouts"};
        else if (s > 0 && !(g[program.inputs_[0]].shape == result_shape(s - 1, p)))
          wrong =
              detail::local_error(text("partita::pipeline: requires that a stage takes what the stage before makes, "
                                       "but stage ")
                                  << s << " takes extents " << g[program.inputs_[0]].shape << ", and stage " << s - 1
                                  << " makes " << result_shape(s - 1, p) << "; trace both for the same rows");
        else if (s + 1 == stages_.size() && detail::shape_size(g[program.result_].shape) != 1)
          wrong = detail::local_error(text("partita::pipeline: requires that the last stage makes the loss, of one "
                                           "element, got extents ")
                                      << g[program.result_].shape << "; take the mean over the rows in it");
      }
    }
    all.mix(static_cast<std::size_t>(options.order));
    for (const auto* list : {&options.times.forward, &options.times.backward, &options.times.weights}) {
      all.mix(list->size());
      for (const double one : *list) all.mix(std::bit_cast<std::uint64_t>(one));
    }
    all.mix(std::bit_cast<std::uint64_t>(options.times.moving)).mix(options.memory);
    for (const auto& list : options.tasks) {
      all.mix(list.size());
      for (const pipeline_task& one : list)
        all.mix(static_cast<std::size_t>(one.pass)).mix(one.stage).mix(one.micro_batch);
    }
    fingerprint_ = all.value();
    detail::agree_if_checked(*all_workers_mesh_->everyone().state(), fingerprint_, wrong,
                             [&] { return text("partita::pipeline of ") << stages_.size() << " stages"; });
  }
  /// The first argument (0 or 1) of a stage that has one row per sample but was traced for another number of rows; or 2
  /// if there is none.
  std::size_t second_row_count(std::size_t stage, std::size_t k) const {
    const traced_function& program = stages_[stage].programs[k];
    const auto has_other_rows = [&](std::size_t argument) {
      const shape_list& extents = program.operations()[program.inputs_[argument]].shape;
      return extents.size() > 0 && extents[0] == stages_[stage].rows[k];
    };
    if (stage == 0 && !has_other_rows(0)) return 0;
    return stage + 1 == stages_.size() && !has_other_rows(1) ? 1 : 2;
  }
  shape_list result_shape(std::size_t stage, std::size_t k) const {
    const traced_function& program = stages_[stage].programs[k];
    return program.operations()[program.result_].shape;
  }

  /// Records the steps of all passes of all stages.
  void record(const pipeline_options& options) {
    const detail::scoped_value<detail::step_list*> now(detail::run_state.steps, &steps_);
    const numbers number{shape_.stages(), shape_.micro_batches};
    const std::size_t stages = stages_.size();
    // 1. Make the arguments of stages that the caller passes: parameters, data and targets.
    const auto argument = [&](std::size_t s, std::size_t k, detail::outside_argument& one, std::size_t rows) {
      const traced_function& program = stages_[s].programs.front();
      shape_list extents = program.operations()[program.inputs_[k]].shape;
      if (rows > 0) extents[0] = rows;
      return one.template recorded<T>(steps_, stages_[s].on,
                                      traced_function::laid(program.complete()[program.inputs_[k]]), extents);
    };
    steps_.begin_task(number.of(numbers::forward, 0, 0));
    const sharded_tensor<T> x = argument(0, 0, x_, options.rows);
    const sharded_tensor<T> targets = argument(stages - 1, 1, targets_, options.rows);
    parameters weights(stages), sums(stages);
    parameters_.resize(stages), gradients_.resize(stages), gradient_numbers_.resize(stages);
    for (std::size_t s = 0; s < stages; ++s) {
      parameters_[s].resize(stages_[s].programs.front().inputs_.size() - first_parameter(s));
      for (std::size_t k = 0; k < parameters_[s].size(); ++k)
        weights[s].push_back(argument(s, first_parameter(s) + k, parameters_[s][k], 0));
      sums[s].resize(parameters_[s].size());
    }
    sharded_tensor<T> loss;
    for (std::uint32_t m = 0; m < shape_.micro_batches; ++m) {
      const std::size_t rows = parts_[m].stop - parts_[m].start;
      const T share = static_cast<T>(rows) / static_cast<T>(options.rows);
      const auto part_of = [&](const sharded_tensor<T>& all) { return slice(all, dimensions<0>, parts_[m]); };
      // 2. Record the forward passes. Each stage of the pipeline has its own tape.
      std::vector<std::vector<sharded_tensor<T>>> arguments(stages);
      std::vector<sharded_tensor<T>> made;
      for (std::uint32_t s = 0; s < stages; ++s) {
        const traced_function& program = stages_[s].program(rows);
        if (s > 0) steps_.begin_task(number.of(numbers::y_move, s - 1, m));
        sharded_tensor<T> input = s == 0 ? sharded_tensor<T>()
                                         : reshard(detail::detach(made.back()), stages_[s].on->where(),
                                                   traced_function::laid(program.complete()[program.inputs_[0]]));
        steps_.begin_task(number.of(numbers::forward, s, m));
        if (s == 0) input = part_of(x);
        arguments[s].push_back(s == 0 ? input : detail::parameter_of(input));
        if (s + 1 == stages) arguments[s].push_back(part_of(targets));
        for (const sharded_tensor<T>& one : weights[s]) arguments[s].push_back(detail::parameter_of(one));
        const sharded_tensor<T> y = program.template run<T>(arguments[s]);
        made.push_back(y.layout().is_partial() ? reshard(y, y.layout().finished()) : y);
      }
      // 3. Record the backward passes, which begin with the share of the micro-batch in the mean. Backward passes also
      // sum the loss, because they are in ascending order of micro-batches, which forward passes may not be.
      steps_.begin_task(number.of(numbers::backward, shape_.stages() - 1, m));
      loss = weighted_sum(loss, detail::detach(made.back()), share);
      sharded_tensor<T> dy;
      for (auto s = static_cast<std::uint32_t>(stages); s-- > 0;) {
        if (s + 1 == stages) {
          detail::tensor_block<T> seed{made[s].state()->block.shape};
          seed.fill(share);
          dy = detail::tensor_of(stages_[s].on, made[s].layout(), made[s].extents(), std::move(seed));
        } else {
          steps_.begin_task(number.of(numbers::dy_move, s + 1, m));
          dy = reshard(dy, stages_[s].on->where(), detail::cotangent_sharding(made[s].layout()));
        }
        steps_.begin_task(number.of(numbers::backward, s, m));
        detail::run_backward(made[s], dy);
        if (s > 0) {
          dy = detail::gradient_of(arguments[s][0]);
          if (dy.layout().is_partial()) dy = reshard(dy, dy.layout().finished());
        }
        for (std::size_t k = 0; k < sums[s].size(); ++k) {
          const auto own = detail::detach(detail::gradient_of(arguments[s][first_parameter(s) + k]));
          const detail::scoped_value<bool> back(detail::run_state.is_backward, true);
          sums[s][k] = m == 0 ? own : detail::add_tensors(sums[s][k], own);
        }
      }
    }
    // 4. Make the loss and the gradients, which are the results.
    steps_.begin_task(number.of(numbers::backward, shape_.stages() - 1, shape_.micro_batches - 1));
    loss_ = detail::outside_result(steps_, loss, loss_block_number_);
    for (std::uint32_t s = 0; s < stages; ++s) {
      steps_.begin_task(number.of(numbers::backward, s, shape_.micro_batches - 1));
      for (const sharded_tensor<T>& one : sums[s])
        gradients_[s].push_back(detail::outside_result(steps_, one, gradient_numbers_[s].emplace_back()));
    }
  }
  static sharded_tensor<T> weighted_sum(const sharded_tensor<T>& sum, const sharded_tensor<T>& one, T share) {
    const auto& state = *one.state();
    const detail::tensor_block<T> y = detail::new_block<T>(state.block.shape);
    std::vector<detail::tensor_block<T>> x{state.block};
    if (sum.state()) x.push_back(sum.state()->block);
    if (state.on->active())
      detail::run_step(x, y, [share, n = x.size()](const T* const* from, T* to) {
        *to = n > 1 ? from[1][0] + share * from[0][0] : share * from[0][0];
      });
    return detail::tensor_of(state.on, one.layout(), one.extents(), y);
  }

  void order(const pipeline_options& options) {
    pipeline_times times = options.times;
    const std::size_t stages = stages_.size();
    const bool apart = options.order == pipeline_order::zero_bubble || has_weights(options.tasks);
    if (times.forward.empty()) times.forward.assign(stages, 1);
    if (times.backward.empty()) times.backward.assign(stages, apart ? 1 : 2);
    if (times.weights.empty()) times.weights.assign(stages, 1);
    run_ = simulate(shape_, options.tasks.empty() ? tasks_of(options.order, shape_, times) : options.tasks, times);
    const auto events = [&](const pipeline_run& run) { return detail::pipeline_events(shape_, run, steps_.uses()); };
    const std::size_t most =
        options.memory == schedule_options::unlimited ? 0 : steps_.most_bytes(*all_workers_mesh_, events(run_));
    if (most > options.memory)
      throw error(text("partita::pipeline: requires .memory for the intermediate values of a worker, of which this "
                       "order takes ")
                  << most << " bytes, and one micro-batch after the other "
                  << steps_.most_bytes(*all_workers_mesh_, events(simulate(shape_, order_of_least_memory(), times)))
                  << ", got " << options.memory
                  << "; give that much, or choose an order that keeps fewer micro-batches");
    steps_.plan_steps(*all_workers_mesh_, events(run_));
  }
  /// The order that needs the least memory: each micro-batch passes through all stages, forward and backward, before
  /// the next micro-batch.
  pipeline_tasks order_of_least_memory() const {
    pipeline_tasks tasks(shape_.groups());
    const std::uint32_t stages = shape_.stages();
    for (std::uint32_t m = 0; m < shape_.micro_batches; ++m)
      for (std::uint32_t k = 0; k < 2 * stages; ++k) {
        const bool is_forward = k < stages;
        const std::uint32_t stage = is_forward ? k : 2 * stages - 1 - k;
        tasks[shape_.group_of[stage]].push_back(
            {is_forward ? pipeline_pass::forward : pipeline_pass::backward, stage, m});
      }
    return tasks;
  }
  /// Makes all workers agree that they passed tensors that fit and have equal layouts and operation numbers.
  void agree(const sharded_tensor<T>& x, const sharded_tensor<T>& targets, const parameters& weights) {
    hasher all(fingerprint_);
    detail::local_error wrong;
    const auto see = [&](const detail::tensor_argument& given, const detail::outside_argument& expected,
                         const text& name) {
      given.add_to_hash(all);
      if (wrong.any()) return;
      if (!(*given.extents == expected.extents))
        wrong = detail::local_error(text("partita::pipeline(x, targets, parameters): ")
                                    << name << " has extents " << expected.extents << " in the pipeline, got "
                                    << *given.extents << "; give that, or make a pipeline for these");
      else if (!expected.accepts_tensor(given))
        wrong = {
            detail::failure::partition,
            text("partita::pipeline(x, targets, parameters): requires tensors on the mesh of their stage, of which "
                 "no gradient is asked, but ")
                << name << " is another; reshard it to the workers of its stage"};
    };
    see(x, x_, "x");
    see(targets, targets_, "targets");
    bool fits = weights.size() == parameters_.size();
    for (std::size_t s = 0; fits && s < weights.size(); ++s) fits = weights[s].size() == parameters_[s].size();
    if (!fits && !wrong.any())
      wrong = detail::local_error(text("partita::pipeline(x, targets, parameters): requires a list of parameters for "
                                       "each of the ")
                                  << parameters_.size() << " stages, each as long as the stage was traced");
    for (std::size_t s = 0; fits && s < weights.size(); ++s)
      for (std::size_t k = 0; k < weights[s].size(); ++k)
        see(weights[s][k], parameters_[s][k], text("parameter ") << k << " of stage " << s);
    detail::agree_if_checked(*all_workers_mesh_->everyone().state(), all.value(), wrong,
                             [&] { return text("partita::pipeline(x, targets, parameters)"); });
  }

  // A mesh of all workers, over whose channels stages exchange results.
  std::shared_ptr<detail::bound_mesh> all_workers_mesh_;
  std::vector<stage_on_workers> stages_;
  pipeline_shape shape_;
  std::vector<interval> parts_;  // the rows of each micro-batch
  pipeline_run run_;
  detail::bound_steps steps_;
  detail::outside_argument x_, targets_;
  std::vector<std::vector<detail::outside_argument>> parameters_;
  sharded_tensor<T> loss_;
  std::uint32_t loss_block_number_ = 0;
  parameters gradients_;
  std::vector<std::vector<std::uint32_t>> gradient_numbers_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace partita
