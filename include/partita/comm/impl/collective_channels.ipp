// Defines the functions that comm/collective_channels.hpp declares.
#pragma once

#include <memory>
#include <partita/comm/collective_channels.hpp>

namespace partita::detail {

PARTITA_DEF collective_channels::collective_channels(MPI_Comm everyone, group_plan plan, const transport_policy& policy)
    : plan_(std::move(plan)),
      members_(own_node::of(everyone)),
      pending_tag_(static_cast<tag>(own_node::of(everyone).next_tag())),
      memory_(arena::of(members_, policy.shared ? policy.arena_bytes : 0)),
      node_pages_(members_, memory_, plan_) {
  for (const make_channel make : policy.more) added_channels_.push_back(make(everyone, number()));
  for (const worker_group& g : plan_.groups) group_channels_.push_back(make_group_channel(g));
}

PARTITA_DEF void collective_channels::discard_speculative_sends() {
  has_begun_early_ = false;
  for (collective_channel& way : group_channels_) way.discard_speculative_sends();
}

PARTITA_DEF void collective_channels::add_traffic_to_trace(bool later) {
  if (!trace::is_on()) return;
  const std::size_t call = later ? traced_call_ : trace::current_call();
  trace::end_call(call, traffic_.messages, traffic_.bytes_by_message, traffic_.bytes_shared);
}

PARTITA_DEF group_channel* collective_channels::find_channel(const worker_group& g) {
  const auto reaches_all = [&](const group_channel& one) {
    bool all = true;
    for (std::size_t k = 0; k < g.members.size(); ++k) all = all && (k == g.position || one.reaches(g.members[k]));
    return all;
  };
  if (reaches_all(node_pages_)) return &node_pages_;
  for (const auto& one : added_channels_)
    if (reaches_all(*one)) return one.get();
  return nullptr;
}

PARTITA_DEF collective_channel collective_channels::make_group_channel(const worker_group& g) {
  collective_channel way;
  way.group = &g;
  way.pending_tag = pending_tag_;
  // Divide the members by node, unless one channel reaches all of them. Each node's first member is its leader.
  std::vector<std::size_t> node(g.members.size(), 0);
  if (find_channel(g) == nullptr)
    for (std::size_t k = 0; k < node.size(); ++k) node[k] = members_.node_of(g.members[k]);
  const members_by_node nodes(node);
  const std::size_t here = nodes.node_of(g.position);
  const std::vector<std::size_t>& within = nodes.members(here);
  way.is_on_one_node = nodes.nodes() == 1;
  way.is_leader = within[0] == g.position;
  way.node_leaders.position = way.is_leader ? here : 0;
  way.node_leaders.members.reserve(nodes.nodes());
  for (std::size_t n = 0; n < nodes.nodes(); ++n) way.node_leaders.members.push_back(g.members[nodes.members(n)[0]]);
  way.node_members.root_is_large = within[0] != 0 || g.root_is_large;
  for (const std::size_t k : within) {
    if (k == g.position) way.node_members.position = way.node_members.members.size();
    way.node_members.members.push_back(g.members[k]);
  }
  way.node_members.number = way.node_leaders.number = g.number;
  if (group_channel* const channel = find_channel(way.node_members);
      channel != nullptr && way.node_members.members.size() > 1)
    way.shared = channel->prepare_group(way.node_members);
  return way;
}

}  // namespace partita::detail
