// Defines the functions that sharded/detail/pipeline_events.hpp declares.
#pragma once

#include <algorithm>
#include <partita/sharded/detail/pipeline_events.hpp>

namespace partita::detail {

/// Writes the common order of all tasks and movements of a pipeline.
class pipeline_writer {
 public:
  pipeline_writer(const pipeline_shape& shape, const pipeline_run& run, const std::vector<step_use>& steps)
      : shape_(shape),
        run_(run),
        steps_(steps),
        numbers_{shape.stages(), shape.micro_batches},
        steps_of_task_(numbers_.count()),
        end_times_(shape.task_count(), 0) {
    for (std::uint32_t k = 0; k < steps.size(); ++k) steps_of_task_[steps[k].task].push_back(k);
    for (const simulated_task& one : run.tasks) {
      end_times_[shape_.number(one.task)] = one.until;
      has_weight_passes_ = has_weight_passes_ || one.task.pass == pipeline_pass::weights;
    }
  }

  std::vector<ordered_step> order() {  ///< returns the steps in the common order; called once
    for (std::size_t k = 0; k < run_.tasks.size(); ++k) add_task_events(k);
    std::sort(events_.begin(), events_.end(), [](const event& a, const event& b) {
      return a.time != b.time ? a.time < b.time : a.what != b.what ? a.what < b.what : a.task_number < b.task_number;
    });
    std::vector<std::uint32_t> lane_of(numbers_.count(), 0);
    std::vector<bool> lanes(1, true);  // lane 0 is for movements inside of a stage
    for (const event& one : events_) {
      std::uint32_t& lane = lane_of[one.movement];
      switch (one.what) {
        case kind::task:
          add_task_steps(run_.tasks[one.task_number].task);
          break;
        case kind::post_receive:
          lane = static_cast<std::uint32_t>(std::find(lanes.begin(), lanes.end(), false) - lanes.begin());
          if (lane == lanes.size()) lanes.push_back(true);
          lanes[lane] = true;
          add_movement_steps(one.movement, ordered_step::what::post_receive, lane);
          break;
        case kind::post_send:
          add_movement_steps(one.movement, ordered_step::what::post_send, lane);
          break;
        case kind::finish:
          add_movement_steps(one.movement, ordered_step::what::finish, lane);
          lanes[lane] = false;
          break;
      }
    }
    return std::move(order_);
  }

 private:
  /// The kinds of events, in the order in which events of equal time are executed. Every task takes some time, so the
  /// movements that it needs begin earlier.
  enum class kind : std::uint8_t { post_send, finish, post_receive, task };
  struct event {                  ///< a task, or an action in the movement that a task needs
    double time = 0;              ///< when it happens, in seconds of the simulated run
    kind what = kind::task;       ///< the task, or the action in a movement
    std::size_t task_number = 0;  ///< the index of the task in the run
    std::uint32_t movement = 0;   ///< the number of the movement; 0 in the event of a task
  };

  /// Whether a task of a pipeline needs a movement before it. Sets the number of the movement and the stage that sends.
  bool needs_movement(const pipeline_task& one, std::uint32_t& movement, std::uint32_t& from) const {
    if (one.pass == pipeline_pass::weights) return false;
    const bool is_forward = one.pass == pipeline_pass::forward;
    if (is_forward ? one.stage == 0 : one.stage + 1 == shape_.stages()) return false;
    from = is_forward ? one.stage - 1 : one.stage + 1;
    movement =
        numbers_.of(is_forward ? pipeline_numbering::y_move : pipeline_numbering::dy_move, from, one.micro_batch);
    return true;
  }
  void add_task_events(std::size_t k) {  ///< of task k of the run, and of the movement that it needs
    const simulated_task& one = run_.tasks[k];
    events_.push_back({one.from, kind::task, k, 0});
    std::uint32_t movement = 0, from = 0;
    if (!needs_movement(one.task, movement, from) || shape_.group_of[from] == one.group) return;
    const double given = end_times_[shape_.number({one.task.pass, from, one.task.micro_batch})];
    double expected = -1;  // when the task that the receivers execute during the send begins
    for (const simulated_task& other : run_.tasks)
      if (other.group == one.group && other.from < given) expected = other.from;
    events_.push_back({expected, kind::post_receive, k, movement});
    events_.push_back({given, kind::post_send, k, movement});
    events_.push_back({one.from, kind::finish, k, movement});
  }
  /// Adds the steps of a movement to the order, with the action `done` on channel `lane`.
  void add_movement_steps(std::uint32_t movement, ordered_step::what done, std::uint32_t lane) {
    for (const std::uint32_t k : steps_of_task_[movement])
      if (steps_[k].moves) order_.push_back({done, k, lane});
      else if (done == ordered_step::what::post_send) order_.push_back({ordered_step::what::compute, k});
  }
  void add_steps(const std::vector<std::uint32_t>& steps) {  ///< to the order; each movement is finished at once
    for (const std::uint32_t k : steps) {
      if (!steps_[k].moves) order_.push_back({ordered_step::what::compute, k});
      else order_.insert(order_.end(), {{ordered_step::what::start, k}, {ordered_step::what::finish, k}});
    }
  }
  void add_task_steps(const pipeline_task& one) {  ///< after those of a movement from a stage on the same workers
    std::uint32_t movement = 0, from = 0;
    if (needs_movement(one, movement, from) && shape_.group_of[from] == shape_.group_of[one.stage])
      add_steps(steps_of_task_[movement]);
    const bool is_forward = one.pass == pipeline_pass::forward;
    const auto& all = steps_of_task_[numbers_.of(
        is_forward ? pipeline_numbering::forward : pipeline_numbering::backward, one.stage, one.micro_batch)];
    if (is_forward || !has_weight_passes_) return add_steps(all);
    std::vector<std::uint32_t> part;
    const std::vector<bool> needed = is_read_upstream(one, all);
    for (std::size_t k = 0; k < all.size(); ++k)
      if (needed[k] == (one.pass == pipeline_pass::backward)) part.push_back(all[k]);
    add_steps(part);
  }
  /// Which of the steps `all` of a backward pass compute the cotangent that the previous stage receives.
  std::vector<bool> is_read_upstream(const pipeline_task& one, const std::vector<std::uint32_t>& all) const {
    std::vector<std::uint32_t> blocks;
    const auto read_by = [&](pipeline_numbering::task_kind task, std::uint32_t stage) {
      for (const std::uint32_t k : steps_of_task_[numbers_.of(task, stage, one.micro_batch)])
        blocks.insert(blocks.end(), steps_[k].reads.begin(), steps_[k].reads.end());
    };
    if (one.stage > 0) {
      read_by(pipeline_numbering::dy_move, one.stage);
      read_by(pipeline_numbering::backward, one.stage - 1);  // if both stages are on the same workers
    }
    std::vector<bool> needed(all.size(), false);
    for (std::size_t k = all.size(); k-- > 0;) {
      const step_use& step = steps_[all[k]];
      needed[k] = step.sets != step_use::nothing && std::find(blocks.begin(), blocks.end(), step.sets) != blocks.end();
      // A step that is needed needs the steps that set the blocks that it reads.
      if (needed[k]) blocks.insert(blocks.end(), step.reads.begin(), step.reads.end());
    }
    return needed;
  }

  const pipeline_shape& shape_;                            ///< the workers of the stages, and the micro-batches
  const pipeline_run& run_;                                ///< the simulated run
  const std::vector<step_use>& steps_;                     ///< the recorded steps
  pipeline_numbering numbers_;                             ///< numbers the tasks and movements
  std::vector<std::vector<std::uint32_t>> steps_of_task_;  ///< indices in steps_, by number of the task or movement
  std::vector<double> end_times_;                          ///< in seconds, by pipeline_shape::number() of the task
  bool has_weight_passes_ = false;   ///< whether gradients of weights are computed in separate passes
  std::vector<event> events_;        ///< the events of all tasks and movements
  std::vector<ordered_step> order_;  ///< the steps that are ordered so far
};

PARTITA_DEF std::vector<ordered_step> order_pipeline_steps(const pipeline_shape& shape, const pipeline_run& run,
                                                           const std::vector<step_use>& steps) {
  return pipeline_writer(shape, run, steps).order();
}

}  // namespace partita::detail
