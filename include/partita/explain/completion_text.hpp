// Explanations, as text, of why a value of a completed program has its sharding, and of all communication.
#pragma once

#include <cstddef>
#include <partita/explain/long_text.hpp>
#include <partita/plan/complete.hpp>
#include <partita/rule/sharding/cotangent.hpp>
#include <vector>

namespace partita {
namespace detail {

/// The name of a value of a program; "value 3" if it has none.
template <class Graph>
long_text name_of(const Graph& g, value v) {
  const auto& name = g[v].name;
  if (name.empty()) return long_text("value ") << v.number;
  long_text all;
  all << name;
  const std::uint32_t o = g[v].producer;
  if (o != Graph::none && g.operation(o).results > 1) all << "[" << v.number - g.operation(o).first_result << "]";
  return all;
}
/// Writes an operation of a program as its name and its rule.
template <class Node>
  requires requires(const Node& n) { n.how; }
long_text name_of(const Node& n) {
  return long_text() << n.name << " " << text_of(n.how);
}

/// Whether a decision of propagation rejects the sharding that a tensor of the operation proposes.
constexpr bool is_rejected_proposal(decision::what outcome) {
  using enum decision::what;
  return outcome == overruled || outcome == loses_axis || outcome == uneven || outcome == must_be_whole ||
         outcome == does_not_fit || outcome == keeps_replicating;
}
/// Writes the decisions by which operation o rejected mesh axes for its tensor t. To find these decisions, computes the
/// last propagation of o again.
template <class Graph>
long_text describe_rejections(const completion_of<Graph>& done, std::size_t o, std::size_t t) {
  const Graph& g = *done.program;
  const typename Graph::node& n = g.operation(o);
  std::vector<spec> specs;
  for (std::size_t k = 0; k < n.how.tensor_count(); ++k) specs.emplace_back(done[g.of(n, k)], g[g.of(n, k)].shape);
  const propagation p = propagate(g.on(), n.how, {specs.data(), n.operands}, {specs.data() + n.operands, n.results},
                                  direction::mixed, done.by);
  using enum decision::what;
  long_text all;
  for (const decision& d : p.log) {
    const bool concerns_all_tensors =
        d.tensor == decision::none && d.factor != decision::none && (n.how.factors_of(t) >> d.factor & 1U) != 0;
    if (!is_rejected_proposal(d.outcome) || (d.tensor != t && !concerns_all_tensors)) continue;
    all << "  lost in " << name_of(n) << ":";
    if (d.axis != decision::no_axis) all << " " << g.on().axes[d.axis].name();
    if (d.factor != decision::none) all << " for '" << n.how.factors[d.factor].letter << "'";
    all << ", " << partita::name_of(d.outcome);
    if (d.outcome == loses_axis && d.by != decision::none) all << ": '" << n.how.factors[d.by].letter << "' has it";
    if (d.outcome == overruled && d.by != decision::none) all << " by " << name_of(g, g.of(n, d.by));
    all << "\n";
  }
  return all;
}
/// Writes why an axis shards a dimension of a value, step by step back to the annotation that the axis came from.
template <class Graph>
long_text path_to_annotation(const completion_of<Graph>& done, const cut_origin* origin, std::size_t axis) {
  const Graph& g = *done.program;
  long_text all;
  for (std::size_t steps = 0; origin != nullptr && steps <= g.values(); ++steps) {
    const value here{origin->of};
    if (origin->operation == Graph::none)
      return all << "    because " << name_of(g, here) << " is annotated " << text_of(*g.annotation(here))
                 << ", priority " << g.annotation(here)->priority << "\n";
    const typename Graph::node& n = g.operation(origin->operation);
    all << "    because " << name_of(g, value{origin->from}) << " is, by '" << n.how.factors[origin->factor].letter
        << "' of " << name_of(n) << "\n";
    if (origin->from == origin->of) break;
    origin = done.origin_of_cut(value{origin->from}, origin->from_dimension, axis);
  }
  return all;
}
/// Writes the steps of a reshard, one line for each step.
inline long_text write_steps(const reshard_plan& plan, const char* line_prefix) {
  long_text all;
  for (const reshard_step& one : plan) all << line_prefix << text_of(one) << "\n";
  return all;
}

}  // namespace detail

/// Writes, for each mesh axis that shards the value, the operations through which its sharding was propagated from an
/// annotation. Also writes the pending reductions, the rejected proposals, and the communication where the value is
/// computed or read. Cost: propagates again through the operations that use the value, not through the whole program.
template <class Graph>
long_text explain(const completion_of<Graph>& done, value v) {
  const Graph& g = *done.program;
  const sharding& layout = done[v];
  long_text all = detail::name_of(g, v);
  all << " " << detail::text_of(g[v].shape) << " has the layout " << detail::text_of(layout) << "\n";
  for (std::size_t d = 0; d < layout.rank(); ++d)
    for (std::size_t k = 0; k < layout.cuts[d].size(); ++k) {
      const std::size_t a = layout.cuts[d][k];
      all << "  dimension " << d << " is sharded over " << g.on().axes[a].name() << "\n"
          << detail::path_to_annotation(done, done.origin_of_cut(v, d, a), a);
    }
  for (std::size_t a = 0; a < g.on().rank(); ++a)
    if (layout.pending[a] != pending_reduction::none)
      all << "  has a pending " << name_of(layout.pending[a]) << " over " << g.on().axes[a].name()
          << ": the operation that reads it passes it on or completes it\n";
  if (const sharding back = detail::cotangent_sharding(layout); !back.same_layout(layout))
    all << "  its cotangent has the layout " << detail::text_of(back) << "\n";
  for (std::size_t o = 0; o < g.operations(); ++o)
    for (std::size_t t = 0; t < g.operation(o).how.tensor_count(); ++t)
      if (g.of(g.operation(o), t) == v) all << detail::describe_rejections(done, o, t);
  for (const graph_reshard& move : done.reshards) {
    if (move.of != v.number) continue;
    const typename Graph::node& n = g.operation(move.operation);
    all << (move.tensor < n.operands ? "  moved before " : "  moved after ") << detail::name_of(n) << ":\n"
        << detail::write_steps(done.plan(move), "    ");
  }
  return all;
}

/// Writes all communication of a completed program and of its backward pass, in order: the operation, the value, the
/// reshard steps, and the bytes that the busiest worker receives.
template <class Graph>
long_text to_text(const completion_of<Graph>& done) {
  const Graph& g = *done.program;
  long_text all;
  for (const graph_reshard& move : done.reshards) {
    const typename Graph::node& n = g.operation(move.operation);
    all << (move.tensor < n.operands ? "before " : "after ") << detail::name_of(n) << ", "
        << detail::name_of(g, value{move.of}) << " " << detail::text_of(move.from) << "\n"
        << detail::write_steps(done.plan(move), "  ");
  }
  std::size_t windows = 0;
  for (std::size_t o = 0; o < g.operations(); ++o)
    if (const std::size_t bytes = done.window_bytes(o); bytes > 0) {
      all << "inside " << detail::name_of(g.operation(o)) << ": what its blocks read of others, " << bytes
          << " bytes to the busiest worker\n";
      ++windows;
    }
  all << done.reshards.size() + windows << " moves, " << done.bytes() << " bytes to the busiest worker\n";
  std::size_t bytes = 0;
  for (const backward_reshard& move : done.back) {
    if (move.from.same_layout(move.to)) {
      all << "back, inside " << move.operation << ", " << detail::text_of(move.shape) << " "
          << detail::text_of(move.from) << ": what its blocks read of others, " << move.bytes
          << " bytes to the busiest worker\n";
      bytes += move.bytes;
      continue;
    }
    const std::size_t element_bytes = move.is_complex ? 8 : 4;  // numbers of 4 bytes, as in the forward pass
    const reshard_plan plan = plan_reshard(g.on(), move.from, move.to, move.shape, {}, element_bytes);
    all << "back, " << move.operation << ", " << detail::text_of(move.shape) << " " << detail::text_of(move.from)
        << "\n"
        << detail::write_steps(plan, "  ");
    bytes += plan.bytes();
  }
  if (!done.back.empty())
    all << "back: " << done.back.size() << " moves, " << bytes << " bytes to the busiest worker\n";
  return all;
}

}  // namespace partita
