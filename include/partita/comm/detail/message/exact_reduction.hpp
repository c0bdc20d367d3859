// Sums over several nodes that are rounded once: each node computes the terms of the exact sum of its blocks, and the
// terms go up a tree of nodes, a piece at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/comm/detail/message/element_messages.hpp>
#include <partita/comm/element_operation.hpp>
#include <partita/plan/binomial_tree.hpp>
#include <partita/plan/group_plan.hpp>
#include <vector>

namespace partita::detail {

/// The state of one worker in sums that are rounded once; the next sum reuses its memory.
class exact_reduction {
 public:
  /// The input of a node's leader: its own block, or the two terms of the sum of the node's blocks.
  struct data_of_node {
    const char* own_block = nullptr;  ///< this worker's block; nullptr if it contributes nothing
    const char* terms = nullptr;      ///< two blocks, whose sum is exactly the sum of the node's blocks
    bool sends_whole_blocks = false;  ///< instead of `terms`, the node's other workers send their blocks by message
  };

  /// Called by the leader of each node: writes the sum over all nodes to `into` on the first leader.
  /// Cost:     n elements from each node to its parent in the tree, plus the bits that rounding would drop; memory for
  ///           one piece of each block.
  template <class Incoming>
  void collect(const element_messages& group_messages, const element_operation& op, const worker_group& node_members,
               const worker_group& node_leaders, data_of_node given, char* into, std::size_t n, Incoming incoming) {
    if (!node_terms_ || element_kind_ != op.of)
      node_terms_ = op.form_between_nodes->make_terms(), element_kind_ = op.of;
    const std::size_t element = op.of->bytes, most = piece / element, me = node_leaders.position;
    const std::size_t others = given.sends_whole_blocks ? node_members.members.size() - 1 : 0;
    char* const buffer = incoming(others * (n < most ? n : most));
    const binomial_tree tree{node_leaders.members.size()};
    for (std::size_t at = 0; at < n; at += most) {
      const std::size_t length = n - at < most ? n - at : most;
      node_terms_->clear(length);
      if (given.terms != nullptr) {
        node_terms_->add(given.terms + at * element);
        node_terms_->add(given.terms + (n + at) * element);
      } else if (given.own_block != nullptr) {
        node_terms_->add(given.own_block + at * element);
      }
      for (std::size_t k = 0; k < others; ++k) {
        group_messages.receive(buffer + k * length * element, length, node_members.members[k + 1]);
        node_terms_->add(buffer + k * length * element);
      }
      tree.for_each_child_smallest_first(me, [&](std::size_t other) {
        group_messages.receive_bytes(terms_message_, node_leaders.members[other]);
        node_terms_->add_message(terms_message_);
      });
      if (me == 0) {
        node_terms_->round(into + at * element);
      } else {
        node_terms_->write(terms_message_);
        group_messages.send_bytes(terms_message_, node_leaders.members[tree.parent(me)]);
      }
    }
  }
  /// Sends this worker's block to the leader of its node, in the pieces that the leader's collect() receives.
  static void send_block(const element_messages& group_messages, const char* x, std::size_t n, std::size_t leader) {
    const std::size_t element = group_messages.of().bytes, most = piece / element;
    for (std::size_t at = 0; at < n; at += most)
      group_messages.send(x + at * element, n - at < most ? n - at : most, leader);
  }

 private:
  static constexpr std::size_t piece = std::size_t{64} << 10;  // chosen: few messages, and small enough for a cache

  std::unique_ptr<exact_terms> node_terms_;  // the exact sum of one piece, of this node and those below it in the tree
  const element_kind* element_kind_ = nullptr;  // the kind of elements for which node_terms_ was made
  std::vector<char> terms_message_;             // the terms as a worker sends or receives them
};

}  // namespace partita::detail
