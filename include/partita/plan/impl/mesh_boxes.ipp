// Defines the functions that plan/mesh_boxes.hpp declares.
#pragma once

#include <partita/plan/mesh_boxes.hpp>

namespace partita {

PARTITA_DEF std::vector<worker_box> boxes_on_mesh(const placed_mesh& mesh_workers, std::size_t workers,
                                                  const sharding& s, const shape_list& shape) {
  std::vector<worker_box> all(workers > mesh_workers.workers().id_end() ? workers : mesh_workers.workers().id_end());
  for (std::size_t k = 0; k < mesh_workers.size(); ++k) {
    worker_box& one = all[mesh_workers.worker(k)];
    one.box = mesh_block(s, shape, k);
    one.summand_index = detail::index_along_axes(mesh_workers.mesh(), k, detail::partial_axes(s));
    one.has_box = true;
  }
  return all;
}

PARTITA_DEF box_overlaps overlaps_of(const reshard_exchange& e, const shape_list& shape,
                                     const placed_mesh& mesh_workers, std::size_t workers) {
  const std::uint32_t partial = detail::partial_axes(e.from) & ~e.reduced,
                      replicated = ~(e.from.cut_axes() | detail::partial_axes(e.from) | e.reduced);
  const std::size_t summands = e.summands();
  const auto boxes = [&](const sharding& s, bool wants) {
    auto all = boxes_on_mesh(mesh_workers, workers, s, shape);
    for (std::size_t k = 0; k < mesh_workers.size(); ++k) {
      worker_box& one = all[mesh_workers.worker(k)];
      one.summand_index = detail::index_along_axes(mesh_workers.mesh(), k, partial);
      one.replica = detail::index_along_axes(mesh_workers.mesh(), k, replicated);
      if (summands == 1) continue;
      const std::size_t own = detail::index_along_axes(mesh_workers.mesh(), k, e.reduced);
      short_list<interval> box{wants ? interval{0, summands} : interval{own, own + 1}};
      for (const interval& part : one.box) box.push_back(part);
      one.box = box;
    }
    return all;
  };
  return {boxes(e.from, false), boxes(e.to, true)};
}

}  // namespace partita
