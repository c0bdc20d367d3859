// Defines the functions that sharded/detail/joined_exchange.hpp declares.
#pragma once

#include <partita/plan/stable_sort.hpp>
#include <partita/sharded/detail/joined_exchange.hpp>
#include <utility>

namespace partita::detail {

PARTITA_DEF joined_exchange::joined_exchange(const std::vector<std::shared_ptr<planned_exchange>>& all) {
  const auto dense = [](const shape_list& shape) { return place_in_block<dynamic>::of({}, shape).strides(); };
  for (const auto& one : all) {
    const exchange_plan<dynamic>& plan = one->plan();
    parts_.push_back({one->kind(), lowered(plan), dense(plan.source_shape), dense(plan.destination_shape)});
    takes_part_ = takes_part_ || one->takes_part();
    counts_.bytes += one->counts().bytes;
  }
  box_list sends(1);
  messages_.worker = parts_.front().plan.worker;
  messages_.has_several_blocks = true;  // senders do not know where the receiver unpacks
  send_buffer_.resize(assign_box_offsets(&lowered_plan::sends, outgoing_boxes_, sends));
  receive_buffer_.resize(assign_box_offsets(&lowered_plan::receives, incoming_boxes_, messages_.receives));
  const std::ptrdiff_t unused = 0;
  for (std::size_t k = 0; k < sends.size(); ++k)
    messages_.add_send(sends[k].worker, sends[k].shape, sends[k].at, 0, &unused);
  messages_.source_shape = {send_buffer_.size()}, messages_.received_shape = {receive_buffer_.size()};
  messages_.received_strides = {1};
  counts_.messages = messages_.receives.size();
}

PARTITA_DEF std::size_t joined_exchange::assign_box_offsets(box_list lowered_plan::*boxes, std::vector<packed_box>& all,
                                                            box_list& messages) const {
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (std::size_t k = 0; k < (parts_[p].plan.*boxes).size(); ++k)
      all.push_back({(parts_[p].plan.*boxes)[k].worker, p, k, 0});
  stable_sort(all, [](const packed_box& one) { return one.worker; });
  std::size_t words = 0, begin = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    packed_box& one = all[i];
    const movement_part& part = parts_[one.part];
    one.offset = words;
    const std::size_t bytes = (part.plan.*boxes).volume(one.box) * part.kind.bytes;
    words += (bytes + 2 * sizeof(word) - 1) / (2 * sizeof(word)) * 2;  // aligned to 16 bytes, the largest element size
    if (i + 1 < all.size() && all[i + 1].worker == one.worker) continue;
    const std::size_t length = words - begin;
    messages.add(one.worker, &length, &begin);
    begin = words;
  }
  return words;
}

PARTITA_DEF bool joined_exchange::open(transport& channels) {
  if (takes_part_ && !exchange_) exchange_ = channels.exchange(std::move(messages_), element_kind::moved<word>());
  return takes_part_;
}

PARTITA_DEF void joined_exchange::start() {
  run_state.movement_totals += counts_;
  for (const packed_box& one : outgoing_boxes_) {
    const movement_part& p = parts_[one.part];
    pack_box(p.kind, p.plan.sends[one.box], p.plan.rank, {static_cast<char*>(p.x), p.x_strides.data()},
             reinterpret_cast<char*>(send_buffer_.data() + one.offset), true, stores::cached);
  }
  const std::ptrdiff_t unit = 1;
  exchange_->start(send_buffer_.data(), &unit, receive_buffer_.data(), &unit);
  for (const movement_part& p : parts_)
    keep_boxes(p.plan, p.kind, {static_cast<char*>(p.x), p.x_strides.data()},
               {static_cast<char*>(p.y), p.y_strides.data()}, stores::cached);
}

PARTITA_DEF void joined_exchange::finish() {
  exchange_->finish();
  for (const packed_box& one : incoming_boxes_) {
    const movement_part& p = parts_[one.part];
    pack_box(p.kind, p.plan.receives[one.box], p.plan.rank, {static_cast<char*>(p.y), p.y_strides.data()},
             reinterpret_cast<char*>(receive_buffer_.data() + one.offset), false, stores::cached);
  }
}

}  // namespace partita::detail
