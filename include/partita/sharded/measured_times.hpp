// Measures the times of a traced program's operations and movements on its workers, so that a search can use measured
// times in place of modelled times.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <partita/comm/facts.hpp>
#include <partita/core/hash.hpp>
#include <partita/nn/update_rule.hpp>
#include <partita/plan/mesh_block.hpp>
#include <partita/plan/step_cost.hpp>
#include <partita/sharded/detail/bound_steps.hpp>
#include <partita/sharded/detail/outside_tensors.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

namespace partita {

/// Measured times of the operations, movements and optimiser updates of a program. When the time of an operation,
/// movement or update is first needed, all workers execute it alone, at the same time, on blocks of the size for which
/// it is needed. The time is the least of nine runs (for a movement, the median of nine runs) on the slowest worker.
///   measured_times<float> times(program, everyone, adamw_options{});
///   options.model.times = &times;
/// Shapes:   those with which the program was traced.
/// Requires: a program without complex values [error]. All workers of the world must need the same times in the same
///           order, as they do if all of them search for the same program.
/// Cost:     ten executions of each operation (for each size of its blocks), movement and update whose time is needed.
///           Memory is needed for the blocks of one operation at a time.
/// Adjoint:  times of gradients are measured in the same way, together for all operands whose gradients are wanted.
template <class T>
class measured_times final : public step_times {
 public:
  /// `optimiser` is the options of the optimiser whose updates of parameters are measured.
  template <class Options = sgd_options>
  measured_times(const traced_function& program, const world& everyone, const Options& optimiser = {})
      : program_(program),
        bound_mesh_(detail::bound_mesh::of(everyone, placed_mesh(program.operations().on()))),
        time_of_update_([optimiser](std::size_t n) { return update_time(optimiser, n); }) {
    if (program.program_->mixed_execution != nullptr)
      throw error(
          "partita::measured_times: requires a program whose values have elements of one type; measure its parts");
  }

  double seconds(std::size_t o, const std::vector<sharding>& used, tensor_set gradients) override {
    const graph& g = program_.operations();
    const graph::node& node = g.operation(o);
    hasher number(o);
    number.mix(gradients);
    for (std::size_t t = 0; t < used.size(); ++t) {
      // No worker of the mesh has a larger block than its worker 0, so the block of worker 0 determines the time.
      number.mix(detail::shape_of_box(mesh_block(used[t], g[g.of(node, t)].shape, 0)));
      if (node.window != nullptr) number.mix(detail::fingerprint_of(used[t]));
    }
    return cached_or_measured_time({number.value(), o, gradients, used, {}});
  }
  double seconds(const sharding& from, const sharding& to, const shape_list& shape) override {  ///< of a reshard
    const hasher number = hasher(~std::uint64_t{0}).mix(detail::fingerprint_of(from)).mix(detail::fingerprint_of(to));
    return cached_or_measured_time({hasher(number).mix(shape).value(), move_operation, 0, {from, to}, shape});
  }
  double update_seconds(std::size_t elements) override {  ///< of the optimiser, for one parameter's block
    return cached_or_measured_time(
        {hasher(update_operation).mix(elements).value(), update_operation, 0, {}, {elements}});
  }
  /// Measures all known times again, and keeps the smaller of the old and the new time, in case other programs on the
  /// machine disturbed a measurement.
  void measure_again() {
    for (timed_step& one : measured_steps_) one.seconds = std::min(one.seconds, measure_step(one));
  }
  /// The number of times that are known: of operations, movements and updates, for each size of blocks one time.
  std::size_t size() const { return measured_steps_.size(); }

 private:
  using tensor = sharded_tensor<T>;  ///< with elements T
  static constexpr std::size_t move_operation = ~std::size_t{0}, update_operation = move_operation - 1;
  static constexpr std::size_t run_count = 9;  ///< runs per measurement; probably one is undisturbed
  struct timed_step {                          ///< what is measured, and its time
    std::uint64_t key;                         ///< a hash of what is measured
    std::size_t operation;          ///< the number of an operation, or `move_operation`, or `update_operation`
    tensor_set gradients;           ///< the operands whose gradients are measured; empty: the forward pass is
    std::vector<sharding> layouts;  ///< of operands and result; of a movement: old and new
    shape_list shape;               ///< the extents of the moved tensor, or the number of elements of an update
    double seconds = 0;             ///< the measured time on the slowest worker
  };

  double cached_or_measured_time(timed_step one) {  ///< measures the step if its key is new; collective
    const auto [place, is_new] = time_index_.try_emplace(one.key, measured_steps_.size());
    if (is_new) {
      one.seconds = measure_step(one);
      measured_steps_.push_back(std::move(one));
    }
    return measured_steps_[place->second].seconds;
  }
  double measure_step(const timed_step& one) {  ///< seconds of the step on the slowest worker; collective
    return bound_mesh_->one_call([&] {
      double least = 0;
      if (one.operation == update_operation)
        least = kth_shortest_time([&] { return time_of_update_(one.shape[0]); }, 0);
      else {
        // 1. Record the operation alone as a program, with its gradients if their time is needed.
        detail::bound_steps steps;
        std::vector<tensor> held;
        std::vector<std::uint32_t> numbers;
        record_step(one, steps, [&](const sharding& s, const shape_list& shape) {
          detail::outside_argument argument;
          const tensor x = argument.recorded<T>(steps, bound_mesh_, traced_function::closed_layout(s), shape);
          fill(x);
          held.push_back(x), numbers.push_back(argument.block_number);
          return x;
        });
        steps.plan_steps(*bound_mesh_, schedule_options{.overlap = false});
        for (std::size_t k = 0; k < held.size(); ++k) steps.set_memory(numbers[k], held[k].state()->block.data());
        // 2. Run the program; take the least time, or the median time of a movement.
        steps.measured_timetable();
        const bool back = one.gradients != 0;
        const bool moves =
            one.operation == move_operation || program_.operations().operation(one.operation).window != nullptr;
        least = kth_shortest_time(
            [&] {
              if (one.operation == move_operation)
                fill(held[0]);  // the operation before a movement also writes its elements
              steps.run(false);
              if (back) steps.run(true);
              double elapsed = 0;
              for (const timetable::entry& e : steps.measured_timetable().entries)
                if (e.is_backward == back && (moves || !e.moves))
                  elapsed += e.moves ? e.waited_seconds : e.until - e.from;
              return elapsed;
            },
            one.operation == move_operation ? run_count / 2 : 0);
      }
      const auto bits =
          std::bit_cast<std::uint64_t>(least);  // bits of positive numbers, as integers, have the numbers' order
      return std::bit_cast<double>(detail::maximum_over_workers<1>(*bound_mesh_->everyone().state(), {bits})[0]);
    });
  }
  /// Runs `run` once to bring the memory into the caches, then nine times, and returns the k-th least time, k = 0 for
  /// the least.
  template <class Run>
  static double kth_shortest_time(const Run& run, std::size_t k) {
    run();
    std::vector<double> all;
    while (all.size() < run_count) all.push_back(run());
    std::sort(all.begin(), all.end());
    return all[k];
  }
  /// Measures one update of n elements by the optimiser with these options.
  template <class Options>
  static double update_time(const Options& optimiser, std::size_t n) {
    constexpr std::size_t states = detail::max_state_count<Options>;
    std::vector<T> memory((2 + states) * n, T(0.5));
    detail::flat_parameter<T, states> flat{n, memory.data(), memory.data() + n, {}, T(1)};
    for (std::size_t s = 0; s < detail::states_used(optimiser); ++s) flat.state[s] = memory.data() + (2 + s) * n;
    const double from = detail::bound_steps::seconds_now();
    detail::update(optimiser, 1, flat);
    return detail::bound_steps::seconds_now() - from;
  }
  /// Records a step alone as a program. `make_outside_tensor` makes its operands from their layouts and extents.
  template <class Outside>
  void record_step(const timed_step& one, detail::bound_steps& steps, const Outside& make_outside_tensor) {
    const detail::scoped_value<detail::step_list*> now(detail::run_state.steps, &steps);
    if (one.operation == move_operation) {
      reshard(make_outside_tensor(one.layouts[0], one.shape), traced_function::closed_layout(one.layouts[1]));
      steps.begin_backward();
      return;
    }
    const graph& g = program_.operations();
    const graph::node& node = g.operation(one.operation);
    std::vector<sharding> operand_layouts;
    std::vector<tensor> operands;
    for (std::size_t i = 0; i < node.operands; ++i) {
      operand_layouts.push_back(traced_function::closed_layout(one.layouts[i]));
      const tensor x = make_outside_tensor(operand_layouts[i], g[g.of(node, i)].shape);
      operands.push_back(contains(one.gradients, i) ? detail::parameter_of(x) : x);
    }
    const tensor y = program_.run_one_operation<T>(one.operation, operands, operand_layouts,
                                                   traced_function::closed_layout(one.layouts[node.operands]));
    steps.begin_backward();
    if (one.gradients != 0 && y.state()->node)
      detail::run_backward(y, make_outside_tensor(detail::cotangent_sharding(y.layout()), y.extents()));
  }
  /// Fills a tensor with repeating numbers between 0 and 1, because no operation treats such numbers in a special way.
  static void fill(const tensor& x) {
    T* const at = x.state()->block.data();
    for (std::size_t k = 0; k < x.state()->block.size(); ++k) at[k] = static_cast<T>(k % 13 + 1) / T(16);
  }

  traced_function program_;                                    ///< the program whose steps are measured
  std::shared_ptr<detail::bound_mesh> bound_mesh_;             ///< the program's mesh, on workers of the world
  std::function<double(std::size_t)> time_of_update_;          ///< measures an update of so many elements
  std::unordered_map<std::uint64_t, std::size_t> time_index_;  ///< for each key, the index in measured_steps_
  std::vector<timed_step> measured_steps_;                     ///< in the order in which they were first measured
};

}  // namespace partita
