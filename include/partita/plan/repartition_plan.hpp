// What one worker sends, keeps and receives in a repartition: computed by cut arithmetic in time and memory of its own
// overlaps, for any number of workers, without communication.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/box.hpp>
#include <partita/plan/decomposition.hpp>
#include <partita/plan/grid.hpp>
#include <partita/plan/overlap.hpp>
#include <partita/rule/permute.hpp>
#include <vector>

namespace partita {

/// One box that moves between this worker and a peer.
template <std::size_t Rank>
struct transfer {
  std::size_t worker = 0;  ///< the peer's worker id
  box<Rank> where{};       ///< the indices of the global tensor that move; of the result, where they are received
  index<Rank> at{};        ///< where they start in this worker's own block

  friend constexpr bool operator==(const transfer&, const transfer&) = default;
};

/// The part of a box that stays with its worker.
template <std::size_t Rank>
struct kept_box {
  box<Rank> where{};             ///< the indices of the global tensor, in the order of the source's dimensions
  index<Rank> at_source{};       ///< where it starts in the block given
  index<Rank> at_destination{};  ///< where it starts in the block received

  friend constexpr bool operator==(const kept_box&, const kept_box&) = default;
};

/// The plan of one worker. `sends` and `receives` are grouped by peer; both sides list a pair's boxes in the same
/// order. Where dimensions are permuted, each side names its boxes in the dimensions of its own tensor.
template <std::size_t Rank>
struct repartition_plan {
  std::size_t worker = 0;
  std::array<std::size_t, Rank> extents{};  ///< of the global tensor; of the source, where dimensions are permuted
  bool gives = false;                       ///< active on the source partition
  bool takes = false;                       ///< active on the destination partition
  std::array<std::size_t, Rank> source_shape{};
  std::array<std::size_t, Rank> destination_shape{};
  std::vector<transfer<Rank>> sends;
  std::vector<transfer<Rank>> receives;
  std::vector<kept_box<Rank>> kept;
  axes_order<Rank> axes = same_axes<Rank>();  ///< dimension k of the result is dimension axes[k] of the source

  /// How many peers this worker sends to (receives from): one message for each.
  std::size_t messages_sent() const { return peers(sends); }
  std::size_t messages_received() const { return peers(receives); }
  /// How many elements leave this worker (arrive from others, stay).
  std::size_t elements_sent() const { return elements(sends); }
  std::size_t elements_received() const { return elements(receives); }
  std::size_t elements_kept() const { return elements(kept); }
  /// Whether no element leaves or arrives: the block is copied as it stands.
  bool identity() const {
    return sends.empty() && receives.empty() && axes == same_axes<Rank>() &&
           (!gives || !takes || source_shape == destination_shape);
  }

  friend bool operator==(const repartition_plan&, const repartition_plan&) = default;

 private:
  static std::size_t peers(const std::vector<transfer<Rank>>& moves) {
    std::size_t n = 0;
    for (std::size_t k = 0; k < moves.size(); ++k) n += k == 0 || moves[k].worker != moves[k - 1].worker ? 1 : 0;
    return n;
  }
  template <class Moves>
  static std::size_t elements(const Moves& moves) {
    std::size_t n = 0;
    for (const auto& move : moves) n += move.where.volume();
    return n;
  }
};

namespace detail {

/// Brings the transfers of each peer together and keeps their order (a stable sort by peer; sorted input costs one
/// pass).
template <std::size_t Rank>
void group_by_peer(std::vector<transfer<Rank>>& moves) {
  bool sorted = true;
  for (std::size_t k = 1; k < moves.size(); ++k) sorted = sorted && moves[k - 1].worker <= moves[k].worker;
  if (sorted) return;
  std::vector<transfer<Rank>> other(moves.size());
  for (std::size_t width = 1; width < moves.size(); width *= 2) {
    for (std::size_t low = 0; low < moves.size(); low += 2 * width) {
      const std::size_t middle = low + width < moves.size() ? low + width : moves.size();
      const std::size_t high = low + 2 * width < moves.size() ? low + 2 * width : moves.size();
      std::size_t a = low, b = middle;
      for (std::size_t k = low; k < high; ++k)
        other[k] = b == high || (a < middle && moves[a].worker <= moves[b].worker) ? moves[a++] : moves[b++];
    }
    moves.swap(other);
  }
}

}  // namespace detail

/// The plan of worker `worker` for moving a tensor from `from` on grid `src` to `to` on grid `dst`, whose dimensions are
/// those of the result: dimension k of the result is dimension axes[k] of the source. `from` is a decomposition, or, where
/// blocks are staggered, one box for each place of the source grid.
/// Requires: both sides are of one tensor, over their grids [shape_error]. Cost: O(own overlaps) for any number of
/// workers; O(source workers) where those are staggered.
template <class Src, class From, class Dst, std::size_t Rank>
repartition_plan<Rank> plan_repartition(const grid<Src>& src, const From& from, const grid<Dst>& dst,
                                        const decomposition<Rank>& to, std::size_t worker,
                                        const axes_order<Rank>& axes = same_axes<Rank>()) {
  static_assert(Src::rank() == Rank && Dst::rank() == Rank,
                "partita::plan_repartition(p_x, from, p_y, to): requires partitions of the tensor's rank; reshape() "
                "them with extents of 1");
  const axes_order<Rank> same = same_axes<Rank>(), back = inverse_axes(axes);
  repartition_plan<Rank> plan;
  plan.worker = worker;
  plan.extents = detail::tensor_extents(from);
  plan.axes = axes;
  if (in_result_order(plan.extents, axes) != to.extents())
    throw shape_error(text("partita::plan_repartition: requires two decompositions of one tensor, got extents ")
                      << in_result_order(plan.extents, axes) << " and " << to.extents());
  const std::size_t as_source = src.place(worker), as_destination = dst.place(worker);
  plan.gives = as_source < src.size();
  plan.takes = as_destination < dst.size();
  if (plan.gives)
    detail::as_part(src, from, as_source, same, [&](const auto& cuts, const index<Rank>& i, const auto& shape) {
      plan.source_shape = shape;
      detail::for_each_meeting(
          cuts, i, dst, to, back,
          [&](std::size_t place, const box<Rank>& where, const index<Rank>& at, const index<Rank>& at_other) {
            const std::size_t peer = dst.workers()[place];
            if (peer == worker)
              plan.kept.push_back({where, at, at_other});
            else
              plan.sends.push_back({peer, where, at});
          },
          [&](std::size_t n) { plan.sends.reserve(n); });
    });
  if (plan.takes)
    detail::as_part(dst, to, as_destination, back, [&](const auto& cuts, const index<Rank>& j, const auto& shape) {
      plan.destination_shape = shape;
      detail::for_each_meeting(
          cuts, j, src, from, same,
          [&](std::size_t place, const box<Rank>& where, const index<Rank>& at, const index<Rank>&) {
            const std::size_t peer = src.workers()[place];
            if (peer != worker) plan.receives.push_back({peer, where, at});
          },
          [&](std::size_t n) { plan.receives.reserve(n); });
    });
  if (axes != same) {  // what lies in the result is told in its dimensions
    for (transfer<Rank>& t : plan.receives) t = {t.worker, in_result_order(t.where, axes), in_result_order(t.at, axes)};
    for (kept_box<Rank>& k : plan.kept) k.at_destination = in_result_order(k.at_destination, axes);
  }
  detail::group_by_peer(plan.sends);
  detail::group_by_peer(plan.receives);
  return plan;
}

/// The same plan for the way back: what was sent is received.
template <std::size_t Rank>
repartition_plan<Rank> reversed(const repartition_plan<Rank>& plan) {
  repartition_plan<Rank> back{plan.worker,
                              in_result_order(plan.extents, plan.axes),
                              plan.takes,
                              plan.gives,
                              plan.destination_shape,
                              plan.source_shape,
                              plan.receives,
                              plan.sends,
                              plan.kept,
                              inverse_axes(plan.axes)};
  for (kept_box<Rank>& k : back.kept) {
    const index<Rank> at = k.at_source;
    k.at_source = k.at_destination;
    k.at_destination = at;
    k.where = in_result_order(k.where, plan.axes);
  }
  return back;
}

}  // namespace partita
