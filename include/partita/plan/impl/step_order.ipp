// Defines the functions that plan/step_order.hpp declares.
#pragma once

#include <partita/plan/step_order.hpp>
#include <utility>

namespace partita {
PARTITA_DEF std::vector<ordered_step> order_steps(const std::vector<step_use>& steps, std::size_t first,
                                                  std::size_t end, const order_limits& limits, double now) {
  constexpr std::size_t none = ~std::size_t{0};
  /// For each step, the number of its waits for other steps, and the steps that wait for it. Movements that share their
  /// messages are one step, which has the number of the first of these movements.
  struct step_dependencies {
    std::vector<std::size_t> input_counts;  ///< for each step, its waits for steps that are not finished
    std::vector<std::vector<std::size_t>> dependent_steps, joint_steps;  ///< that wait for each step; joined with it

    /// Finds the dependencies among the steps with indices in [first, end).
    step_dependencies(const std::vector<step_use>& steps, std::size_t first, std::size_t end)
        : input_counts(end - first, 0), dependent_steps(end - first), joint_steps(end - first) {
      struct block {                               ///< the steps so far that use a block
        std::size_t set_by = ~std::size_t{0};      ///< the last step that set the block
        std::vector<std::size_t> reading_steps{};  ///< the steps that read it since then
      };
      std::vector<block> all;
      const auto block_of = [&](std::uint32_t b) -> block& {
        if (b >= all.size()) all.resize(b + 1);
        return all[b];
      };
      const auto number = [&](std::size_t k) {
        return (steps[k].message_leader == step_use::nothing ? k : steps[k].message_leader) - first;
      };
      for (std::size_t k = first; k < end; ++k) {
        const auto wait_for = [&](std::size_t earlier_step) {
          if (earlier_step >= k) return;  // no earlier step, or the step itself
          dependent_steps[number(earlier_step)].push_back(number(k));
          ++input_counts[number(k)];
        };
        joint_steps[number(k)].push_back(k);
        for (const std::uint32_t b : steps[k].reads)
          if (b != step_use::nothing) {
            wait_for(block_of(b).set_by);
            block_of(b).reading_steps.push_back(k);
          }
        if (steps[k].sets == step_use::nothing) continue;
        block& y = block_of(steps[k].sets);
        wait_for(y.set_by);
        for (const std::size_t reader : y.reading_steps) wait_for(reader);
        y = {k, {}};
      }
    }
  };

  /// Simulates the execution of the steps with their estimated times.
  class step_walker {
   public:
    step_walker(const std::vector<step_use>& steps, std::size_t first, std::size_t end, const order_limits& limits,
                double now)
        : steps_(steps),
          first_(first),
          limits_(limits),
          graph_(steps, first, end),
          is_finished_(end - first, false),
          is_channel_used_(limits.max_pending, false),
          time_(now),
          link_free_(now) {
      for (std::size_t k = 0; k < is_finished_.size(); ++k)
        if (graph_.input_counts[k] == 0 && !graph_.joint_steps[k].empty()) add_ready_step(k);
    }

    std::vector<ordered_step> order() {  ///< simulates all steps; called once
      while (first_unfinished_ < is_finished_.size()) {
        start_movements();
        const std::size_t index = first_arrival();
        if (index != none && (pending_[index].until <= time_ || !may_compute())) finish_movement(index);
        else if (may_compute()) compute();
        else break;  // only if a joined movement needs a step that must follow the group's first movement
      }
      return std::move(order_);
    }

   private:
    bool may_start(std::size_t k) const { return k - first_unfinished_ <= limits_.ahead; }  ///< if the limits allow it
    void add_ready_step(std::size_t k) {  ///< step k waits for no other step now
      std::vector<std::size_t>& list = steps_[first_ + k].moves ? movements_ : computations_;
      list.push_back(k);  // descending order: the step that is first in the program is last
      for (std::size_t i = list.size() - 1; i > 0 && list[i - 1] < list[i]; --i) std::swap(list[i - 1], list[i]);
    }
    void finish_step(std::size_t k) {  ///< makes the steps ready that waited only for it
      for (const std::size_t j : graph_.joint_steps[k]) is_finished_[j - first_] = true;
      while (first_unfinished_ < is_finished_.size() && is_finished_[first_unfinished_]) ++first_unfinished_;
      for (const std::size_t next : graph_.dependent_steps[k])
        if (--graph_.input_counts[next] == 0) add_ready_step(next);
    }
    void start_movements() {  ///< starts as many ready movements as the limits allow
      while (!movements_.empty() && may_start(movements_.back()) && pending_.size() < limits_.max_pending) {
        const std::size_t k = movements_.back();
        movements_.pop_back();
        std::size_t c = 0;
        while (is_channel_used_[c]) ++c;
        is_channel_used_[c] = true;
        link_free_ = (time_ < link_free_ ? link_free_ : time_) + steps_[first_ + k].shared_seconds;
        for (const std::size_t j : graph_.joint_steps[k]) link_free_ += steps_[j].seconds - steps_[j].shared_seconds;
        pending_.push_back(
            {ordered_step::what::start, program_step(k), static_cast<std::uint32_t>(c), time_, link_free_});
        for (const std::size_t j : graph_.joint_steps[k])
          order_.push_back(pending_.back()), order_.back().step = static_cast<std::uint32_t>(j);
        if (limits_.ahead == 0) return;
      }
    }
    /// The index in pending_ of the movement that arrives first, or `none`.
    std::size_t first_arrival() const {
      std::size_t first = none;
      for (std::size_t k = 0; k < pending_.size(); ++k)
        if (first == none || pending_[k].until < pending_[first].until) first = k;
      return first;
    }
    void finish_movement(std::size_t pending_index) {  ///< waits for a movement, and frees its channel
      const ordered_step one = pending_[pending_index];
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(pending_index));
      is_channel_used_[one.channel] = false;
      const double until = time_ < one.until ? one.until : time_;
      for (const std::size_t j : graph_.joint_steps[one.step - first_])
        order_.push_back({ordered_step::what::finish, static_cast<std::uint32_t>(j), one.channel, time_, until}),
            time_ = until;
      finish_step(one.step - first_);
    }
    /// Whether a computation is ready, and the limits allow it to start.
    bool may_compute() const { return !computations_.empty() && may_start(computations_.back()); }
    void compute() {  ///< executes the next ready computation
      const std::size_t k = computations_.back();
      computations_.pop_back();
      const double until = time_ + steps_[first_ + k].seconds;
      order_.push_back({ordered_step::what::compute, program_step(k), 0, time_, until});
      time_ = until;
      finish_step(k);
    }
    /// The number in the program of step k of the ordered steps.
    std::uint32_t program_step(std::size_t k) const { return static_cast<std::uint32_t>(first_ + k); }

    const std::vector<step_use>& steps_;                 ///< all steps of the program
    std::size_t first_;                                  ///< the number of the first step that is ordered
    order_limits limits_;                                ///< how far the order may differ from the program's
    step_dependencies graph_;                            ///< the dependencies between the ordered steps
    std::vector<bool> is_finished_, is_channel_used_;    ///< indexed by step; by channel
    std::vector<std::size_t> computations_, movements_;  ///< ready steps, in descending order
    std::vector<ordered_step> pending_, order_;          ///< the starts of pending movements; the order so far
    std::size_t first_unfinished_ = 0;                   // the first step that is not finished
    double time_, link_free_;                            ///< the simulated time, and the time at which the link is free
  };

  return step_walker(steps, first, end, limits, now).order();
}

PARTITA_DEF block_lives lives_of(const std::vector<step_use>& steps, const std::vector<ordered_step>& order) {
  block_lives all;
  const auto extend_life = [&](std::uint32_t block, std::size_t k) {
    if (block == step_use::nothing) return;
    if (block >= all.last_use.size()) all.first_set.resize(block + 1, all.never), all.last_use.resize(block + 1, 0);
    all.last_use[block] = k;
  };
  for (std::size_t k = 0; k < order.size(); ++k) {
    const step_use& one = steps[order[k].step];
    for (const std::uint32_t x : one.reads) extend_life(x, k);
    extend_life(one.sets, k);
    if (one.sets != step_use::nothing && all.first_set[one.sets] == block_lives::never) all.first_set[one.sets] = k;
  }
  return all;
}

}  // namespace partita
