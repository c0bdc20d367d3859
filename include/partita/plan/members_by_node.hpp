// The members of a group by the node that they live on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace partita {

/// Which members of a group share a node, and who on a node receives a member's part for all of them.
class members_by_node {
 public:
  /// `node[k]` is a number of the node of the k-th member. Cost: O(members * log(members)).
  explicit members_by_node(const std::vector<std::size_t>& node) : node_(node.size()), rank_(node.size()) {
    std::vector<std::size_t> known(node);
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    std::vector<std::size_t> number(known.size(), known.size());
    for (std::size_t k = 0; k < node.size(); ++k) {
      std::size_t& n =
          number[static_cast<std::size_t>(std::lower_bound(known.begin(), known.end(), node[k]) - known.begin())];
      if (n == known.size()) {
        n = members_.size();
        members_.emplace_back();
      }
      node_[k] = n;
      rank_[k] = members_[n].size();
      members_[n].push_back(k);
    }
  }
  /// Nodes are numbered in the order in which the members name them.
  std::size_t nodes() const { return members_.size(); }
  std::size_t node_of(std::size_t member) const { return node_[member]; }
  /// The members on a node, ascending.
  const std::vector<std::size_t>& members(std::size_t node) const { return members_[node]; }
  /// The member that stands for another (or itself) on a node: the k-th of one node for the k-th of the other, so that
  /// all of them have as much to do.
  std::size_t lane(std::size_t member, std::size_t node) const {
    if (node_[member] == node) return member;
    return members_[node][rank_[member] * members_[node].size() / members_[node_[member]].size()];
  }

 private:
  std::vector<std::size_t> node_, rank_;  // by member
  std::vector<std::vector<std::size_t>> members_;
};

}  // namespace partita
