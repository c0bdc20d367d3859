// The backward pass of reverse-mode differentiation, which computes the cotangents of all recorded values that a result
// depends on, in reverse order of creation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/sharded/detail/adjoint.hpp>
#include <queue>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::detail {

/// The sum of two contributions to a cotangent, in the layout of a.
template <class T>
sharded_tensor<T> add_tensors(const sharded_tensor<T>& a, const sharded_tensor<T>& b) {
  const scoped_name name("cotangent");
  const std::vector<sharded_tensor<T>> both{a, b};
  const sharding alike[] = {a.layout(), a.layout()};
  return run_operation<T>(bind_operation<2>(elements_op<element_functions::add>{}, both), both, {alike, &a.layout()});
}
/// Makes a cotangent of y without elements, with the layout of cotangents of y, for a dry run.
template <class T>
sharded_tensor<T> dry_run_cotangent(const sharded_tensor<T>& y) {
  const auto& s = *y.state();
  const sharding cotangent_layout = s.on ? cotangent_sharding(s.layout) : s.layout;
  return tensor_of(s.on, cotangent_layout, s.extents,
                   new_block<T>(s.on ? shape_of_box(s.on->box(cotangent_layout, s.extents)) : s.extents));
}
/// Adds a contribution, unless it is an empty tensor, to the cotangent of a tape node. Contributions with equal layouts
/// are summed before they are resharded, so that only their sum moves.
template <class T>
void add_cotangent(tape_node<T>& node, const sharded_tensor<T>& dx) {
  if (dx.state() == nullptr) return;
  for (sharded_tensor<T>& one : node.contributions)
    if (one.layout().same_layout(dx.layout())) {
      one = add_tensors(one, detach(dx));
      return;
    }
  node.contributions.push_back(detach(dx));
}
/// Computes the cotangent of a tape node as the sum of its contributions, in the layout of cotangents of its value. All
/// contributions to the cotangent must have been added before. A single contribution to an argument of a recomputed
/// segment keeps its layout.
template <class T>
void complete_cotangent(tape_node<T>& node) {
  const scoped_name name("cotangent");
  const std::vector<sharded_tensor<T>> contributions = std::exchange(node.contributions, {});
  const bool keeps_layout = node.keeps_contribution_layout && contributions.size() == 1;
  for (const sharded_tensor<T>& one : contributions) {
    const bool moves = one.state()->on && !keeps_layout;
    const sharded_tensor<T> there = moves ? reshard(one, cotangent_sharding(node.layout)) : one;
    node.cotangent = node.cotangent.state() == nullptr ? there : add_tensors(node.cotangent, there);
  }
}

/// Whether the contributions to the cotangent of a tape node are passed on one by one, without a sum: those of a scan's
/// state always, and those of a reshard if resharding each contribution directly to the operand's layout moves fewer
/// bytes than resharding all of them to the value's layout, and their sum to the operand's layout.
template <class T>
bool passes_contributions_unsummed(const tape_node<T>& node) {
  if (node.passes_on_contributions) return true;
  if (!node.is_reshard || node.operands.empty() || !node.operands[0]) return false;
  const sharding there = cotangent_sharding(node.layout), target = cotangent_sharding(node.operands[0]->layout);
  std::size_t bytes_apart = 0, bytes_together = 0;
  for (const sharded_tensor<T>& one : node.contributions) {
    bytes_apart += max_reshard_bytes<T>(*one.state()->on, one.layout(), target, one.extents());
    bytes_together += max_reshard_bytes<T>(*one.state()->on, one.layout(), there, one.extents());
  }
  if (!node.contributions.empty()) {
    const auto& first = node.contributions[0];
    bytes_together += max_reshard_bytes<T>(*first.state()->on, there, target, first.extents());
  }
  return bytes_apart < bytes_together;
}
/// Throws the error for second derivatives, which are not computed.
[[noreturn]] inline void reject_second_derivative() {
  throw error(
      "partita::value_and_gradient(f, parameters...): requires parameters, and tensors that f reads, of which no other "
      "value_and_gradient asks a gradient, as second derivatives are not computed; stop_gradient them to take them for "
      "constant");
}
/// Counts, for each tape node that a result depends on, how many nodes read its value. Requires nodes that were created
/// after the first `tape_nodes_before`; earlier nodes belong to another gradient [error].
template <class T>
void count_node_uses(const std::shared_ptr<tape_node<T>>& last, std::uint64_t tape_nodes_before) {
  const auto visit = [&](tape_node<T>& node) {
    if (node.order <= tape_nodes_before) reject_second_derivative();
    return node.uses++ == 0;
  };
  std::vector<tape_node<T>*> open;
  if (visit(*last)) open.push_back(last.get());
  while (!open.empty()) {
    const tape_node<T>& now = *open.back();
    open.pop_back();
    for (const auto& operand : now.operands)
      if (operand && visit(*operand)) open.push_back(operand.get());
    if (now.other_operands) now.other_operands->count_node_uses(tape_nodes_before);
  }
}

/// The queue of tape nodes of any element type whose cotangents are complete. The node created last is first, because
/// the order of creation is a topological order. Only programs with gradients instantiate ready_nodes.
template <class>
class ready_nodes {
 public:
  /// Counts a use of a node as done. The last use completes the node's cotangent, unless its contributions are passed
  /// on unsummed, and queues a node that has operands.
  template <class T>
  void count_use(const std::shared_ptr<tape_node<T>>& node) {
    if (--node->uses > 0) return;
    if (!passes_contributions_unsummed(*node)) complete_cotangent(*node);
    if (node->backward || node->other_operands)
      queue_.push(
          {node->order, node, [](void* one, ready_nodes& pass) { pass.process(*static_cast<tape_node<T>*>(one)); }});
  }
  /// Processes nodes until the queue is empty.
  void run() {
    while (!queue_.empty()) {
      const queued_node now = queue_.top();
      queue_.pop();
      now.process(now.node.get(), *this);
    }
  }

 private:
  struct queued_node {                     ///< a node whose cotangent is complete
    std::uint64_t order;                   ///< the number of the node in the order of creation
    std::shared_ptr<void> node;            ///< the node, a tape_node of any element type
    void (*process)(void*, ready_nodes&);  ///< calls process() for the type of the node
    bool operator<(const queued_node& other) const { return order < other.order; }
  };

  /// Adds the contributions of a node to the cotangents of its operands, and releases what the node kept.
  template <class T>
  void process(tape_node<T>& now) {
    // Pass contributions that were not summed on to the operand, one by one; see passes_contributions_unsummed.
    for (const sharded_tensor<T>& dy : now.contributions) add_cotangent(*now.operands[0], now.backward(0, dy));
    for (std::size_t i = 0; i < now.operands.size() && now.cotangent.state() != nullptr; ++i)
      if (now.operands[i]) add_cotangent(*now.operands[i], now.backward(i, now.cotangent));
    const auto other_operands = std::exchange(now.other_operands, nullptr);
    if (other_operands) other_operands->propagate_cotangent(now.cotangent, *this);
    // Release the blocks that the node kept, and count one use of each operand as done.
    const auto operands = std::exchange(now.operands, {});
    now.backward = nullptr;
    now.kept_blocks.release();
    now.contributions.clear();
    now.cotangent = {};
    for (const auto& operand : operands)
      if (operand) count_use(operand);
  }

  std::priority_queue<queued_node> queue_;  ///< the node created last is first
};

/// Runs the backward pass from a result whose cotangent is `seed`, through the tape nodes created after the first
/// `tape_nodes_before`. A node releases the blocks that it kept as soon as it is processed.
template <class T>
void run_backward(const sharded_tensor<T>& y, const sharded_tensor<T>& seed, std::uint64_t tape_nodes_before = 0) {
  if (!y.state()->node) return;
  const scoped_value<bool> back(run_state.is_backward, true);
  // 1. Count the uses of each node. After the last use of a node its cotangent is complete.
  count_node_uses(y.state()->node, tape_nodes_before);
  // 2. Make `seed` the cotangent of the result, with which the backward pass begins.
  ready_nodes<std::conditional_t<true, void, T>> pass;
  add_cotangent(*y.state()->node, seed);
  pass.count_use(y.state()->node);
  // 3. Process the nodes whose cotangents are complete, always the node created last first.
  pass.run();
}

#define PARTITA_INSTANTIATE_BACKWARD(EXTERN, T) \
  EXTERN template void run_backward<T>(const sharded_tensor<T>&, const sharded_tensor<T>&, std::uint64_t);
PARTITA_FOR_EACH_USUAL_ELEMENT(PARTITA_INSTANTIATE_BACKWARD, extern)

}  // namespace partita::detail
