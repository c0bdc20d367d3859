// Defines the functions that plan/pipeline_order.hpp declares.
#pragma once

#include <partita/core/error.hpp>
#include <partita/plan/pipeline_order.hpp>

namespace partita {

PARTITA_DEF std::uint32_t pipeline_shape::groups() const {
  std::uint32_t n = 0;
  for (const std::uint32_t g : group_of) n = g >= n ? g + 1 : n;
  return n;
}

PARTITA_DEF double pipeline_times::of(const pipeline_task& one) const {
  const std::vector<double>& all = one.pass == pipeline_pass::forward    ? forward
                                   : one.pass == pipeline_pass::backward ? backward
                                                                         : weights;
  return one.stage < all.size() ? all[one.stage] : 0;
}

namespace detail {

/// The times at which the tasks of a pipeline end, as far as they are known.
class pipeline_clock {
 public:
  static constexpr double unknown_end_time = -1;  ///< of tasks that have not ended

  /// `moving` is the time of a transfer between groups in seconds.
  pipeline_clock(const pipeline_shape& shape, double moving)
      : shape_(shape), transfer_seconds_(moving), end_times_(shape.task_count(), unknown_end_time) {}

  double& end_time(const pipeline_task& one) { return end_times_[shape_.number(one)]; }  ///< to be set when it ends
  bool is_done(const pipeline_task& one) const { return end_times_[shape_.number(one)] != unknown_end_time; }

  /// An unfinished task that task `one` needs; task `one` itself if it could begin.
  pipeline_task first_missing_task(const pipeline_task& one) const {
    pipeline_task missing = one;
    for_each_dependency(one, [&](const pipeline_task& needed_task, double) {
      if (missing == one && !is_done(needed_task)) missing = needed_task;
    });
    return missing;
  }
  /// The time at which all inputs of a pipeline task have arrived at its group of workers.
  double arrival_time(const pipeline_task& one) const {
    double start = 0;
    for_each_dependency(one, [&](const pipeline_task& needed_task, double transfer) {
      const double arrival = end_times_[shape_.number(needed_task)] + transfer;
      start = arrival > start ? arrival : start;
    });
    return start;
  }

 private:
  /// Calls f(task, seconds of the transfer) for the tasks whose results a task needs.
  template <class F>
  void for_each_dependency(const pipeline_task& one, F f) const {
    const auto from_stage = [&](pipeline_pass pass, std::uint32_t stage) {
      f({pass, stage, one.micro_batch}, shape_.group_of[stage] == shape_.group_of[one.stage] ? 0 : transfer_seconds_);
    };
    switch (one.pass) {
      case pipeline_pass::forward:
        if (one.stage > 0) from_stage(pipeline_pass::forward, one.stage - 1);
        break;
      case pipeline_pass::backward:
        from_stage(pipeline_pass::forward, one.stage);
        if (one.stage + 1 < shape_.stages()) from_stage(pipeline_pass::backward, one.stage + 1);
        break;
      case pipeline_pass::weights:
        from_stage(pipeline_pass::backward, one.stage);
        break;
    }
  }

  const pipeline_shape& shape_;    ///< the pipeline
  double transfer_seconds_;        ///< the time of a transfer between two groups
  std::vector<double> end_times_;  ///< the end of each task, indexed by pipeline_shape::number
};

/// Throws a partition_error unless there are a stage, a micro-batch, and times from 0 to 1e30 seconds.
PARTITA_DECL void require_pipeline(const pipeline_shape& shape, const pipeline_times& times) {
  if (shape.group_of.empty() || shape.micro_batches == 0)
    throw partition_error(text("partita::pipeline: requires at least one stage and one micro-batch, got ")
                          << shape.stages() << " and " << shape.micro_batches << "; give both");
  const auto is_time = [](double t) { return t >= 0 && t <= 1e30; };  // sums of such times stay finite
  bool are_times = is_time(times.transfer_seconds);
  for (const auto* list : {&times.forward, &times.backward, &times.weights}) {
    are_times = are_times && (list->empty() || list->size() == shape.stages());
    for (const double t : *list) are_times = are_times && is_time(t);
  }
  if (!are_times)
    throw partition_error(text("partita::pipeline: requires times from 0 to 1e30 seconds, one for each of the ")
                          << shape.stages() << " stages in each list; give them all, or leave a list empty");
}

/// Requires each task once, in the list of its group, and the gradients of a stage in ascending order of micro-batches.
PARTITA_DECL void require_complete(const pipeline_shape& shape, const pipeline_tasks& tasks, bool has_weights) {
  if (tasks.size() != shape.groups())
    throw partition_error(text("partita::pipeline: requires a list of tasks for each of the ")
                          << shape.groups() << " groups of workers, got " << tasks.size() << "; give that many");
  pipeline_clock seen(shape, 0);
  std::vector<std::uint32_t> next(std::size_t{3} * shape.stages(), 0);
  for (std::size_t g = 0; g < tasks.size(); ++g)
    for (const pipeline_task& one : tasks[g]) {
      if (one.stage >= shape.stages() || one.micro_batch >= shape.micro_batches || shape.group_of[one.stage] != g)
        throw partition_error(text("partita::pipeline: requires tasks of the stages of group ")
                              << g << " and of " << shape.micro_batches << " micro-batches, got " << one
                              << "; give it to the group that has the stage");
      if (seen.is_done(one))
        throw partition_error(text("partita::pipeline: requires each task once, got twice: ")
                              << "" << one << "; leave one out");
      seen.end_time(one) = 0;
      std::uint32_t& expected = next[static_cast<std::size_t>(one.pass) * shape.stages() + one.stage];
      if (one.pass != pipeline_pass::forward && one.micro_batch != expected)
        throw partition_error(text("partita::pipeline: requires the gradients of a stage in ascending order of "
                                   "micro-batches, because they are summed in that order, got ")
                              << "" << one << " before that for micro-batch " << expected << "; exchange them");
      ++expected;
    }
  for (std::uint32_t s = 0; s < shape.stages(); ++s)
    for (std::uint32_t m = 0; m < shape.micro_batches; ++m)
      for (const pipeline_pass pass : {pipeline_pass::forward, pipeline_pass::backward, pipeline_pass::weights})
        if (const pipeline_task one{pass, s, m}; (pass != pipeline_pass::weights || has_weights) && !seen.is_done(one))
          throw partition_error(text("partita::pipeline: requires each task once, and there is none: ")
                                << "" << one << "; add it to group " << shape.group_of[s]);
}

/// Throws the error for a deadlock, and names the cycle of tasks that wait for each other.
PARTITA_DECL void reject_cycle(const pipeline_shape& shape, const pipeline_tasks& tasks,
                               const std::vector<std::size_t>& next, const pipeline_clock& clock) {
  std::vector<bool> seen(tasks.size(), false);
  std::size_t g = 0;
  while (next[g] == tasks[g].size()) ++g;
  const auto needed_by = [&](std::size_t group) { return clock.first_missing_task(tasks[group][next[group]]); };
  const auto group_needed_by = [&](std::size_t group) { return std::size_t{shape.group_of[needed_by(group).stage]}; };
  while (!seen[g]) seen[g] = true, g = group_needed_by(g);
  basic_text<1200> circle;  // a longer text ends with dots, so that the advice after it fits
  const std::size_t first = g;
  do {
    circle << (circle.empty() ? "" : "; ") << "group " << g << " waits with " << tasks[g][next[g]] << " for "
           << needed_by(g);
    g = group_needed_by(g);
  } while (g != first);
  throw partition_error(text("partita::pipeline: requires an order in which nothing waits for ever, but ")
                        << circle << "; put a task that is waited for before one that waits");
}

/// Orders the tasks of all groups: among the tasks that could begin first, is_preferred decides which task is next.
class pipeline_chooser {
 public:
  pipeline_chooser(const pipeline_shape& shape, const pipeline_times& times, bool has_weights)
      : shape_(shape), times_(times), has_weights_(has_weights) {}

  pipeline_tasks choose_tasks() {  ///< for each group, all its tasks in order
    const std::size_t all = (has_weights_ ? 3U : 2U) * std::size_t{shape_.stages()} * shape_.micro_batches;
    for (std::size_t k = 0; k < all; ++k) {
      // Find the task that can begin first; among several that could begin at that time, the preferred task.
      pipeline_task best;
      double start = pipeline_clock::unknown_end_time;
      for (std::uint32_t s = 0; s < shape_.stages(); ++s)
        for (const pipeline_pass pass : {pipeline_pass::backward, pipeline_pass::forward, pipeline_pass::weights}) {
          const pipeline_task one{pass, s, next_batch(pass, s)};
          if (!is_allowed(one)) continue;
          const double due = clock_.arrival_time(one), free = free_times_[shape_.group_of[s]],
                       from = due > free ? due : free;
          if (start == pipeline_clock::unknown_end_time || from < start || (from == start && is_preferred(one, best)))
            best = one, start = from;
        }
      next_batch(best.pass, best.stage) += 1;
      clock_.end_time(best) = free_times_[shape_.group_of[best.stage]] = start + times_.of(best);
      group_tasks_[shape_.group_of[best.stage]].push_back(best);
    }
    return group_tasks_;
  }

 private:
  /// The micro-batch of the next task of this pass and stage.
  std::uint32_t& next_batch(pipeline_pass pass, std::uint32_t stage) {
    return next_micro_batches_[static_cast<std::size_t>(pass) * shape_.stages() + stage];
  }
  /// Whether a task could be next: what it needs is ordered, and the stage does not keep too many micro-batches.
  bool is_allowed(const pipeline_task& one) {
    if (one.micro_batch == shape_.micro_batches || (one.pass == pipeline_pass::weights && !has_weights_)) return false;
    // Let n be the number of stages from this stage to the last. At most n micro-batches of the stage wait for their
    // backward pass, and at most 2 n wait for the gradients of weights.
    if (one.pass == pipeline_pass::forward) {
      const std::uint32_t to_last = shape_.stages() - one.stage;
      if (one.micro_batch - next_batch(pipeline_pass::backward, one.stage) >= to_last) return false;
      if (has_weights_ && one.micro_batch - next_batch(pipeline_pass::weights, one.stage) >= 2 * to_last) return false;
    }
    return clock_.first_missing_task(one) == one;
  }
  /// Whether task a is preferred to task b. Backward passes come first, then forward passes (later stages first), then
  /// gradients of weights.
  static bool is_preferred(const pipeline_task& a, const pipeline_task& b) {
    const auto rank = [](pipeline_pass pass) {
      return pass == pipeline_pass::backward ? 0 : pass == pipeline_pass::forward ? 1 : 2;
    };
    if (a.pass != b.pass) return rank(a.pass) < rank(b.pass);
    return a.pass == pipeline_pass::forward ? a.stage > b.stage : a.stage < b.stage;
  }

  const pipeline_shape& shape_;                            ///< the pipeline
  const pipeline_times& times_;                            ///< the seconds of its tasks
  bool has_weights_;                                       ///< whether gradients of weights have passes of their own
  pipeline_clock clock_{shape_, times_.transfer_seconds};  ///< the ends of the tasks so far
  std::vector<double> free_times_ = std::vector<double>(shape_.groups(), 0);  ///< when each group is free
  /// The micro-batch of the next task, for each pass and stage; see next_batch.
  std::vector<std::uint32_t> next_micro_batches_ = std::vector<std::uint32_t>(std::size_t{3} * shape_.stages(), 0);
  pipeline_tasks group_tasks_ = pipeline_tasks(shape_.groups());  ///< the tasks so far
};

/// Whether there are more stages than groups, the stages are assigned to the groups in turn, and the number of groups
/// divides the numbers of stages and of micro-batches.
PARTITA_DECL bool is_round_robin(const pipeline_shape& shape) {
  const std::uint32_t groups = shape.groups();
  bool is_in_turn = shape.stages() > groups && shape.stages() % groups == 0 && shape.micro_batches % groups == 0;
  for (std::uint32_t s = 0; s < shape.stages(); ++s) is_in_turn = is_in_turn && shape.group_of[s] == s % groups;
  return is_in_turn;
}
/// The order of Megatron-LM for stages that are assigned to groups in turn: micro-batches pass through all stages in
/// blocks of as many micro-batches as there are groups.
PARTITA_DECL pipeline_tasks interleaved_tasks(const pipeline_shape& shape) {
  const std::uint32_t groups = shape.groups(), rounds = shape.stages() / groups, all = shape.micro_batches * rounds;
  pipeline_tasks tasks(groups);
  for (std::uint32_t g = 0; g < groups; ++g) {
    const auto add = [&](pipeline_pass pass, std::uint32_t k) {
      const std::uint32_t within = k % (groups * rounds), round = within / groups;
      const std::uint32_t stage = (pass == pipeline_pass::forward ? round : rounds - 1 - round) * groups + g;
      tasks[g].push_back({pass, stage, k / (groups * rounds) * groups + within % groups});
    };
    const std::uint32_t filling = 2 * (groups - g - 1) + (rounds - 1) * groups;
    const std::uint32_t ahead = shape.micro_batches == groups || filling > all ? all : filling;
    for (std::uint32_t k = 0; k < all + ahead; ++k) {
      if (k < all) add(pipeline_pass::forward, k);
      if (k >= ahead) add(pipeline_pass::backward, k - ahead);
    }
  }
  return tasks;
}

}  // namespace detail

PARTITA_DEF pipeline_tasks tasks_of(pipeline_order order, const pipeline_shape& shape, const pipeline_times& times) {
  detail::require_pipeline(shape, times);
  if (order == pipeline_order::interleaved && detail::is_round_robin(shape)) return detail::interleaved_tasks(shape);
  if (order != pipeline_order::gpipe)
    return detail::pipeline_chooser(shape, times, order == pipeline_order::zero_bubble).choose_tasks();
  pipeline_tasks all(shape.groups());
  for (std::uint32_t s = 0; s < shape.stages(); ++s)
    for (std::uint32_t m = 0; m < shape.micro_batches; ++m)
      all[shape.group_of[s]].push_back({pipeline_pass::forward, s, m});
  for (std::uint32_t s = shape.stages(); s-- > 0;)
    for (std::uint32_t m = 0; m < shape.micro_batches; ++m)
      all[shape.group_of[s]].push_back({pipeline_pass::backward, s, m});
  return all;
}

PARTITA_DEF bool has_weights(const pipeline_tasks& tasks) {
  for (const auto& list : tasks)
    for (const pipeline_task& one : list)
      if (one.pass == pipeline_pass::weights) return true;
  return false;
}

PARTITA_DEF pipeline_run simulate(const pipeline_shape& shape, const pipeline_tasks& tasks,
                                  const pipeline_times& times) {
  detail::require_pipeline(shape, times);
  const bool has_weights_passes = has_weights(tasks);
  detail::require_complete(shape, tasks, has_weights_passes);
  detail::pipeline_clock clock(shape, times.transfer_seconds);
  std::vector<std::size_t> next(tasks.size(), 0);
  std::vector<double> free(tasks.size(), 0);
  std::vector<std::uint32_t> kept(shape.stages(), 0);
  pipeline_run run;
  double busy = 0;
  for (std::size_t left = shape.task_count() / 3 * (has_weights_passes ? 3 : 2); left > 0; --left) {
    // Find the task that can begin earliest, among the next tasks of all groups of workers.
    std::size_t first = tasks.size();
    double at = 0;
    for (std::size_t g = 0; g < tasks.size(); ++g) {
      if (next[g] == tasks[g].size()) continue;
      const pipeline_task& one = tasks[g][next[g]];
      if (!(clock.first_missing_task(one) == one)) continue;
      const double ready = clock.arrival_time(one), from = ready > free[g] ? ready : free[g];
      if (first == tasks.size() || from < at) first = g, at = from;
    }
    if (first == tasks.size()) detail::reject_cycle(shape, tasks, next, clock);
    const pipeline_task& one = tasks[first][next[first]++];
    // Let every task take longer than the rounding error, so that a task begins later than each task that it needs.
    const double least = at + at * 2.3e-16 + 1e-300, full = at + times.of(one), until = full > least ? full : least;
    run.tasks.push_back({one, static_cast<std::uint32_t>(first), at, until});
    clock.end_time(one) = free[first] = until;
    busy += until - at;
    run.seconds = until > run.seconds ? until : run.seconds;
    if (one.pass == pipeline_pass::forward && ++kept[one.stage] > run.most_kept) run.most_kept = kept[one.stage];
    if (one.pass == (has_weights_passes ? pipeline_pass::weights : pipeline_pass::backward)) --kept[one.stage];
  }
  const double available = run.seconds * static_cast<double>(tasks.size());
  run.idle = available > 0 ? 1 - busy / available : 0;
  return run;
}

}  // namespace partita
