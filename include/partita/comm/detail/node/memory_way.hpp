// The way through the memory of a node: boxes are written straight into blocks that can be reached, and passed through
// rings to those that cannot.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/detail/node/channel.hpp>
#include <partita/comm/detail/node/push.hpp>
#include <partita/comm/detail/node/ring.hpp>
#include <partita/comm/detail/way.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The boxes of one exchange between the workers of a node, and those that stay with their worker.
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
    const auto bytes = static_cast<std::ptrdiff_t>(kind.bytes);
    for (std::size_t k = 0; k < plan_.sends.size(); ++k) {
      const listed_box b = plan_.sends[k];
      const std::size_t place = members.place_of(b.worker);
      if (targets_.empty() || targets_.back().ring.place() != place)
        targets_.push_back({ring_boxes(place, rank, kind), push_list(rank), false});
      target& t = targets_.back();
      if (plan_.accumulate) {  // the boxes of a pair stand dense one after another where they are staged
        std::ptrdiff_t dense[most_dimensions] = {};
        dense_strides(b.shape, rank, dense);
        t.boxes.add(place, b, static_cast<std::ptrdiff_t>(t.ring.bytes()), dense);
      } else {
        t.boxes.add(place, b, plan_.offset_there(k) * bytes, plan_.strides_there(k));
      }
      t.ring.add(b);
    }
    std::size_t received = 0;
    for (std::size_t k = 0; k < plan_.receives.size(); ++k) {
      const listed_box b = plan_.receives[k];
      const std::size_t place = members.place_of(b.worker);
      if (origins_.empty() || origins_.back().place() != place) origins_.emplace_back(place, rank, kind);
      origins_.back().add(b);
      received += plan_.receives.volume(k);
    }
    for (std::size_t k = 0; k < plan_.kept.size(); ++k)
      everything_.add(own_, plan_.kept[k], offset_of(plan_.kept_to[k], plan_.received_strides.data(), rank) * bytes,
                      plan_.received_strides.data());
    for (const target& t : targets_) everything_.add(t.boxes);
    everything_.sort();
    // what is read and written: of a halo the ghosts alone, however large the blocks are
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
    const bool in_place = is_dense();
    for (ring_boxes& origin : origins_) {
      char* const block = !in_place ? nullptr : plan_.accumulate ? y.data + origin.stage() : y.data;
      origin.start(channel_->announce(origin.place(), block, slot_bytes(origin.bytes())));
    }
  }
  void give(const block_memory& x) override {
    x_ = x;
    if (streaming_) push_together();
    else push_as_they_come();
    advance();
  }
  bool advance() override {
    bool done = true;
    for (target& t : targets_) done = t.ring.send(*channel_, x_, streaming_ || t.ring.bytes() > ring_in_cache) && done;
    for (ring_boxes& origin : origins_) done = origin.receive(*channel_, y_, streaming_) && done;
    return done;
  }
  void finish() override {
    for (const ring_boxes& origin : origins_)
      if (origin.in_place()) channel_->await_arrival(origin.place());
  }

 private:
  struct target {
    ring_boxes ring;
    push_list boxes;
    bool served = false;
  };

  /// Up to here what passes through a ring stays in a cache. Beyond it slots are stored past the cache: a reader on a
  /// distant core would fetch every line out of the writer's.
  static constexpr std::size_t ring_in_cache = std::size_t{1} << 20;

  bool is_dense() const {
    if (plan_.accumulate) return reinterpret_cast<std::uintptr_t>(y_.data) % node_channel::granule == 0;
    if (plan_.several) return false;
    for (std::size_t d = 0; d < plan_.rank; ++d)
      if (plan_.received_shape[d] > 1 && y_.strides[d] != plan_.received_strides[d]) return false;
    return reinterpret_cast<std::uintptr_t>(y_.data) % page == 0;
  }

  /// Slots that let the two sides work at the same time and stay in a cache of their cores.
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

  /// One sweep over the source for all: needs every block, so it waits for every receiver.
  void push_together() {
    bool in_place = plan_.kept.empty() || is_dense();
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

  /// Copies what stays.
  void keep() { keep_boxes(plan_, kind_, x_, y_, streaming_ ? stores::streaming : stores::cached); }

  lowered_plan plan_;
  element_kind kind_;
  node_channel* channel_;
  bool oversubscribed_;
  std::size_t own_;
  std::vector<char*> blocks_;
  push_list everything_;  // what stays and what goes to the node
  std::vector<target> targets_;
  std::vector<ring_boxes> origins_;
  bool streaming_ = false;
  block_memory x_, y_;
};
using memory_carrier = basic_memory_carrier<>;

/// The workers of a node whose flags are in shared memory.
template <class = void>
class basic_memory_way : public way {
 public:
  basic_memory_way(const own_node& members, node_channel& channel) : members_(&members), channel_(&channel) {}

  bool reaches(std::size_t worker) const override {
    return channel_->usable() && members_->place_of(worker) < members_->size();
  }
  /// The smallest slot of a ring is a page.
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
