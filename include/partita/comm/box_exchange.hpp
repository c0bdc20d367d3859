// The exchange of boxes between the blocks of many workers. Each box travels by the channel that reaches its receiver:
// on the same node it is written in place or passed through a ring buffer, between nodes it travels in a message. A box
// that stays on its worker is copied. If the plan says so, received boxes are added up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/comm/detail/trace.hpp>
#include <partita/comm/detail/way.hpp>
#include <partita/comm/pooled.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// Executes one plan many times, for blocks that may differ from call to call. Every worker of the plan takes part in
/// every exchange, and the exchanges between two workers happen in the same order on both.
template <class = void>
class basic_box_exchange {
 public:
  /// Each box takes the first channel in `ways` that reaches its worker. `memory` provides the staging area for boxes
  /// that are to be added. `ways` and `memory` must outlive the exchange.
  basic_box_exchange(const std::vector<way*>& ways, arena& memory, lowered_plan plan, const element_kind& kind,
                     bool oversubscribed)
      : kind_(kind), memory_(&memory), oversubscribed_(oversubscribed), plan_(std::move(plan)) {
    if (plan_.accumulate) stage();
    does_more_ = plan_.accumulate || trace::on();
    // Divide the boxes between the channels.
    std::vector<lowered_plan> shares(ways.size(), plan_.without_boxes());
    const auto share_of = [&](std::size_t worker) -> lowered_plan& {
      std::size_t w = 0;
      while (w + 1 < ways.size() && !(ways[w]->carries(kind) && ways[w]->reaches(worker))) ++w;
      return shares[w];
    };
    for (std::size_t k = 0; k < plan_.sends.size(); ++k) {
      const listed_box b = plan_.sends[k];
      share_of(b.worker).add_send(b.worker, b.shape, b.at, plan_.offset_there(k), plan_.strides_there(k));
    }
    for (std::size_t k = 0; k < plan_.receives.size(); ++k)
      share_of(plan_.receives[k].worker).receives.add(plan_.receives[k]);
    // A channel that reaches this worker itself also copies the boxes that stay here.
    for (std::size_t w = 0; w < ways.size() && !plan_.accumulate && !kept_by_a_way_; ++w)
      if (ways[w]->carries(kind) && ways[w]->reaches(plan_.worker)) {
        shares[w].kept = plan_.kept, shares[w].kept_to = plan_.kept_to;
        kept_by_a_way_ = true;
      }
    // Prepare the channels that have boxes.
    for (std::size_t w = 0; w < ways.size(); ++w) {
      const lowered_plan& share = shares[w];
      if (share.sends.empty() && share.receives.empty() && share.kept.empty()) continue;
      carriers_.push_back(ways[w]->prepare(std::move(shares[w]), kind));
    }
    x_strides_.resize(plan_.rank), y_strides_.resize(plan_.rank), dense_.resize(plan_.rank);
  }
  basic_box_exchange(const basic_box_exchange&) = delete;
  basic_box_exchange& operator=(const basic_box_exchange&) = delete;
  ~basic_box_exchange() { release(); }

  /// Makes `next` run after this exchange, on its result. The result is in y; if this exchange adds up, it is in a
  /// temporary block that lives as long as one exchange. Call this before the first start.
  void then(std::unique_ptr<basic_box_exchange> next) {
    next_ = std::move(next);
    next_->is_next_ = does_more_ = true;
  }

  /// Adds a channel for boxes that are not in the plan. Call this before the first start.
  void also(std::unique_ptr<carrier> more) { carriers_.push_back(std::move(more)); }

  /// Whether other workers need this worker to finish. Until then this worker keeps data that they wait for.
  bool passes_on() const {
    for (const auto& c : carriers_)
      if (c->passes_on()) return true;
    return next_ != nullptr;
  }
  /// The number of messages and bytes that leave this worker as messages, and the bytes it passes through shared
  /// memory.
  carried counts() const {
    carried all;
    for (const auto& c : carriers_) all += c->counts();
    if (next_) all += next_->counts();
    return all;
  }

  /// Starts an exchange. Strides are in elements, in the order of the source's dimensions. If `y` is dense and in the
  /// channel's arena, its senders write into it directly; any other y is filled through a ring or by messages.
  void start(const void* x, const std::ptrdiff_t* x_strides, void* y, const std::ptrdiff_t* y_strides) {
    expect(y, y_strides);
    give(x, x_strides);
  }
  /// The first half of a start: announces to the other workers where y is, so that a sender that is ready early need
  /// not wait. Does not wait itself.
  void expect(void* y, const std::ptrdiff_t* y_strides) {
    write_to(y, y_strides);
    if (does_more_) expect_more();
    if (!is_summed_ahead_) expect_boxes();
  }
  /// Whether a start may begin before the workers have agreed on the call. Then begin_ahead() replaces expect(), and
  /// roll_back() undoes it if the agreement fails.
  bool sends_speculatively() const {
    bool all = !does_more_;
    for (const auto& c : carriers_) all = all && c->sends_speculatively();
    return all;
  }
  void begin_ahead(const void* x, const std::ptrdiff_t* x_strides, void* y, const std::ptrdiff_t* y_strides) {
    write_to(y, y_strides);
    take(x, x_strides);
    for (const auto& c : carriers_) c->begin_ahead(x_, y_);
  }
  /// The second half of a start: sends x. It may wait until the receivers have called expect().
  void give(const void* x, const std::ptrdiff_t* x_strides) {
    if (is_summed_ahead_) return;
    take(x, x_strides);
    give_boxes();
    if (!kept_by_a_way_ && !plan_.accumulate) keep_boxes(plan_, kind_, x_, y_, stores::by_size);
    advance();
  }
  /// Sends before all workers have agreed, see `carrier`. Next comes a start with the same x, or roll_back().
  void send_speculatively(const void* x, const std::ptrdiff_t* x_strides) {
    take(x, x_strides);
    if (plan_.accumulate && next_) return sum_ahead();
    for (std::size_t k = carriers_.size(); k-- > 0;) carriers_[k]->send_speculatively(x_);
  }
  void roll_back() {
    if (!std::exchange(is_summed_ahead_, false)) {
      for (const auto& c : carriers_) c->roll_back();
      return;
    }
    next_->roll_back();
    release();
  }
  /// Finishes the exchange: afterwards y is complete and x may change.
  void finish() {
    if (!is_summed_ahead_) finish_boxes();
    if (does_more_) finish_more();
  }

 private:
  void take(const void* x, const std::ptrdiff_t* x_strides) {
    for (std::size_t d = 0; d < plan_.rank; ++d) x_strides_[d] = x_strides[d];
    x_ = {static_cast<char*>(const_cast<void*>(x)), x_strides_.data()};  // x is only read
  }
  void write_to(void* y, const std::ptrdiff_t* y_strides) {
    for (std::size_t d = 0; d < plan_.rank; ++d) y_strides_[d] = y_strides[d];
    y_ = last_y_ = {static_cast<char*>(y), y_strides_.data()};
  }
  void expect_boxes() {
    for (const auto& c : carriers_) c->expect(plan_.accumulate ? block_memory{staged_, nullptr} : y_);
  }
  void give_boxes() {
    // messages to the farthest workers leave first
    for (std::size_t k = carriers_.size(); k-- > 0;) carriers_[k]->give(x_);
  }
  void finish_boxes() {
    for (backoff p(oversubscribed_); !advance();) p.pause();
    for (const auto& c : carriers_) c->finish();
  }
  /// Executes the whole first step, in which only the workers of this node take part, so that the second step can send
  /// its messages.
  void sum_ahead() {
    expect_more();
    expect_boxes();
    give_boxes();
    finish_boxes();
    add_up();
    release_staged();
    is_summed_ahead_ = true;
    next_->send_speculatively(y_.data, y_.strides);
  }
  /// Work that only some exchanges need is behind one branch, so a trace costs nothing when it is off.
  [[gnu::noinline]] void expect_more() {
    if (trace::on()) traced_ = trace::current();
    if (!plan_.accumulate) return;
    if (is_summed_ahead_) {
      y_ = {static_cast<char*>(between_), plan_.received_strides.data()};
      return;
    }
    if (next_) {
      between_bytes_ = elements_in(plan_.received_shape.data(), plan_.rank) * kind_.bytes;
      between_ = memory_->allocate(between_bytes_);
      pooled.add(between_bytes_);
      y_ = {static_cast<char*>(between_), plan_.received_strides.data()};
    }
    staged_ = static_cast<char*>(memory_->allocate(staged_bytes_));
    pooled.add(arrived_bytes_);
  }
  [[gnu::noinline]] void finish_more() {
    if (plan_.accumulate && !std::exchange(is_summed_ahead_, false)) {
      add_up();
      release_staged();
    }
    if (next_) {  // one exchange after the other: both announce their blocks through the same flags
      next_->start(y_.data, y_.strides, last_y_.data, last_y_.strides);
      next_->finish();
    }
    release();
    if (!trace::on() || is_next_) return;
    const carried moved = counts();
    trace::end_call(traced_, moved.messages, moved.bytes_by_message, moved.bytes_shared);
  }
  /// Assigns places in the staging area. The boxes from one worker are contiguous, and each worker's boxes start at a
  /// multiple of the granularity of the addresses that a channel can announce.
  void stage() {
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
    for (std::size_t k = 0; k < plan_.receives.size(); ++k) added_.push_back(k);
    std::sort(added_.begin(), added_.end(), [this](std::size_t a, std::size_t b) {
      return plan_.turns[a] != plan_.turns[b] ? plan_.turns[a] < plan_.turns[b] : a < b;
    });
  }

  /// Adds the received boxes and the kept box to zeros, in the order given by the plan. If the first box covers the
  /// whole block, it is copied instead.
  void add_up() {
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
    for (const std::size_t k : added_) {
      const listed_box b = plan_.receives[k];
      if (plan_.turns[k] > plan_.turns.back()) add_own();
      dense_strides(b.shape, rank, dense_.data());
      add(b, staged_ + b.stage, dense_.data());
    }
    add_own();
    if (first) clear();
  }
  /// Sets y to zeros: zero bytes represent zero in every element type that can be summed.
  void clear() {
    const std::vector<char> zero(kind_.bytes, 0);
    const std::vector<std::ptrdiff_t> nowhere(plan_.rank, 0);
    for (std::size_t k = 0; k < plan_.blocks.size(); ++k)
      kind_.copy(address_of(plan_.blocks[k], y_, plan_.rank, kind_.bytes), y_.strides, zero.data(), nowhere.data(),
                 plan_.blocks[k].shape, plan_.rank, kind_.bytes, stores::by_size);
    if (plan_.several) return;
    kind_.copy(y_.data, y_.strides, zero.data(), nowhere.data(), plan_.received_shape.data(), plan_.rank, kind_.bytes,
               stores::by_size);
  }

  /// Advances everything that can proceed without waiting. Returns true if this worker has nothing left to do here.
  bool advance() {
    bool done = true;
    for (std::size_t k = carriers_.size(); k-- > 0;) done = carriers_[k]->advance() && done;
    return done;
  }
  void release_staged() {
    if (staged_ == nullptr) return;
    pooled.now -= arrived_bytes_;
    memory_->release(std::exchange(staged_, nullptr), staged_bytes_);
  }
  void release() {
    release_staged();
    if (between_ == nullptr) return;
    pooled.now -= between_bytes_;
    memory_->release(std::exchange(between_, nullptr), between_bytes_);
  }

  element_kind kind_;
  arena* memory_;
  bool oversubscribed_, kept_by_a_way_ = false, is_next_ = false;
  bool is_summed_ahead_ = false;
  // the exchange does more than move boxes: it adds them up, another exchange follows, or it is traced
  bool does_more_ = false;
  lowered_plan plan_;
  std::vector<std::unique_ptr<carrier>> carriers_;
  std::size_t staged_bytes_ = 0, arrived_bytes_ = 0;  // with and without the padding between the workers' places
  std::vector<std::size_t> added_;                    // indices of the receives, in the order of the sum
  char* staged_ = nullptr;
  std::size_t traced_ = ~std::size_t{0};  // index of this call in the trace
  std::unique_ptr<basic_box_exchange> next_;
  void* between_ = nullptr;  // the input of `next_`, if that is not y
  std::size_t between_bytes_ = 0;
  std::vector<std::ptrdiff_t> x_strides_, y_strides_, dense_;  // dense_: of the box that is being added
  block_memory x_, y_, last_y_;
};
using box_exchange = basic_box_exchange<>;

}  // namespace partita::detail
