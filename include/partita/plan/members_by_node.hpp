// The members of a group of workers, by node.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/plan/stable_sort.hpp>
#include <vector>

namespace partita {

/// A table of the members of a group that share a node, and of the member that represents a member on another node.
class members_by_node {
 public:
  /// `node[k]` is the number of the node of the k-th member. Cost: O(members * log(members)).
  PARTITA_DECL explicit members_by_node(const std::vector<std::size_t>& node);
  /// The number of nodes. Nodes are numbered in the order in which they first appear among the members.
  std::size_t nodes() const { return members_.size(); }
  std::size_t node_of(std::size_t member) const { return nodes_[member]; }  ///< The node of a member.
  /// The members of the group that are on a node, in ascending order.
  const std::vector<std::size_t>& members(std::size_t node) const { return members_[node]; }
  /// The member that represents a member on a node (itself on its own node): local rank k of c members is paired with
  /// local rank ⌊k·d/c⌋ of a node with d members, so that the work is balanced.
  PARTITA_DECL std::size_t representative(std::size_t member, std::size_t node) const;
  /// The index, among n workers of another node, of the worker that `representative` would pair with member k.
  std::size_t peer_index(std::size_t k, std::size_t n) const { return ranks_[k] * n / members_[nodes_[k]].size(); }

 private:
  std::vector<std::size_t> nodes_, ranks_;         // the node of each member, and its rank on the node
  std::vector<std::vector<std::size_t>> members_;  // for each node, its members in ascending order
};

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/members_by_node.ipp>
#endif
