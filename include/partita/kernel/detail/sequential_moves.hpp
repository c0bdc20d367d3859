// A repartition for all workers at once, inside one process: every box that one plan sends is one that another receives.
#pragma once

#include <cstddef>
#include <partita/kernel/detail/sequential_groups.hpp>
#include <partita/plan/repartition_plan.hpp>
#include <vector>

namespace partita::sequentially::detail {

/// The plans of all workers, by worker id.
template <std::size_t Rank>
using all_plans = std::vector<repartition_plan<Rank>>;

template <std::size_t Rank>
all_plans<Rank> reversed(const all_plans<Rank>& plans) {
  all_plans<Rank> back;
  back.reserve(plans.size());
  for (const auto& plan : plans) back.push_back(partita::reversed(plan));
  return back;
}

/// The plans for blocks of the given shapes (by place in the source grid), which are cut in any way that fits together.
template <class Src, class Dst, std::size_t Rank>
all_plans<Rank> plans_for(const grid<Src>& src, const grid<Dst>& dst, const std::vector<std::array<std::size_t, Rank>>& shapes,
                          std::size_t workers) {
  using cuts = decomposition<Rank>;
  const layout_of_blocks<Rank> layout = lay_out(shapes, src.shape());
  if (!layout.problem.empty())
    throw shape_error(text("partita::sequentially::repartition(p_x, p_y)(x) with p_x = ") << src.shape() << ": " << layout.problem);
  const cuts to = cuts::balanced(layout.extents, dst.shape());
  bool as_balanced = layout.cartesian;
  const cuts balanced = cuts::balanced(layout.extents, src.shape());
  for (std::size_t place = 0; place < shapes.size(); ++place)
    as_balanced = as_balanced && shapes[place] == balanced.shape(src.index(place));
  const cuts from = as_balanced || !layout.cartesian ? balanced : cuts::make([&](std::size_t d) { return cut::at(layout.sizes[d]); });
  all_plans<Rank> plans;
  plans.reserve(workers);
  for (std::size_t worker = 0; worker < workers; ++worker)
    plans.push_back(layout.cartesian ? plan_repartition(src, from, dst, to, worker)
                                     : plan_repartition(src, layout.boxes, dst, to, worker));
  return plans;
}

/// Carries out the plans of all workers. Throws if they contradict each other: then the plans are wrong, not the call.
template <ranked_array X>
std::vector<xt::xtensor<element_of<X>, rank_of<X>>> carry_out(const all_plans<rank_of<X>>& plans, const std::vector<X>& x,
                                                              bool keep_batch) {
  constexpr std::size_t rank = rank_of<X>;
  using T = element_of<X>;
  std::vector<xt::xtensor<T, rank>> y;
  y.reserve(x.size());
  std::size_t sent = 0, received = 0;
  for (std::size_t worker = 0; worker < x.size(); ++worker) {
    const repartition_plan<rank>& plan = plans[worker];
    sent += plan.sends.size();
    received += plan.receives.size();
    if (!plan.takes) {
      y.push_back(plan.gives ? nothing_for(x[worker], keep_batch) : copied(x[worker]));
      continue;
    }
    y.push_back(uninitialised<T, rank>(plan.destination_shape));
    const strided<T, rank> to = block_of(y.back());
    if (!plan.kept.empty()) {
      const block_argument<X> from(x[worker]);
      for (const kept_box<rank>& k : plan.kept)
        copy<T, rank>(to.part(k.at_destination, k.where.shape()), from.block().part(k.at_source, k.where.shape()));
    }
    for (std::size_t r = 0; r < plan.receives.size();) {
      const std::size_t peer = plan.receives[r].worker;
      const block_argument<X> from(x[peer]);
      const std::vector<transfer<rank>>& sends = plans[peer].sends;
      std::size_t s = 0, end = sends.size();  // the first transfer to this worker: they are grouped by peer, in ascending order
      while (s < end) {
        const std::size_t middle = s + (end - s) / 2;
        if (sends[middle].worker < worker)
          s = middle + 1;
        else
          end = middle;
      }
      for (; r < plan.receives.size() && plan.receives[r].worker == peer; ++r, ++s) {
        const box<rank>& where = plan.receives[r].where;
        if (s == sends.size() || sends[s].worker != worker || !(sends[s].where == where))
          throw error(text("partita::sequentially::repartition: worker ") << worker << " awaits " << where << " from worker " << peer
                                                                          << ", whose plan does not send it");
        copy<T, rank>(to.part(plan.receives[r].at, where.shape()), from.block().part(sends[s].at, where.shape()));
      }
    }
  }
  if (sent != received)
    throw error(text("partita::sequentially::repartition: the plans send ") << sent << " boxes and receive " << received);
  return y;
}

}  // namespace partita::sequentially::detail
