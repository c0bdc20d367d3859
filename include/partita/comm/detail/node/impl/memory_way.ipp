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
      own_(members.place()),
      blocks_(members.size()),
      boxes_(plan_.rank),
      all_boxes_(plan_.rank) {
  list_boxes();
}

bool memory_transport::follow(lowered_plan& next) {
  if (has_staged_boxes_ || next.agreed_between) return false;  // the buffers have the size of their packed boxes
  std::swap(plan_, next);
  list_boxes();
  return true;
}

PARTITA_DEF void memory_transport::list_boxes() {
  targets_.clear(), origins_.clear(), boxes_.clear();
  for (std::size_t k = 0; k < plan_.sends.size(); ++k) {
    const listed_box b = plan_.sends[k];
    const std::size_t place = members_->place_of(b.worker);
    if (targets_.empty() || targets_.back().ring.place() != place)
      targets_.push_back({ring_boxes(place, kind_, plan_.sends, k), false, false, {}});
    target& t = targets_.back();
    if (plan_.accumulate) {  // in the staging area, the boxes of a pair are dense and contiguous
      std::vector<std::ptrdiff_t> dense(plan_.rank);
      dense_strides(b.shape, plan_.rank, dense.data());
      boxes_.add(place, b, static_cast<std::ptrdiff_t>(t.ring.bytes()), dense.data());
    } else {
      boxes_.add(place, b, plan_.offset_there(k) * static_cast<std::ptrdiff_t>(kind_.bytes), plan_.strides_there(k));
    }
    t.ring.add_next();
  }
  for (std::size_t k = 0; k < plan_.receives.size(); ++k) {
    const std::size_t place = members_->place_of(plan_.receives[k].worker);
    if (origins_.empty() || origins_.back().ring.place() != place)
      origins_.push_back({ring_boxes(place, kind_, plan_.receives, k), false, {}});
    origins_.back().ring.add_next();
  }
  // both workers of a pair get the same result
  const auto is_small = [&](const ring_boxes& ring) {
    return plan_.agreed_between && !plan_.accumulate && ring.bytes() <= staged_boxes::most_bytes(oversubscribed_);
  };
  // the bytes that are read and written: only the ghosts of a halo, however large the blocks are
  std::size_t moved = 2 * plan_.kept.volume() * kind_.bytes;
  for (target& t : targets_)
    moved += t.ring.bytes(), t.staged = is_small(t.ring), has_staged_boxes_ = has_staged_boxes_ || t.staged;
  for (origin& o : origins_)
    moved += o.ring.bytes(), o.staged = is_small(o.ring), has_staged_boxes_ = has_staged_boxes_ || o.staged;
  streaming_ = moved * members_->size() > last_cache_bytes() / 5 * 4;
  if (streaming_) list_all_boxes();
}

carried memory_transport::counts() const {
  carried all;
  for (const target& t : targets_) all.bytes_shared += t.ring.bytes();
  return all;
}

bool memory_transport::is_needed() const {
  for (const target& t : targets_)
    if (t.ring.takes_turns()) return true;
  for (const origin& o : origins_)
    if (o.ring.takes_turns()) return true;
  return false;
}

void memory_transport::expect(const block_memory& y) {
  y_ = y;
  blocks_[own_] = y.data;
  for (origin& o : origins_)
    if (!o.staged) announce(o);
}

void memory_transport::begin_ahead(const block_memory& x, const block_memory& y) {
  expect(y);
  pack(x);
  is_ahead_ = true;
}

void memory_transport::roll_back() {
  if (!std::exchange(is_ahead_, false)) return;
  for (const origin& o : origins_)
    if (!o.staged) channel_->roll_back(o.ring.place());
  for (target& t : targets_)
    if (t.staged) t.stage.unmark_packed(exchange_);
  if (has_staged_boxes_) --exchange_, packed_ = false;
}

void memory_transport::give(const block_memory& x) {
  x_ = x;
  is_ahead_ = false;
  if (has_staged_boxes_) {
    if (!has_stages_) find_stages();
    if (!packed_) pack(x);
    packed_ = false;
  }
  waiting_receivers_ = 0;
  for (target& t : targets_) t.served = t.staged, waiting_receivers_ += t.staged ? 0 : 1;
  if (streaming_ && !plan_.is_polled) push_together();
  else if (!plan_.is_polled) push_as_they_come();
  for (origin& o : origins_)
    if (o.staged) unpack(o);
  advance();
}

bool memory_transport::advance() {
  if (waiting_receivers_ > 0) push_to_ready();
  bool done = waiting_receivers_ == 0;
  for (target& t : targets_)
    if (t.served) done = t.ring.send(*channel_, x_, streaming_ || t.ring.bytes() > ring_in_cache) && done;
  for (origin& o : origins_) done = o.ring.receive(*channel_, y_, streaming_) && done;
  return done;
}

void memory_transport::finish() {
  for (const origin& o : origins_)
    if (!o.staged && o.ring.in_place()) channel_->await_arrival(o.ring.place());
}

PARTITA_DEF void memory_transport::list_all_boxes() {
  const auto bytes = static_cast<std::ptrdiff_t>(kind_.bytes);
  all_boxes_.clear();
  for (std::size_t k = 0; k < plan_.kept.size(); ++k)
    all_boxes_.add(own_, plan_.kept[k], offset_of(plan_.kept_to[k], plan_.received_strides.data(), plan_.rank) * bytes,
                   plan_.received_strides.data());
  for (const target& t : targets_)
    if (!t.staged) all_boxes_.add(boxes_, t.ring.first(), t.ring.last());
  all_boxes_.sort();
}

PARTITA_DEF void memory_transport::announce(origin& o) {
  char* const block = !is_dense() ? nullptr : plan_.accumulate ? y_.data + o.ring.stage() : y_.data;
  o.ring.start(channel_->announce(o.ring.place(), block, slot_bytes(o.ring.bytes())));
}

PARTITA_DEF void memory_transport::find_stages() {
  for (target& t : targets_) {
    if (!t.staged) continue;
    const std::uint64_t at = t.stage.make(channel_->memory(), t.ring.bytes());
    t.staged = t.stage.there();
    channel_->arrive(t.ring.place(), at);
  }
  for (origin& o : origins_) {
    if (!o.staged) continue;
    const std::uint64_t at = channel_->await_arrival(o.ring.place());
    if (at != staged_boxes::none) o.stage.find(channel_->at(o.ring.place(), at), o.ring.bytes());
    o.staged = o.stage.there();
    if (!o.staged) announce(o);
  }
  if (streaming_) list_all_boxes();
  has_stages_ = true;
}

PARTITA_DEF void memory_transport::pack(const block_memory& x) {
  if (!has_staged_boxes_) return;
  ++exchange_, packed_ = true;
  for (target& t : targets_) {
    if (!t.staged) continue;
    t.ring.pack_all(x, t.stage.buffer(exchange_), true);
    t.stage.mark_packed(exchange_);
  }
}

PARTITA_DEF void memory_transport::unpack(origin& o) {
  o.stage.await(exchange_, oversubscribed_);
  o.ring.pack_all(y_, o.stage.buffer(exchange_), false);
  o.stage.mark_taken(exchange_);
}

PARTITA_DEF bool memory_transport::is_dense() const {
  if (plan_.accumulate) return reinterpret_cast<std::uintptr_t>(y_.data) % node_channel::granule == 0;
  if (plan_.several) return false;
  for (std::size_t d = 0; d < plan_.rank; ++d)
    if (plan_.received_shape[d] > 1 && y_.strides[d] != plan_.received_strides[d]) return false;
  return reinterpret_cast<std::uintptr_t>(y_.data) % page == 0;
}

PARTITA_DEF void memory_transport::push(const push_list& boxes, std::size_t first, std::size_t last) {
  const bool one_block = !plan_.several && x_.strides != nullptr && x_.written == nullptr;
  boxes.push(first, last, kind_, one_block ? plan_.source_shape.data() : nullptr, x_, blocks_, streaming_);
}

PARTITA_DEF void memory_transport::await_destination_of(target& t) {
  const destination at = channel_->await_destination(t.ring.place());
  t.ring.start(at);
  t.served = true;
  --waiting_receivers_;
  blocks_[t.ring.place()] = at.address;
}

PARTITA_DEF void memory_transport::push_together() {
  bool in_place = plan_.kept.empty() || is_dense();
  for (target& t : targets_) {
    if (t.staged) continue;
    await_destination_of(t);
    in_place = in_place && t.ring.in_place();
  }
  if (in_place) {
    push(all_boxes_, 0, all_boxes_.size());
  } else {
    keep();
    for (target& t : targets_)
      if (!t.staged && t.ring.in_place()) push(boxes_, t.ring.first(), t.ring.last());
  }
  for (const target& t : targets_)
    if (!t.staged && t.ring.in_place()) channel_->arrive(t.ring.place());
}

PARTITA_DEF bool memory_transport::push_to_ready() {
  const std::size_t before = waiting_receivers_;
  for (target& t : targets_) {
    if (t.served || !channel_->announced(t.ring.place())) continue;
    await_destination_of(t);
    if (!t.ring.in_place()) continue;
    push(boxes_, t.ring.first(), t.ring.last());
    channel_->arrive(t.ring.place());
  }
  return waiting_receivers_ < before;
}

PARTITA_DEF void memory_transport::push_as_they_come() {
  bool kept = false;
  for (backoff p(oversubscribed_); waiting_receivers_ > 0;) {
    const bool pushed = push_to_ready();
    if (!pushed && kept) p.pause();
    if (!pushed && !kept) keep();
    kept = kept || !pushed;
  }
  if (!kept) keep();
}

PARTITA_INLINE std::unique_ptr<box_transport> memory_way::prepare(lowered_plan boxes, const element_kind& kind) {
  return std::make_unique<memory_transport>(*members_, *channel_, std::move(boxes), kind);
}

}  // namespace partita::detail
