// Computes the cost of a candidate of the search, after the program is completed with the candidate's annotations. The
// costs of reshards are cached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/core/hash.hpp>
#include <partita/plan/step_plan.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// A cache of the costs of reshards. Each reshard is planned only once; a hash identifies the reshard.
class move_costs {
 public:
  move_costs(const mesh& m, const step_model& model) : m_(m), model_(model), hash_slots_(1024) {}

  PARTITA_DECL const move_cost& operator()(const sharding& from, const sharding& to, const shape_list& shape,
                                           std::size_t element_bytes);

 private:
  struct cost_entry {          ///< a slot of the hash table
    std::uint64_t number = 0;  ///< the hash of the reshard; 0 for an empty slot
    move_cost cost{};          ///< its cost
  };
  PARTITA_DECL cost_entry& find_hash_slot(std::uint64_t number);  ///< the slot of a reshard, or an empty slot

  const mesh& m_;                       ///< the mesh of the program
  const step_model& model_;             ///< the model of a step's cost; its links are used
  std::vector<cost_entry> hash_slots_;  ///< an open-addressing hash table
  std::size_t entry_count_ = 0;         ///< the number of slots in use
};

/// The sharding that a candidate of the search gives to an input.
struct annotated_value {
  value input{};                     ///< the input that is annotated
  const sharding* layout = nullptr;  ///< its sharding
};

/// The evaluation of a candidate of the search. `excess_bytes` is the memory that the candidate needs beyond the limit.
struct judgement {
  step_cost cost{}, plain{};        ///< of a step; `plain`: with states sharded like their parameters
  std::size_t excess_bytes = 0;     ///< the bytes beyond the memory limit
  std::uint64_t hash = 0;           ///< a fingerprint of the shardings of the inputs
  bool has_sharded_states = false;  ///< whether `cost` is for optimiser states that are sharded further
};

/// Evaluates the candidates of one search.
template <class Graph>
class search_judge {
 public:
  search_judge(const Graph& g, const step_model& model, const policy& by, std::size_t memory, schedule_cost schedule)
      : g_(g),
        annotated_graph_(g),
        model_(model),
        policy_(by),
        memory_limit_(memory),
        schedule_(schedule),
        step_estimate_(g),
        move_costs_(g.on(), model) {}

  judgement operator()(const std::vector<annotated_value>& annotations) {
    const completion_of<Graph> done = complete_annotated(annotations);
    const step_cost plain = cost_of(done, {});
    judgement out{plain, plain, 0, hash_layouts(done)};
    if (out.cost.peak > memory_limit_ && step_estimate_.has_parameters) {
      const step_cost sharded = cost_of(done, optimiser_state_shardings(done));
      if (sharded.peak < out.cost.peak) out.cost = sharded, out.has_sharded_states = true;
    }
    out.excess_bytes = out.cost.peak > memory_limit_ ? out.cost.peak - memory_limit_ : 0;
    return out;
  }
  /// The parameters whose optimiser states are sharded further to fit into memory, with the shardings of these states.
  std::vector<std::pair<value, sharding>> find_sharded_states(const std::vector<annotated_value>& annotations) {
    const completion_of<Graph> done = complete_annotated(annotations);
    const std::vector<sharding> states = optimiser_state_shardings(done);
    std::vector<std::pair<value, sharding>> all;
    for (std::uint32_t v = 0; v < g_.values(); ++v)
      if (g_[value{v}].is_parameter && !states[v].same_layout(done[value{v}])) all.push_back({value{v}, states[v]});
    return all;
  }

 private:
  /// Completes the program with the annotations of a candidate.
  completion_of<Graph> complete_annotated(const std::vector<annotated_value>& annotations) {
    for (const annotated_value& one : annotations) annotated_graph_.constrain(one.input, *one.layout);
    completion_of<Graph> done = complete(annotated_graph_, policy_);
    for (const annotated_value& one : annotations) annotated_graph_.release(one.input);
    done.program = &g_;
    return done;
  }
  /// The cost of a step, by the schedule's cost function if there is one and its result fits into memory.
  step_cost cost_of(const completion_of<Graph>& done, const std::vector<sharding>& states) {
    if constexpr (requires(const step_plan_of<Graph>& plan) { schedule_(plan); })
      if (schedule_ != nullptr)
        if (const step_cost cost = schedule_(plan_step(done, model_, states)); cost.peak <= memory_limit_) return cost;
    const auto nothing = [](const step_event&) {};
    return step_walk(done, step_estimate_, model_, states, move_costs_, nothing).run();
  }
  /// The shardings of optimiser states: those of the parameters, with each axis over which a parameter is replicated
  /// added to the dimension with the longest blocks, if these have an index for each worker of the axis.
  std::vector<sharding> optimiser_state_shardings(const completion_of<Graph>& done) const {
    std::vector<sharding> all = done.layouts;
    for (std::uint32_t v = 0; v < g_.values(); ++v) {
      const value one{v};
      if (!g_[one].is_parameter) continue;
      sharding& s = all[v];
      for (std::size_t a = 0; a < g_.on().rank(); ++a) {
        if ((s.cut_axes() >> a & 1U) != 0 || s.pending[a] != pending_reduction::none) continue;
        std::size_t longest = 0, at = s.rank();
        for (std::size_t d = 0; d < s.rank(); ++d) {
          const std::size_t block = g_[one].shape[d] == dynamic ? 1 : g_[one].shape[d] / g_.on().size(s.cuts[d]);
          if (block > longest) longest = block, at = d;
        }
        if (at < s.rank() && longest >= g_.on().size(a)) s.cuts[at].push_back(a);
      }
    }
    return all;
  }
  /// A hash of the shardings of the program's inputs.
  std::uint64_t hash_layouts(const completion_of<Graph>& done) const {
    hasher all;
    for (std::uint32_t v = 0; v < g_.values(); ++v)
      for (std::size_t d = 0; g_[value{v}].producer == Graph::none && d < done[value{v}].rank(); ++d)
        all.mix(done[value{v}].cuts[d].packed);
    return all.value();
  }

  const Graph& g_;                      ///< the program without a candidate's annotations
  Graph annotated_graph_;               ///< a copy of the graph, annotated anew for each candidate
  const step_model& model_;             ///< the model of a step's cost
  policy policy_;                       ///< the policy of completions
  std::size_t memory_limit_;            ///< the memory of each worker, in bytes
  schedule_cost schedule_;              ///< the cost function of a schedule, or null
  step_estimate<Graph> step_estimate_;  ///< the properties of the program, for all candidates
  move_costs move_costs_;               ///< the costs of reshards that were planned
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/plan/impl/search_judge.ipp>
#endif
