// Exchanges between boxes of any workers of a world, cached for reuse.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/transport.hpp>
#include <partita/sharded/box_overlaps.hpp>
#include <partita/sharded/detail/prepared_move.hpp>
#include <partita/sharded/detail/tensor_block.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// One worker's exchanges of boxes. All workers of the world that hold or want a box make the same calls.
template <class = void>
class basic_box_moves {
 public:
  /// A movement between boxes.
  struct known_move {
    box_overlaps overlaps;
    element_kind kind;
    std::size_t most_taken = unknown;             ///< received by any worker from others; computed on first use
    std::shared_ptr<const prepared_move> move{};  ///< also computed on first use, for a worker that has a part in it

    std::size_t most() {
      if (most_taken == unknown) most_taken = overlaps.most_taken();
      return most_taken;
    }
    static constexpr std::size_t unknown = ~std::size_t{0};
  };

  /// The movement from the boxes that workers hold into the boxes that they want. Planned on first use, and found again
  /// in O(workers).
  known_move& of(std::vector<worker_box> had, std::vector<worker_box> wanted, const element_kind& kind) {
    for (known_move& one : known_)
      if (one.kind == kind && one.overlaps.had() == had && one.overlaps.wanted() == wanted) return one;
    constexpr std::size_t most_kept = 128;  // chosen: more than the windows of a training step
    if (known_.size() == most_kept) known_.erase(known_.begin());
    known_.push_back({box_overlaps(std::move(had), std::move(wanted)), kind});
    return known_.back();
  }
  /// This worker's part, from the box that it holds into the box that it wants; both are dense.
  const std::shared_ptr<const prepared_move>& prepared(known_move& one, transport& ways, std::size_t worker) {
    if (!one.move) {
      const auto made = std::make_shared<prepared_move>();
      made->exchange = ways.exchange(plan(one.overlaps, *made, one.kind.bytes, worker), one.kind);
      one.move = made;
    }
    return one.move;
  }

 private:
  /// Every box gets a leading dimension of extent 1, because exchanges expect one.
  static lowered_plan plan(const box_overlaps& all, prepared_move& made, std::size_t element_bytes,
                           std::size_t worker) {
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
        made.bytes += volume_in(shape_of_box(o.where)) * element_bytes;
      }
    }
    return low;
  }

  std::vector<known_move> known_;
};
using box_moves = basic_box_moves<>;

}  // namespace partita::detail
