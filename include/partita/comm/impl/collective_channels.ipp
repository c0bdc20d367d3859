// Defines the functions that comm/collective_channels.hpp declares.
#pragma once

#include <cstring>
#include <memory>
#include <partita/comm/collective_channels.hpp>

namespace partita::detail {

PARTITA_DEF collective_channels::collective_channels(MPI_Comm everyone, group_plan plan)
    : plan_(std::move(plan)),
      members_(own_node::of(everyone)),
      ahead_(static_cast<tag>(own_node::of(everyone).next_tag())),
      memory_(arena::of(members_, transport_policy::from_environment().shared ? transport_policy{}.arena_bytes : 0)) {
  int id = 0;
  MPI_Comm_rank(everyone, &id);
  for (std::size_t k = 0; k < plan_.groups.size(); ++k) pages_[k] = memory_.allocate_signals(sizeof(group_page));
  check(MPI_Barrier(members_.communicator()), "MPI_Barrier");  // no worker still reads the old content of this memory
  shown_pages mine;
  for (std::size_t k = 0; k < plan_.groups.size(); ++k) {
    // without the slots: they are written before they are read, and only small blocks use them
    std::memset(pages_[k], 0, sizeof(group_page) - sizeof(group_page::slot));
    mine.group[k] = plan_.groups[k].number;
    if (memory_.holds(pages_[k])) mine.page[k] = memory_.offset(pages_[k]);
  }
  // only workers of one node read each other's pages; the world already knows which worker is on which node
  std::vector<shown_pages> shown(members_.size());
  check(MPI_Allgather(&mine, static_cast<int>(sizeof(shown_pages)), MPI_BYTE, shown.data(),
                      static_cast<int>(sizeof(shown_pages)), MPI_BYTE, members_.communicator()),
        "MPI_Allgather");
  for (const worker_group& g : plan_.groups) ways_.push_back(way_of(g, shown, static_cast<std::size_t>(id)));
}

collective_channels::~collective_channels() {
  for (void* own : pages_)
    if (own != nullptr) memory_.release_signals(own, sizeof(group_page));
}

PARTITA_DEF void collective_channels::began_for_nothing() {
  is_ahead_ = false;
  for (collective_channel& way : ways_) way.began_for_nothing();
}

PARTITA_DEF void collective_channels::has_moved(bool later) {
  if (!trace::on()) return;
  const std::size_t call = later ? traced_ : trace::current();
  trace::end_call(call, moved_.messages, moved_.bytes_by_message, moved_.bytes_shared);
}

PARTITA_DEF collective_channel collective_channels::way_of(const worker_group& g,
                                                           const std::vector<shown_pages>& shown_by, std::size_t id) {
  collective_channel way;
  way.all = &g;
  way.ahead = ahead_;
  // Divide the members by node. The first member on each node is its leader.
  std::vector<std::size_t> node(g.members.size()), places;
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
  // Find the pages of the members on this node, if all of them are in shared memory.
  std::vector<group_page*> pages;
  bool shared = true;
  for (const std::size_t k : within) {
    const std::size_t member = g.members[k];
    if (member == id) way.within.position = way.within.members.size();
    way.within.members.push_back(member);
    places.push_back(members_.place_of(member));
    const shown_pages& shown = shown_by[places.back()];
    const std::uint64_t page_there = shown.page[shown.group[0] == g.number ? 0 : 1];
    shared = shared && page_there != none;
    if (shared) pages.push_back(reinterpret_cast<group_page*>(memory_.at(places.back(), page_there)));
  }
  way.within.number = way.across.number = g.number;
  if (shared && way.within.members.size() > 1)
    way.shared = std::make_unique<node_group>(memory_, std::move(places), std::move(pages), way.within.position,
                                              members_.oversubscribed());
  return way;
}

}  // namespace partita::detail
