// Defines the functions that comm/detail/exchange/joint_messages.hpp declares.
#pragma once

#include <partita/comm/detail/exchange/joint_messages.hpp>
#include <utility>

namespace partita::detail {

PARTITA_DEF joint_messages::joint_messages(joint_channels& ways, joint_plan plan, const element_kind& kind)
    : kind_(kind),
      memory_(&ways.memory()),
      rank_(plan.direct.rank),
      oversubscribed_(ways.members().oversubscribed()),
      own_leaving_(std::move(plan.own_leaving)),
      own_arriving_(std::move(plan.own_arriving)),
      leaving_bytes_(plan.leaving_bytes),
      arriving_bytes_(plan.arriving_bytes) {
  const auto kind_of_bytes = element_kind::moved<char>();
  const auto messages = [&](box_list&& out, box_list&& in) {
    lowered_plan boxes(1);
    boxes.sends = std::move(out), boxes.receives = std::move(in);
    return ways.between_nodes().prepare(std::move(boxes), kind_of_bytes);
  };
  collecting_ = ways.collecting(kind).prepare(std::move(plan.collecting), kind);
  handing_out_ = ways.handing_out(kind).prepare(std::move(plan.handing_out), kind);
  leaving_ = messages(std::move(plan.leaving), box_list(1));
  arriving_ = messages(box_list(1), std::move(plan.arriving));
}

void joint_messages::expect(const block_memory& y) {
  y_ = y;
  if (stage_ != stage::collected) begin_to_collect();
  if (arriving_bytes_ != 0) arriving_area_ = static_cast<char*>(memory_->allocate(arriving_bytes_));
  handing_out_->expect(y);
  arriving_->expect({arriving_area_, nullptr});
  arriving_->give({});
}

void joint_messages::give(const block_memory& x) {
  if (stage_ == stage::collected) leave();
  else write(x);
}

void joint_messages::send_speculatively(const block_memory& x) {
  begin_to_collect();
  write(x);
  collect();
  leaving_->send_speculatively({leaving_area_, nullptr});
}

void joint_messages::roll_back() {
  leaving_->roll_back();
  release();
  stage_ = stage::arrived;
}

bool joint_messages::advance() {
  if (stage_ == stage::collecting) {
    collect();
    leave();
  }
  const bool left = leaving_->advance();
  if (stage_ == stage::under_way) {
    if (!arriving_->advance()) return false;
    handing_out_->give({arriving_area_, nullptr});
    for (std::size_t k = 0; k < own_arriving_.size(); ++k) {
      const listed_box b = own_arriving_[k];
      pack_box(kind_, b, rank_, y_, arriving_area_ + b.stage, false, stores::by_size);
    }
    stage_ = stage::arrived;
  }
  return handing_out_->advance() && left;
}

void joint_messages::finish() {
  handing_out_->finish();
  release();
}

carried joint_messages::counts() const {
  carried all = collecting_->counts();
  all += handing_out_->counts();
  all += leaving_->counts();
  return all;
}

PARTITA_DEF void joint_messages::begin_to_collect() {
  stage_ = stage::collecting;
  if (leaving_bytes_ != 0) leaving_area_ = static_cast<char*>(memory_->allocate(leaving_bytes_));
  collecting_->expect({leaving_area_, nullptr});
}

PARTITA_DEF void joint_messages::write(const block_memory& x) {
  collecting_->give(x);
  for (std::size_t k = 0; k < own_leaving_.size(); ++k) {
    const listed_box b = own_leaving_[k];
    pack_box(kind_, b, rank_, x, leaving_area_ + b.stage, true, stores::cached);
  }
}

PARTITA_DEF void joint_messages::collect() {
  for (backoff p(oversubscribed_); !collecting_->advance();) p.pause();
  collecting_->finish();
  stage_ = stage::collected;
}

PARTITA_DEF void joint_messages::leave() {
  leaving_->expect({});
  leaving_->give({leaving_area_, nullptr});
  stage_ = stage::under_way;
}

PARTITA_DEF void joint_messages::release() {
  if (leaving_area_ != nullptr) memory_->release(std::exchange(leaving_area_, nullptr), leaving_bytes_);
  if (arriving_area_ != nullptr) memory_->release(std::exchange(arriving_area_, nullptr), arriving_bytes_);
}

}  // namespace partita::detail
