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

template <class Graph>
class searcher {
 public:
  searcher(const Graph& g, std::size_t memory, const search_options& how)
      : g_(g), memory_(memory), how_(how), space_(g), judge_(g, how.model, how.by, memory, how.schedule) {
    units_ = space_.groups;
    for (const auto& group : space_.groups)
      for (std::size_t k = 0; group.size() > 1 && k < group.size(); ++k) units_.push_back({group[k]});
  }

  search_answer_of<Graph> run() {
    const std::vector<choice> nothing(space_.choices.size(), 0);
    try_candidate(nothing);
    std::vector<std::vector<choice>> starts{nothing};
    for (const auto& group : space_.groups) {  // find the best annotation of each group alone
      std::vector<choice> best = nothing;
      descend_in(best, group);
      if (best != nothing) starts.push_back(best);
    }
    for (std::vector<choice> from : starts) descend(from);
    for (std::vector<choice> from = best_.at; judged_ < how_.most && try_pairs(from);) descend(from);
    restart();
    const bool exact = space_.size(how_.most) < how_.most;
    if (exact) try_all();
    return answer(exact);
  }

 private:
  using choice = std::uint16_t;
  struct known {
    std::vector<choice> at{};
    judgement what{};
    bool is_there = false;
  };

  /// Whether candidate a is better: first it fits into memory, then seconds, then peak memory, then fewer annotations.
  static bool better(const known& a, const known& b) {
    if (!b.is_there || !a.is_there) return a.is_there && !b.is_there;
    if (a.what.over != b.what.over) return a.what.over < b.what.over;
    const double s = a.what.cost.seconds(), t = b.what.cost.seconds(), close = 1e-12 * (s + t);
    if (s < t - close || s > t + close) return s < t;
    if (a.what.cost.peak != b.what.cost.peak) return a.what.cost.peak < b.what.cost.peak;
    const std::size_t m = annotations(a.at), n = annotations(b.at);
    return m != n ? m < n : a.at < b.at;
  }
  static std::size_t annotations(const std::vector<choice>& at) {
    std::size_t n = 0;
    for (const choice c : at) n += c != 0;
    return n;
  }

  /// Evaluates a candidate once, and caches the result.
  const known& try_candidate(const std::vector<choice>& at) {
    if (2 * (known_.size() + 1) > table_.size()) rehash();
    std::uint32_t& slot = slot_of(at);
    if (slot != 0) return known_[slot - 1];
    ++judged_;
    say(at);
    known_.push_back({at, judge_(said_), true});
    slot = static_cast<std::uint32_t>(known_.size());
    const known& now = known_.back();
    if (better(now, best_)) best_ = now;
    if (!fastest_.is_there || now.what.plain.seconds() < fastest_.what.plain.seconds()) fastest_ = now;
    return now;
  }
  void say(const std::vector<choice>& at) {
    said_.clear();
    for (std::size_t k = 0; k < at.size(); ++k)
      if (at[k] != 0) said_.push_back({space_.choices[k].of, &space_.choices[k].options[at[k] - 1U]});
  }
  std::uint32_t& slot_of(const std::vector<choice>& at) {
    std::size_t k = hasher().mix(at).value() % table_.size();
    while (table_[k] != 0 && known_[table_[k] - 1].at != at) k = (k + 1) % table_.size();
    return table_[k];
  }
  void rehash() {
    table_.assign(table_.empty() ? 1024 : 4 * table_.size(), 0);
    for (std::size_t k = 0; k < known_.size(); ++k) slot_of(known_[k].at) = static_cast<std::uint32_t>(k + 1);
  }

  /// Tries all options of some choices together, keeps the best option, and leaves the other choices unchanged.
  bool descend_in(std::vector<choice>& from, const std::vector<std::size_t>& together) {
    known best = try_candidate(from);
    bool gained = false;
    std::vector<choice> at = from;
    for (std::size_t option = 0; option < space_.choices[together[0]].size() && judged_ < how_.most; ++option) {
      for (const std::size_t k : together) at[k] = static_cast<choice>(option);
      if (const known& now = try_candidate(at); better(now, best)) best = now, gained = true;
    }
    from = best.at;
    return gained;
  }
  void descend(std::vector<choice>& from) {
    for (bool gained = true; gained && judged_ < how_.most;) {
      gained = false;
      for (std::size_t k = 0; k < units_.size(); ++k)
        if (k < space_.groups.size() || !gained) gained = descend_in(from, units_[k]) || gained;
    }
  }
  /// Changes two units of choices at a time, and stops at the first gain.
  bool try_pairs(std::vector<choice>& from) {
    const known here = try_candidate(from);
    for (std::size_t g = 0; g < units_.size(); ++g)
      for (std::size_t h = 0; h < g; ++h)
        for (std::size_t o = 0; o < space_.choices[units_[g][0]].size(); ++o)
          for (std::size_t p = 0; p < space_.choices[units_[h][0]].size(); ++p) {
            if (judged_ >= how_.most) return false;
            std::vector<choice> at = from;
            for (const std::size_t k : units_[h]) at[k] = static_cast<choice>(p);
            for (const std::size_t k : units_[g]) at[k] = static_cast<choice>(o);
            if (better(try_candidate(at), here)) return from = at, true;
          }
    return false;
  }
  /// Spends the remaining evaluations on restarts from pseudo-random candidates, the same in every run; half of them
  /// are near the best candidate.
  void restart() {
    std::uint64_t state = 0x2545f4914f6cdd1dU;
    const auto random = [&](std::size_t below) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      return static_cast<std::size_t>(state >> 11) % below;
    };
    for (std::size_t tries = 0; judged_ < how_.most && tries < 200 && !space_.groups.empty(); ++tries) {
      std::vector<choice> from = best_.at;
      const std::size_t parts = tries % 3 == 0 ? space_.groups.size() : units_.size();
      for (std::size_t u = 0; u < parts; ++u) {
        if (tries % 2 == 0 && random(2) == 0) continue;
        const std::size_t option = random(space_.choices[units_[u][0]].size());
        for (const std::size_t k : units_[u]) from[k] = static_cast<choice>(option);
      }
      descend(from);
    }
  }
  void try_all() {
    std::vector<choice> at(space_.choices.size(), 0);
    for (;;) {
      try_candidate(at);
      std::size_t k = 0;
      while (k < at.size() && ++at[k] == space_.choices[k].size()) at[k++] = 0;
      if (k == at.size()) return;
    }
  }

  // --- the answer ---

  search_candidate candidate(const known& one, bool with_states) {
    search_candidate c;
    if (!one.is_there) return c;
    say(one.at);
    for (const said_layout& here : said_) c.annotations.push_back({here.of, *here.layout});
    c.cost = with_states ? one.what.cost : one.what.plain;
    c.is_there = true;
    if (with_states && one.what.cuts_states)
      for (const auto& [v, layout] : judge_.cut_states(said_)) c.states.push_back({v, layout});
    return c;
  }
  search_answer_of<Graph> answer(bool exact) {
    if (best_.what.over > 0)
      throw partition_error(text("partita::search: requires a program that fits into ")
                            << memory_ << " bytes of each worker, but the least that was found holds "
                            << best_.what.cost.peak << "; give more memory, more workers or smaller tensors");
    search_answer_of<Graph> out{&g_, how_.model, how_.by, memory_, judged_, exact, candidate(best_, true)};
    // The second best candidate must have different shardings, not the same shardings with different annotations.
    known second;
    for (const known& one : known_)
      if (one.what.over == 0 && !(one.what.layouts == best_.what.layouts) && better(one, second)) second = one;
    out.runner_up = candidate(second, true);
    if (fastest_.what.plain.seconds() < best_.what.cost.seconds() * (1 - 1e-12))
      out.without_limit = candidate(fastest_, false);
    return out;
  }

  const Graph& g_;
  std::size_t memory_;
  const search_options& how_;
  search_space<Graph> space_;
  std::vector<std::vector<std::size_t>> units_{};  ///< choices that change together: each group, then each choice alone
  search_judge<Graph> judge_;
  std::vector<known> known_{};
  std::vector<std::uint32_t> table_{};
  std::vector<said_layout> said_{};
  known best_{}, fastest_{};
  std::size_t judged_ = 0;
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
