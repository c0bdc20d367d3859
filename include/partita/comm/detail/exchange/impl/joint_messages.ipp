// Defines the functions that comm/detail/exchange/joint_messages.hpp declares.
#pragma once

#include <partita/comm/detail/exchange/joint_messages.hpp>
#include <utility>

namespace partita::detail {

PARTITA_DEF joint_messages::joint_messages(joint_channels& ways, joint_plan plan, const element_kind& kind)
    : kind_(kind),
      memory_(&ways.memory()),
      rank_(plan.direct_plan.rank),
      oversubscribed_(ways.members().oversubscribed()),
      own_leaving_boxes_(std::move(plan.own_leaving_boxes)),
      own_arriving_boxes_(std::move(plan.own_arriving_boxes)),
      leaving_bytes_(plan.leaving_bytes),
      arriving_bytes_(plan.arriving_bytes) {
  const auto kind_of_bytes = element_kind::moved<char>();
  const auto messages = [&](box_list&& out, box_list&& in) {
    lowered_plan boxes(1);
    boxes.sends = std::move(out), boxes.receives = std::move(in);
    return ways.between_nodes().prepare(std::move(boxes), kind_of_bytes);
  };
  collecting_transport_ = ways.collecting_channel(kind).prepare(std::move(plan.collecting_boxes), kind);
  distributing_transport_ = ways.distributing_channel(kind).prepare(std::move(plan.distributing_boxes), kind);
  leaving_transport_ = messages(std::move(plan.leaving_messages), box_list(1));
  arriving_transport_ = messages(box_list(1), std::move(plan.arriving_messages));
}

void joint_messages::post_receive(const block_memory& y) {
  y_ = y;
  if (current_stage_ != stage::has_collected_boxes) start_collecting_boxes();
  if (arriving_bytes_ != 0) arriving_area_ = static_cast<char*>(memory_->allocate(arriving_bytes_));
  distributing_transport_->post_receive(y);
  arriving_transport_->post_receive({arriving_area_, nullptr});
  arriving_transport_->post_send({});
}

void joint_messages::post_send(const block_memory& x) {
  if (current_stage_ == stage::has_collected_boxes) send_joint_messages();
  else write(x);
}

void joint_messages::send_speculatively(const block_memory& x) {
  start_collecting_boxes();
  write(x);
  finish_collecting_boxes();
  leaving_transport_->send_speculatively({leaving_area_, nullptr});
}

void joint_messages::roll_back() {
  leaving_transport_->roll_back();
  release();
  current_stage_ = stage::has_arrived;
}

bool joint_messages::advance() {
  if (current_stage_ == stage::collecting) {
    finish_collecting_boxes();
    send_joint_messages();
  }
  const bool left = leaving_transport_->advance();
  if (current_stage_ == stage::between_nodes) {
    if (!arriving_transport_->advance()) return false;
    distributing_transport_->post_send({arriving_area_, nullptr});
    for (std::size_t k = 0; k < own_arriving_boxes_.size(); ++k) {
      const listed_box b = own_arriving_boxes_[k];
      pack_box(kind_, b, rank_, y_, arriving_area_ + b.staging_offset, false, stores::by_size);
    }
    current_stage_ = stage::has_arrived;
  }
  return distributing_transport_->advance() && left;
}

void joint_messages::finish() {
  distributing_transport_->finish();
  release();
}

exchange_traffic joint_messages::counts() const {
  exchange_traffic all = collecting_transport_->counts();
  all += distributing_transport_->counts();
  all += leaving_transport_->counts();
  return all;
}

PARTITA_DEF void joint_messages::start_collecting_boxes() {
  current_stage_ = stage::collecting;
  if (leaving_bytes_ != 0) leaving_area_ = static_cast<char*>(memory_->allocate(leaving_bytes_));
  collecting_transport_->post_receive({leaving_area_, nullptr});
}

PARTITA_DEF void joint_messages::write(const block_memory& x) {
  collecting_transport_->post_send(x);
  for (std::size_t k = 0; k < own_leaving_boxes_.size(); ++k) {
    const listed_box b = own_leaving_boxes_[k];
    pack_box(kind_, b, rank_, x, leaving_area_ + b.staging_offset, true, stores::cached);
  }
}

PARTITA_DEF void joint_messages::finish_collecting_boxes() {
  for (backoff p(oversubscribed_); !collecting_transport_->advance();) p.pause();
  collecting_transport_->finish();
  current_stage_ = stage::has_collected_boxes;
}

PARTITA_DEF void joint_messages::send_joint_messages() {
  leaving_transport_->post_receive({});
  leaving_transport_->post_send({leaving_area_, nullptr});
  current_stage_ = stage::between_nodes;
}

PARTITA_DEF void joint_messages::release() {
  if (leaving_area_ != nullptr) memory_->release(std::exchange(leaving_area_, nullptr), leaving_bytes_);
  if (arriving_area_ != nullptr) memory_->release(std::exchange(arriving_area_, nullptr), arriving_bytes_);
}

}  // namespace partita::detail
