// The estimated timeline of a training step, and the result of a search for shardings with its reasons, as text.
#pragma once

#include <cstddef>
#include <partita/explain/completion_picture.hpp>
#include <partita/explain/quantities.hpp>
#include <partita/plan/search.hpp>
#include <partita/plan/step_plan.hpp>

namespace partita {
namespace detail {

inline long_text cost_text(const step_cost& cost) {  ///< times, bytes received, and peak memory of a step
  long_text all;
  all << seconds_text(cost.seconds()) << ": computing " << seconds_text(cost.computing_seconds) << ", moving "
      << seconds_text(cost.moving_seconds) << " (" << seconds_text(cost.latency_seconds) << " of it to start messages";
  if (cost.hidden_seconds > 0) all << ", " << seconds_text(cost.hidden_seconds) << " while something is computed";
  all << "); " << bytes_text(cost.received_bytes) << " received in " << cost.movements << " movements, at most "
      << bytes_text(cost.peak) << " held";
  return all;
}
/// Writes an event of a step: the operation or its gradient, the update of a value, an exchange of
/// neighbouring blocks, or the steps of a reshard and the value that is resharded.
template <class Graph>
long_text event_text(const step_plan_of<Graph>& plan, const step_event& one) {
  const Graph& g = *plan.completion->program;
  long_text all;
  const char* gradient = one.is_cotangent ? "d " : "";
  if (one.kind == step_event::what::move)
    return all << steps_text(plan.plan(one)) << " of " << gradient << name_of(g, value{one.of}) << " -> "
               << text_of(one.to);
  if (one.kind == step_event::what::update) return all << "update " << name_of(g, value{one.of});
  if (one.kind == step_event::what::window)
    return all << "blocks beside those of " << (one.backward ? "gradient of " : "")
               << name_of(g.operation(one.operation));
  return all << (one.backward ? "gradient of " : "") << name_of(g.operation(one.operation));
}
/// Writes an annotation as a line of C++, such as g.constrain(value{2}, m.layout("", "model"));  // w1
template <class Graph>
long_text annotation_code(const Graph& g, const found_annotation& one) {
  long_text all;
  all << "g.constrain(value{" << one.of.number << "}, m.layout(";
  for (std::size_t d = 0; d < one.layout.rank(); ++d) {
    all << (d > 0 ? ", \"" : "\"");
    for (std::size_t k = 0; k < one.layout[d].size(); ++k)
      all << (k > 0 ? "+" : "") << g.on().axes[one.layout[d][k]].name();
    all << '"';
  }
  return all << "));  // " << name_of(g, one.of) << " " << text_of(g[one.of].shape) << "\n";
}
/// Lists the inputs of the program whose layouts differ between the best candidate of a search and `other`.
template <class Graph>
long_text describe_differences(const search_answer_of<Graph>& found, const search_candidate& other) {
  const Graph &g = *found.program, of_best = found.annotated(), of_other = found.annotated(other);
  const completion_of<Graph> best = complete(of_best, found.by), second = complete(of_other, found.by);
  long_text all;
  for (std::uint32_t v = 0; v < g.values(); ++v)
    if (const value one{v}; g[one].producer == Graph::none && !best[one].same_layout(second[one]))
      all << "  " << name_of(g, one) << " " << text_of(second[one]) << " instead of " << text_of(best[one]) << "\n";
  return all;
}
/// Writes what limits the best candidate of a search: memory, computing, the bytes that move, or the latency of
/// messages.
template <class Graph>
long_text binding_constraint_text(const search_answer_of<Graph>& found) {
  const step_cost& cost = found.best.cost;
  long_text all("what binds: ");
  if (found.best_without_limit.is_found)
    return all << "memory. Without the limit of " << bytes_text(found.memory) << " a step would take "
               << seconds_text(found.best_without_limit.cost.seconds()) << ", and hold "
               << bytes_text(found.best_without_limit.cost.peak) << "\n";
  const double sending = cost.moving_seconds - cost.latency_seconds;
  const char* most = cost.computing_seconds >= sending && cost.computing_seconds >= cost.latency_seconds ? "computing"
                     : sending >= cost.latency_seconds ? "the bytes that move"
                                                       : "starting messages";
  const double share = most[0] == 'c' ? cost.computing_seconds : most[0] == 't' ? sending : cost.latency_seconds;
  return all << most << ", " << percentage(cost.seconds() > 0 ? share / cost.seconds() : 0) << " of the step\n";
}

}  // namespace detail

/// Writes all events of a step in order: the time of each event, the bytes that a worker receives, and the worker's
/// memory at that time.
template <class Graph>
long_text to_text(const step_plan_of<Graph>& plan) {
  long_text all;
  bool backward = false;
  std::size_t wide = 0;
  for (const step_event& one : plan.events)
    if (const std::size_t own = detail::event_text(plan, one).columns() + 4; own > wide) wide = own;
  all << "forward\n";
  for (const step_event& one : plan.events) {
    if (one.backward && !backward) all << "backward\n";
    backward = one.backward;
    long_text line = long_text("  ") << detail::event_text(plan, one);
    line.pad(wide) << detail::seconds_text(one.seconds);
    line.pad(wide + 10);
    if (one.bytes > 0) line << detail::bytes_text(one.bytes);
    line.pad(wide + 20) << detail::bytes_text(one.bytes_held) << " held";
    all << line << "\n";
  }
  return all << "a step takes " << detail::cost_text(plan.cost) << "\n";
}

/// Writes the annotations that a search found, ready to be pasted into a program; their cost; the cost of the
/// second-best candidate and how that candidate differs; and the constraint that limits the result.
template <class Graph>
long_text explain(const search_answer_of<Graph>& found) {
  const Graph& g = *found.program;
  long_text all;
  all << "a step takes " << detail::cost_text(found.best.cost) << "\n";
  for (const found_annotation& one : found.best.annotations) all << detail::annotation_code(g, one);
  for (const found_annotation& one : found.best.states)
    all << "the optimiser's state of " << detail::name_of(g, one.of) << ": " << detail::text_of(one.layout) << "\n";
  if (found.runner_up.is_found) {
    const double best = found.best.cost.seconds(), more = found.runner_up.cost.seconds() - best;
    all << "runner-up: " << detail::seconds_text(found.runner_up.cost.seconds()) << ", ";
    if (more <= 1e-9 * best) all << "as fast";
    else all << (best > 0 ? detail::percentage(more / best) : detail::seconds_text(more)) << " more";
    all << ", with\n" << detail::describe_differences(found, found.runner_up);
  }
  all << detail::binding_constraint_text(found) << found.evaluated_candidates << " candidates judged, ";
  return all << (found.is_exact ? "all there are\n" : "not all there are\n");
}

}  // namespace partita
