// A repartition for all workers inside one process: every box that one plan sends is received by another plan.
#pragma once

#include <algorithm>
#include <cstddef>
#include <partita/comm/element.hpp>
#include <partita/kernel/detail/repartition_cuts.hpp>
#include <partita/kernel/detail/sequential_groups.hpp>
#include <partita/plan/repartition_plan.hpp>
#include <utility>
#include <vector>

namespace partita::sequentially::detail {

using partita::detail::repartition_cuts;

/// The plans of all workers, indexed by worker id.
template <std::size_t Rank>
using worker_plans = std::vector<exchange_plan<Rank>>;

template <std::size_t Rank>
worker_plans<Rank> reversed(const worker_plans<Rank>& plans) {  // the plans of the adjoint
  worker_plans<Rank> back;
  back.reserve(plans.size());
  for (const auto& plan : plans) back.push_back(partita::reversed(plan));
  return back;
}

/// Makes the repartition plans of all workers; `from` is the decomposition of the source tensor, or its boxes.
template <class Src, class Dst, class From, std::size_t Rank>
worker_plans<Rank> make_repartition_plans(const grid<Src>& src, const From& from, const grid<Dst>& dst,
                                          const decomposition<Rank>& to, const axes_order<Rank>& axes,
                                          std::size_t workers) {
  worker_plans<Rank> plans;
  plans.reserve(workers);
  for (std::size_t worker = 0; worker < workers; ++worker)
    plans.push_back(plan_repartition(src, from, dst, to, worker, axes));
  return plans;
}

/// Throws a shape_error if the extents of a tensor do not match the caller's cuts.
template <std::size_t Rank>
void expect_extents(const repartition_cuts<Rank>& cuts, const std::array<std::size_t, Rank>& global) {
  const text problem = cuts.error_message(global);
  if (!problem.empty()) throw shape_error(text("partita::sequentially::repartition(p_x, p_y): ") << problem);
}

/// Makes the plans of all workers from the shapes of the blocks, in the order of the source grid's workers. The blocks
/// must match the caller's source cuts or, if there are none, tile a tensor [shape_error].
template <class Src, class Dst, std::size_t Rank>
worker_plans<Rank> plan_all_workers(const grid<Src>& src, const grid<Dst>& dst,
                                    const std::vector<std::array<std::size_t, Rank>>& shapes,
                                    const repartition_cuts<Rank>& cuts, std::size_t workers) {
  if (cuts.given_source_cuts()) {
    for (std::size_t place = 0; place < shapes.size(); ++place)
      if (shapes[place] != cuts.given_source_cuts()->shape(src.index(place)))
        throw shape_error(text("partita::sequentially::repartition(p_x, p_y, source_cuts(...))(x): requires blocks "
                               "that are cut as source_cuts(...) says, which gives ")
                          << cuts.given_source_cuts()->shape(src.index(place)) << " at " << src.index(place)
                          << "; got a block of " << shapes[place]);
    return make_repartition_plans(src, *cuts.given_source_cuts(), dst,
                                  cuts.result_cuts(cuts.given_source_cuts()->extents()), cuts.axes(), workers);
  }
  const layout_of_blocks<Rank> layout = lay_out(shapes, src.shape());
  if (!layout.error_message.empty())
    throw shape_error(text("partita::sequentially::repartition(p_x, p_y)(x) with p_x = ")
                      << src.shape() << ": " << layout.error_message);
  expect_extents(cuts, layout.extents);
  const auto to = cuts.result_cuts(layout.extents), balanced = cuts.source_cuts(layout.extents);
  if (!layout.cartesian) return make_repartition_plans(src, layout.boxes, dst, to, cuts.axes(), workers);
  bool is_balanced = true;
  for (std::size_t place = 0; place < shapes.size(); ++place)
    is_balanced = is_balanced && shapes[place] == balanced.shape(src.index(place));
  if (is_balanced) return make_repartition_plans(src, balanced, dst, to, cuts.axes(), workers);
  const auto explicit_cuts = decomposition<Rank>::make([&](std::size_t d) { return cut::at(layout.sizes[d]); });
  return make_repartition_plans(src, explicit_cuts, dst, to, cuts.axes(), workers);
}

/// Executes the plans of all workers one after the other, in one process. Throws if the plans contradict each other,
/// which is an error in the plans, not in the call.
template <ranked_array X>
std::vector<xt::xtensor<element_of<X>, rank_of<X>>> carry_out(const worker_plans<rank_of<X>>& plans,
                                                              const std::vector<X>& x, bool keep_batch) {
  constexpr std::size_t rank = rank_of<X>;
  using T = element_of<X>;
  std::vector<xt::xtensor<T, rank>> y;
  y.reserve(x.size());
  std::size_t sent = 0, received = 0;
  for (std::size_t worker = 0; worker < x.size(); ++worker) {
    const exchange_plan<rank>& plan = plans[worker];
    sent += plan.sends.size();
    received += plan.receives.size();
    if (!plan.takes) {
      y.push_back(plan.gives ? make_zero_volume(x[worker], keep_batch, rank == 0 ? 0 : plan.axes[0])
                             : copy_to_tensor(x[worker]));
      continue;
    }
    y.push_back(uninitialised<T, rank>(plan.destination_shape));
    const strided<T, rank> to = block_of(y.back());
    if constexpr (summable_element<T>) {
      if (plan.accumulate)
        for (T& element : y.back()) element = T();
    }
    bool first = true;
    const auto store_box = [&](const strided<T, rank>& place, const strided<const T, rank>& box) {
      const bool whole = place.shape == plan.destination_shape;
      if (!plan.accumulate || (std::exchange(first, false) && whole)) return copy<T, rank>(place, box);
      if constexpr (summable_element<T>)
        if (box.size() != 0)
          add_block(place.data, place.strides.data(), box.data, box.strides.data(), box.shape.data(), rank);
    };
    bool own = false;
    const auto store_own_boxes = [&] {
      if (std::exchange(own, true) || plan.kept.empty()) return;
      const block_argument<X> from(x[worker]);
      for (const kept_box<rank>& k : plan.kept)
        store_box(to.part(k.destination_start, in_result_order(k.where.shape(), plan.axes)),
                  from.block().part(k.source_start, k.where.shape()).permuted(plan.axes));
    };
    std::vector<std::size_t> first_boxes_of_peers;  // the first box from each peer, in the order of addition
    for (std::size_t r = 0; r < plan.receives.size(); ++r)
      if (r == 0 || plan.receives[r - 1].worker != plan.receives[r].worker) first_boxes_of_peers.push_back(r);
    const auto turn_of_receive = [&](std::size_t r) { return plan.position_in_sum(plan.receives[r].worker); };
    if (plan.accumulate)
      std::sort(first_boxes_of_peers.begin(), first_boxes_of_peers.end(),
                [&](auto a, auto b) { return turn_of_receive(a) < turn_of_receive(b); });
    // Take the received boxes from the blocks of their senders, and check that the plans of sender and receiver agree.
    for (std::size_t r : first_boxes_of_peers) {
      const std::size_t peer = plan.receives[r].worker;
      if (plan.position_in_sum(peer) > plan.position_in_sum(worker)) store_own_boxes();
      const block_argument<X> from(x[peer]);
      const std::vector<transfer<rank>>& sends = plans[peer].sends;
      std::size_t s = 0, end = sends.size();  // binary search of the first transfer to this worker
      while (s < end) {
        const std::size_t middle = s + (end - s) / 2;
        if (sends[middle].worker < worker) s = middle + 1;
        else end = middle;
      }
      for (; r < plan.receives.size() && plan.receives[r].worker == peer; ++r, ++s) {
        const transfer<rank>& t = plan.receives[r];
        if (s == sends.size() || sends[s].worker != worker ||
            !(in_result_order(sends[s].where, plan.axes) == t.where) ||
            sends[s].at_peer != place_in_block<rank>::of(t.at, plan.destination_shape))
          throw error(text("partita::sequentially: worker ") << worker << " awaits " << t.where << " from worker "
                                                             << peer << ", whose plan does not send it there");
        store_box(to.part(t.at, t.where.shape()),
                  from.block().part(sends[s].at, sends[s].where.shape()).permuted(plan.axes));
      }
    }
    store_own_boxes();
  }
  if (sent != received)
    throw error(text("partita::sequentially: the plans send ") << sent << " boxes and receive " << received);
  return y;
}

}  // namespace partita::sequentially::detail
