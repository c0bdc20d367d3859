// Boxes that move between blocks of many workers, each by the way that fits its pair: written in place or passed
// through a ring on the same node, mailed to other nodes, copied where they stay.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <partita/comm/channel.hpp>
#include <partita/comm/correspondence.hpp>
#include <partita/comm/push.hpp>
#include <partita/comm/ring.hpp>
#include <type_traits>
#include <vector>

namespace partita {

/// A box of this worker's block that goes to (or comes from) a worker, described in the order of the source's
/// dimensions.
template <std::size_t Rank>
struct exchanged_box {
  std::size_t worker = 0;
  std::array<std::size_t, Rank> shape{};
  index<Rank> at{};                                 ///< where it starts in this worker's block
  std::ptrdiff_t peer_offset = 0;                   ///< sends: where it starts in the receiver's dense block
  std::array<std::ptrdiff_t, Rank> peer_strides{};  ///< sends: of the receiver's dense block

  friend bool operator==(const exchanged_box&, const exchanged_box&) = default;
};

/// A box that stays with its worker.
template <std::size_t Rank>
struct settled_box {
  std::array<std::size_t, Rank> shape{};
  index<Rank> at{};              ///< where it starts in the block given
  index<Rank> at_destination{};  ///< where it starts in the block received

  friend bool operator==(const settled_box&, const settled_box&) = default;
};

/// What one worker sends, receives and keeps. The boxes of a pair stand in the same order on both sides; both lists
/// ascend by worker.
template <std::size_t Rank>
struct exchange_schedule {
  std::size_t worker = 0;
  std::array<std::size_t, Rank> source_shape{};
  std::vector<exchanged_box<Rank>> sends, receives;
  std::vector<settled_box<Rank>> kept;
  std::array<std::size_t, Rank> received_shape{};       ///< of this worker's block at the destination
  std::array<std::ptrdiff_t, Rank> received_strides{};  ///< and its strides where it is dense

  friend bool operator==(const exchange_schedule&, const exchange_schedule&) = default;
};

/// Carries out a schedule again and again, for blocks that come and go. Every worker of the schedule takes part in
/// every exchange, and the exchanges of one pair happen in the same order on both sides.
template <class T, std::size_t Rank>
class box_exchange {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= detail::page,
                "partita: requires elements that are trivially copyable and at most a page, to move between workers");

 public:
  using strides_type = std::array<std::ptrdiff_t, Rank>;

  /// `channel` may be null: then all boxes are mailed. `tag` tells this exchange's messages from others on `comm`.
  box_exchange(MPI_Comm comm, int tag, const node& members, node_channel* channel, exchange_schedule<Rank> schedule,
               const mail_policy& policy = {})
      : comm_(comm),
        tag_(tag),
        schedule_(std::move(schedule)),
        channel_(channel != nullptr && channel->usable() ? channel : nullptr),
        oversubscribed_(members.oversubscribed()),
        own_(members.place()),
        blocks_(members.size()) {
    std::vector<mailed_box<Rank>> out, in;
    const auto here = [&](std::size_t worker) {
      return channel_ != nullptr && members.place_of(worker) < members.size();
    };
    for (const exchanged_box<Rank>& b : schedule_.sends) {
      if (here(b.worker)) {
        const std::size_t place = members.place_of(b.worker);
        if (targets_.empty() || targets_.back().ring.place() != place)
          targets_.push_back({detail::ring_boxes<T, Rank>(place), {}, false});
        targets_.back().boxes.push_back({place, b.shape, b.at, b.peer_offset, b.peer_strides});
        targets_.back().ring.add({b.worker, b.shape, b.at});
      } else {
        out.push_back({b.worker, b.shape, b.at});
      }
    }
    for (const exchanged_box<Rank>& b : schedule_.receives) {
      if (here(b.worker)) {
        const std::size_t place = members.place_of(b.worker);
        if (origins_.empty() || origins_.back().place() != place) origins_.emplace_back(place);
        origins_.back().add({b.worker, b.shape, b.at});
      } else {
        in.push_back({b.worker, b.shape, b.at});
      }
    }
    for (const settled_box<Rank>& b : schedule_.kept) {
      const std::ptrdiff_t offset = detail::offset_of<Rank>({0, b.shape, b.at_destination}, schedule_.received_strides);
      everything_.push_back({own_, b.shape, b.at, offset, schedule_.received_strides});
    }
    for (const target& t : targets_) everything_.insert(everything_.end(), t.boxes.begin(), t.boxes.end());
    std::sort(everything_.begin(), everything_.end(),
              [](const pushed_box<Rank>& a, const pushed_box<Rank>& b) { return a.at < b.at; });  // as the source lies
    mail_ = std::make_unique<correspondence<T, Rank>>(std::move(out), std::move(in), policy, oversubscribed_);
    const std::size_t moved = (volume_of(schedule_.source_shape) + volume_of(schedule_.received_shape)) * sizeof(T);
    streaming_ = moved * members.size() > detail::last_cache_bytes() / 5 * 4;
  }

  /// Messages and bytes that leave this worker by mail, and bytes that it hands over through shared memory.
  std::size_t messages_sent() const { return mail_->messages_sent(); }
  std::size_t bytes_mailed() const { return mail_->bytes_sent(); }
  std::size_t bytes_shared() const {
    std::size_t sum = 0;
    for (const target& t : targets_) sum += t.ring.bytes();
    return sum;
  }

  /// Begins: receives are posted, mail leaves, boxes are written in place. Strides are in the order of the source's
  /// dimensions. A dense `y` in the channel's arena is written by its senders, any other through a ring or by mail.
  void start(const T* x, const strides_type& x_strides, T* y, const strides_type& y_strides) {
    expect(y, y_strides);
    give(x, x_strides);
  }
  /// The first half of a start, waiting for nobody: tells the others where y is, so that who has its x first need not wait.
  void expect(T* y, const strides_type& y_strides) {
    y_ = y, y_strides_ = y_strides;
    blocks_[own_] = reinterpret_cast<char*>(y);
    void* const block = is_dense() ? y : nullptr;
    for (auto& origin : origins_) origin.start(channel_->announce(origin.place(), block, slot_bytes(origin.bytes())));
  }
  /// The second half, which waits for the others to expect.
  void give(const T* x, const strides_type& x_strides) {
    x_ = x, x_strides_ = x_strides;
    mail_->start(comm_, tag_, x, x_strides, y_, y_strides_);
    if (streaming_)
      push_together();
    else
      push_as_they_come();
    advance();
  }

  /// Ends: afterwards y is complete and x may change.
  void finish() {
    for (patience p(oversubscribed_); !advance();) p.pause();
    for (const auto& origin : origins_)
      if (origin.in_place()) channel_->await_arrival(origin.place());
  }

 private:
  struct target {
    detail::ring_boxes<T, Rank> ring;
    std::vector<pushed_box<Rank>> boxes;
    bool served = false;
  };

  /// Up to here what passes through a ring stays in a cache. Beyond it slots are stored past the cache: a reader on a distant
  /// core would fetch every line out of the writer's.
  static constexpr std::size_t ring_in_cache = std::size_t{1} << 20;

  bool is_dense() const {
    for (std::size_t d = 0; d < Rank; ++d)
      if (schedule_.received_shape[d] > 1 && y_strides_[d] != schedule_.received_strides[d]) return false;
    return reinterpret_cast<std::uintptr_t>(y_) % detail::page == 0;
  }

  /// Slots that let the two sides work at the same time and stay in a cache of their cores.
  static constexpr std::size_t slot_bytes(std::size_t bytes) {
    const std::size_t most = std::size_t{256} << 10, quarter = bytes / node_channel::slots + 1;
    return quarter < most ? quarter : most;
  }

  void push(const std::vector<pushed_box<Rank>>& boxes) {
    push_in_source_order<T, Rank>(boxes, schedule_.source_shape, x_, x_strides_, blocks_, streaming_);
  }

  void meet(target& t) {
    const landing at = channel_->await_landing(t.ring.place());
    t.ring.start(at);
    blocks_[t.ring.place()] = at.address;
  }

  /// One sweep over the source for all: needs every block, so it waits for every receiver.
  void push_together() {
    bool in_place = schedule_.kept.empty() || is_dense();
    for (target& t : targets_) {
      meet(t);
      in_place = in_place && t.ring.in_place();
    }
    if (in_place) {
      push(everything_);
    } else {
      keep();
      for (target& t : targets_)
        if (t.ring.in_place()) push(t.boxes);
    }
    for (const target& t : targets_)
      if (t.ring.in_place()) channel_->arrive(t.ring.place());
  }

  /// Receiver by receiver, as they announce themselves; what stays is copied when nobody else can be served, so that
  /// signals travel meanwhile.
  void push_as_they_come() {
    bool kept = false;
    std::size_t left = targets_.size();
    for (target& t : targets_) t.served = false;
    for (patience p(oversubscribed_); left > 0;) {
      const std::size_t before = left;
      for (target& t : targets_) {
        if (t.served || !channel_->announced(t.ring.place())) continue;
        meet(t);
        t.served = true;
        --left;
        if (!t.ring.in_place()) continue;
        push(t.boxes);
        channel_->arrive(t.ring.place());
      }
      if (left == before && kept) p.pause();
      if (left == before && !kept) keep();
      kept = kept || left == before;
    }
    if (!kept) keep();
  }

  /// Copies what stays.
  void keep() {
    for (const settled_box<Rank>& b : schedule_.kept)
      copy_block(y_ + detail::offset_of<Rank>({0, b.shape, b.at_destination}, y_strides_), y_strides_.data(),
                 x_ + detail::offset_of<Rank>({0, b.shape, b.at}, x_strides_), x_strides_.data(), b.shape.data(), Rank,
                 streaming_ ? stores::streaming : stores::cached);
  }

  /// Moves on whatever can move without waiting; true when nothing is left to do here.
  bool advance() {
    bool done = mail_->advance();
    for (target& t : targets_) done = t.ring.send(*channel_, x_, x_strides_, streaming_ || t.ring.bytes() > ring_in_cache) && done;
    for (auto& origin : origins_) done = origin.receive(*channel_, y_, y_strides_, streaming_) && done;
    return done;
  }

  MPI_Comm comm_;
  int tag_;
  exchange_schedule<Rank> schedule_;
  node_channel* channel_;
  bool oversubscribed_;
  std::size_t own_;
  std::vector<char*> blocks_;
  std::vector<pushed_box<Rank>> everything_;  // what stays and what goes to the node
  std::vector<target> targets_;
  std::vector<detail::ring_boxes<T, Rank>> origins_;
  std::unique_ptr<correspondence<T, Rank>> mail_;
  bool streaming_ = false;

  const T* x_ = nullptr;
  T* y_ = nullptr;
  strides_type x_strides_{}, y_strides_{};
};

}  // namespace partita
