// Defines the functions that comm/box_exchange.hpp declares.
#pragma once

#include <algorithm>
#include <chrono>
#include <partita/comm/box_exchange.hpp>

namespace partita::detail {

PARTITA_DEF void box_exchange::pass_on(std::unique_ptr<box_transport> more) { passed_on_ = std::move(more); }

PARTITA_DEF void box_exchange::also(std::unique_ptr<box_transport> more) { transports_.push_back(std::move(more)); }

PARTITA_DEF void box_exchange::from(std::shared_ptr<const written_block> source) { written_ = std::move(source); }

PARTITA_INLINE box_exchange::~box_exchange() { release(); }

PARTITA_DEF box_exchange::box_exchange(const std::vector<way*>& ways, arena& memory, lowered_plan plan,
                                       const element_kind& kind, bool oversubscribed)
    : kind_(kind), memory_(&memory), oversubscribed_(oversubscribed), plan_(std::move(plan)) {
  if (plan_.accumulate) stage();
  divide(ways);
  x_strides_.resize(plan_.rank), y_strides_.resize(plan_.rank), dense_strides_.resize(plan_.rank);
}

PARTITA_DEF void box_exchange::follow(const std::vector<way*>& ways, lowered_plan& plan) {
  std::swap(plan_, plan);
  divide(ways);
}

PARTITA_DEF void box_exchange::divide(const std::vector<way*>& ways) {
  has_more_work_ = plan_.accumulate || trace::on();
  if (shares_.size() != ways.size()) shares_.resize(ways.size(), lowered_plan(plan_.rank));
  for (lowered_plan& share : shares_) share.copy_without_boxes(plan_);
  const auto share_of = [&](std::size_t worker) -> lowered_plan& {
    std::size_t w = 0;
    while (w + 1 < ways.size() && !(ways[w]->carries(kind_) && ways[w]->reaches(worker))) ++w;
    return shares_[w];
  };
  for (std::size_t k = 0; k < plan_.sends.size(); ++k) {
    const listed_box b = plan_.sends[k];
    share_of(b.worker).add_send(b.worker, b.shape, b.at, plan_.offset_there(k), plan_.strides_there(k));
  }
  for (std::size_t k = 0; k < plan_.receives.size(); ++k)
    share_of(plan_.receives[k].worker).receives.add(plan_.receives[k]);
  // A channel that reaches this worker itself also copies the boxes that stay here.
  kept_by_channel_ = false;
  for (std::size_t w = 0; w < ways.size() && !plan_.accumulate && !kept_by_channel_; ++w)
    if (ways[w]->carries(kind_) && ways[w]->reaches(plan_.worker)) {
      shares_[w].kept = plan_.kept, shares_[w].kept_to = plan_.kept_to;
      kept_by_channel_ = true;
    }
  // Prepare the channels that have boxes; open channels follow the new plan, if they can.
  std::size_t used = 0;
  for (std::size_t w = 0; w < ways.size(); ++w) {
    if (!shares_[w].has_boxes()) continue;
    transports_.resize(std::max(transports_.size(), used + 1));
    channels_of_transports_.resize(transports_.size());
    std::unique_ptr<box_transport>& open = transports_[used];
    if (open == nullptr || channels_of_transports_[used] != w || !open->follow(shares_[w]))
      open = ways[w]->prepare(std::move(shares_[w]), kind_);
    channels_of_transports_[used++] = w;
  }
  transports_.resize(used), channels_of_transports_.resize(used);
}

PARTITA_DEF void box_exchange::then(std::unique_ptr<box_exchange> next) {
  next_ = std::move(next);
  next_->is_next_ = has_more_work_ = true;
}

PARTITA_DEF bool box_exchange::is_needed() const {
  for (const auto& c : transports_)
    if (c->is_needed()) return true;
  return next_ != nullptr || passed_on_ != nullptr;
}

PARTITA_DEF carried box_exchange::counts() const {
  carried all;
  for (const auto& c : transports_) all += c->counts();
  if (next_) all += next_->counts();
  if (passed_on_) all += passed_on_->counts();
  return all;
}

PARTITA_DEF void box_exchange::start(const void* x, const std::ptrdiff_t* x_strides, void* y,
                                     const std::ptrdiff_t* y_strides) {
  expect(y, y_strides);
  give(x, x_strides);
}

PARTITA_DEF void box_exchange::expect(void* y, const std::ptrdiff_t* y_strides) {
  write_to(y, y_strides);
  if (has_more_work_) expect_more();
  if (!is_summed_ahead_) expect_boxes();
}

PARTITA_DEF bool box_exchange::sends_speculatively() const {
  bool all = !has_more_work_;
  for (const auto& c : transports_) all = all && c->sends_speculatively();
  return all;
}

PARTITA_DEF void box_exchange::begin_ahead(const void* x, const std::ptrdiff_t* x_strides, void* y,
                                           const std::ptrdiff_t* y_strides) {
  write_to(y, y_strides);
  take(x, x_strides);
  for (const auto& c : transports_) c->begin_ahead(x_, y_);
}

PARTITA_DEF void box_exchange::give(const void* x, const std::ptrdiff_t* x_strides) {
  if (is_summed_ahead_) return;
  take(x, x_strides);
  give_boxes();
  if (!kept_by_channel_ && !plan_.accumulate) keep_boxes(plan_, kind_, x_, y_, stores::by_size);
  advance();
}

PARTITA_DEF void box_exchange::send_speculatively(const void* x, const std::ptrdiff_t* x_strides) {
  take(x, x_strides);
  if (plan_.accumulate && next_) return sum_ahead();
  for (std::size_t k = transports_.size(); k-- > 0;) transports_[k]->send_speculatively(x_);
}

PARTITA_DEF void box_exchange::roll_back() {
  if (!std::exchange(is_summed_ahead_, false)) {
    for (const auto& c : transports_) c->roll_back();
    return;
  }
  next_->roll_back();
  release();
}

PARTITA_DEF void box_exchange::finish() {
  if (!is_summed_ahead_) finish_boxes();
  if (has_more_work_) finish_more();
}

PARTITA_DEF void box_exchange::take(const void* x, const std::ptrdiff_t* x_strides) {
  for (std::size_t d = 0; d < plan_.rank; ++d) x_strides_[d] = x_strides[d];
  x_ = {static_cast<char*>(const_cast<void*>(x)), x_strides_.data(), written_.get()};  // the exchange only reads x
}

PARTITA_DEF void box_exchange::write_to(void* y, const std::ptrdiff_t* y_strides) {
  for (std::size_t d = 0; d < plan_.rank; ++d) y_strides_[d] = y_strides[d];
  y_ = last_y_ = {static_cast<char*>(y), y_strides_.data()};
}

PARTITA_DEF void box_exchange::expect_boxes() {
  for (const auto& c : transports_) c->expect(plan_.accumulate ? block_memory{staged_, nullptr} : y_);
  passes_on_ = false;
  if (passed_on_) passed_on_->expect(y_);
}

PARTITA_DEF void box_exchange::give_boxes() {
  // messages to the farthest workers leave first
  for (std::size_t k = transports_.size(); k-- > 0;) transports_[k]->give(x_);
}

PARTITA_DEF void box_exchange::finish_boxes() {
  if (!advance()) {
    const bool is_traced = trace::on() && trace::begin_wait();
    const auto from = is_traced ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    wait([] {});
    if (is_traced) trace::end_wait(std::chrono::steady_clock::now() - from);
  }
  for (const auto& c : transports_) c->finish();
  if (passed_on_) passed_on_->finish();
}

PARTITA_DEF void box_exchange::sum_ahead() {
  expect_more();
  expect_boxes();
  give_boxes();
  finish_boxes();
  add_up();
  release_staged();
  is_summed_ahead_ = true;
  next_->send_speculatively(y_.data, y_.strides);
}

PARTITA_DEF void box_exchange::expect_more() {
  if (trace::on()) traced_ = trace::current();
  if (!plan_.accumulate) return;
  if (is_summed_ahead_) {
    y_ = {static_cast<char*>(intermediate_), plan_.received_strides.data()};
    return;
  }
  if (next_) {
    between_bytes_ = elements_in(plan_.received_shape.data(), plan_.rank) * kind_.bytes;
    intermediate_ = memory_->allocate(between_bytes_);
    pooled.add(between_bytes_);
    y_ = {static_cast<char*>(intermediate_), plan_.received_strides.data()};
  }
  staged_ = static_cast<char*>(memory_->allocate(staged_bytes_));
  pooled.add(arrived_bytes_);
}

PARTITA_DEF void box_exchange::finish_more() {
  if (plan_.accumulate && !std::exchange(is_summed_ahead_, false)) {
    add_up();
    release_staged();
  }
  if (next_) {  // run the exchanges in sequence, because both announce their blocks through the same flags
    next_->start(y_.data, y_.strides, last_y_.data, last_y_.strides);
    next_->finish();
  }
  release();
  if (!trace::on() || is_next_) return;
  const carried moved = counts();
  trace::end_call(traced_, moved.messages, moved.bytes_by_message, moved.bytes_shared);
}

PARTITA_DEF void box_exchange::stage() {
  constexpr std::size_t granule = 128;
  box_list staged(plan_.rank);
  std::size_t next = 0;
  for (std::size_t k = 0; k < plan_.receives.size(); ++k) {
    const listed_box b = plan_.receives[k];
    if (k > 0 && plan_.receives[k - 1].worker != b.worker) next = (next + granule - 1) / granule * granule;
    staged.add(b.worker, b.shape, b.at, next);
    next += plan_.receives.volume(k) * kind_.bytes;
  }
  for (std::size_t k = 0; k < plan_.receives.size(); ++k) arrived_bytes_ += plan_.receives.volume(k) * kind_.bytes;
  plan_.receives = std::move(staged);
  staged_bytes_ = next;
  for (std::size_t k = 0; k < plan_.receives.size(); ++k) order_of_sum_.push_back(k);
  std::sort(order_of_sum_.begin(), order_of_sum_.end(), [this](std::size_t a, std::size_t b) {
    return plan_.turns[a] != plan_.turns[b] ? plan_.turns[a] < plan_.turns[b] : a < b;
  });
}

PARTITA_DEF void box_exchange::add_up() {
  const std::size_t rank = plan_.rank;
  if (elements_in(plan_.received_shape.data(), rank) == 0) return;
  bool first = !plan_.several;
  if (plan_.several) clear();
  const auto add = [&](const listed_box& to, const char* from, const std::ptrdiff_t* strides) {
    char* const at = address_of(to, y_, rank, kind_.bytes);
    if (std::exchange(first, false)) {
      bool whole = true;
      for (std::size_t d = 0; d < rank; ++d) whole = whole && to.shape[d] == plan_.received_shape[d];
      if (whole) return kind_.copy(at, y_.strides, from, strides, to.shape, rank, kind_.bytes, stores::by_size);
      clear();
    }
    kind_.add(at, y_.strides, from, strides, to.shape, rank);
  };
  bool own = false;
  const auto add_own = [&] {
    for (std::size_t k = 0; k < plan_.kept.size() && !own; ++k) {
      listed_box to = plan_.kept_to[k];
      add(to, address_of(plan_.kept[k], x_, rank, kind_.bytes), x_.strides);
    }
    own = true;
  };
  for (const std::size_t k : order_of_sum_) {
    const listed_box b = plan_.receives[k];
    if (plan_.turns[k] > plan_.turns.back()) add_own();
    dense_strides(b.shape, rank, dense_strides_.data());
    add(b, staged_ + b.stage, dense_strides_.data());
  }
  add_own();
  if (first) clear();
}

PARTITA_DEF void box_exchange::clear() {
  const std::vector<char> zero(kind_.bytes, 0);
  const std::vector<std::ptrdiff_t> nowhere(plan_.rank, 0);
  for (std::size_t k = 0; k < plan_.blocks.size(); ++k)
    kind_.copy(address_of(plan_.blocks[k], y_, plan_.rank, kind_.bytes), y_.strides, zero.data(), nowhere.data(),
               plan_.blocks[k].shape, plan_.rank, kind_.bytes, stores::by_size);
  if (plan_.several) return;
  kind_.copy(y_.data, y_.strides, zero.data(), nowhere.data(), plan_.received_shape.data(), plan_.rank, kind_.bytes,
             stores::by_size);
}

PARTITA_DEF bool box_exchange::advance() {
  bool done = true;
  for (std::size_t k = transports_.size(); k-- > 0;) done = transports_[k]->advance() && done;
  if (!passed_on_ || (!done && !passes_on_)) return done;
  if (!std::exchange(passes_on_, true)) passed_on_->give(y_);
  return passed_on_->advance() && done;
}

PARTITA_DEF void box_exchange::release_staged() {
  if (staged_ == nullptr) return;
  pooled.now -= arrived_bytes_;
  memory_->release(std::exchange(staged_, nullptr), staged_bytes_);
}

PARTITA_DEF void box_exchange::release() {
  release_staged();
  if (intermediate_ == nullptr) return;
  pooled.now -= between_bytes_;
  memory_->release(std::exchange(intermediate_, nullptr), between_bytes_);
}

}  // namespace partita::detail
