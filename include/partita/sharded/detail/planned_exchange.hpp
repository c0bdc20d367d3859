// A planned movement of boxes that can be executed repeatedly.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/transport.hpp>
#include <partita/core/config.hpp>
#include <partita/plan/plan_boxes.hpp>
#include <partita/sharded/detail/execution.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// This worker's part of a movement between dense blocks.
class planned_exchange {
 public:
  PARTITA_DECL planned_exchange(box_overlaps boxes, std::size_t worker, const element_kind& kind);
  planned_exchange(planned_exchange&&) = default;

  /// Every box comes directly from a worker that holds it.
  const exchange_plan<dynamic>& plan() const { return plan_; }
  /// What is executed instead, if the open exchange is between nodes of several workers: two steps. In the second,
  /// workers of a node pass on to others what has come from other nodes.
  const std::vector<exchange_plan<dynamic>>& steps() const { return steps_; }
  const element_kind& kind() const { return kind_; }
  /// The largest number of elements that any worker receives from others; 0 if nothing moves.
  std::size_t most_taken() const { return most_taken_; }
  /// What this worker receives from others in one execution: a message from each worker whose elements arrive.
  movement_counts counts() const { return {1, plan_.elements_received() * kind_.bytes, plan_.messages_received()}; }

  /// The same movement, not opened yet.
  PARTITA_DECL std::shared_ptr<planned_exchange> again() const;

  /// Whether this worker has a part in the movement.
  bool has_part() const { return plan_.gives || plan_.takes; }
  /// Opens the exchange, if this worker has a part in the movement. Returns whether it has. Collective over the world
  /// where boxes may be passed on.
  PARTITA_DECL bool open(transport& ways);
  /// Executes the movement. Requires that it is open.
  PARTITA_DECL void operator()(const void* x, void* y) const;
  /// Starts and finishes the movement, for a worker with a part in it. In between, x must not change, and another
  /// movement may start only on another transport.
  PARTITA_DECL void start(const void* x, void* y) const;
  /// The two halves of a start: to say where y is, which does not wait, and to send x.
  PARTITA_DECL void expect(void* y) const;
  PARTITA_DECL void give(const void* x) const;
  void finish() const { exchange_->finish(); }
  /// The exchange, to advance what can proceed without waiting; null if this worker has no part in it.
  box_exchange* opened() const { return exchange_.get(); }

 private:
  /// The same movement, not opened.
  planned_exchange(const planned_exchange& other)
      : plan_(other.plan_),
        steps_(other.steps_),
        boxes_(other.boxes_),
        kind_(other.kind_),
        most_taken_(other.most_taken_) {}

  exchange_plan<dynamic> plan_;
  std::vector<exchange_plan<dynamic>> steps_;
  std::shared_ptr<box_overlaps> boxes_;  // until it is opened
  element_kind kind_;
  std::size_t most_taken_;
  movement_counts counts_{};
  std::unique_ptr<box_exchange> exchange_;
  short_list<std::ptrdiff_t> x_steps_{}, y_steps_{};
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/planned_exchange.ipp>
#endif
