// Boxes for a block that senders on the same node cannot reach: passed through a ring of slots in shared memory, packed
// by the one side while the other unpacks.
#pragma once

#include <array>
#include <cstddef>
#include <partita/comm/channel.hpp>
#include <partita/comm/mailed_box.hpp>
#include <vector>

namespace partita::detail {

/// One pair's boxes cut to slots; kept from exchange to exchange while the slots stay the same.
template <class T, std::size_t Rank>
class ring_boxes {
 public:
  explicit ring_boxes(std::size_t place) : place_(place) {}

  std::size_t place() const { return place_; }
  void add(const mailed_box<Rank>& b) { whole_.push_back(b); }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const mailed_box<Rank>& b : whole_) sum += volume_of(b.shape) * sizeof(T);
    return sum;
  }

  void start(const landing& at) {
    at_ = at;
    next_ = 0;
    if (at.in_place() || at.slot_bytes == cut_for_) return;
    cut_for_ = at.slot_bytes;
    cut_.clear();
    for (const mailed_box<Rank>& b : whole_)
      cut_box(b, sizeof(T), at.slot_bytes, [&](const mailed_box<Rank>& part) { cut_.push_back(part); });
  }

  /// Fills slots while there are empty ones; true when every box has left.
  bool send(node_channel& channel, const T* block, const std::array<std::ptrdiff_t, Rank>& strides, bool streaming) {
    for (; !done() && channel.has_slot(place_); ++next_) {
      T* const slot = reinterpret_cast<T*>(at_.address + channel.next_filled(place_) * at_.slot_bytes);
      pack_box<true>(cut_[next_], block, strides, slot, streaming ? stores::streaming : stores::cached);
      channel.fill(place_);
    }
    return done();
  }

  /// Empties slots that were filled; true when every box has come.
  bool receive(node_channel& channel, T* block, const std::array<std::ptrdiff_t, Rank>& strides, bool streaming) {
    for (; !done() && channel.filled(place_) > 0; ++next_) {
      T* const slot = reinterpret_cast<T*>(at_.address + channel.next_taken(place_) * at_.slot_bytes);
      pack_box<false>(cut_[next_], block, strides, slot, streaming ? stores::streaming : stores::cached);
      channel.take(place_);
    }
    return done();
  }

  bool in_place() const { return at_.in_place(); }
  bool done() const { return at_.in_place() || next_ == cut_.size(); }

 private:
  std::size_t place_;
  std::vector<mailed_box<Rank>> whole_, cut_;
  std::size_t cut_for_ = 0, next_ = 0;
  landing at_;
};

}  // namespace partita::detail
