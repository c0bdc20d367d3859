// Pipeline parallelism: the stages of a network are usually on different workers, and micro-batches pass through the
// stages, forward and backward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/core/rejected_call.hpp>
#include <partita/core/version.hpp>
#include <partita/plan/pipeline_order.hpp>
#include <partita/sharded/detail/outside_tensors.hpp>
#include <partita/sharded/detail/pipeline_events.hpp>
#include <partita/sharded/detail/pipeline_stages.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/pipeline_options.hpp>
#include <partita/sharded/schedule_options.hpp>
#include <partita/sharded/traced_function.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// A training step of a network in stages: `pipeline<double> step(everyone, stages, {.rows = 64, .micro_batches = 8})`.
///   const auto& loss = step(x, targets, parameters);   // parameters[s] are the parameters of stage s
///   const auto& gradients = step.gradients();          // gradients[s][k] is the gradient of parameters[s][k]
/// The gradients are the gradients of the mean loss over all rows. Gradients are summed in ascending order of
/// micro-batches, so that every order of the pipeline gives the same bits.
/// Shapes:   those with which the stages were traced [shape_error, on all workers].
/// Requires: stages on workers of the world; an order without deadlock, which is checked at construction
///           [partition_error, on all workers, which names the cycle].
/// Cost:     one agreement for each step (none at checks::local), then the computation and movements of the stages. For
///           each micro-batch the result of a stage moves to the workers of the next stage, if they differ, in one
///           movement, for which the receivers post their receives early. A repeated step plans nothing.
template <class T>
class pipeline {
  static_assert(std::is_floating_point_v<T>,
                "partita::pipeline<T>: requires elements of float or double, as derivatives are no integers");

 public:
  using value_type = T;
  using parameters = std::vector<std::vector<sharded_tensor<T>>>;  ///< for each stage, the list of its parameters

  /// Records the passes of all stages, and plans the order of their tasks. Collective.
  pipeline(const world& everyone, const std::vector<pipeline_stage>& stages, const pipeline_options& options)
      : all_workers_mesh_(detail::bound_mesh::of(everyone, placed_mesh(mesh{axis{"workers", everyone.size()}}))) {
    all_workers_mesh_->one_call([&] {
      stages_ = detail::pipeline_stages(everyone, stages, options, detail::type_number<T>());
      all_workers_mesh_->channels();
      record(options);
      plan_task_order(options);
    });
  }

  PARTITA_FALLBACK_CONSTRUCTOR(pipeline) {
    static_assert(detail::dependent_false<T, Given...>,
                  "partita::pipeline<T>(everyone, stages, options): requires the world, a list of pipeline_stage, and "
                  "options that say their names; write pipeline<double> step(everyone, stages, {.rows = 64})");
  }

  /// Computes the loss and the gradients of one training step; the parameters are not updated. Returns the loss, which
  /// is the mean over all rows, on the mesh of the last stage.
  const sharded_tensor<T>& operator()(const sharded_tensor<T>& x, const sharded_tensor<T>& targets,
                                      const parameters& weights) {
    all_workers_mesh_->one_call([&] {
      agree_on_arguments(x, targets, weights);
      x_.set_tensor(steps_, x);
      targets_.set_tensor(steps_, targets);
      for (std::size_t s = 0; s < parameters_.size(); ++s)
        for (std::size_t k = 0; k < parameters_[s].size(); ++k) parameters_[s][k].set_tensor(steps_, weights[s][k]);
      detail::ensure_unique_memory(steps_, loss_, loss_block_number_);
      for (std::size_t s = 0; s < gradients_.size(); ++s)
        for (std::size_t k = 0; k < gradients_[s].size(); ++k)
          detail::ensure_unique_memory(steps_, gradients_[s][k], gradient_block_numbers_[s][k]);
      steps_.run(false);
    });
    x_.memory = targets_.memory = {};
    for (auto& of_stage : parameters_)
      for (auto& one : of_stage) one.memory = {};
    return loss_;
  }
  /// The gradients of the parameters in the last step. Each gradient has the layout cotangent(layout of its parameter).
  const parameters& gradients() const { return gradients_; }
  /// The simulated run of the pipeline that determined the order of its tasks.
  const pipeline_run& simulated() const { return run_; }
  /// The measured times of this worker's last step. Times are measured in steps after the first call of
  /// measured_timetable(), which returns times of 0 unless a trace is written.
  timetable measured_timetable() { return steps_.measured_timetable(); }
  PARTITA_FORMER_NAME("use measured_timetable") timetable measured() { return measured_timetable(); }
  /// The bytes of storage for the intermediate values of all stages on this worker.
  std::size_t bytes_held() const { return steps_.bytes_held(); }

 private:
  using numbers = detail::pipeline_numbering;  ///< numbers tasks and movements
  /// Records the steps of all passes of all stages.
  void record(const pipeline_options& options) {
    const detail::scoped_value<detail::step_list*> now(detail::run_state.steps, &steps_);
    const numbers number{stages_.shape().stages(), stages_.shape().micro_batches};
    const std::size_t stages = stages_.size();
    // 1. Make the arguments of stages that the caller passes: parameters, data and targets.
    const auto argument = [&](std::size_t s, std::size_t k, detail::outside_argument& one, std::size_t rows) {
      const traced_function& program = stages_[s].programs.front();
      shape_list extents = program.operations()[program.inputs_[k]].shape;
      if (rows > 0) extents[0] = rows;
      return one.template recorded<T>(steps_, stages_[s].on,
                                      traced_function::closed_layout(program.complete()[program.inputs_[k]]), extents);
    };
    steps_.begin_task(number.of(numbers::forward, 0, 0));
    const sharded_tensor<T> x = argument(0, 0, x_, options.rows);
    const sharded_tensor<T> targets = argument(stages - 1, 1, targets_, options.rows);
    parameters weights(stages), sums(stages);
    parameters_.resize(stages), gradients_.resize(stages), gradient_block_numbers_.resize(stages);
    for (std::size_t s = 0; s < stages; ++s) {
      parameters_[s].resize(stages_[s].programs.front().inputs_.size() - stages_.arguments_before_parameters(s));
      for (std::size_t k = 0; k < parameters_[s].size(); ++k)
        weights[s].push_back(argument(s, stages_.arguments_before_parameters(s) + k, parameters_[s][k], 0));
      sums[s].resize(parameters_[s].size());
    }
    sharded_tensor<T> loss;
    for (std::uint32_t m = 0; m < stages_.shape().micro_batches; ++m) {
      const std::size_t rows = stages_.micro_batch_rows()[m].stop - stages_.micro_batch_rows()[m].start;
      const T share = static_cast<T>(rows) / static_cast<T>(options.rows);
      const auto part_of = [&](const sharded_tensor<T>& all) {
        return slice(all, dimensions<0>, stages_.micro_batch_rows()[m]);
      };
      // 2. Record the forward passes. Each stage of the pipeline has its own tape.
      std::vector<std::vector<sharded_tensor<T>>> arguments(stages);
      std::vector<sharded_tensor<T>> made;
      for (std::uint32_t s = 0; s < stages; ++s) {
        const traced_function& program = stages_[s].program(rows);
        if (s > 0) steps_.begin_task(number.of(numbers::y_move, s - 1, m));
        sharded_tensor<T> input = s == 0
                                      ? sharded_tensor<T>()
                                      : reshard(detail::detach(made.back()), stages_[s].on->where(),
                                                traced_function::closed_layout(program.complete()[program.inputs_[0]]));
        steps_.begin_task(number.of(numbers::forward, s, m));
        if (s == 0) input = part_of(x);
        arguments[s].push_back(s == 0 ? input : detail::parameter_of(input));
        if (s + 1 == stages) arguments[s].push_back(part_of(targets));
        for (const sharded_tensor<T>& one : weights[s]) arguments[s].push_back(detail::parameter_of(one));
        const sharded_tensor<T> y = program.template run<T>(arguments[s]);
        made.push_back(y.layout().is_partial() ? reshard(y, y.layout().without_partials()) : y);
      }
      // 3. Record the backward passes, which begin with the share of the micro-batch in the mean. Backward passes also
      // sum the loss, because they are in ascending order of micro-batches, which forward passes may not be.
      steps_.begin_task(number.of(numbers::backward, stages_.shape().stages() - 1, m));
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
          if (dy.layout().is_partial()) dy = reshard(dy, dy.layout().without_partials());
        }
        for (std::size_t k = 0; k < sums[s].size(); ++k) {
          const auto own =
              detail::detach(detail::gradient_of(arguments[s][stages_.arguments_before_parameters(s) + k]));
          const detail::scoped_value<bool> back(detail::run_state.is_backward, true);
          sums[s][k] = m == 0 ? own : detail::add_tensors(sums[s][k], own);
        }
      }
    }
    // 4. Make the loss and the gradients, which are the results.
    steps_.begin_task(number.of(numbers::backward, stages_.shape().stages() - 1, stages_.shape().micro_batches - 1));
    loss_ = detail::make_outside_result(steps_, loss, loss_block_number_);
    for (std::uint32_t s = 0; s < stages; ++s) {
      steps_.begin_task(number.of(numbers::backward, s, stages_.shape().micro_batches - 1));
      for (const sharded_tensor<T>& one : sums[s])
        gradients_[s].push_back(detail::make_outside_result(steps_, one, gradient_block_numbers_[s].emplace_back()));
    }
  }
  /// Returns sum + share * one, where the tensors have one element, and `sum` may be empty.
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

  /// Simulates the tasks to find their order, and binds the steps in this order.
  void plan_task_order(const pipeline_options& options) {
    pipeline_times times = options.times;
    const std::size_t stages = stages_.size();
    const bool has_weight_pass = options.order == pipeline_order::zero_bubble || has_weights(options.tasks);
    if (times.forward.empty()) times.forward.assign(stages, 1);
    if (times.backward.empty()) times.backward.assign(stages, has_weight_pass ? 1 : 2);
    if (times.weights.empty()) times.weights.assign(stages, 1);
    run_ = simulate(stages_.shape(),
                    options.tasks.empty() ? tasks_of(options.order, stages_.shape(), times) : options.tasks, times);
    const auto events = [&](const pipeline_run& run) {
      return detail::order_pipeline_steps(stages_.shape(), run, steps_.uses());
    };
    const std::size_t most =
        options.memory == schedule_options::unlimited ? 0 : steps_.max_storage_bytes(*all_workers_mesh_, events(run_));
    if (most > options.memory)
      throw error(text("partita::pipeline: requires .memory for the intermediate values of a worker, of which this "
                       "order takes ")
                  << most << " bytes, and one micro-batch after the other "
                  << steps_.max_storage_bytes(*all_workers_mesh_,
                                              events(simulate(stages_.shape(), order_of_least_memory(), times)))
                  << ", got " << options.memory
                  << "; give that much, or choose an order that keeps fewer micro-batches");
    steps_.plan_steps(*all_workers_mesh_, events(run_));
  }
  /// An order that needs little memory: each micro-batch passes through all stages, forward and backward, before the
  /// next micro-batch.
  pipeline_tasks order_of_least_memory() const {
    pipeline_tasks tasks(stages_.shape().groups());
    const std::uint32_t stages = stages_.shape().stages();
    for (std::uint32_t m = 0; m < stages_.shape().micro_batches; ++m)
      for (std::uint32_t k = 0; k < 2 * stages; ++k) {
        const bool is_forward = k < stages;
        const std::uint32_t stage = is_forward ? k : 2 * stages - 1 - k;
        tasks[stages_.shape().group_of[stage]].push_back(
            {is_forward ? pipeline_pass::forward : pipeline_pass::backward, stage, m});
      }
    return tasks;
  }
  /// Makes all workers agree (except at checks::local) that their tensors fit and have equal layouts and numbers.
  void agree_on_arguments(const sharded_tensor<T>& x, const sharded_tensor<T>& targets, const parameters& weights) {
    hasher all(stages_.fingerprint());
    detail::local_error wrong;
    const auto check_argument = [&](const detail::tensor_argument& given, const detail::outside_argument& expected,
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
    check_argument(x, x_, "x");
    check_argument(targets, targets_, "targets");
    bool fits = weights.size() == parameters_.size();
    for (std::size_t s = 0; fits && s < weights.size(); ++s) fits = weights[s].size() == parameters_[s].size();
    if (!fits && !wrong.any())
      wrong = detail::local_error(text("partita::pipeline(x, targets, parameters): requires a list of parameters for "
                                       "each of the ")
                                  << parameters_.size() << " stages, each as long as the stage was traced");
    for (std::size_t s = 0; fits && s < weights.size(); ++s)
      for (std::size_t k = 0; k < weights[s].size(); ++k)
        check_argument(weights[s][k], parameters_[s][k], text("parameter ") << k << " of stage " << s);
    detail::agree_if_checked(*all_workers_mesh_->everyone().state(), all.value(), wrong,
                             [&] { return text("partita::pipeline(x, targets, parameters)"); });
  }

  std::shared_ptr<detail::bound_mesh> all_workers_mesh_;  ///< stages exchange results over the channels of this mesh
  detail::pipeline_stages stages_;                        ///< in the order in which micro-batches pass through them
  pipeline_run run_;                                      ///< the simulated run that determined the order of tasks
  detail::bound_steps steps_;                             ///< the recorded steps of all passes of all stages
  detail::outside_argument x_, targets_;                  ///< the rows of all micro-batches
  std::vector<std::vector<detail::outside_argument>> parameters_;   ///< for each stage, its parameters as arguments
  sharded_tensor<T> loss_;                                          ///< the mean over all rows in the last step
  std::uint32_t loss_block_number_ = 0;                             ///< the number of loss_'s block in steps_
  parameters gradients_;                                            ///< of the last step
  std::vector<std::vector<std::uint32_t>> gradient_block_numbers_;  ///< for each of gradients_, its number in steps_
};

}  // namespace partita
