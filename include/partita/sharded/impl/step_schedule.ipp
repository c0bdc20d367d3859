// Defines the functions that sharded/step_schedule.hpp declares.
#pragma once

#include <cstdint>
#include <partita/sharded/step_schedule.hpp>
#include <utility>

namespace partita {

PARTITA_DEF std::vector<step_use> steps_of(const step_plan& plan) {
  /// Converts the events of a step plan to steps, and follows the blocks of values and cotangents from event to event.
  class event_converter {
   public:
    explicit event_converter(const step_plan& plan)
        : plan_(plan),
          graph_(*plan.completion->program),
          cotangents_(graph_.values()),
          block_count_(static_cast<std::uint32_t>(graph_.values())) {
      for (std::uint32_t v = 0; v < graph_.values(); ++v) block_of_value_.push_back(v);
      copies_.resize(graph_.operations());
    }

    std::vector<step_use> steps() {  ///< converts all events; may be called once
      for (const step_event& e : plan_.events) {
        step_use& one = steps_.emplace_back();
        one.is_backward = e.backward, one.seconds = e.seconds;
        one.moves = e.kind == step_event::what::move || e.kind == step_event::what::window;
        if (e.backward && e.operation != step_event::none) one.name << "gradient of ";
        one.name << (e.operation == step_event::none ? "update" : graph_.operation(e.operation).how.name());
        if (one.moves) one.received = e.bytes;
        switch (e.kind) {
          case step_event::what::move:
            move(e, one);
            break;
          case step_event::what::window:
            move_window(e, one);
            break;
          case step_event::what::compute:
            e.backward ? differentiate(e, one) : compute(e, one);
            break;
          case step_event::what::update:
            update(e, one);
            break;
        }
      }
      return std::move(steps_);
    }

   private:
    struct copy {                         ///< a copy of a value, moved for an operation
      std::uint32_t value_number, block;  ///< the number of the value, and of the copy's block
    };

    std::uint32_t new_block() { return block_count_++; }              ///< the number of a new block
    std::size_t bytes_of(std::uint32_t v, const sharding& s) const {  ///< bytes of a worker's block of v in layout s
      return graph_.block_bytes(value{v}, s, plan_.model.element_bytes);
    }
    /// The block in which operation o reads value v: the last copy moved for the operation, or the value's own block.
    std::uint32_t block_read_by(std::uint32_t o, std::uint32_t v) const {
      std::uint32_t block = block_of_value_[v];
      for (const copy& one : copies_[o])
        if (one.value_number == v) block = one.block;
      return block;
    }
    /// The blocks of the contributions to the cotangent of value v. Without contributions, v's own block.
    std::vector<std::uint32_t> cotangent(std::uint32_t v) const {
      return cotangents_[v].empty() ? std::vector<std::uint32_t>{block_of_value_[v]} : cotangents_[v];
    }
    void move(const step_event& e, step_use& one) {  ///< reshards a value or a cotangent
      one.sets = new_block(), one.bytes = bytes_of(e.of, e.to);
      if (e.is_cotangent) {
        one.reads = cotangent(e.of);
        cotangents_[e.of] = {one.sets};
        return;
      }
      one.reads = {block_of_value_[e.of]};
      const bool is_operand = e.operation != step_event::none && graph_[value{e.of}].producer != e.operation;
      if (is_operand) copies_[e.operation].push_back({e.of, one.sets});
      else block_of_value_[e.of] = one.sets;  // the block of a result, or of an updated parameter
    }
    void move_window(const step_event& e, step_use& one) {  ///< exchanges a window
      const auto& node = graph_.operation(e.operation);
      one.sets = new_block(), one.bytes = e.bytes;
      one.reads = e.backward ? cotangent(e.of)
                             : std::vector<std::uint32_t>{block_read_by(e.operation, graph_.of(node, 0).number)};
      window_blocks_.push_back(one.sets);
    }
    void read_operands(const step_event& e, step_use& one) {  ///< adds the operands' blocks to one.reads
      const auto& node = graph_.operation(e.operation);
      for (std::size_t i = 0; i < node.operands; ++i)
        one.reads.push_back(block_read_by(e.operation, graph_.of(node, i).number));
      for (const copy& moved : copies_[e.operation]) one.reads.push_back(moved.block);  // a value may have copies
      one.reads.insert(one.reads.end(), window_blocks_.begin(), window_blocks_.end());
      window_blocks_.clear();
    }
    void compute(const step_event& e, step_use& one) {  ///< executes an operation forward
      read_operands(e, one);
      const auto& node = graph_.operation(e.operation);
      one.sets = block_of_value_[node.first_result];
      for (std::uint32_t j = 0; j < node.results; ++j) {  // several results of an operation are in one block
        block_of_value_[node.first_result + j] = one.sets;
        one.bytes += bytes_of(node.first_result + j, plan_.completion->used_layout(e.operation, node.operands + j));
      }
    }
    void differentiate(const step_event& e, step_use& one) {  ///< executes an operation backward
      read_operands(e, one);
      const auto& node = graph_.operation(e.operation);
      for (std::uint32_t j = 0; j < node.results; ++j) {
        const auto all = cotangent(node.first_result + j);
        one.reads.insert(one.reads.end(), all.begin(), all.end());
      }
      one.sets = new_block();
      for (std::size_t i = 0; i < node.operands; ++i) {
        const value v = graph_.of(node, i);
        one.bytes += bytes_of(v.number, plan_.completion->used_layout(e.operation, i));
        cotangents_[v.number].push_back(one.sets);
      }
    }
    void update(const step_event& e, step_use& one) {  ///< updates a parameter
      one.reads = cotangent(e.of);
      one.sets = new_block();
      block_of_value_[e.of] = one.sets;
    }

    const step_plan& plan_;                                          ///< whose events are converted
    const graph& graph_;                                             ///< the program of the plan
    std::vector<std::uint32_t> block_of_value_{}, window_blocks_{};  ///< blocks of values; windows for the next step
    std::vector<std::vector<std::uint32_t>> cotangents_;             ///< for each value, the blocks of contributions
    std::vector<std::vector<copy>> copies_{};                        ///< the copies that were moved for each operation
    std::uint32_t block_count_;                                      ///< the number that the next new block gets
    std::vector<step_use> steps_{};                                  ///< the converted events, in order
  };
  return event_converter(plan).steps();
}

PARTITA_DEF timetable schedule_of(const step_plan& plan, const order_limits& limits) {
  const std::vector<step_use> steps = steps_of(plan);
  std::size_t forward = 0;
  while (forward < steps.size() && !steps[forward].is_backward) ++forward;
  std::vector<ordered_step> order = order_steps(steps, 0, forward, limits);
  double now = 0;
  for (const ordered_step& one : order) now = one.until > now ? one.until : now;
  const std::vector<ordered_step> back = order_steps(steps, forward, steps.size(), limits, now);
  order.insert(order.end(), back.begin(), back.end());
  return timetable_of(steps, order);
}

PARTITA_DEF step_cost overlapped_cost(const step_plan& plan) {
  const timetable times = schedule_of(plan), in_order = schedule_of(plan, order_limits::in_program_order());
  step_cost cost = plan.cost;
  const double overlapped = cost.computing_seconds + cost.moving_seconds - times.seconds();
  cost.hidden_seconds = overlapped > 0 ? overlapped : 0;
  // Memory other than that of the results of steps is the same in every order.
  if (times.peak() > in_order.peak()) cost.peak += times.peak() - in_order.peak();
  return cost;
}

}  // namespace partita
