// A planned movement of boxes between workers, which can be executed repeatedly.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/transport.hpp>
#include <partita/core/config.hpp>
#include <partita/plan/plan_boxes.hpp>
#include <partita/sharded/detail/execution.hpp>
#include <vector>

namespace partita::detail {

/// This worker's part of a movement between dense blocks.
class planned_exchange {
 public:
  PARTITA_DECL planned_exchange(box_overlaps boxes, std::size_t worker, const element_kind& kind);
  planned_exchange(planned_exchange&&) = default;

  /// The plan in which every worker receives each box directly from a worker that holds it.
  const exchange_plan<dynamic>& plan() const { return plan_; }
  const element_kind& kind() const { return kind_; }  ///< the type of the elements
  /// The largest number of elements that any worker receives from other workers; the number is 0 if no element moves.
  std::size_t max_received_elements() const { return max_received_elements_; }
  /// The messages and bytes that this worker receives in one execution, at most one message from each worker.
  movement_counts counts() const { return {1, plan_.elements_received() * kind_.bytes, plan_.messages_received()}; }

  /// Makes a copy of this movement, for which no channels are open yet.
  PARTITA_DECL std::shared_ptr<planned_exchange> copy_plan() const;

  /// Whether this worker sends or receives elements in the movement.
  bool takes_part() const { return plan_.gives || plan_.takes; }
  /// Opens channels for the movement, if this worker takes part in it. Returns whether this worker takes part.
  /// Collective over the world if workers of a node may forward boxes to each other.
  PARTITA_DECL bool open(transport& channels);
  /// Moves elements from block x into block y. The movement's channels must be open.
  void operator()(const void* x, void* y) const {
    start(x, y);
    finish();
  }
  /// Starts the movement, which finish() completes, on a worker that takes part in it. Between start() and finish() x
  /// must not change, and another movement may start only on another transport.
  void start(const void* x, void* y) const {
    post_receives(y);
    post_sends(x);
  }
  /// The two halves of start(): post_receives() posts y for receiving without waiting, post_sends() sends x.
  PARTITA_DECL void post_receives(void* y) const;
  PARTITA_DECL void post_sends(const void* x) const;  ///< sends the boxes of x to their receivers
  void finish() const { exchange_->finish(); }        ///< waits until the movement is complete
  /// The open exchange, which the caller can advance without waiting; null before open(), and if not takes_part().
  box_exchange* opened_exchange() const { return exchange_.get(); }

 private:
  /// Copies a movement without its channels: the copy must be opened.
  planned_exchange(const planned_exchange& other)
      : plan_(other.plan_),
        forwarding_plans_(other.forwarding_plans_),
        boxes_(other.boxes_),
        kind_(other.kind_),
        max_received_elements_(other.max_received_elements_) {}

  exchange_plan<dynamic> plan_;  ///< the plan without forwarding; see plan()
  /// The two plans that are executed instead of plan() if there are several nodes, some with several workers: the first
  /// sends boxes between nodes, the second forwards boxes from their receivers to other workers of the same node.
  std::vector<exchange_plan<dynamic>> forwarding_plans_;
  std::shared_ptr<box_overlaps> boxes_;     ///< the boxes of all workers; null after the movement is opened
  element_kind kind_;                       ///< the type of the elements
  std::size_t max_received_elements_;       ///< the most elements that any worker receives
  movement_counts counts_{};                ///< counts(), which open() computes
  std::unique_ptr<box_exchange> exchange_;  ///< null before open(), and if this worker takes no part
  short_list<std::ptrdiff_t> x_dense_strides_{}, y_dense_strides_{};  ///< the strides of the dense blocks x and y
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/planned_exchange.ipp>
#endif
