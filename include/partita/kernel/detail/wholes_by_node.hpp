// All-gather and reduce-scatter for a group that spans several nodes, in two steps. In an all-gather each part is sent
// once to each other node, to one member of the group, which sends the part to the other members on its node.
// Reduce-scatter is the reverse: each node first sums the blocks of its members.
#pragma once

#include <array>
#include <cstddef>
#include <partita/plan/block_group.hpp>
#include <partita/plan/exchange_plan.hpp>
#include <partita/plan/members_by_node.hpp>
#include <utility>
#include <vector>

namespace partita {

/// The plans of two exchanges; the result of the first exchange is the input of the second.
template <std::size_t Rank>
struct two_step_plan {
  exchange_plan<Rank> first_step, second_step;  ///< what this worker moves in each exchange
};

/// The plan of an all-gather in two steps: the first step fills parts of the whole tensor; in the second step, members
/// of a node send each other the parts that came from other nodes.
template <std::size_t Rank>
two_step_plan<Rank> plan_all_gather_by_node(const block_group<Rank>& group, const tensor_parts<Rank>& tensor,
                                            const members_by_node& nodes, std::size_t worker) {
  two_step_plan<Rank> plan;
  plan.first_step = plan_allgather(block_group<Rank>{{worker}, 0, group.shape},
                                   tensor_parts<Rank>{{}, tensor.extents, {tensor.parts[group.position]}}, worker);
  exchange_plan<Rank>& second = plan.second_step;
  second.worker = worker;
  second.extents = second.source_shape = second.destination_shape = tensor.extents;
  second.gives = second.takes = true;
  second.one_to_one = false;
  const std::size_t me = group.position, here = nodes.node_of(me);
  const box<Rank>& own = tensor.parts[me];
  const auto in_whole = [&](const box<Rank>& b) { return place_in_block<Rank>::of(b.start, tensor.extents); };
  // First step, sends: this worker's part goes to the members on this node and to one member on each other node.
  for (std::size_t n = 0; n < nodes.nodes() && !own.empty(); ++n) {
    if (n != here)
      plan.first_step.sends.push_back({group.members[nodes.representative(me, n)], own, {}, in_whole(own)});
    for (std::size_t mate : nodes.members(here))
      if (n == here && mate != me) plan.first_step.sends.push_back({group.members[mate], own, {}, in_whole(own)});
  }
  // First step, receives: the parts of the members on this node, and those that the second step passes on.
  for (std::size_t k = 0; k < group.members.size(); ++k) {
    const box<Rank>& part = tensor.parts[k];
    const std::size_t representative = nodes.representative(k, here);
    if (k == me || part.empty()) continue;
    if (nodes.node_of(k) == here || representative == me)
      plan.first_step.receives.push_back(
          {group.members[k], part, part.start, place_in_block<Rank>::of({}, part.shape())});
    if (nodes.node_of(k) == here) continue;
    if (representative != me) {
      second.receives.push_back({group.members[representative], part, part.start, in_whole(part)});
    } else {
      for (std::size_t mate : nodes.members(here))
        if (mate != me) second.sends.push_back({group.members[mate], part, part.start, in_whole(part)});
    }
  }
  for (auto* moves : {&plan.first_step.sends, &plan.first_step.receives, &second.sends, &second.receives})
    detail::group_by_peer(*moves);
  return plan;
}

/// The plan of a reduce-scatter in two steps. In the first step, each member sums, over the blocks of its node, the
/// parts that it represents on this node, and stores the sums one after another. The second step adds the sums of all
/// nodes. Blocks of a node are added in the order of the members, sums of nodes in the order of their first members.
template <std::size_t Rank>
two_step_plan<Rank> plan_sums_by_node(const block_group<Rank>& group, const tensor_parts<Rank>& tensor,
                                      const members_by_node& nodes, std::size_t worker) {
  static_assert(Rank > 0, "partita: a tensor without dimensions has one part");
  two_step_plan<Rank> plan;
  exchange_plan<Rank>&first = plan.first_step, &second = plan.second_step;
  const std::size_t me = group.position, here = nodes.node_of(me);
  for (auto* step : {&first, &second}) {
    step->worker = worker;
    step->extents = tensor.extents;
    step->gives = step->takes = true;
    step->one_to_one = false;
    step->accumulate = true;
  }
  first.source_shape = tensor.extents;
  for (std::size_t mate : nodes.members(here)) first.order.push_back(group.members[mate]);
  const box<Rank>& own = tensor.parts[me];
  second.destination_shape = own.shape();
  for (std::size_t n = 0; n < nodes.nodes(); ++n) second.order.push_back(group.members[nodes.representative(me, n)]);
  for (auto* step : {&first, &second}) {  // an ascending order is the default and is not listed
    bool ascending = true;
    for (std::size_t k = 1; k < step->order.size(); ++k) ascending = ascending && step->order[k - 1] <= step->order[k];
    if (ascending) step->order.clear();
  }
  for (std::size_t k = 0; k < group.members.size(); ++k) {
    const box<Rank>& part = tensor.parts[k];
    const std::size_t representative = nodes.representative(k, here);
    if (part.empty()) continue;
    if (representative != me) {  // the receiver stages and adds the part, so no place is sent
      first.sends.push_back({group.members[representative], part, part.start, {}});
      continue;
    }
    index<Rank> at{};
    at[0] = first.destination_shape[0];
    first.destination_shape[0] += part.shape()[0];
    for (std::size_t d = 1; d < Rank; ++d)
      if (part.shape()[d] > first.destination_shape[d]) first.destination_shape[d] = part.shape()[d];
    first.kept.push_back({part, part.start, at});
    for (std::size_t mate : nodes.members(here))
      if (mate != me) first.receives.push_back({group.members[mate], part, at, {}});
    if (k == me) second.kept.push_back({part, at, {}});
    else second.sends.push_back({group.members[k], part, at, {}});
  }
  for (std::size_t n = 0; n < nodes.nodes() && !own.empty(); ++n)
    if (n != here) second.receives.push_back({group.members[nodes.representative(me, n)], own, {}, {}});
  second.source_shape = first.destination_shape;
  for (auto* moves : {&first.sends, &first.receives, &second.sends, &second.receives}) detail::group_by_peer(*moves);
  return plan;
}

}  // namespace partita
