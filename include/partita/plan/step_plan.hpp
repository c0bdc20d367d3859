// The plan of a step of a completed program, before the step runs: its events in order, their times, and a worker's
// memory.
#pragma once

#include <cstddef>
#include <partita/plan/step_walk.hpp>
#include <vector>

namespace partita {

/// The events of a step in order, and their total cost. The completion must outlive this plan.
template <class Graph>
struct step_plan_of {
  const completion_of<Graph>* completion = nullptr;  ///< the completed program
  step_model model{};                                ///< the machine for which times were estimated
  std::vector<step_event> events{};                  ///< in the order of the step
  step_cost cost{};                                  ///< the total cost

  double seconds() const { return cost.seconds(); }          ///< The time of the step.
  std::size_t bytes() const { return cost.received_bytes; }  ///< The bytes that a worker receives.
  std::size_t peak() const { return cost.peak; }             ///< The most bytes that a worker holds.
  /// The plan of the reshard that an event of the kind `move` stands for.
  reshard_plan plan(const step_event& move) const { return completion->plan(move, model.links, model.element_bytes); }
};
using step_plan = step_plan_of<graph>;  ///< the usual type of a step's plan
/// A function that computes the cost of a plan whose events overlap in time.
using schedule_cost = step_cost (*)(const step_plan&);

/// Estimates a step of a completed program: the forward pass and, if the program has parameters, the backward pass and
/// the update of the parameters.
/// Shapes:   those of the program; a `dynamic` extent counts as 1.
/// Requires: `states` that is empty or has one sharding for each value of the program [shape_error].
/// Cost:     about 2 µs for each operation, and a plan of each reshard; no communication.
/// Adjoint:  the backward events are those of the adjoint, from the rules' gradients.
template <class Graph>
step_plan_of<Graph> plan_step(const completion_of<Graph>& done, const step_model& model = {},
                              const std::vector<sharding>& states = {}) {
  step_plan_of<Graph> out{&done, model};
  const Graph& g = *done.program;
  if (!states.empty() && states.size() != g.values())
    throw shape_error(text("partita::plan_step: requires a sharding of the optimiser's state for each of ")
                      << g.values() << " values, or none, not " << states.size() << "; start from done.layouts");
  const auto price = [&](const sharding& from, const sharding& to, const shape_list& shape, std::size_t bytes) {
    return detail::move_cost(plan_reshard(g.on(), from, to, shape, model.links, bytes));
  };
  const auto note = [&](const step_event& one) { out.events.push_back(one); };
  out.cost = detail::step_walk(done, detail::step_estimate<Graph>(g), model, states, price, note).run();
  return out;
}

}  // namespace partita
