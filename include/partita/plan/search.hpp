// Search: finds the annotations of a program's inputs that minimise the time of a step.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/plan/step_plan.hpp>
#include <vector>

namespace partita {

/// The sharding that a search chose for one input.
struct found_annotation {
  value of{};         ///< the input
  sharding layout{};  ///< its sharding
  friend constexpr bool operator==(const found_annotation&, const found_annotation&) = default;
};

/// One way to shard a program: the annotations of its inputs, the optimiser's states whose shardings differ from those
/// of their parameters, and the cost of a step.
struct search_candidate {
  std::vector<found_annotation> annotations{}, states{};  ///< the shardings of inputs; of optimiser states
  step_cost cost{};                                       ///< the cost of a step
  bool is_found = false;                                  ///< whether there is such a candidate
};

/// The options of a search for shardings.
struct search_options {
  step_model model{};       ///< the model of a step's cost; its links are replaced by those of the call
  std::size_t most = 4096;  ///< the most candidates that are evaluated
  policy by{};              ///< the policy of completions
  /// If not null, the cost function by which candidates within the memory limit are compared; see overlapped_cost.
  schedule_cost schedule = nullptr;
};

/// The result of a search. The program must outlive the result.
template <class Graph>
struct search_answer_of {
  const Graph* program = nullptr;  ///< the program that was searched
  step_model model{};              ///< the machine for which costs were estimated
  policy by{};                     ///< the policy of completions
  /// The memory limit of each worker, in bytes; the number of candidates that were evaluated.
  std::size_t memory = 0, evaluated_candidates = 0;
  bool is_exact = false;                  ///< whether all candidates were evaluated
  search_candidate best{}, runner_up{};   ///< the fastest two with different shardings, within the memory limit
  search_candidate best_without_limit{};  ///< the fastest without the limit, if faster than `best`

  /// The annotations of the best candidate.
  const std::vector<found_annotation>& annotations() const { return best.annotations; }
  /// The program with the annotations of a candidate, ready to be completed, planned and bound.
  Graph annotated(const search_candidate& with) const {
    Graph g = *program;
    for (const found_annotation& one : with.annotations) g.constrain(one.of, one.layout);
    return g;
  }
  Graph annotated() const { return annotated(best); }  ///< the program, annotated as in `best`
  /// The sharding of the optimiser's state for each value, as `plan_step` expects it.
  std::vector<sharding> states(const completion_of<Graph>& done) const {
    std::vector<sharding> all = done.layouts;
    for (const found_annotation& one : best.states) all[one.of.number] = one.layout;
    return all;
  }
};
using search_answer = search_answer_of<graph>;  ///< the usual type of the result of a search

/// Searches for the shardings of a program's inputs and parameters with which a step, forward and (with parameters)
/// backward, has the smallest estimated time within a memory limit. Annotations that the program already has are kept.
/// Shapes:   those of the program; `dynamic` extents are not sharded.
/// Requires: at least one candidate that fits into `memory` bytes of each worker [partition_error].
/// Cost:     at most `options.most` candidates, each in about 5 µs for each operation; the result is the optimum if the
///           program has fewer candidates than this.
/// Adjoint:  part of the search: the gradients' shardings follow from those of the parameters.
template <std::size_t Letters>
search_answer_of<basic_graph<Letters>> search(const basic_graph<Letters>& program, const mesh_links& links,
                                              std::size_t memory = ~std::size_t{0}, search_options options = {});
#ifdef PARTITA_CORE
extern template search_answer search(const graph&, const mesh_links&, std::size_t, search_options);
#endif

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/search.ipp>
#endif
