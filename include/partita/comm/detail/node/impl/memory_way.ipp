// Defines the functions that comm/detail/node/memory_way.hpp declares.
#pragma once

#include <partita/comm/detail/node/memory_way.hpp>

namespace partita::detail {

PARTITA_DEF memory_transport::memory_transport(const own_node& members, node_channel& channel, lowered_plan boxes,
                                               const element_kind& kind)
    : plan_(std::move(boxes)),
      kind_(kind),
      channel_(&channel),
      oversubscribed_(members.oversubscribed()),
      members_(&members),
      own_place_(members.place()),
      blocks_(members.size()),
      boxes_(plan_.rank),
      boxes_in_memory_order_(plan_.rank) {
  list_boxes();
}

bool memory_transport::follow(lowered_plan& next) {
  if (has_staged_boxes_ || next.is_agreed_between_calls)
    return false;  // the buffers have the size of their packed boxes
  std::swap(plan_, next);
  list_boxes();
  return true;
}

PARTITA_DEF void memory_transport::list_boxes() {
  receivers_.clear(), senders_.clear(), boxes_.clear();
  for (std::size_t k = 0; k < plan_.sends.size(); ++k) {
    const listed_box b = plan_.sends[k];
    const std::size_t place = members_->place_of_worker(b.worker);
    if (receivers_.empty() || receivers_.back().ring.place() != place)
      receivers_.push_back({boxes_through_ring(place, kind_, plan_.sends, k), false, false, {}});
    receiving_worker& t = receivers_.back();
    if (plan_.accumulate) {  // in the staging area, the boxes of a pair are dense and contiguous
      std::vector<std::ptrdiff_t> dense(plan_.rank);
      dense_strides(b.shape, plan_.rank, dense.data());
      boxes_.add(place, b, static_cast<std::ptrdiff_t>(t.ring.bytes()), dense.data());
    } else {
      boxes_.add(place, b, plan_.peer_offset(k) * static_cast<std::ptrdiff_t>(kind_.bytes), plan_.peer_strides(k));
    }
    t.ring.extend_by_next_box();
  }
  for (std::size_t k = 0; k < plan_.receives.size(); ++k) {
    const std::size_t place = members_->place_of_worker(plan_.receives[k].worker);
    if (senders_.empty() || senders_.back().ring.place() != place)
      senders_.push_back({boxes_through_ring(place, kind_, plan_.receives, k), false, {}});
    senders_.back().ring.extend_by_next_box();
  }
  // is_small gives the same result on both workers of a pair
  const auto is_small = [&](const boxes_through_ring& ring) {
    return plan_.is_agreed_between_calls && !plan_.accumulate &&
           ring.bytes() <= staged_boxes::max_bytes(oversubscribed_);
  };
  // the bytes that an exchange reads and writes: for a halo exchange only the ghosts, however large the blocks are
  std::size_t moved = 2 * plan_.kept.volume() * kind_.bytes;
  for (receiving_worker& t : receivers_)
    moved += t.ring.bytes(), t.is_staged = is_small(t.ring), has_staged_boxes_ = has_staged_boxes_ || t.is_staged;
  for (sending_worker& o : senders_)
    moved += o.ring.bytes(), o.is_staged = is_small(o.ring), has_staged_boxes_ = has_staged_boxes_ || o.is_staged;
  is_streaming_ = moved * members_->size() > last_level_cache_bytes() / 5 * 4;
  if (is_streaming_) list_boxes_in_memory_order();
}

exchange_traffic memory_transport::counts() const {
  exchange_traffic all;
  for (const receiving_worker& t : receivers_) all.bytes_shared += t.ring.bytes();
  return all;
}

bool memory_transport::is_needed() const {
  for (const receiving_worker& t : receivers_)
    if (t.ring.reuses_slots()) return true;
  for (const sending_worker& o : senders_)
    if (o.ring.reuses_slots()) return true;
  return false;
}

void memory_transport::post_receive(const block_memory& y) {
  y_ = y;
  blocks_[own_place_] = y.data;
  for (sending_worker& o : senders_)
    if (!o.is_staged) announce_destination(o);
}

void memory_transport::start_speculatively(const block_memory& x, const block_memory& y) {
  post_receive(y);
  pack_staged_boxes(x);
  is_speculative_ = true;
}

void memory_transport::roll_back() {
  if (!std::exchange(is_speculative_, false)) return;
  for (const sending_worker& o : senders_)
    if (!o.is_staged) channel_->roll_back(o.ring.place());
  for (receiving_worker& t : receivers_)
    if (t.is_staged) t.staging.unmark_packed(packed_exchange_count_);
  if (has_staged_boxes_) --packed_exchange_count_, is_packed_ = false;
}

void memory_transport::post_send(const block_memory& x) {
  x_ = x;
  is_speculative_ = false;
  if (has_staged_boxes_) {
    if (!has_staging_buffers_) find_staging_buffers();
    if (!is_packed_) pack_staged_boxes(x);
    is_packed_ = false;
  }
  waiting_receivers_ = 0;
  for (receiving_worker& t : receivers_) t.has_destination = t.is_staged, waiting_receivers_ += t.is_staged ? 0 : 1;
  if (is_streaming_ && !plan_.is_polled) push_to_all_receivers();
  else if (!plan_.is_polled) push_in_announced_order();
  for (sending_worker& o : senders_)
    if (o.is_staged) unpack_staged_boxes(o);
  advance();
}

bool memory_transport::advance() {
  if (waiting_receivers_ > 0) push_to_ready_receivers();
  bool done = waiting_receivers_ == 0;
  for (receiving_worker& t : receivers_)
    if (t.has_destination)
      done = t.ring.send(*channel_, x_, is_streaming_ || t.ring.bytes() > max_cached_ring_bytes) && done;
  for (sending_worker& o : senders_) done = o.ring.receive(*channel_, y_, is_streaming_) && done;
  return done;
}

void memory_transport::finish() {
  for (const sending_worker& o : senders_)
    if (!o.is_staged && o.ring.is_written_into_block()) channel_->await_arrival(o.ring.place());
}

PARTITA_DEF void memory_transport::list_boxes_in_memory_order() {
  const auto bytes = static_cast<std::ptrdiff_t>(kind_.bytes);
  boxes_in_memory_order_.clear();
  for (std::size_t k = 0; k < plan_.kept.size(); ++k)
    boxes_in_memory_order_.add(
        own_place_, plan_.kept[k],
        box_offset(plan_.kept_destinations[k], plan_.received_strides.data(), plan_.rank) * bytes,
        plan_.received_strides.data());
  for (const receiving_worker& t : receivers_)
    if (!t.is_staged) boxes_in_memory_order_.add(boxes_, t.ring.first(), t.ring.last());
  boxes_in_memory_order_.sort();
}

PARTITA_DEF void memory_transport::announce_destination(sending_worker& o) {
  char* const block = !can_receive_in_place() ? nullptr
                      : plan_.accumulate      ? y_.data + o.ring.staging_offset()
                                              : y_.data;
  o.ring.start_exchange(channel_->announce(o.ring.place(), block, slot_bytes(o.ring.bytes())));
}

PARTITA_DEF void memory_transport::find_staging_buffers() {
  for (receiving_worker& t : receivers_) {
    if (!t.is_staged) continue;
    const std::uint64_t at = t.staging.make_buffers(channel_->memory(), t.ring.bytes());
    t.is_staged = t.staging.has_buffers();
    channel_->signal_arrival(t.ring.place(), at);
  }
  for (sending_worker& o : senders_) {
    if (!o.is_staged) continue;
    const std::uint64_t at = channel_->await_arrival(o.ring.place());
    if (at != staged_boxes::none) o.staging.attach(channel_->at(o.ring.place(), at), o.ring.bytes());
    o.is_staged = o.staging.has_buffers();
    if (!o.is_staged) announce_destination(o);
  }
  if (is_streaming_) list_boxes_in_memory_order();
  has_staging_buffers_ = true;
}

PARTITA_DEF void memory_transport::pack_staged_boxes(const block_memory& x) {
  if (!has_staged_boxes_) return;
  ++packed_exchange_count_, is_packed_ = true;
  for (receiving_worker& t : receivers_) {
    if (!t.is_staged) continue;
    t.ring.pack_all_boxes(x, t.staging.buffer(packed_exchange_count_), true);
    t.staging.mark_packed(packed_exchange_count_);
  }
}

PARTITA_DEF void memory_transport::unpack_staged_boxes(sending_worker& o) {
  o.staging.await_packed(packed_exchange_count_, oversubscribed_);
  o.ring.pack_all_boxes(y_, o.staging.buffer(packed_exchange_count_), false);
  o.staging.mark_unpacked(packed_exchange_count_);
}

PARTITA_DEF bool memory_transport::can_receive_in_place() const {
  if (plan_.accumulate) return reinterpret_cast<std::uintptr_t>(y_.data) % node_channel::alignment == 0;
  if (plan_.has_several_blocks) return false;
  for (std::size_t d = 0; d < plan_.rank; ++d)
    if (plan_.received_shape[d] > 1 && y_.strides[d] != plan_.received_strides[d]) return false;
  return reinterpret_cast<std::uintptr_t>(y_.data) % page == 0;
}

PARTITA_DEF void memory_transport::push_boxes(const push_list& boxes, std::size_t first, std::size_t last) {
  const bool one_block = !plan_.has_several_blocks && x_.strides != nullptr && x_.writer == nullptr;
  boxes.push(first, last, kind_, one_block ? plan_.source_shape.data() : nullptr, x_, blocks_, is_streaming_);
}

PARTITA_DEF void memory_transport::await_destination_of(receiving_worker& t) {
  const announced_memory at = channel_->await_destination(t.ring.place());
  t.ring.start_exchange(at);
  t.has_destination = true;
  --waiting_receivers_;
  blocks_[t.ring.place()] = at.address;
}

PARTITA_DEF void memory_transport::push_to_all_receivers() {
  bool in_place = plan_.kept.empty() || can_receive_in_place();
  for (receiving_worker& t : receivers_) {
    if (t.is_staged) continue;
    await_destination_of(t);
    in_place = in_place && t.ring.is_written_into_block();
  }
  if (in_place) {
    push_boxes(boxes_in_memory_order_, 0, boxes_in_memory_order_.size());
  } else {
    copy_kept_boxes();
    for (receiving_worker& t : receivers_)
      if (!t.is_staged && t.ring.is_written_into_block()) push_boxes(boxes_, t.ring.first(), t.ring.last());
  }
  for (const receiving_worker& t : receivers_)
    if (!t.is_staged && t.ring.is_written_into_block()) channel_->signal_arrival(t.ring.place());
}

PARTITA_DEF bool memory_transport::push_to_ready_receivers() {
  const std::size_t before = waiting_receivers_;
  for (receiving_worker& t : receivers_) {
    if (t.has_destination || !channel_->has_receiver_announced(t.ring.place())) continue;
    await_destination_of(t);
    if (!t.ring.is_written_into_block()) continue;
    push_boxes(boxes_, t.ring.first(), t.ring.last());
    channel_->signal_arrival(t.ring.place());
  }
  return waiting_receivers_ < before;
}

PARTITA_DEF void memory_transport::push_in_announced_order() {
  bool kept = false;
  for (backoff p(oversubscribed_); waiting_receivers_ > 0;) {
    const bool pushed = push_to_ready_receivers();
    if (!pushed && kept) p.pause();
    if (!pushed && !kept) copy_kept_boxes();
    kept = kept || !pushed;
  }
  if (!kept) copy_kept_boxes();
}

PARTITA_INLINE std::unique_ptr<box_transport> memory_way::prepare(lowered_plan boxes, const element_kind& kind) {
  return std::make_unique<memory_transport>(*members_, *channel_, std::move(boxes), kind);
}

}  // namespace partita::detail
