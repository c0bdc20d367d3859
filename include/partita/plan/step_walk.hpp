// Walks through a step of a completed program, forward and backward, and adds up its costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/plan/complete.hpp>
#include <partita/plan/step_cost.hpp>
#include <partita/plan/step_estimate.hpp>
#include <vector>

namespace partita::detail {

/// The cost of moving a tensor between two shardings.
struct move_cost {
  double seconds = 0, latency_seconds = 0;  ///< the latter is the part for latencies
  std::size_t bytes = 0;                    ///< the bytes that the busiest worker receives

  move_cost() = default;               ///< the cost of moving nothing
  move_cost(const reshard_plan& plan)  // NOLINT: the cost of a plan
      : seconds(plan.seconds()), latency_seconds(plan.latency_seconds()), bytes(plan.bytes()) {}
};

/// Walks through a training step. `MoveCosts` returns the cost of a reshard; events are passed to `Note`.
///
/// In the backward pass an operation reads its operands in the shardings of the forward pass, and its gradients get the
/// shardings of its gradient rule. Gradients of one value are added while their shardings are equal; if they differ,
/// both are moved to the sharding of the value's cotangent. Before the operation that made the value is differentiated,
/// the sum is moved to this sharding, and then to the cotangent of the sharding in which the operation made the value.
/// A parameter's gradient is moved to the sharding of the optimiser's state, and the updated parameter is moved back to
/// its own sharding.
template <class Graph, class MoveCosts, class Note>
class step_walk {
 public:
  step_walk(const completion_of<Graph>& done, const step_estimate<Graph>& costs, const step_model& model,
            const std::vector<sharding>& states, MoveCosts& price, Note& out)
      : completion_(done),
        g_(*done.program),
        estimate_(costs),
        model_(model),
        states_(states),
        move_costs_(price),
        note_event_(out) {}

  step_cost run() {  ///< adds up the cost of the whole step; called once
    for (std::uint32_t v = 0; v < g_.values(); ++v)
      if (const value one{v}; g_[one].producer == Graph::none) {
        add_memory(bytes_of(one, completion_[one]));
        if (g_[one].is_parameter) add_memory(model_.states * bytes_of(one, state_layout(v)));
      }
    for (std::uint32_t o = 0; o < g_.operations(); ++o) forward(o);
    if (!estimate_.has_parameters) return cost_;
    cotangents_.assign(g_.values(), {});
    for (std::uint32_t v = 0; v < g_.values(); ++v)
      if (estimate_.wants_gradient[v] != 0 && begins_backward_pass(v)) begin_cotangent(v);
    for (std::uint32_t o = static_cast<std::uint32_t>(g_.operations()); o-- > 0;) backward(o);
    for (std::uint32_t v = 0; v < g_.values(); ++v)
      if (g_[value{v}].is_parameter) update(v);
    return cost_;
  }

 private:
  using node = typename Graph::node;  ///< an operation of the program
  /// The sum of the gradients of a value that were computed so far.
  struct partial_cotangent {
    sharding layout{};              ///< its sharding
    bool has_contribution = false;  ///< whether any gradient was computed
  };

  // --- shardings ---

  /// The sharding of the optimiser's state for parameter v.
  const sharding& state_layout(std::uint32_t v) const { return states_.empty() ? completion_[value{v}] : states_[v]; }
  /// The bytes of a worker's block of a value in a sharding.
  std::size_t bytes_of(value v, const sharding& s) const { return g_.block_bytes(v, s, model_.element_bytes); }

  /// Whether result j of an operation is computed: an operation with several results skips unused results after the
  /// first.
  bool is_live(std::size_t o, std::size_t j) const {
    const node& n = g_.operation(o);
    return j == 0 || estimate_.last_reader[n.first_result + j] != Graph::none;
  }

  // --- totals ---

  /// Counts bytes that a worker holds from now on.
  void add_memory(std::size_t bytes) {
    held_bytes_ += bytes;
    if (held_bytes_ > cost_.peak) cost_.peak = held_bytes_;
  }
  void release_memory(std::size_t bytes) { held_bytes_ -= bytes; }  ///< Counts bytes that become free.
  /// Adds the time and the event of a computation or an update; `of` is the first result of the
  /// operation (in both passes), or the updated parameter.
  void add_event(step_event::what done, bool backward, std::uint32_t o, std::uint32_t of, double seconds) {
    cost_.computing_seconds += seconds;
    note_event_({done, backward, o, of, false, {}, {}, 0, seconds, held_bytes_});
  }
  /// Adds the cost and the event of a reshard of value `of`, or of its cotangent, for operation o.
  void move(bool backward, std::uint32_t o, std::uint32_t of, bool is_cotangent, const sharding& from,
            const sharding& to) {
    if (from.same_layout(to)) return;
    move_cost cost = move_costs_(from, to, g_[value{of}].shape, g_.element_bytes(value{of}, model_.element_bytes));
    if (model_.times != nullptr) cost.seconds = model_.times->seconds(from, to, g_[value{of}].shape);
    if (cost.latency_seconds > cost.seconds) cost.latency_seconds = cost.seconds;
    cost_.moving_seconds += cost.seconds;
    cost_.latency_seconds += cost.latency_seconds;
    cost_.received_bytes += cost.bytes;
    cost_.movements += 1;
    note_event_(
        {step_event::what::move, backward, o, of, is_cotangent, from, to, cost.bytes, cost.seconds, held_bytes_});
  }
  /// Adds the cost of the communication that an operation performs itself along sharded dimensions.
  void exchange_window(bool backward, std::uint32_t o) {
    const std::uint32_t y = g_.operation(o).first_result;
    exchange_cost figures = completion_.window(o, model_.links, model_.element_bytes);
    if (figures.elements == 0) return;
    if (model_.times != nullptr) figures.seconds = figures.latency_seconds = 0;  // part of the measured time
    const std::size_t bytes = figures.elements * g_.element_bytes(value{y}, model_.element_bytes);
    add_memory(bytes);
    cost_.moving_seconds += figures.seconds;
    cost_.latency_seconds += figures.latency_seconds;
    cost_.received_bytes += bytes;
    cost_.movements += 1;
    note_event_({step_event::what::window, backward, o, y, false, {}, {}, bytes, figures.seconds, held_bytes_});
    release_memory(bytes);
  }
  /// The time of operation o, or of `times` of its gradients (`gradients`): the measured time if the model has measured
  /// times, else an estimate from the multiply-adds of the loops and the bytes of the blocks.
  double estimate_seconds(std::size_t o, std::size_t times = 1, tensor_set gradients = 0) {
    const node& n = g_.operation(o);
    if (model_.times != nullptr) {
      std::vector<sharding> layouts;
      for (std::size_t t = 0; t < n.how.tensor_count(); ++t) layouts.push_back(completion_.used_layout(o, t));
      return model_.times->seconds(o, layouts, gradients);
    }
    double loops = estimate_.operations[o].product_factors == 0 ? 0 : 1, bytes = 0;
    for (std::size_t t = 0; t < n.operands; ++t) loops *= g_[g_.operand(n, t)].is_complex ? 2 : 1;
    for (std::size_t t = 0; t < n.how.tensor_count(); ++t)
      if (t < n.operands || is_live(o, t - n.operands))
        bytes += static_cast<double>(bytes_of(g_.of(n, t), completion_.used_layout(o, t)));
    for (std::size_t f = 0; f < n.how.factor_count; ++f)
      if ((estimate_.operations[o].product_factors >> f & 1U) != 0 && n.how.factors[f].size != dynamic)
        loops *= static_cast<double>(block_of_factor(o, f));
    return static_cast<double>(times) * (loops / model_.multiply_adds + bytes / model_.memory_bytes);
  }
  /// The number of iterations of factor f of operation o on one worker.
  std::size_t block_of_factor(std::size_t o, std::size_t f) const {
    const node& n = g_.operation(o);
    const std::size_t size = n.how.factors[f].size;
    for (std::size_t t = 0; t < n.how.tensor_count(); ++t)
      for (std::size_t d = 0; d < n.how.rank(t); ++d) {
        const rule::dimension& terms = n.how.at(t, d);
        if (terms.count == 0 || n.how.term(terms, 0) != f) continue;
        const std::size_t parts = g_.on().size(completion_.used_layout(o, t).cuts[d]);
        return parts >= size ? 1 : (size + parts - 1) / parts;  // axes shard the major factor of a dimension first
      }
    return size;
  }

  // --- forward ---

  /// Adds the cost of operation o with its reshards in the forward pass.
  void forward(std::uint32_t o) {
    const node& n = g_.operation(o);
    std::size_t copies = 0;
    for (std::size_t i = 0; i < n.operands; ++i)
      if (const graph_reshard* m = completion_.reshard_of(o, i)) {
        copies += bytes_of(value{m->of}, m->to);
        add_memory(bytes_of(value{m->of}, m->to));
        move(false, o, m->of, false, m->from, m->to);
      }
    for (std::size_t j = 0; j < n.results; ++j)
      if (is_live(o, j)) add_memory(bytes_of(g_.of(n, n.operands + j), completion_.used_layout(o, n.operands + j)));
    exchange_window(false, o);
    add_event(step_event::what::compute, false, o, n.first_result, estimate_seconds(o));
    for (std::size_t j = 0; j < n.results; ++j)
      if (const graph_reshard* m = completion_.reshard_of(o, n.operands + j); m != nullptr && is_live(o, j)) {
        add_memory(bytes_of(value{m->of}, m->to));
        move(false, o, m->of, false, m->from, m->to);
        release_memory(bytes_of(value{m->of}, m->from));
      }
    if (estimate_.has_parameters) return;  // the backward pass may read every value
    release_memory(copies);
    for (std::size_t i = 0; i < n.operands; ++i) {
      const value v = g_.operand(n, i);
      bool is_repeated = false;
      for (std::size_t k = 0; k < i; ++k) is_repeated = is_repeated || g_.operand(n, k) == v;
      if (!is_repeated && g_[v].producer != Graph::none && estimate_.last_reader[v.number] == o)
        release_memory(bytes_of(v, completion_[v]));
    }
  }

  // --- backward ---

  /// Whether a value is a result of the program that no operation reads; the backward pass begins at such a value.
  bool begins_backward_pass(std::uint32_t v) const {
    const std::uint32_t o = g_[value{v}].producer;
    return estimate_.last_reader[v] == Graph::none && o != Graph::none && is_live(o, v - g_.operation(o).first_result);
  }

  /// Adds the memory of the cotangent with which the backward pass begins at result v.
  void begin_cotangent(std::uint32_t v) {
    cotangents_[v] = {cotangent_sharding(completion_[value{v}]), true};
    add_memory(bytes_of(value{v}, cotangents_[v].layout));
  }
  /// Adds a gradient that operation o computed in this sharding to the cotangent of v.
  void add_cotangent(std::uint32_t o, value v, const sharding& layout) {
    partial_cotangent& layouts = cotangents_[v.number];
    if (!layouts.has_contribution) {
      layouts = {layout, true};
      return add_memory(bytes_of(v, layout));
    }
    if (layouts.layout.same_layout(layout)) return;
    const sharding meet = cotangent_sharding(completion_[v]);
    move(true, o, v.number, true, layouts.layout, meet);
    move(true, o, v.number, true, layout, meet);
    release_memory(bytes_of(v, layouts.layout));
    add_memory(bytes_of(v, meet));
    layouts.layout = meet;
  }
  /// Adds the cost of operation o in the backward pass, and releases the memory of its results.
  void backward(std::uint32_t o) {
    const node& n = g_.operation(o);
    const operation_estimate& estimate = estimate_.operations[o];
    bool arrived = false;
    for (std::size_t j = 0; j < n.results; ++j) arrived = arrived || cotangents_[n.first_result + j].has_contribution;
    if (estimate.wanted != 0 && arrived) differentiate(o);
    for (std::size_t i = 0; i < n.operands; ++i)
      if (const graph_reshard* m = completion_.reshard_of(o, i)) release_memory(bytes_of(value{m->of}, m->to));
    for (std::size_t j = 0; j < n.results; ++j) {
      const value v = g_.of(n, n.operands + j);
      if (is_live(o, j)) release_memory(bytes_of(v, completion_[v]));
      if (cotangents_[v.number].has_contribution) release_memory(bytes_of(v, cotangents_[v.number].layout));
    }
  }
  /// Adds the cost of the gradients of operation o with their reshards.
  void differentiate(std::uint32_t o) {
    const node& n = g_.operation(o);
    const operation_estimate& estimate = estimate_.operations[o];
    specs_.clear();
    value_numbers_.clear();
    const auto add = [&](value v, const sharding& s) {
      specs_.emplace_back(g_[v].shape);
      specs_.back().layout = s;
      specs_.back().layout.reduced_over = 0;
      specs_.back().known = true;
      value_numbers_.push_back(v.number);
    };
    for (std::size_t i = 0; i < n.operands; ++i)
      if (contains(estimate.read_operands, i)) add(g_.operand(n, i), completion_.used_layout(o, i).without_partials());
    const std::size_t values = specs_.size();
    for (std::size_t j = 0; j < n.results; ++j) {
      const value v = g_.of(n, n.operands + j);
      const sharding wanted = cotangent_sharding(completion_[v]),
                     made = cotangent_sharding(completion_.used_layout(o, n.operands + j));
      if (cotangents_[v.number].has_contribution) {
        move(true, o, v.number, true, cotangents_[v.number].layout, wanted);
        move(true, o, v.number, true, wanted, made);
      }
      add(v, made);
    }
    const propagation p =
        propagate(g_.on(), estimate.gradient, {specs_.data(), specs_.size()}, {}, direction::forward, completion_.by);
    for (std::size_t k = 0; k < specs_.size(); ++k)
      move(true, o, value_numbers_[k], k >= values, specs_[k].layout, p.operands[k]);
    std::size_t gradients = 0;
    for (std::size_t i = 0; i < n.operands; ++i) {
      if (!contains(estimate.wanted, i)) continue;
      add_cotangent(o, g_.operand(n, i), p.results[gradients]);
      ++gradients;
    }
    for (std::size_t k = 0; k < gradients; ++k) exchange_window(true, o);
    add_event(step_event::what::compute, true, o, n.first_result, estimate_seconds(o, gradients, estimate.wanted));
  }
  /// Adds the cost of the update of parameter v.
  void update(std::uint32_t v) {
    if (!cotangents_[v].has_contribution) return;
    const value one{v};
    const sharding state = state_layout(v).without_partials();
    sharding plain = completion_[one];
    plain.reduced_over = 0;
    move(true, step_event::none, v, true, cotangents_[v].layout, state);
    const double bytes_touched = static_cast<double>((3 + 2 * model_.states) * bytes_of(one, state));
    add_event(step_event::what::update, true, step_event::none, v,
              model_.times != nullptr
                  ? model_.times->update_seconds(bytes_of(one, state) / g_.element_bytes(one, model_.element_bytes))
                  : bytes_touched / model_.memory_bytes);
    move(true, step_event::none, v, false, state, plain);
  }

  const completion_of<Graph>& completion_;     ///< the completed program
  const Graph& g_;                             ///< the program
  const step_estimate<Graph>& estimate_;       ///< the properties of its operations
  const step_model& model_;                    ///< the assumptions of the estimate
  const std::vector<sharding>& states_;        ///< for each value, the sharding of its optimiser state; or empty
  MoveCosts& move_costs_;                      ///< returns the cost of a reshard
  Note& note_event_;                           ///< called with each event
  step_cost cost_{};                           ///< the cost so far
  std::size_t held_bytes_ = 0;                 ///< the bytes that a worker holds now
  std::vector<partial_cotangent> cotangents_;  ///< for each value, the sum of its gradients so far
  std::vector<spec> specs_;                    ///< the operands of the gradient that is propagated
  std::vector<std::uint32_t> value_numbers_;   ///< the values of specs_, or whose cotangents they are
};

}  // namespace partita::detail
