// Defines the functions that plan/plan_boxes.hpp declares.
#pragma once

#include <partita/plan/plan_boxes.hpp>

namespace partita {

PARTITA_DEF exchange_plan<dynamic> plan_boxes(const box_overlaps& all, std::size_t worker, bool is_forwarded) {
  using box_intervals = short_list<interval>;  ///< the indices of a box along each dimension
  const auto as_box = [](const box_intervals& from) {
    box<dynamic> out;
    for (const interval& one : from) out.start.push_back(one.start), out.stop.push_back(one.stop);
    if (from.empty()) out.start.push_back(0), out.stop.push_back(1);
    return out;
  };
  const auto offset_in = [](const box<dynamic>& where, const box<dynamic>& block) {
    shape_list at;
    for (std::size_t d = 0; d < where.start.size(); ++d) at.push_back(where.start[d] - block.start[d]);
    return at;
  };
  const std::vector<worker_box>& sources = is_forwarded ? all.wanted_boxes() : all.held_boxes();
  const worker_box &held = sources[worker], &wanted = all.wanted_boxes()[worker];
  const box<dynamic> source = as_box(held.box), destination = as_box(wanted.box);
  exchange_plan<dynamic> plan;
  plan.worker = worker;
  plan.gives = held.has_box, plan.takes = wanted.has_box;
  plan.one_to_one = false;
  for (const auto* side : {&all.held_boxes(), &all.wanted_boxes()})
    for (const worker_box& one : *side) {
      const box<dynamic> block = as_box(one.box);
      if (!one.has_box) continue;
      if (plan.extents.empty()) plan.extents = shape_list::filled(block.stop.size(), 0);
      for (std::size_t d = 0; d < block.stop.size(); ++d)
        if (block.stop[d] > plan.extents[d]) plan.extents[d] = block.stop[d];
    }
  const shape_list nothing = shape_list::filled(plan.extents.size(), 0);
  plan.source_shape = held.has_box ? source.shape() : nothing;
  plan.destination_shape = wanted.has_box ? destination.shape() : nothing;
  const auto transfer_with = [&](const box_overlap& o, const box<dynamic>& own_block, const box<dynamic>& peer_block) {
    const box<dynamic> where = as_box(o.where);
    return transfer<dynamic>{o.worker, where, offset_in(where, own_block),
                             place_in_block<dynamic>::of(offset_in(where, peer_block), peer_block.shape())};
  };
  for (const box_overlap& o : all.sends(worker))
    if (o.worker != worker && o.is_forwarded == is_forwarded)
      plan.sends.push_back(transfer_with(o, source, as_box(all.wanted_boxes()[o.worker].box)));
  for (const box_overlap& o : all.receives(worker)) {
    const box<dynamic> where = as_box(o.where);
    if (o.is_forwarded != is_forwarded) continue;
    if (o.worker != worker) plan.receives.push_back(transfer_with(o, destination, as_box(sources[o.worker].box)));
    else plan.kept.push_back({where, offset_in(where, source), offset_in(where, destination)});
  }
  return plan;
}

}  // namespace partita
