// The members of a group, by node.
#pragma once

#include <cstddef>
#include <partita/plan/stable_sort.hpp>
#include <vector>

namespace partita {

/// Which members of a group share a node, and which member of a node represents a member of another node.
class members_by_node {
 public:
  /// `node[k]` is the number of the node of the k-th member. Cost: O(members * log(members)).
  template <class = void>
  explicit members_by_node(const std::vector<std::size_t>& node) : node_(node.size()), rank_(node.size()) {
    std::vector<std::size_t> by_node(node.size()), first(node.size());  // first[k]: the first member of the k-th's node
    for (std::size_t k = 0; k < node.size(); ++k) by_node[k] = k;
    detail::stable_sort(by_node, [&](std::size_t k) { return node[k]; });
    for (std::size_t at = 0; at < by_node.size(); ++at) {
      const bool is_first = at == 0 || node[by_node[at - 1]] != node[by_node[at]];
      first[by_node[at]] = is_first ? by_node[at] : first[by_node[at - 1]];
    }
    for (std::size_t k = 0; k < node.size(); ++k) {
      const std::size_t n = first[k] == k ? members_.size() : node_[first[k]];
      if (first[k] == k) members_.emplace_back();
      node_[k] = n;
      rank_[k] = members_[n].size();
      members_[n].push_back(k);
    }
  }
  /// Nodes are numbered in the order in which they first appear among the members.
  std::size_t nodes() const { return members_.size(); }
  std::size_t node_of(std::size_t member) const { return node_[member]; }
  /// The members on a node, ascending.
  const std::vector<std::size_t>& members(std::size_t node) const { return members_[node]; }
  /// The member that represents a member on a node (itself on its own node): local rank k of c members is paired with
  /// local rank ⌊k·d/c⌋ of a node with d members, so that the work is balanced.
  std::size_t lane(std::size_t member, std::size_t node) const {
    if (node_[member] == node) return member;
    return members_[node][rank_[member] * members_[node].size() / members_[node_[member]].size()];
  }

 private:
  std::vector<std::size_t> node_, rank_;  // by member
  std::vector<std::vector<std::size_t>> members_;
};

}  // namespace partita
