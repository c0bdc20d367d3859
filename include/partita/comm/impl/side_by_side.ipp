// Defines the functions that comm/side_by_side.hpp declares.
#pragma once

#include <partita/comm/side_by_side.hpp>

namespace partita::detail {

PARTITA_DEF lowered_plan join_plans(const std::vector<lowered_plan>& plans) {
  std::size_t dimensions = plans.size() - 1;
  for (const lowered_plan& p : plans) dimensions += p.rank;
  lowered_plan all(dimensions);
  all.worker = plans.front().worker, all.accumulate = plans.front().accumulate;
  all.has_several_blocks = true;
  all.blocks = box_list(dimensions);
  all.source_shape.assign(dimensions, 1), all.received_shape.assign(dimensions, 1);
  all.received_strides.assign(dimensions, 1);

  std::vector<std::size_t> shape(dimensions), at(dimensions);
  const std::vector<std::ptrdiff_t> zero_strides(dimensions, 0);  // no other worker knows the addresses of these blocks
  const auto in_place = [&](std::size_t tensor, const std::size_t* from, auto& to, std::size_t fill_value) {
    std::size_t first = 0;
    for (std::size_t k = 0; k < tensor; ++k) first += plans[k].rank;
    to.assign(dimensions, fill_value);
    for (std::size_t d = 0; d < plans[tensor].rank; ++d) to[first + d] = from[d];
  };
  const auto place = [&](std::size_t tensor, const std::size_t* box_shape, const std::size_t* box_start) {
    in_place(tensor, box_shape, shape, 1);
    in_place(tensor, box_start, at, 0);
    if (tensor > 0) at[dimensions - plans.size() + tensor] = 1;
  };
  /// Calls f(plan, box, worker) for the boxes of one list in all plans, in ascending order of the workers; `plan` is
  /// the index of the plan and `box` the index in its list.
  const auto by_worker = [&](box_list lowered_plan::*list, auto f) {
    std::vector<std::size_t> next(plans.size(), 0);
    for (;;) {
      std::size_t lowest = 0;
      bool any = false;
      for (std::size_t w = 0; w < plans.size(); ++w) {
        const box_list& boxes = plans[w].*list;
        if (next[w] == boxes.size()) continue;
        const std::size_t worker = boxes[next[w]].worker;
        lowest = any && lowest < worker ? lowest : worker;
        any = true;
      }
      if (!any) return;
      for (std::size_t w = 0; w < plans.size(); ++w) {
        const box_list& boxes = plans[w].*list;
        for (; next[w] < boxes.size() && boxes[next[w]].worker == lowest; ++next[w]) {
          place(w, boxes[next[w]].shape, boxes[next[w]].at);
          f(w, next[w], lowest);
        }
      }
    }
  };
  by_worker(&lowered_plan::sends, [&](std::size_t, std::size_t, std::size_t to) {
    all.add_send(to, shape.data(), at.data(), 0, zero_strides.data());
  });
  by_worker(&lowered_plan::receives, [&](std::size_t tensor, std::size_t k, std::size_t from) {
    all.receives.add(from, shape.data(), at.data());
    if (all.accumulate) all.sum_positions.push_back(plans[tensor].sum_positions[k]);
  });
  if (all.accumulate) all.sum_positions.push_back(plans.front().sum_positions.back());
  std::vector<std::size_t> source_start;
  for (std::size_t w = 0; w < plans.size(); ++w) {
    for (std::size_t k = 0; k < plans[w].kept.size(); ++k) {
      place(w, plans[w].kept[k].shape, plans[w].kept[k].at);
      source_start = at;
      place(w, plans[w].kept[k].shape, plans[w].kept_destinations[k].at);
      all.add_kept_box(shape.data(), source_start.data(), at.data());
    }
    const std::vector<std::size_t> start(plans[w].rank, 0);
    place(w, plans[w].received_shape.data(), start.data());
    all.blocks.add(all.worker, shape.data(), at.data());
  }
  return all;
}

}  // namespace partita::detail
