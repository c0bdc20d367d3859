// The exchange plan of a repartition: computed from the cuts, without communication, in time and memory proportional to
// one worker's own overlaps (if blocks are staggered, in time proportional to the number of workers).
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/box.hpp>
#include <partita/plan/decomposition.hpp>
#include <partita/plan/exchange_plan.hpp>
#include <partita/plan/grid.hpp>
#include <partita/plan/overlap.hpp>
#include <partita/rule/permute.hpp>
#include <vector>

namespace partita {

/// The plan of one worker in a repartition.
template <std::size_t Rank>
using repartition_plan = exchange_plan<Rank>;

/// Grids of equal shapes that hold the same blocks: a replicated tensor. Each worker is in at most one of the grids.
template <class Extents>
struct replicas {
  std::vector<grid<Extents>> copies;  ///< each holds the whole tensor
};

/// Chooses the sender of a box that several workers own: the receiver itself if possible, else the owner whose id is
/// nearest to the receiver's id, the first of two that are equally near.
struct nearest_owner {
  template <class Owner>
  std::size_t operator()(std::size_t receiver, std::size_t owners, Owner owner) const {
    std::size_t best = 0, smallest_distance = ~std::size_t{0};
    for (std::size_t k = 0; k < owners; ++k) {
      const std::size_t id = owner(k), distance = id < receiver ? receiver - id : id - receiver;
      if (distance < smallest_distance) smallest_distance = distance, best = k;
    }
    return best;
  }
};

namespace detail {

/// One or several grids of workers; each grid holds the whole tensor, in the same blocks.
template <class Extents>
struct holders {
  const grid<Extents>* copies;  ///< the first of `count` grids
  std::size_t count;            ///< the number of grids

  explicit holders(const grid<Extents>& one) : copies(&one), count(1) {}  ///< a tensor without replicas
  explicit holders(const replicas<Extents>& all) : copies(all.copies.data()), count(all.copies.size()) {
    for (std::size_t c = 1; c < count; ++c)
      if (copies[c].shape() != copies[0].shape())
        throw partition_error(text("partita::plan_repartition: requires replicas of one shape, got ")
                              << copies[0].shape() << " and " << copies[c].shape());
    if (count == 0) throw partition_error("partita::plan_repartition: requires at least one replica, got none");
  }
  const grid<Extents>& first() const { return copies[0]; }  ///< The first grid, for its shape and blocks.
  /// The place of a worker in the grid that contains it; for a worker in no grid, the size of a grid, which is the same
  /// for all replicas.
  std::size_t place(std::size_t worker) const {
    for (std::size_t c = 0; c < count; ++c)
      if (const std::size_t k = copies[c].place(worker); k < copies[c].size()) return k;
    return copies[0].size();
  }
};

/// The plan of one worker between replicated tensors; choose(receiver, owners, owner) selects the sender of a box.
template <class Src, class From, class Dst, class To, std::size_t Rank, class Choose>
exchange_plan<Rank> plan_exchange(const holders<Src>& src, const From& from, const holders<Dst>& dst, const To& to,
                                  std::size_t worker, const axes_order<Rank>& axes, Choose choose,
                                  exchange_plan<Rank>&& plan = {}) {
  static_assert(Src::rank() == Rank && Dst::rank() == Rank,
                "partita::plan_repartition(p_x, from, p_y, to): requires partitions of the tensor's rank; reshape() "
                "them with extents of 1");
  const axes_order<Rank> identity = same_axes<Rank>(), back = inverse_axes(axes);
  const bool is_permuted = axes != identity, replicated = src.count > 1;
  plan.sends.clear(), plan.receives.clear(), plan.kept.clear(), plan.order.clear(), plan.accumulate = false;
  plan.worker = worker;
  plan.extents = tensor_extents(from);
  plan.axes = axes;
  plan.one_to_one = src.count == 1 && dst.count == 1;
  if (in_result_order(plan.extents, axes) != tensor_extents(to))
    throw shape_error(text("partita::plan_repartition: requires two decompositions of one tensor, got extents ")
                      << in_result_order(plan.extents, axes) << " and " << tensor_extents(to));
  const std::size_t src_place = src.place(worker), dst_place = dst.place(worker);
  plan.gives = src_place < src.first().size(), plan.takes = dst_place < dst.first().size();
  plan.source_shape = plan.destination_shape = {};
  const auto sender = [&](std::size_t place, std::size_t receiver) {
    const auto owner = [&](std::size_t c) { return src.copies[c].workers()[place]; };
    return owner(choose(receiver, src.count, owner));
  };
  static thread_local std::vector<overlap> scratch;  // kept, so that repeated planning allocates nothing
  // As a source, send or keep the overlaps of this worker's block with the destination.
  if (plan.gives)
    with_cuts(src.first(), from, src_place, identity, [&](const auto& cuts, const index<Rank>& i, const auto& shape) {
      plan.source_shape = shape;
      for (std::size_t c = 0; c < dst.count; ++c) {
        const workers& receivers_of_copy = dst.copies[c].workers();
        for_each_block_overlap(
            cuts, i, dst.copies[c], to, back, scratch,
            [&, worker, is_permuted, replicated](std::size_t place, const block_overlap<Rank>& m) {
              const std::size_t peer = receivers_of_copy[place];
              if (replicated && sender(src_place, peer) != worker) return;
              const auto at = is_permuted ? in_result_order(m.other_start, axes) : m.other_start;
              if (peer == worker) {
                plan.kept.push_back({m.where, m.start, at});
                return;
              }
              const auto peer_shape = is_permuted ? in_result_order(m.other_shape, axes) : m.other_shape;
              plan.sends.push_back({peer, m.where, m.start, place_in_block<Rank>::of(at, peer_shape)});
            },
            [&](std::size_t n) { plan.sends.reserve(plan.sends.size() + n); });
      }
    });
  // As a destination, receive the overlaps of this worker's block with the source.
  if (plan.takes)
    with_cuts(dst.first(), to, dst_place, back, [&](const auto& cuts, const index<Rank>& j, const auto& shape) {
      plan.destination_shape = shape;
      const workers& senders = src.first().workers();
      for_each_block_overlap(
          cuts, j, src.first(), from, identity, scratch,
          [&, worker, replicated](std::size_t place, const block_overlap<Rank>& m) {
            const std::size_t peer = replicated ? sender(place, worker) : senders[place];
            if (peer == worker) return;
            plan.receives.push_back({peer, m.where, m.start, place_in_block<Rank>::of(m.other_start, m.other_shape)});
          },
          [&](std::size_t n) { plan.receives.reserve(n); });
      if (!is_permuted) return;
      for (transfer<Rank>& t : plan.receives) {  // received boxes are in the dimensions of the result
        t.where = in_result_order(t.where, axes);
        t.at = in_result_order(t.at, axes);
      }
    });
  group_by_peer(plan.sends);
  group_by_peer(plan.receives);
  return static_cast<exchange_plan<Rank>&&>(plan);
}

}  // namespace detail

/// The plan of worker `worker` for moving a tensor from `from` on grid `src` to `to` on grid `dst`. The dimensions of
/// `dst` and `to` are those of the result: dimension k of the result is dimension axes[k] of the source. Source and
/// destination are each a decomposition or, for staggered blocks, one box for each place of the grid.
/// Requires: a source and a destination of one tensor, each over its grid [shape_error].
/// Cost:     time in O(overlaps of the worker's blocks) for any number of workers; O(workers of the other grid) if that
///           grid's blocks are staggered. The result reuses the memory of the plan `storage`.
template <class Src, class From, class Dst, class To, std::size_t Rank = Src::rank()>
exchange_plan<Rank> plan_repartition(const grid<Src>& src, const From& from, const grid<Dst>& dst, const To& to,
                                     std::size_t worker, const axes_order<Rank>& axes = same_axes<Rank>(),
                                     exchange_plan<Rank>&& storage = {}) {
  return detail::plan_exchange(detail::holders<Src>(src), from, detail::holders<Dst>(dst), to, worker, axes,
                               nearest_owner{}, static_cast<exchange_plan<Rank>&&>(storage));
}

/// The plan of worker `worker` for moving a replicated tensor: each receiver gets every element once, from the owner
/// with the number that `choose(receiver, number of owners, owner)` returns, where owner(k) is the id of owner k.
/// `choose` must return the same number on all workers. The reversed plan sums the blocks of the replicas of the
/// destination.
/// Requires: replicas of equal shapes, at least one on each side [partition_error].
/// Cost:     time in O(overlaps of the worker's blocks with all replicas).
template <class Src, class From, class Dst, class To, std::size_t Rank = Src::rank(), class Choose = nearest_owner>
exchange_plan<Rank> plan_repartition(const replicas<Src>& src, const From& from, const replicas<Dst>& dst, const To& to,
                                     std::size_t worker, const axes_order<Rank>& axes = same_axes<Rank>(),
                                     Choose choose = {}) {
  return detail::plan_exchange(detail::holders<Src>(src), from, detail::holders<Dst>(dst), to, worker, axes, choose);
}

}  // namespace partita
