// Runs the steps of a scan with a gradient, forward and backward, by the sweeps of its schedule.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <partita/comm/agreement.hpp>
#include <partita/comm/facts.hpp>
#include <partita/sharded/detail/run_backward.hpp>
#include <partita/sharded/scan_schedule.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The tensors of the state of a scan.
template <class T>
using state_list = std::vector<sharded_tensor<T>>;

/// A function that computes step i of a scan. If `is_recorded` is true, the step is recorded on the tape.
template <class T>
using scan_step = std::function<state_list<T>(std::size_t i, const state_list<T>&, bool is_recorded)>;

/// The value x with a tape node of its own, which passes contributions to its cotangent on to x without summing them.
/// Such tape nodes separate the steps of a scan, so that sums are computed in the same order whether all steps are
/// recorded at once or one sweep at a time.
template <class T>
sharded_tensor<T> with_own_tape_node(const sharded_tensor<T>& x) {
  if (!x.state()->node) return x;
  auto y = record_on_tape<T>(sharded_tensor<T>(std::make_shared<tensor_state<T>>(*detach(x).state())), {x},
                             [] { return [](std::size_t, const sharded_tensor<T>& dy) { return dy; }; });
  y.state()->node->passes_on_contributions = true;
  return y;
}

/// One scan with a gradient: the steps of the forward pass, and those that the backward pass computes again.
template <class T>
class scan_run {
 public:
  scan_run(scan_step<T> step, state_list<T> initial, std::size_t n, const scan_options& options)
      : step_(std::move(step)), initial_state_(std::move(initial)), sweeps_(scan_schedule(n, options)) {}

  /// Runs the scan and returns its last state. `parameters` are the parameters' tape nodes, null without a gradient.
  static state_list<T> forward(const std::shared_ptr<scan_run>& run,
                               const std::vector<std::shared_ptr<tape_node<T>>>& parameters) {
    if (run->sweeps_.empty()) return run->initial_state_;
    const scan_sweep& first = run->sweeps_[0];
    if (first.begin == 0) return run->record(first, run->initial_state_);
    // 1. Compute the steps of which the tape keeps no values. The backward function of one tape node repeats them.
    state_list<T> start;
    for (const auto& x : run->initial_state_) start.push_back(detach(x));
    start = run->advance(first, std::move(start));
    const auto node = new_tape_node<T>(start[0].layout());
    for (const auto& x : run->initial_state_) node->operands.push_back(x.state()->node);
    node->operands.insert(node->operands.end(), parameters.begin(), parameters.end());
    node->keeps_contribution_layout = true;  // the value of its cotangent is not used
    node->kept_blocks.record();
    node->backward = [run](std::size_t, const sharded_tensor<T>&) {
      run->run_segment_backward();
      return sharded_tensor<T>();
    };
    // 2. Make a tape node for each tensor of the state, which collects the contributions to the tensor's cotangent.
    run->contributions_.resize(start.size());
    for (std::size_t j = 0; j < start.size(); ++j) {
      auto one = std::make_shared<tensor_state<T>>(*start[j].state());
      one->node = new_tape_node<T>(start[j].layout());
      one->node->operands.push_back(node);
      one->node->passes_on_contributions = true;
      one->node->kept_blocks.record();
      one->node->backward = [run, j](std::size_t, const sharded_tensor<T>& dy) {
        run->contributions_[j].push_back(dy);
        return std::exchange(run->has_contributions_, true) ? sharded_tensor<T>() : dy;
      };
      start[j] = sharded_tensor<T>(std::move(one));
    }
    // 3. Record the last steps of the scan now, because the backward pass begins with them.
    return run->record(first, std::move(start));
  }

 private:
  struct checkpoint {           ///< a state from which the backward pass repeats steps
    state_list<T> tensors;      ///< the state before a step
    tape_blocks kept_blocks{};  ///< counts the blocks of `tensors` as memory of the tape
  };

  /// Computes the steps of a sweep from `resume_step` to `begin` without recording them, and keeps the states before
  /// the steps `checkpoint_steps`.
  state_list<T> advance(const scan_sweep& sweep, state_list<T> state) {
    auto next = sweep.checkpoint_steps.begin();
    for (std::size_t i = sweep.resume_step;; ++i) {
      if (next != sweep.checkpoint_steps.end() && *next == i) {
        add_checkpoint(state);
        ++next;
      }
      if (i == sweep.begin) return state;
      state = step_(i, state, false);
    }
  }
  void add_checkpoint(const state_list<T>& state) {  ///< keeps this state for the backward pass
    checkpoint& one = checkpoints_.emplace_back();
    one.tensors = state;
    one.kept_blocks.record();
    for (const auto& x : state) one.kept_blocks.hold_block(x.data(), x.size() * sizeof(T));
  }
  /// Computes the steps from `begin` to `end` of a sweep, and records them on the tape.
  state_list<T> record(const scan_sweep& sweep, state_list<T> state) {
    for (std::size_t i = sweep.begin; i < sweep.end; ++i) {
      if (i > sweep.begin)
        for (auto& x : state) x = with_own_tape_node(x);
      state = step_(i, state, true);
    }
    return state;
  }

  /// Repeats the steps of which the tape keeps no values, and runs their backward pass. The nodes of parameters and of
  /// the initial state get their contributions one by one, in the order as if all steps had been recorded.
  void run_segment_backward() {
    for (std::size_t k = 1; k < sweeps_.size(); ++k) {
      const scan_sweep& sweep = sweeps_[k];
      // 1. Compute the state at which the recorded steps of this sweep begin.
      state_list<T> state = checkpoints_.back().tensors;
      if (sweep.resume_step == sweep.begin) checkpoints_.pop_back();
      state = advance(sweep, std::move(state));
      // 2. Record this sweep's steps of the scan on the tape, and run their backward pass.
      if (sweep.begin == 0) state = initial_state_;
      else
        for (auto& x : state) {
          x = parameter_of(x);
          x.state()->node->uses = 1;  // one use too many, so that contributions are not summed
        }
      run_adjoint(record(sweep, state));
      // 3. Take the contributions to the state as contributions to the result of the previous steps.
      for (std::size_t j = 0; j < state.size() && sweep.begin > 0; ++j)
        contributions_[j] = std::move(state[j].state()->node->contributions);
    }
    sweeps_.clear();
  }
  /// Runs the backward pass of recorded steps, whose last state is y, from the contributions to its cotangent.
  void run_adjoint(const state_list<T>& y) {
    backward_pass pass;
    for (const auto& one : y)
      if (one.state()->node) count_node_uses(one.state()->node, 0);
    for (std::size_t j = y.size(); j-- > 0;)  // in the order of the nodes that `with_own_tape_node` makes
      for (const auto& dy : std::exchange(contributions_[j], {}))
        if (y[j].state()->node) add_cotangent(*y[j].state()->node, dy);
    for (const auto& one : y)
      if (one.state()->node) pass.count_use(one.state()->node);
    pass.run();
  }

  scan_step<T> step_;                    ///< computes one step
  state_list<T> initial_state_;          ///< the state before step 0
  std::vector<scan_sweep> sweeps_;       ///< the first is executed in the forward pass, the others in the backward pass
  std::list<checkpoint> checkpoints_{};  ///< the states kept so far; the last is used next
  std::vector<state_list<T>> contributions_;  ///< for each tensor of a state, the contributions to its cotangent
  bool has_contributions_ = false;            ///< whether the node of the repeated steps has a contribution
};

/// Executes step 0, and returns the bytes that one recorded step keeps on the tape of this worker.
template <class T>
std::size_t measure_step_bytes(const scan_step<T>& step, const state_list<T>& state) {
  const std::size_t before = current_tape_contents().bytes;
  state_list<T> copies;  // copies of the state, whose blocks nothing else on the tape holds
  for (const auto& x : state) {
    auto one = std::make_shared<tensor_state<T>>(*x.state());
    one->block = one->block.copy();
    copies.push_back(parameter_of(sharded_tensor<T>(std::move(one))));
  }
  const auto y = step(0, copies, true);
  return current_tape_contents().bytes - before;
}

/// Replaces a memory limit in the options by a number of checkpoints. The worker that keeps the most bytes decides, so
/// that all workers have the same schedule.
template <class T>
scan_options agree_on_options(const scan_step<T>& step, const state_list<T>& state, std::size_t n,
                              const scan_options& options) {
  require_one_scan_option(options);
  if (options.memory == 0) return options;
  if (run_state.is_dry_run)
    throw error(
        "partita::scan: requires the option checkpoints in place of memory in a dry run, which has no memory; give "
        "that");
  number_array<2> bytes{0, n == 0 ? 0 : measure_step_bytes(step, state)};
  for (const auto& x : state) bytes[0] += x.size() * sizeof(T);
  if (const auto& on = state[0].state()->on) {
    const auto& world = *on->everyone().state();
    on->one_call([&] {
      agree_if_checked(*on->everyone().state(), hasher().mix("scan").mix(n).value(), {},
                       [] { return text("partita::scan within a memory limit"); });
      bytes = maximum_over_workers<2>(world, bytes);
    });
  }
  return fit_options_to_memory(n, options, bytes[0], bytes[1]);
}

}  // namespace partita::detail
