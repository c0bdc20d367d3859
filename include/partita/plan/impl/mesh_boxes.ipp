// Defines the functions that plan/mesh_boxes.hpp declares.
#pragma once

#include <partita/plan/mesh_boxes.hpp>

namespace partita {

PARTITA_DEF std::vector<worker_box> boxes_on_mesh(const placed_mesh& placed, std::size_t workers, const sharding& s,
                                                  const shape_list& shape) {
  std::vector<worker_box> all(workers > placed.workers().bound() ? workers : placed.workers().bound());
  for (std::size_t k = 0; k < placed.size(); ++k) {
    worker_box& one = all[placed.worker(k)];
    one.box = mesh_block(s, shape, k);
    one.summand = detail::number_along(placed.mesh(), k, detail::partial_axes(s));
    one.there = true;
  }
  return all;
}

PARTITA_DEF box_overlaps overlaps_of(const reshard_exchange& e, const shape_list& shape, const placed_mesh& placed,
                                     std::size_t workers) {
  const std::uint32_t partial = detail::partial_axes(e.from) & ~e.reduced,
                      replicated = ~(e.from.cutting() | detail::partial_axes(e.from) | e.reduced);
  const std::size_t summands = e.summands();
  const auto boxes = [&](const sharding& s, bool wants) {
    auto all = boxes_on_mesh(placed, workers, s, shape);
    for (std::size_t k = 0; k < placed.size(); ++k) {
      worker_box& one = all[placed.worker(k)];
      one.summand = detail::number_along(placed.mesh(), k, partial);
      one.replica = detail::number_along(placed.mesh(), k, replicated);
      if (summands == 1) continue;
      const std::size_t own = detail::number_along(placed.mesh(), k, e.reduced);
      short_list<interval> box{wants ? interval{0, summands} : interval{own, own + 1}};
      for (const interval& part : one.box) box.push_back(part);
      one.box = box;
    }
    return all;
  };
  return {boxes(e.from, false), boxes(e.to, true)};
}

}  // namespace partita
