// Defines the search that plan/search.hpp declares.
//
// A candidate is evaluated by completing the program and walking through its step. The search is a coordinate descent
// that starts from no annotations and from the best single annotations: it changes one choice at a time, first for all
// layers together, then for each layer; then two choices at a time; then it starts again from other points. If the
// program has few candidates, all of them are evaluated, and the result is the optimum.
#pragma once

#include <cstdint>
#include <partita/plan/search.hpp>
#include <partita/plan/search_judge.hpp>
#include <partita/plan/search_space.hpp>

namespace partita {
namespace detail {

/// Searches for the best annotations of one program.
template <class Graph>
class searcher {
 public:
  /// `memory` is what each worker has, in bytes.
  searcher(const Graph& g, std::size_t memory, const search_options& how)
      : g_(g), memory_limit_(memory), options_(how), space_(g), judge_(g, how.model, how.by, memory, how.schedule) {
    input_groups_ = space_.groups;
    for (const auto& group : space_.groups)
      for (std::size_t k = 0; group.size() > 1 && k < group.size(); ++k) input_groups_.push_back({group[k]});
  }

  search_answer_of<Graph> run() {  ///< the whole search; called once
    const std::vector<choice> nothing(space_.choices.size(), 0);
    evaluate(nothing);
    std::vector<std::vector<choice>> starts{nothing};
    for (const auto& group : space_.groups) {  // find the best annotation of each group alone
      std::vector<choice> best = nothing;
      improve_one_group(best, group);
      if (best != nothing) starts.push_back(best);
    }
    for (std::vector<choice> from : starts) descend(from);
    for (std::vector<choice> from = best_.selection; try_count_ < options_.most && improve_pair(from);) descend(from);
    restart_randomly();
    const bool is_exact = space_.size(options_.most) < options_.most;
    if (is_exact) evaluate_all_candidates();
    return make_search_answer(is_exact);
  }

 private:
  using choice = std::uint16_t;       ///< the number of an option of an input; 0 for no annotation
  struct evaluation {                 ///< a candidate and its cost
    std::vector<choice> selection{};  ///< the option of each choice of space_
    judgement result{};               ///< the cost of this candidate
    bool is_evaluated = false;        ///< false for no candidate
  };

  /// Whether candidate a is better than b: it exceeds the memory limit by fewer bytes; among equals, it takes less
  /// time, then less peak memory, then fewer annotations.
  static bool is_better(const evaluation& a, const evaluation& b) {
    if (!b.is_evaluated || !a.is_evaluated) return a.is_evaluated && !b.is_evaluated;
    if (a.result.excess_bytes != b.result.excess_bytes) return a.result.excess_bytes < b.result.excess_bytes;
    const double s = a.result.cost.seconds(), t = b.result.cost.seconds(), tolerance = 1e-12 * (s + t);
    if (s < t - tolerance || s > t + tolerance) return s < t;
    if (a.result.cost.peak != b.result.cost.peak) return a.result.cost.peak < b.result.cost.peak;
    const std::size_t m = annotation_count(a.selection), n = annotation_count(b.selection);
    return m != n ? m < n : a.selection < b.selection;
  }
  static std::size_t annotation_count(const std::vector<choice>& selection) {  ///< the inputs that it annotates
    std::size_t n = 0;
    for (const choice c : selection) n += c != 0;
    return n;
  }

  /// Evaluates a candidate (a list of shardings) unless its evaluation is cached, and caches the result.
  const evaluation& evaluate(const std::vector<choice>& selection) {
    if (2 * (evaluations_.size() + 1) > hash_slots_.size()) grow_hash_table();
    std::uint32_t& slot = find_hash_slot(selection);
    if (slot != 0) return evaluations_[slot - 1];
    ++try_count_;
    annotate(selection);
    evaluations_.push_back({selection, judge_(annotations_), true});
    slot = static_cast<std::uint32_t>(evaluations_.size());
    const evaluation& result = evaluations_.back();
    if (is_better(result, best_)) best_ = result;
    if (!fastest_.is_evaluated || result.result.plain.seconds() < fastest_.result.plain.seconds()) fastest_ = result;
    return result;
  }
  /// Lists the annotations of a candidate in annotations_.
  void annotate(const std::vector<choice>& selection) {
    annotations_.clear();
    for (std::size_t k = 0; k < selection.size(); ++k)
      if (selection[k] != 0)
        annotations_.push_back({space_.choices[k].input, &space_.choices[k].options[selection[k] - 1U]});
  }
  std::uint32_t& find_hash_slot(const std::vector<choice>& selection) {  ///< the slot of a candidate, or an empty slot
    std::size_t k = hasher().mix(selection).value() % hash_slots_.size();
    while (hash_slots_[k] != 0 && evaluations_[hash_slots_[k] - 1].selection != selection)
      k = (k + 1) % hash_slots_.size();
    return hash_slots_[k];
  }
  void grow_hash_table() {  ///< makes the first slots, or four times as many
    hash_slots_.assign(hash_slots_.empty() ? 1024 : 4 * hash_slots_.size(), 0);
    for (std::uint32_t k = 0; k < evaluations_.size(); ++k) find_hash_slot(evaluations_[k].selection) = k + 1;
  }

  /// Gives all inputs in `unit` the same option, tries each option, and keeps the best. Other choices do not change.
  bool improve_one_group(std::vector<choice>& from, const std::vector<std::size_t>& unit) {
    evaluation best = evaluate(from);
    bool gained = false;
    std::vector<choice> selection = from;
    for (std::size_t option = 0; option < space_.choices[unit[0]].size() && try_count_ < options_.most; ++option) {
      for (const std::size_t k : unit) selection[k] = static_cast<choice>(option);
      if (const evaluation& result = evaluate(selection); is_better(result, best)) best = result, gained = true;
    }
    from = best.selection;
    return gained;
  }
  /// Improves one group after another, until no group can be improved alone.
  void descend(std::vector<choice>& from) {
    for (bool gained = true; gained && try_count_ < options_.most;) {
      gained = false;
      for (std::size_t k = 0; k < input_groups_.size(); ++k)
        if (k < space_.groups.size() || !gained) gained = improve_one_group(from, input_groups_[k]) || gained;
    }
  }
  /// Changes the shardings of two units (groups of inputs) at a time, and stops at the first gain.
  bool improve_pair(std::vector<choice>& from) {
    const evaluation start = evaluate(from);
    for (std::size_t g = 0; g < input_groups_.size(); ++g)
      for (std::size_t h = 0; h < g; ++h)
        for (std::size_t o = 0; o < space_.choices[input_groups_[g][0]].size(); ++o)
          for (std::size_t p = 0; p < space_.choices[input_groups_[h][0]].size(); ++p) {
            if (try_count_ >= options_.most) return false;
            std::vector<choice> selection = from;
            for (const std::size_t k : input_groups_[h]) selection[k] = static_cast<choice>(p);
            for (const std::size_t k : input_groups_[g]) selection[k] = static_cast<choice>(o);
            if (is_better(evaluate(selection), start)) return from = selection, true;
          }
    return false;
  }
  /// While evaluations remain, restarts up to 200 times from pseudo-random candidates, the same in every run; half of
  /// them are near the best candidate.
  void restart_randomly() {
    std::uint64_t state = 0x2545f4914f6cdd1dU;
    const auto random = [&](std::size_t upper_bound) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      return static_cast<std::size_t>(state >> 11) % upper_bound;
    };
    for (std::size_t attempt = 0; try_count_ < options_.most && attempt < 200 && !space_.groups.empty(); ++attempt) {
      std::vector<choice> from = best_.selection;
      const std::size_t parts = attempt % 3 == 0 ? space_.groups.size() : input_groups_.size();
      for (std::size_t u = 0; u < parts; ++u) {
        if (attempt % 2 == 0 && random(2) == 0) continue;
        const std::size_t option = random(space_.choices[input_groups_[u][0]].size());
        for (const std::size_t k : input_groups_[u]) from[k] = static_cast<choice>(option);
      }
      descend(from);
    }
  }
  void evaluate_all_candidates() {  ///< used if their number is below options_.most
    std::vector<choice> selection(space_.choices.size(), 0);
    for (;;) {
      evaluate(selection);
      std::size_t k = 0;
      while (k < selection.size() && ++selection[k] == space_.choices[k].size()) selection[k++] = 0;
      if (k == selection.size()) return;
    }
  }

  // --- the answer ---

  /// Converts an evaluation to the form of the answer.
  search_candidate describe(const evaluation& one, bool includes_sharded_states) {
    search_candidate c;
    if (!one.is_evaluated) return c;
    annotate(one.selection);
    for (const annotated_value& start : annotations_) c.annotations.push_back({start.input, *start.layout});
    c.cost = includes_sharded_states ? one.result.cost : one.result.plain;
    c.is_found = true;
    if (includes_sharded_states && one.result.has_sharded_states)
      for (const auto& [v, layout] : judge_.find_sharded_states(annotations_)) c.states.push_back({v, layout});
    return c;
  }
  search_answer_of<Graph> make_search_answer(bool is_exact) {  ///< throws if no candidate fits into memory
    if (best_.result.excess_bytes > 0)
      throw partition_error(text("partita::search: requires a program that fits into ")
                            << memory_limit_ << " bytes of each worker, but the least that was found holds "
                            << best_.result.cost.peak << "; give more memory, more workers or smaller tensors");
    search_answer_of<Graph> out{&g_,        options_.model, options_.by,          memory_limit_,
                                try_count_, is_exact,       describe(best_, true)};
    // The second best candidate must have different shardings, not the same shardings with different annotations.
    evaluation second;
    for (const evaluation& one : evaluations_)
      if (one.result.excess_bytes == 0 && !(one.result.hash == best_.result.hash) && is_better(one, second))
        second = one;
    out.runner_up = describe(second, true);
    if (fastest_.result.plain.seconds() < best_.result.cost.seconds() * (1 - 1e-12))
      out.best_without_limit = describe(fastest_, false);
    return out;
  }

  const Graph& g_;                 ///< the program
  std::size_t memory_limit_;       ///< the memory of each worker, in bytes
  const search_options& options_;  ///< the options of the call
  search_space<Graph> space_;      ///< the options of each input of rank 1 or more that has no annotation
  /// Choices that change together: each group, then each choice alone.
  std::vector<std::vector<std::size_t>> input_groups_{};
  search_judge<Graph> judge_;                   ///< evaluates candidates
  std::vector<evaluation> evaluations_{};       ///< all candidates that were evaluated
  std::vector<std::uint32_t> hash_slots_{};     ///< a hash table of evaluations_: index + 1, or 0 for an empty slot
  std::vector<annotated_value> annotations_{};  ///< those of the candidate that was annotated last
  evaluation best_{}, fastest_{};               ///< of the candidates so far; fastest_: without regard to memory
  std::size_t try_count_ = 0;                   ///< the number of candidates that were evaluated
};

}  // namespace detail

template <std::size_t Letters>
search_answer_of<basic_graph<Letters>> search(const basic_graph<Letters>& program, const mesh_links& links,
                                              std::size_t memory, search_options options) {
  options.model.links = links;
  return detail::searcher<basic_graph<Letters>>(program, memory, options).run();
}
#ifdef PARTITA_CORE
template search_answer search(const graph&, const mesh_links&, std::size_t, search_options);
#endif

}  // namespace partita
