// The channel through the memory of a node: boxes are written directly into blocks that the sender can reach, and pass
// through rings to the others.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/detail/node/channel.hpp>
#include <partita/comm/detail/node/push.hpp>
#include <partita/comm/detail/node/ring.hpp>
#include <partita/comm/detail/node/staged_boxes.hpp>
#include <partita/comm/detail/way.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The boxes of one exchange between the workers of a node, and those that stay on their worker.
template <class = void>
class basic_memory_carrier : public carrier {
 public:
  basic_memory_carrier(const own_node& members, node_channel& channel, lowered_plan boxes, const element_kind& kind)
      : plan_(std::move(boxes)),
        kind_(kind),
        channel_(&channel),
        oversubscribed_(members.oversubscribed()),
        own_(members.place()),
        blocks_(members.size()),
        everything_(plan_.rank) {
    const std::size_t rank = plan_.rank;
    for (std::size_t k = 0; k < plan_.sends.size(); ++k) {
      const listed_box b = plan_.sends[k];
      const std::size_t place = members.place_of(b.worker);
      if (targets_.empty() || targets_.back().ring.place() != place)
        targets_.push_back({ring_boxes(place, rank, kind), push_list(rank), false, false, {}});
      target& t = targets_.back();
      if (plan_.accumulate) {  // in the staging area, the boxes of a pair are dense and contiguous
        std::vector<std::ptrdiff_t> dense(rank);
        dense_strides(b.shape, rank, dense.data());
        t.boxes.add(place, b, static_cast<std::ptrdiff_t>(t.ring.bytes()), dense.data());
      } else {
        t.boxes.add(place, b, plan_.offset_there(k) * static_cast<std::ptrdiff_t>(kind.bytes), plan_.strides_there(k));
      }
      t.ring.add(b);
    }
    std::size_t received = 0;
    for (std::size_t k = 0; k < plan_.receives.size(); ++k) {
      const listed_box b = plan_.receives[k];
      const std::size_t place = members.place_of(b.worker);
      if (origins_.empty() || origins_.back().ring.place() != place)
        origins_.push_back({ring_boxes(place, rank, kind), false, {}});
      origins_.back().ring.add(b);
      received += plan_.receives.volume(k);
    }
    // both workers of a pair get the same result
    const auto is_small = [&](const ring_boxes& of_pair) {
      return plan_.agreed_between && !plan_.accumulate && of_pair.bytes() <= staged_boxes::most_bytes(oversubscribed_);
    };
    for (target& t : targets_) t.staged = is_small(t.ring), some_staged_ = some_staged_ || t.staged;
    for (origin& o : origins_) o.staged = is_small(o.ring), some_staged_ = some_staged_ || o.staged;
    list_everything();
    // the bytes that are read and written: for a halo only the ghosts, however large the blocks are
    const std::size_t moved = (plan_.sends.volume() + 2 * plan_.kept.volume() + received) * kind.bytes;
    streaming_ = moved * members.size() > last_cache_bytes() / 5 * 4;
  }

  carried counts() const override {
    carried all;
    for (const target& t : targets_) all.bytes_shared += t.ring.bytes();
    return all;
  }

  void expect(const block_memory& y) override {
    y_ = y;
    blocks_[own_] = y.data;
    for (origin& o : origins_)
      if (!o.staged) announce(o);
  }
  bool sends_speculatively() const override { return !plan_.accumulate && (found_ || !some_staged_); }
  void begin_ahead(const block_memory& x, const block_memory& y) override {
    expect(y);
    pack(x);
    is_ahead_ = true;
  }
  void roll_back() override {
    if (!std::exchange(is_ahead_, false)) return;
    for (const origin& o : origins_)
      if (!o.staged) channel_->roll_back(o.ring.place());
    for (target& t : targets_)
      if (t.staged) t.stage.was_not_packed(exchange_);
    if (some_staged_) --exchange_, packed_ = false;
  }
  void give(const block_memory& x) override {
    x_ = x;
    is_ahead_ = false;
    if (some_staged_) {
      if (!found_) find_stages();
      if (!packed_) pack(x);
      packed_ = false;
    }
    if (streaming_) push_together();
    else push_as_they_come();
    for (origin& o : origins_)
      if (o.staged) unpack(o);
    advance();
  }
  bool advance() override {
    bool done = true;
    for (target& t : targets_) done = t.ring.send(*channel_, x_, streaming_ || t.ring.bytes() > ring_in_cache) && done;
    for (origin& o : origins_) done = o.ring.receive(*channel_, y_, streaming_) && done;
    return done;
  }
  void finish() override {
    for (const origin& o : origins_)
      if (!o.staged && o.ring.in_place()) channel_->await_arrival(o.ring.place());
  }

 private:
  struct target {
    ring_boxes ring;
    push_list boxes;
    bool served = false;
    bool staged = false;  // packed for the receiver instead of being written into its block
    staged_boxes stage;
  };
  struct origin {
    ring_boxes ring;
    bool staged = false;
    staged_boxes stage;
  };

  void list_everything() {
    const auto bytes = static_cast<std::ptrdiff_t>(kind_.bytes);
    everything_ = push_list(plan_.rank);
    for (std::size_t k = 0; k < plan_.kept.size(); ++k)
      everything_.add(own_, plan_.kept[k],
                      offset_of(plan_.kept_to[k], plan_.received_strides.data(), plan_.rank) * bytes,
                      plan_.received_strides.data());
    for (const target& t : targets_)
      if (!t.staged) everything_.add(t.boxes);
    everything_.sort();
  }
  void announce(origin& o) {
    char* const block = !is_dense() ? nullptr : plan_.accumulate ? y_.data + o.ring.stage() : y_.data;
    o.ring.start(channel_->announce(o.ring.place(), block, slot_bytes(o.ring.bytes())));
  }

  /// In the first exchange, receivers learn where their senders will pack boxes for them. Where there is no memory for
  /// that, they announce their blocks as usual.
  void find_stages() {
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
    list_everything();
    found_ = true;
  }
  void pack(const block_memory& x) {
    if (!some_staged_) return;
    ++exchange_, packed_ = true;
    for (target& t : targets_) {
      if (!t.staged) continue;
      t.ring.pack_all(x, t.stage.buffer(exchange_), true);
      t.stage.was_packed(exchange_);
    }
  }
  void unpack(origin& o) {
    o.stage.await(exchange_, oversubscribed_);
    o.ring.pack_all(y_, o.stage.buffer(exchange_), false);
    o.stage.was_taken(exchange_);
  }

  /// Up to this size, what passes through a ring stays in a cache. Above it, slots are written with streaming stores: a
  /// reader on a distant core would have to fetch every line from the writer's cache.
  static constexpr std::size_t ring_in_cache = std::size_t{1} << 20;

  bool is_dense() const {
    if (plan_.accumulate) return reinterpret_cast<std::uintptr_t>(y_.data) % node_channel::granule == 0;
    if (plan_.several) return false;
    for (std::size_t d = 0; d < plan_.rank; ++d)
      if (plan_.received_shape[d] > 1 && y_.strides[d] != plan_.received_strides[d]) return false;
    return reinterpret_cast<std::uintptr_t>(y_.data) % page == 0;
  }

  /// The size of a slot: both sides can work at the same time, and a slot fits in a cache of their cores.
  static constexpr std::size_t slot_bytes(std::size_t bytes) {
    const std::size_t most = std::size_t{256} << 10, quarter = bytes / node_channel::slots + 1;
    return quarter < most ? quarter : most;
  }

  void push(const push_list& boxes) {
    const bool one_block = !plan_.several && x_.strides != nullptr;
    boxes.push(kind_, one_block ? plan_.source_shape.data() : nullptr, x_, blocks_, streaming_);
  }

  void meet(target& t) {
    const destination at = channel_->await_destination(t.ring.place());
    t.ring.start(at);
    blocks_[t.ring.place()] = at.address;
  }

  /// One pass over the source for all receivers. It needs the address of every block, so it waits for every receiver.
  void push_together() {
    bool in_place = plan_.kept.empty() || is_dense();
    for (target& t : targets_) {
      if (t.staged) continue;
      meet(t);
      in_place = in_place && t.ring.in_place();
    }
    if (in_place) {
      push(everything_);
    } else {
      keep();
      for (target& t : targets_)
        if (!t.staged && t.ring.in_place()) push(t.boxes);
    }
    for (const target& t : targets_)
      if (!t.staged && t.ring.in_place()) channel_->arrive(t.ring.place());
  }

  /// Writes to the receivers one by one, as they announce their blocks. Boxes that stay are copied when no receiver is
  /// ready, while signals travel.
  void push_as_they_come() {
    bool kept = false;
    std::size_t left = 0;
    for (target& t : targets_) t.served = t.staged, left += t.staged ? 0 : 1;
    for (backoff p(oversubscribed_); left > 0;) {
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

  /// Copies the boxes that stay.
  void keep() { keep_boxes(plan_, kind_, x_, y_, streaming_ ? stores::streaming : stores::cached); }

  lowered_plan plan_;
  element_kind kind_;
  node_channel* channel_;
  bool oversubscribed_;
  std::size_t own_;
  std::vector<char*> blocks_;
  push_list everything_;  // the boxes that stay and those for workers of the node
  std::vector<target> targets_;
  std::vector<origin> origins_;
  bool streaming_ = false;
  bool some_staged_ = false, found_ = false, packed_ = false, is_ahead_ = false;
  std::uint64_t exchange_ = 0;  // the number of exchanges with packed boxes so far
  block_memory x_, y_;
};
using memory_carrier = basic_memory_carrier<>;

/// The channel to the workers of a node whose flags are in shared memory.
template <class = void>
class basic_memory_way : public way {
 public:
  basic_memory_way(const own_node& members, node_channel& channel) : members_(&members), channel_(&channel) {}

  bool reaches(std::size_t worker) const override {
    return channel_->usable() && members_->place_of(worker) < members_->size();
  }
  /// A ring's smallest slot is one page.
  bool carries(const element_kind& kind) const override { return kind.bytes <= page; }
  std::unique_ptr<carrier> prepare(lowered_plan boxes, const element_kind& kind) override {
    return std::make_unique<memory_carrier>(*members_, *channel_, std::move(boxes), kind);
  }

 private:
  const own_node* members_;
  node_channel* channel_;
};
using memory_way = basic_memory_way<>;

}  // namespace partita::detail
