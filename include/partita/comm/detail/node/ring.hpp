// Boxes for a block that senders on the same node cannot reach: passed through a ring of slots in shared memory, packed
// by the one side while the other unpacks.
#pragma once

#include <cstddef>
#include <partita/comm/detail/box_list.hpp>
#include <partita/comm/detail/node/channel.hpp>

namespace partita::detail {

/// One pair's boxes cut to slots; kept from exchange to exchange while the slots stay the same.
class ring_boxes {
 public:
  ring_boxes(std::size_t place, std::size_t rank, const element_kind& kind)
      : place_(place), kind_(kind), whole_(rank), cut_(rank) {}

  std::size_t place() const { return place_; }
  void add(const listed_box& b) { whole_.add(b); }
  std::size_t bytes() const { return whole_.volume() * kind_.bytes; }
  /// Where the first box stands in the staging area, if there is one.
  std::size_t stage() const { return whole_[0].stage; }

  void start(const destination& at) {
    at_ = at;
    next_ = 0;
    if (at.in_place() || at.slot_bytes == cut_for_) return;
    cut_for_ = at.slot_bytes;
    cut_.clear();
    for (std::size_t k = 0; k < whole_.size(); ++k) cut_.add_cut(whole_[k], kind_.bytes, at.slot_bytes);
  }

  /// Fills slots while there are empty ones; true when every box has left.
  bool send(node_channel& channel, const block_memory& block, bool streaming) {
    for (; !done() && channel.has_slot(place_); ++next_) {
      pack(block, channel.next_filled(place_), true, streaming);
      channel.fill(place_);
    }
    return done();
  }

  /// Empties slots that were filled; true when every box has come.
  bool receive(node_channel& channel, const block_memory& block, bool streaming) {
    for (; !done() && channel.filled(place_) > 0; ++next_) {
      pack(block, channel.next_taken(place_), false, streaming);
      channel.take(place_);
    }
    return done();
  }

  bool in_place() const { return at_.in_place(); }
  bool done() const { return at_.in_place() || next_ == cut_.size(); }

 private:
  void pack(const block_memory& block, std::size_t slot, bool out, bool streaming) {
    pack_box(kind_, cut_[next_], cut_.rank(), block, at_.address + slot * at_.slot_bytes, out,
             streaming ? stores::streaming : stores::cached);
  }

  std::size_t place_;
  element_kind kind_;
  box_list whole_, cut_;
  std::size_t cut_for_ = 0, next_ = 0;
  destination at_;
};

}  // namespace partita::detail
