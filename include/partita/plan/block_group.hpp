// A group of workers whose blocks form one tensor: the members, and the part that each of them holds.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/box.hpp>
#include <partita/plan/decomposition.hpp>
#include <partita/plan/exchange_plan.hpp>
#include <partita/plan/group_plan.hpp>
#include <vector>

namespace partita {

/// The workers of a grid whose index equals that of a given worker in the kept dimensions, arranged along the other
/// dimensions.
template <std::size_t Rank>
struct block_group {
  std::vector<std::size_t> members;       ///< worker ids in C order; empty for a worker that is not in the grid
  std::size_t position = 0;               ///< the index of this worker in `members`
  std::array<std::size_t, Rank> shape{};  ///< the shape of the group's own grid: 1 along the kept dimensions

  bool active() const { return !members.empty(); }  ///< Whether the worker is in the grid.
};

/// The group of `worker` in a grid; `keep` says for each dimension whether it is kept.
template <class Extents>
block_group<Extents::rank()> block_group_of(const grid<Extents>& p, const std::array<bool, Extents::rank()>& keep,
                                            std::size_t worker) {
  const group_plan plan = plan_sum_groups(p, keep, worker);
  block_group<Extents::rank()> group;
  if (plan.groups.empty()) return group;
  group.members = plan.groups[0].members;
  group.position = plan.groups[0].position;
  group.shape = p.shape();
  for (std::size_t d = 0; d < Extents::rank(); ++d)
    if (keep[d]) group.shape[d] = 1;
  return group;
}

/// The boxes of one tensor that the members of a group hold, in the order of the members.
template <std::size_t Rank>
struct tensor_parts {
  text error_message;                       ///< empty if the blocks fit together
  std::array<std::size_t, Rank> extents{};  ///< the extents of the whole tensor
  std::vector<box<Rank>> parts;             ///< the boxes of the members, as global indices

  /// Whether all parts equal those of the balanced decomposition of the tensor.
  bool balanced(const std::array<std::size_t, Rank>& grid) const {
    const auto cuts = decomposition<Rank>::balanced(extents, grid);
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (parts[k].shape() != cuts.shape(index_of(k, grid))) return false;
    return true;
  }
};

/// The tensor that blocks of these shapes form if they are placed side by side over a grid.
template <std::size_t Rank>
tensor_parts<Rank> tensor_of_blocks(const std::vector<std::array<std::size_t, Rank>>& shapes,
                                    const std::array<std::size_t, Rank>& grid) {
  layout_of_blocks<Rank> layout = lay_out(shapes, grid);
  tensor_parts<Rank> tensor{layout.error_message, layout.extents, {}};
  if (!layout.error_message.empty()) return tensor;
  if (!layout.cartesian) {
    tensor.parts = static_cast<std::vector<box<Rank>>&&>(layout.boxes);
    return tensor;
  }
  const auto cuts = decomposition<Rank>::make([&](std::size_t d) { return cut::at(layout.sizes[d]); });
  for (std::size_t k = 0; k < shapes.size(); ++k) tensor.parts.push_back(cuts.block(index_of(k, grid)));
  return tensor;
}

/// The parts of the balanced decomposition of a tensor over a grid.
template <std::size_t Rank>
tensor_parts<Rank> balanced_parts(const std::array<std::size_t, Rank>& extents,
                                  const std::array<std::size_t, Rank>& grid) {
  tensor_parts<Rank> tensor{{}, extents, {}};
  const auto cuts = decomposition<Rank>::balanced(extents, grid);
  const std::size_t n = volume_of(grid);
  for (std::size_t k = 0; k < n; ++k) tensor.parts.push_back(cuts.block(index_of(k, grid)));
  return tensor;
}

/// The plan of one member of a group that gathers the parts of a tensor on all members: every part goes to every
/// member. The reversed plan is a reduce-scatter: it adds up the members' tensors, and leaves each part of the sum on
/// its member. A worker outside the group has an empty plan.
template <std::size_t Rank>
exchange_plan<Rank> plan_allgather(const block_group<Rank>& group, const tensor_parts<Rank>& tensor,
                                   std::size_t worker) {
  exchange_plan<Rank> plan;
  plan.worker = worker;
  plan.one_to_one = false;
  if (!group.active()) return plan;
  const box<Rank>& own = tensor.parts[group.position];
  plan.extents = plan.destination_shape = tensor.extents;
  plan.gives = plan.takes = true;
  plan.source_shape = own.shape();
  for (std::size_t k = 1; k < group.members.size() && plan.order.empty(); ++k)
    if (group.members[k - 1] > group.members[k]) plan.order = group.members;
  if (!own.empty()) plan.kept.push_back({own, {}, own.start});
  for (std::size_t k = 0; k < group.members.size(); ++k) {
    if (k == group.position) continue;
    const box<Rank>& other = tensor.parts[k];
    if (!own.empty())
      plan.sends.push_back({group.members[k], own, {}, place_in_block<Rank>::of(own.start, tensor.extents)});
    if (!other.empty())
      plan.receives.push_back({group.members[k], other, other.start, place_in_block<Rank>::of({}, other.shape())});
  }
  detail::group_by_peer(plan.sends);
  detail::group_by_peer(plan.receives);
  return plan;
}

}  // namespace partita
