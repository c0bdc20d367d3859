// Defines the functions that comm/box_exchange.hpp declares.
#pragma once

#include <algorithm>
#include <chrono>
#include <partita/comm/box_exchange.hpp>
#include <partita/plan/stable_sort.hpp>

namespace partita::detail {

PARTITA_DEF void box_exchange::add_transport(std::unique_ptr<box_transport> more) {
  transports_.push_back(std::move(more));
}

PARTITA_INLINE box_exchange::~box_exchange() { release_memory(); }

PARTITA_DEF box_exchange::box_exchange(const std::vector<way*>& ways, arena& memory, lowered_plan plan,
                                       const element_kind& kind, bool oversubscribed)
    : kind_(kind), memory_(&memory), oversubscribed_(oversubscribed), plan_(std::move(plan)) {
  if (plan_.accumulate) assign_staging_places();
  divide_boxes(ways);
  x_strides_.resize(plan_.rank), y_strides_.resize(plan_.rank), dense_strides_.resize(plan_.rank);
}

PARTITA_DEF void box_exchange::follow(const std::vector<way*>& ways, lowered_plan& plan) {
  std::swap(plan_, plan);
  divide_boxes(ways);
}

PARTITA_DEF void box_exchange::divide_boxes(const std::vector<way*>& ways) {
  does_more_than_move_ = plan_.accumulate || trace::is_on();
  if (channel_plans_.size() != ways.size()) channel_plans_.resize(ways.size(), lowered_plan(plan_.rank));
  for (lowered_plan& share : channel_plans_) share.copy_properties(plan_);
  const auto share_of = [&](std::size_t worker) -> lowered_plan& {
    std::size_t w = 0;
    while (w + 1 < ways.size() && !(ways[w]->carries(kind_) && ways[w]->reaches(worker))) ++w;
    return channel_plans_[w];
  };
  for (std::size_t k = 0; k < plan_.sends.size(); ++k) {
    const listed_box b = plan_.sends[k];
    share_of(b.worker).add_send(b.worker, b.shape, b.at, plan_.peer_offset(k), plan_.peer_strides(k));
  }
  for (std::size_t k = 0; k < plan_.receives.size(); ++k)
    share_of(plan_.receives[k].worker).receives.add(plan_.receives[k]);
  // A channel that reaches this worker itself also copies the boxes that stay here.
  channel_keeps_boxes_ = false;
  for (std::size_t w = 0; w < ways.size() && !plan_.accumulate && !channel_keeps_boxes_; ++w)
    if (ways[w]->carries(kind_) && ways[w]->reaches(plan_.worker)) {
      channel_plans_[w].kept = plan_.kept, channel_plans_[w].kept_destinations = plan_.kept_destinations;
      channel_keeps_boxes_ = true;
    }
  // Prepare a transport for each channel that has boxes. A transport that is already open on the channel takes over the
  // new plan, if it can.
  std::size_t used = 0;
  for (std::size_t w = 0; w < ways.size(); ++w) {
    if (!channel_plans_[w].has_boxes()) continue;
    transports_.resize(std::max(transports_.size(), used + 1));
    channels_of_transports_.resize(transports_.size());
    std::unique_ptr<box_transport>& open = transports_[used];
    if (open == nullptr || channels_of_transports_[used] != w || !open->follow(channel_plans_[w]))
      open = ways[w]->prepare(std::move(channel_plans_[w]), kind_);
    channels_of_transports_[used++] = w;
  }
  transports_.resize(used), channels_of_transports_.resize(used);
}

PARTITA_DEF void box_exchange::append_exchange(std::unique_ptr<box_exchange> next) {
  next_exchange_ = std::move(next);
  next_exchange_->is_second_exchange_ = does_more_than_move_ = true;
}

PARTITA_DEF bool box_exchange::is_needed() const {
  for (const auto& c : transports_)
    if (c->is_needed()) return true;
  return next_exchange_ != nullptr || forwarding_transport_ != nullptr;
}

PARTITA_DEF exchange_traffic box_exchange::counts() const {
  exchange_traffic all;
  for (const auto& c : transports_) all += c->counts();
  if (next_exchange_) all += next_exchange_->counts();
  if (forwarding_transport_) all += forwarding_transport_->counts();
  return all;
}

PARTITA_DEF void box_exchange::start(const void* x, const std::ptrdiff_t* x_strides, void* y,
                                     const std::ptrdiff_t* y_strides) {
  post_receive(y, y_strides);
  post_send(x, x_strides);
}

PARTITA_DEF void box_exchange::post_receive(void* y, const std::ptrdiff_t* y_strides) {
  set_destination(y, y_strides);
  if (does_more_than_move_) start_extra_work();
  if (!was_summed_early_) post_box_receives();
}

PARTITA_DEF bool box_exchange::sends_speculatively() const {
  bool all = !does_more_than_move_;
  for (const auto& c : transports_) all = all && c->sends_speculatively();
  return all;
}

PARTITA_DEF void box_exchange::start_speculatively(const void* x, const std::ptrdiff_t* x_strides, void* y,
                                                   const std::ptrdiff_t* y_strides) {
  set_destination(y, y_strides);
  set_source(x, x_strides);
  for (const auto& c : transports_) c->start_speculatively(x_, y_);
}

PARTITA_DEF void box_exchange::post_send(const void* x, const std::ptrdiff_t* x_strides) {
  if (was_summed_early_) return;
  set_source(x, x_strides);
  send_source_boxes();
  if (!channel_keeps_boxes_ && !plan_.accumulate) keep_boxes(plan_, kind_, x_, y_, stores::by_size);
  advance();
}

PARTITA_DEF void box_exchange::send_speculatively(const void* x, const std::ptrdiff_t* x_strides) {
  set_source(x, x_strides);
  if (plan_.accumulate && next_exchange_) return run_first_exchange();
  for (std::size_t k = transports_.size(); k-- > 0;) transports_[k]->send_speculatively(x_);
}

PARTITA_DEF void box_exchange::roll_back() {
  if (!std::exchange(was_summed_early_, false)) {
    for (const auto& c : transports_) c->roll_back();
    return;
  }
  next_exchange_->roll_back();
  release_memory();
}

PARTITA_DEF void box_exchange::finish() {
  if (!was_summed_early_) finish_boxes();
  if (does_more_than_move_) finish_extra_work();
}

PARTITA_DEF void box_exchange::set_source(const void* x, const std::ptrdiff_t* x_strides) {
  for (std::size_t d = 0; d < plan_.rank; ++d) x_strides_[d] = x_strides[d];
  x_ = {static_cast<char*>(const_cast<void*>(x)), x_strides_.data(), source_writer_.get()};  // which is only read
}

PARTITA_DEF void box_exchange::set_destination(void* y, const std::ptrdiff_t* y_strides) {
  for (std::size_t d = 0; d < plan_.rank; ++d) y_strides_[d] = y_strides[d];
  y_ = final_y_ = {static_cast<char*>(y), y_strides_.data()};
}

PARTITA_DEF void box_exchange::post_box_receives() {
  for (const auto& c : transports_) c->post_receive(plan_.accumulate ? block_memory{staging_area_, nullptr} : y_);
  is_forwarding_ = false;
  if (forwarding_transport_) forwarding_transport_->post_receive(y_);
}

PARTITA_DEF void box_exchange::send_source_boxes() {
  // messages to the most distant workers are sent first
  for (std::size_t k = transports_.size(); k-- > 0;) transports_[k]->post_send(x_);
}

PARTITA_DEF void box_exchange::finish_boxes() {
  if (!advance()) {
    const bool is_traced = trace::is_on() && trace::begin_wait();
    const auto from = is_traced ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    wait([] {});
    if (is_traced) trace::end_wait(std::chrono::steady_clock::now() - from);
  }
  for (const auto& c : transports_) c->finish();
  if (forwarding_transport_) forwarding_transport_->finish();
}

PARTITA_DEF void box_exchange::run_first_exchange() {
  start_extra_work();
  post_box_receives();
  send_source_boxes();
  finish_boxes();
  add_received_boxes();
  release_staging_area();
  was_summed_early_ = true;
  next_exchange_->send_speculatively(y_.data, y_.strides);
}

PARTITA_DEF void box_exchange::start_extra_work() {
  if (trace::is_on()) traced_call_ = trace::current_call();
  if (!plan_.accumulate) return;
  if (was_summed_early_) {
    y_ = {static_cast<char*>(intermediate_block_), plan_.received_strides.data()};
    return;
  }
  if (next_exchange_) {
    intermediate_bytes_ = element_count_of_shape(plan_.received_shape.data(), plan_.rank) * kind_.bytes;
    intermediate_block_ = memory_->allocate(intermediate_bytes_);
    pooled.add(intermediate_bytes_);
    y_ = {static_cast<char*>(intermediate_block_), plan_.received_strides.data()};
  }
  staging_area_ = static_cast<char*>(memory_->allocate(staged_bytes_));
  pooled.add(unpadded_bytes_);
}

PARTITA_DEF void box_exchange::finish_extra_work() {
  if (plan_.accumulate && !std::exchange(was_summed_early_, false)) {
    add_received_boxes();
    release_staging_area();
  }
  if (next_exchange_) {  // run the exchanges in sequence, because both announce their blocks through the same flags
    next_exchange_->start(y_.data, y_.strides, final_y_.data, final_y_.strides);
    next_exchange_->finish();
  }
  release_memory();
  if (!trace::is_on() || is_second_exchange_) return;
  const exchange_traffic moved = counts();
  trace::end_call(traced_call_, moved.messages, moved.bytes_by_message, moved.bytes_shared);
}

PARTITA_DEF void box_exchange::assign_staging_places() {
  constexpr std::size_t alignment = 128;
  box_list staged(plan_.rank);
  std::size_t next = 0;
  for (std::size_t k = 0; k < plan_.receives.size(); ++k) {
    const listed_box b = plan_.receives[k];
    if (k > 0 && plan_.receives[k - 1].worker != b.worker) next = (next + alignment - 1) / alignment * alignment;
    staged.add(b.worker, b.shape, b.at, next);
    const std::size_t bytes = plan_.receives.volume(k) * kind_.bytes;
    next += bytes, unpadded_bytes_ += bytes;
    sum_order_.push_back(k);
  }
  plan_.receives = std::move(staged);
  staged_bytes_ = next;
  stable_sort(sum_order_, [this](std::size_t k) { return plan_.sum_positions[k]; });
}

PARTITA_DEF void box_exchange::add_received_boxes() {
  const std::size_t rank = plan_.rank;
  if (element_count_of_shape(plan_.received_shape.data(), rank) == 0) return;
  bool first = !plan_.has_several_blocks;
  if (plan_.has_several_blocks) set_result_to_zero();
  const auto add = [&](const listed_box& to, const char* from, const std::ptrdiff_t* strides) {
    char* const at = box_address(to, y_, rank, kind_.bytes);
    if (std::exchange(first, false)) {
      bool whole = true;
      for (std::size_t d = 0; d < rank; ++d) whole = whole && to.shape[d] == plan_.received_shape[d];
      if (whole) return kind_.copy(at, y_.strides, from, strides, to.shape, rank, kind_.bytes, stores::by_size);
      set_result_to_zero();
    }
    kind_.add(at, y_.strides, from, strides, to.shape, rank);
  };
  bool own = false;
  const auto add_own = [&] {
    for (std::size_t k = 0; k < plan_.kept.size() && !own; ++k) {
      listed_box to = plan_.kept_destinations[k];
      add(to, box_address(plan_.kept[k], x_, rank, kind_.bytes), x_.strides);
    }
    own = true;
  };
  for (const std::size_t k : sum_order_) {
    const listed_box b = plan_.receives[k];
    if (plan_.sum_positions[k] > plan_.sum_positions.back()) add_own();
    dense_strides(b.shape, rank, dense_strides_.data());
    add(b, staging_area_ + b.staging_offset, dense_strides_.data());
  }
  add_own();
  if (first) set_result_to_zero();
}

PARTITA_DEF void box_exchange::set_result_to_zero() {
  const std::vector<char> zero(kind_.bytes, 0);
  const std::vector<std::ptrdiff_t> nowhere(plan_.rank, 0);
  for (std::size_t k = 0; k < plan_.blocks.size(); ++k)
    kind_.copy(box_address(plan_.blocks[k], y_, plan_.rank, kind_.bytes), y_.strides, zero.data(), nowhere.data(),
               plan_.blocks[k].shape, plan_.rank, kind_.bytes, stores::by_size);
  if (plan_.has_several_blocks) return;
  kind_.copy(y_.data, y_.strides, zero.data(), nowhere.data(), plan_.received_shape.data(), plan_.rank, kind_.bytes,
             stores::by_size);
}

PARTITA_DEF bool box_exchange::advance() {
  bool done = true;
  for (std::size_t k = transports_.size(); k-- > 0;) done = transports_[k]->advance() && done;
  if (!forwarding_transport_ || (!done && !is_forwarding_)) return done;
  if (!std::exchange(is_forwarding_, true)) forwarding_transport_->post_send(y_);
  return forwarding_transport_->advance() && done;
}

PARTITA_DEF void box_exchange::release_staging_area() {
  if (staging_area_ == nullptr) return;
  pooled.bytes_in_use -= unpadded_bytes_;
  memory_->release(std::exchange(staging_area_, nullptr), staged_bytes_);
}

PARTITA_DEF void box_exchange::release_memory() {
  release_staging_area();
  if (intermediate_block_ == nullptr) return;
  pooled.bytes_in_use -= intermediate_bytes_;
  memory_->release(std::exchange(intermediate_block_, nullptr), intermediate_bytes_);
}

}  // namespace partita::detail
