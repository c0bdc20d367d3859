// What one worker sends, keeps and receives in a repartition: computed by cut arithmetic in time and memory of its own
// overlaps, for any number of workers, without communication.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/box.hpp>
#include <partita/plan/decomposition.hpp>
#include <partita/plan/grid.hpp>
#include <vector>

namespace partita {

/// One box that moves between this worker and a peer.
template <std::size_t Rank>
struct transfer {
  std::size_t worker = 0;  ///< the peer's worker id
  box<Rank> where{};       ///< the indices of the global tensor that move
  index<Rank> at{};        ///< where they start in this worker's own block

  friend constexpr bool operator==(const transfer&, const transfer&) = default;
};

/// The part of a box that stays with its worker.
template <std::size_t Rank>
struct kept_box {
  box<Rank> where{};
  index<Rank> at_source{};       ///< where it starts in the block given
  index<Rank> at_destination{};  ///< where it starts in the block received

  friend constexpr bool operator==(const kept_box&, const kept_box&) = default;
};

/// The plan of one worker. `sends` and `receives` are grouped by peer; both sides list a pair's boxes in the same
/// order.
template <std::size_t Rank>
struct repartition_plan {
  std::size_t worker = 0;
  std::array<std::size_t, Rank> extents{};  ///< of the global tensor
  bool gives = false;                       ///< active on the source partition
  bool takes = false;                       ///< active on the destination partition
  std::array<std::size_t, Rank> source_shape{};
  std::array<std::size_t, Rank> destination_shape{};
  std::vector<transfer<Rank>> sends;
  std::vector<transfer<Rank>> receives;
  std::vector<kept_box<Rank>> kept;

  /// How many peers this worker sends to (receives from): one message for each.
  std::size_t messages_sent() const { return peers(sends); }
  std::size_t messages_received() const { return peers(receives); }
  /// How many elements leave this worker (arrive from others, stay).
  std::size_t elements_sent() const { return elements(sends); }
  std::size_t elements_received() const { return elements(receives); }
  std::size_t elements_kept() const { return elements(kept); }
  /// Whether no element leaves or arrives: the block is copied as it stands.
  bool identity() const {
    return sends.empty() && receives.empty() && (!gives || !takes || source_shape == destination_shape);
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

/// One dimension's share of the overlaps of a block: which part of the other side, which indices, where in this block.
struct overlap {
  std::size_t part;
  interval range;
  std::size_t at;
  std::size_t at_other;
};

inline std::vector<overlap> overlaps_of(const cut& own, std::size_t part, const cut& other) {
  std::vector<overlap> found;
  own.for_pieces(part, [&](interval piece, std::size_t at) {
    if (found.empty()) found.reserve(other.count_overlaps(piece));
    other.for_overlaps(piece, [&](std::size_t other_part, interval range, std::size_t at_other) {
      found.push_back({other_part, range, at + range.start - piece.start, at_other});
    });
  });
  return found;
}

/// Calls f(index of the other side's block, box, at, at_other) for all boxes in which one block meets the other
/// decomposition: the product of the overlaps along each dimension. Before the first it calls expect(how many).
template <std::size_t Rank, class F, class Expect>
void for_each_overlap(const decomposition<Rank>& own, const index<Rank>& i, const decomposition<Rank>& other, F f,
                      Expect expect) {
  std::array<std::vector<overlap>, Rank> along;
  std::size_t count = 1;
  for (std::size_t d = 0; d < Rank; ++d) {
    along[d] = overlaps_of(own.cuts[d], i[d], other.cuts[d]);
    if (along[d].empty()) return;
    count *= along[d].size();
  }
  expect(count);
  index<Rank> choice{};
  for (;;) {
    index<Rank> peer{}, at{}, at_other{};
    box<Rank> where{};
    for (std::size_t d = 0; d < Rank; ++d) {
      const overlap& o = along[d][choice[d]];
      peer[d] = o.part;
      where.start[d] = o.range.start;
      where.stop[d] = o.range.stop;
      at[d] = o.at;
      at_other[d] = o.at_other;
    }
    f(peer, where, at, at_other);
    std::size_t d = Rank;
    while (d > 0 && ++choice[d - 1] == along[d - 1].size()) choice[--d] = 0;
    if (d == 0) return;
  }
}

template <std::size_t Rank, class F>
void for_each_overlap(const decomposition<Rank>& own, const index<Rank>& i, const decomposition<Rank>& other, F f) {
  for_each_overlap(own, i, other, f, [](std::size_t) {});
}

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

/// The plan of worker `worker` for moving a tensor from `from` on grid `src` to `to` on grid `dst`.
/// Requires: both decompositions are of one tensor, over their grids [shape_error]. Cost: O(own overlaps) for any
/// number of workers.
template <class Src, class Dst, std::size_t Rank>
repartition_plan<Rank> plan_repartition(const grid<Src>& src, const decomposition<Rank>& from, const grid<Dst>& dst,
                                        const decomposition<Rank>& to, std::size_t worker) {
  static_assert(Src::rank() == Rank && Dst::rank() == Rank,
                "partita::plan_repartition(p_x, from, p_y, to): requires partitions of the tensor's rank; reshape() "
                "them with extents of 1");
  if (from.extents() != to.extents())
    throw shape_error(text("partita::plan_repartition: requires two decompositions of one tensor, got extents ")
                      << from.extents() << " and " << to.extents());
  repartition_plan<Rank> plan;
  plan.worker = worker;
  plan.extents = from.extents();
  const std::size_t as_source = src.place(worker), as_destination = dst.place(worker);
  plan.gives = as_source < src.size();
  plan.takes = as_destination < dst.size();
  if (plan.gives) {
    const index<Rank> i = src.index(as_source);
    const auto places = dst.shape();
    plan.source_shape = from.shape(i);
    detail::for_each_overlap(
        from, i, to,
        [&](const index<Rank>& j, const box<Rank>& where, const index<Rank>& at, const index<Rank>& at_other) {
          const std::size_t peer = dst.workers()[number_of(j, places)];
          if (peer == worker)
            plan.kept.push_back({where, at, at_other});
          else
            plan.sends.push_back({peer, where, at});
        },
        [&](std::size_t n) { plan.sends.reserve(n); });
  }
  if (plan.takes) {
    const index<Rank> j = dst.index(as_destination);
    const auto places = src.shape();
    plan.destination_shape = to.shape(j);
    detail::for_each_overlap(
        to, j, from,
        [&](const index<Rank>& i, const box<Rank>& where, const index<Rank>& at, const index<Rank>&) {
          const std::size_t peer = src.workers()[number_of(i, places)];
          if (peer != worker) plan.receives.push_back({peer, where, at});
        },
        [&](std::size_t n) { plan.receives.reserve(n); });
  }
  detail::group_by_peer(plan.sends);
  detail::group_by_peer(plan.receives);
  return plan;
}

/// The plan from staggered blocks, given as one box for each place of the source grid. Cost: O(source workers), and
/// each box once.
template <class Src, class Dst, std::size_t Rank>
repartition_plan<Rank> plan_repartition(const grid<Src>& src, const std::vector<box<Rank>>& from, const grid<Dst>& dst,
                                        const decomposition<Rank>& to, std::size_t worker) {
  repartition_plan<Rank> plan;
  plan.worker = worker;
  plan.extents = to.extents();
  const std::size_t as_source = src.place(worker), as_destination = dst.place(worker);
  plan.gives = as_source < src.size();
  plan.takes = as_destination < dst.size();
  const auto overlaps = [&](const box<Rank>& b, auto f) {
    decomposition<Rank> own = decomposition<Rank>::make([&](std::size_t d) {
      return cut::at({b.start[d], b.stop[d] - b.start[d], plan.extents[d] - b.stop[d]});
    });
    index<Rank> middle{};
    middle.fill(1);
    detail::for_each_overlap(own, middle, to, f);
  };
  if (plan.gives) {
    plan.source_shape = from[as_source].shape();
    overlaps(from[as_source],
             [&](const index<Rank>& j, const box<Rank>& where, const index<Rank>& at, const index<Rank>& at_other) {
               const std::size_t peer = dst.worker(j);
               if (peer == worker)
                 plan.kept.push_back({where, at, at_other});
               else
                 plan.sends.push_back({peer, where, at});
             });
  }
  if (plan.takes) {
    const box<Rank> own = to.block(dst.index(as_destination));
    plan.destination_shape = own.shape();
    for (std::size_t place = 0; place < from.size(); ++place) {
      const box<Rank> common = intersection(from[place], own);
      const std::size_t peer = src.workers()[place];
      if (common.empty() || peer == worker) continue;
      plan.receives.push_back({peer, common, relative_to(common, own.start).start});
    }
  }
  detail::group_by_peer(plan.sends);
  detail::group_by_peer(plan.receives);
  return plan;
}

/// The same plan for the way back: what was sent is received.
template <std::size_t Rank>
repartition_plan<Rank> reversed(const repartition_plan<Rank>& plan) {
  repartition_plan<Rank> back{plan.worker,       plan.extents,  plan.takes, plan.gives, plan.destination_shape,
                              plan.source_shape, plan.receives, plan.sends, plan.kept};
  for (kept_box<Rank>& k : back.kept) {
    const index<Rank> at = k.at_source;
    k.at_source = k.at_destination;
    k.at_destination = at;
  }
  return back;
}

}  // namespace partita
