// Defines the functions that sharded/detail/planned_exchange.hpp declares.
#pragma once

#include <partita/sharded/detail/planned_exchange.hpp>
#include <utility>

namespace partita::detail {

PARTITA_DEF planned_exchange::planned_exchange(box_overlaps boxes, std::size_t worker, const element_kind& kind)
    : plan_(plan_boxes(boxes, worker)),
      boxes_(std::make_shared<box_overlaps>(std::move(boxes))),
      kind_(kind),
      max_received_elements_(boxes_->max_received_elements()) {}

PARTITA_DEF std::shared_ptr<planned_exchange> planned_exchange::copy_plan() const {
  return std::shared_ptr<planned_exchange>(new planned_exchange(*this));
}

PARTITA_DEF bool planned_exchange::open(transport& channels) {
  if (exchange_) return true;
  const bool can_forward = channels.can_forward();
  way* const on_node = can_forward ? &channels.forwarding_channel(kind_) : nullptr;  // the call is collective
  const std::shared_ptr<box_overlaps> boxes = std::exchange(boxes_, nullptr);
  if (!takes_part()) return false;
  if (can_forward && boxes) {
    const std::vector<int>& first_of = channels.members().node_table();
    boxes->prefer_same_node(members_by_node({first_of.begin(), first_of.end()}));
    for (const bool second : {false, true}) forwarding_plans_.push_back(plan_boxes(*boxes, plan_.worker, second));
  }
  const auto dense = [](const shape_list& shape) { return place_in_block<dynamic>::of({}, shape).strides(); };
  x_dense_strides_ = dense(plan_.source_shape), y_dense_strides_ = dense(plan_.destination_shape);
  counts_ = counts();
  exchange_ = channels.exchange(lowered(forwarding_plans_.empty() ? plan_ : forwarding_plans_[0]), kind_);
  if (!forwarding_plans_.empty() && !forwarding_plans_[1].identity()) {
    lowered_plan second = lowered(forwarding_plans_[1]);
    second.is_polled = true;
    exchange_->add_forwarding_transport(on_node->prepare(std::move(second), kind_));
  }
  return true;
}

PARTITA_DEF void planned_exchange::post_receives(void* y) const { exchange_->post_receive(y, y_dense_strides_.data()); }

PARTITA_DEF void planned_exchange::post_sends(const void* x) const {
  run_state.movement_totals += counts_;
  exchange_->post_send(x, x_dense_strides_.data());
}

}  // namespace partita::detail
