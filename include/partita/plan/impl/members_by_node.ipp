// Defines the functions that plan/members_by_node.hpp declares.
#pragma once

#include <partita/plan/members_by_node.hpp>

namespace partita {

PARTITA_DEF members_by_node::members_by_node(const std::vector<std::size_t>& node)
    : nodes_(node.size()), ranks_(node.size()) {
  std::vector<std::size_t> by_node(node.size()), first(node.size());  // first[k]: the first member on k's node
  for (std::size_t k = 0; k < node.size(); ++k) by_node[k] = k;
  detail::stable_sort(by_node, [&](std::size_t k) { return node[k]; });
  for (std::size_t at = 0; at < by_node.size(); ++at) {
    const bool is_first = at == 0 || node[by_node[at - 1]] != node[by_node[at]];
    first[by_node[at]] = is_first ? by_node[at] : first[by_node[at - 1]];
  }
  for (std::size_t k = 0; k < node.size(); ++k) {
    const std::size_t n = first[k] == k ? members_.size() : nodes_[first[k]];
    if (first[k] == k) members_.emplace_back();
    nodes_[k] = n;
    ranks_[k] = members_[n].size();
    members_[n].push_back(k);
  }
}

PARTITA_DEF std::size_t members_by_node::representative(std::size_t member, std::size_t node) const {
  if (nodes_[member] == node) return member;
  return members_[node][peer_index(member, members_[node].size())];
}

}  // namespace partita
