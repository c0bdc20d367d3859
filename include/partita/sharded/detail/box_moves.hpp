// Exchanges between boxes of any workers of a world, kept for the next time.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/transport.hpp>
#include <partita/sharded/box_overlaps.hpp>
#include <partita/sharded/detail/tensor_block.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// One worker's exchanges of boxes. All workers of the world that hold or want something make the same calls.
class box_moves {
 public:
  /// Moves what `overlaps` says from the box that this worker holds into the one that it wants, both dense. Returns how
  /// many elements came from others.
  template <class T>
  std::size_t move(transport& ways, const box_overlaps& overlaps, std::size_t worker, const T* x, T* y) {
    const element_kind kind = element_kind::moved<T>();
    entry& found = prepared(ways, overlaps, worker, kind);
    found.exchange->start(x, found.x_steps.data(), y, found.y_steps.data());
    found.exchange->finish();
    return found.elements;
  }

 private:
  struct entry {
    box_overlaps overlaps;
    element_kind kind;
    std::unique_ptr<box_exchange> exchange;
    std::vector<std::ptrdiff_t> x_steps, y_steps;
    std::size_t elements = 0;
  };

  template <class = void>
  entry& prepared(transport& ways, const box_overlaps& overlaps, std::size_t worker, const element_kind& kind) {
    for (entry& one : entries_)
      if (one.kind == kind && one.overlaps.had() == overlaps.had() && one.overlaps.wanted() == overlaps.wanted())
        return one;
    constexpr std::size_t most_kept = 128;  // chosen: more than the windows of a training step
    if (entries_.size() == most_kept) entries_.erase(entries_.begin());
    entries_.push_back({overlaps, kind, nullptr, {}, {}, 0});
    entry& made = entries_.back();
    made.exchange = ways.exchange(plan(made, worker), kind);
    return made;
  }

  /// Every box has a dimension of 1 in front, so that there is one.
  template <class = void>
  static lowered_plan plan(entry& made, std::size_t worker) {
    const box_overlaps& all = made.overlaps;
    const auto rank_of_boxes = [](const std::vector<worker_box>& boxes) {
      std::size_t rank = 0;
      for (const worker_box& one : boxes) rank = one.there ? one.box.size() : rank;
      return rank;
    };
    const std::size_t rank = 1 + rank_of_boxes(all.had());
    const auto shape_there = [&](const worker_box& one) {
      std::vector<std::size_t> shape{1};
      for (std::size_t d = 0; d + 1 < rank; ++d) shape.push_back(one.there ? one.box[d].size() : 0);
      return shape;
    };
    const auto dense = [&](const std::vector<std::size_t>& shape) {
      std::vector<std::ptrdiff_t> steps(rank);
      dense_strides(shape.data(), rank, steps.data());
      return steps;
    };
    const auto corner = [&](const box_overlap& o, const worker_box& block) {
      std::vector<std::size_t> at{0};
      for (std::size_t d = 0; d + 1 < rank; ++d) at.push_back(o.where[d].start - block.box[d].start);
      return at;
    };
    const auto shape_of_overlap = [&](const box_overlap& o) { return shape_there({o.where, 0, true}); };
    const worker_box &held = all.had()[worker], &wanted = all.wanted()[worker];
    lowered_plan low(rank);
    low.worker = worker;
    low.source_shape = shape_there(held);
    low.received_shape = shape_there(wanted);
    low.received_strides = made.y_steps = dense(low.received_shape);
    made.x_steps = dense(low.source_shape);
    for (const box_overlap& o : all.given(worker)) {
      if (o.worker == worker) continue;
      const auto steps = dense(shape_there(all.wanted()[o.worker]));
      const auto at = corner(o, all.wanted()[o.worker]);
      std::ptrdiff_t offset = 0;
      for (std::size_t d = 0; d < rank; ++d) offset += static_cast<std::ptrdiff_t>(at[d]) * steps[d];
      low.add_send(o.worker, shape_of_overlap(o).data(), corner(o, held).data(), offset, steps.data());
    }
    for (const box_overlap& o : all.taken(worker)) {
      const auto shape = shape_of_overlap(o);
      if (o.worker == worker) {
        low.add_kept(shape.data(), corner(o, held).data(), corner(o, wanted).data());
      } else {
        low.receives.add(o.worker, shape.data(), corner(o, wanted).data());
        made.elements += volume_in(shape_of_box(o.where));
      }
    }
    return low;
  }

  std::vector<entry> entries_;
};

}  // namespace partita::detail
