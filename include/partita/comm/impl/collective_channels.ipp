// Defines the functions that comm/collective_channels.hpp declares.
#pragma once

#include <memory>
#include <partita/comm/collective_channels.hpp>

namespace partita::detail {

PARTITA_DEF collective_channels::collective_channels(MPI_Comm everyone, group_plan plan, const transport_policy& policy)
    : plan_(std::move(plan)),
      members_(own_node::of(everyone)),
      ahead_(static_cast<tag>(own_node::of(everyone).next_tag())),
      memory_(arena::of(members_, policy.shared ? policy.arena_bytes : 0)),
      pages_(members_, memory_, plan_) {
  for (const make_channel make : policy.more) more_.push_back(make(everyone, number()));
  for (const worker_group& g : plan_.groups) ways_.push_back(way_of(g));
}

PARTITA_DEF void collective_channels::discard_speculative() {
  is_ahead_ = false;
  for (collective_channel& way : ways_) way.discard_speculative();
}

PARTITA_DEF void collective_channels::has_moved(bool later) {
  if (!trace::on()) return;
  const std::size_t call = later ? traced_ : trace::current();
  trace::end_call(call, moved_.messages, moved_.bytes_by_message, moved_.bytes_shared);
}

PARTITA_DEF group_channel* collective_channels::channel_of(const worker_group& g) {
  const auto reaches_all = [&](const group_channel& one) {
    bool all = true;
    for (std::size_t k = 0; k < g.members.size(); ++k) all = all && (k == g.position || one.reaches(g.members[k]));
    return all;
  };
  if (reaches_all(pages_)) return &pages_;
  for (const auto& one : more_)
    if (reaches_all(*one)) return one.get();
  return nullptr;
}

PARTITA_DEF collective_channel collective_channels::way_of(const worker_group& g) {
  collective_channel way;
  way.all = &g;
  way.ahead = ahead_;
  // Divide the members by node, unless one channel reaches all of them. The first member on each node is its leader.
  std::vector<std::size_t> node(g.members.size(), 0);
  if (channel_of(g) == nullptr)
    for (std::size_t k = 0; k < node.size(); ++k) node[k] = members_.node_of(g.members[k]);
  const members_by_node nodes(node);
  const std::size_t here = nodes.node_of(g.position);
  const std::vector<std::size_t>& within = nodes.members(here);
  way.on_one_node = nodes.nodes() == 1;
  way.leads = within[0] == g.position;
  way.across.position = way.leads ? here : 0;
  way.across.members.reserve(nodes.nodes());
  for (std::size_t n = 0; n < nodes.nodes(); ++n) way.across.members.push_back(g.members[nodes.members(n)[0]]);
  way.within.root_is_large = within[0] != 0 || g.root_is_large;
  for (const std::size_t k : within) {
    if (k == g.position) way.within.position = way.within.members.size();
    way.within.members.push_back(g.members[k]);
  }
  way.within.number = way.across.number = g.number;
  if (group_channel* const channel = channel_of(way.within); channel != nullptr && way.within.members.size() > 1)
    way.shared = channel->prepare_group(way.within);
  return way;
}

}  // namespace partita::detail
