// The tape of reverse-mode differentiation, whose nodes record operands and how to compute their cotangents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <partita/rule/sharding/cotangent.hpp>
#include <partita/sharded/detail/tape_blocks.hpp>
#include <partita/sharded/sharded_tensor.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// A function that computes the cotangent of operand i from the cotangent of the result.
template <class T>
using cotangent_function = std::function<sharded_tensor<T>(std::size_t i, const sharded_tensor<T>& dy)>;

template <class>
class ready_nodes;
using backward_pass = ready_nodes<void>;  ///< a running backward pass; see run_backward.hpp

/// The operands of a tape node that have another element type than its value; see convert_elements.hpp.
template <class T>
struct other_type_operands {
  virtual ~other_type_operands() = default;
  /// Calls detail::count_node_uses() for the tape node of each operand.
  virtual void count_node_uses(std::uint64_t tape_nodes_before) = 0;
  /// Computes contributions to the cotangents of the operands from the cotangent of the value, which is empty if
  /// nothing contributed to it.
  virtual void propagate_cotangent(const sharded_tensor<T>& cotangent, backward_pass& pass) = 0;
};

/// The tape node of a value. Nodes are numbered in the order of creation, which is a topological order.
template <class T>
struct tape_node {
  std::uint64_t order = 0;                             ///< the number of the node, from 1
  sharding layout{};                                   ///< the layout of the value
  std::vector<std::shared_ptr<tape_node>> operands{};  ///< the operands' nodes; null for an operand without a gradient
  cotangent_function<T> backward{};                    ///< the adjoint; null for a parameter, and with other_operands
  bool is_reshard = false;                             ///< whether the value is its only operand, resharded
  bool keeps_contribution_layout = false;              ///< true: a single contribution is not resharded
  bool passes_on_contributions = false;                ///< true: each contribution is passed on alone, without a sum
  std::size_t uses = 0;                                ///< uses that have not contributed to the cotangent yet
  std::vector<sharded_tensor<T>> contributions{};      ///< the contributions to the cotangent, one per layout
  sharded_tensor<T> cotangent{};                       ///< the sum of the contributions; empty until it is complete
  tape_blocks kept_blocks{};                           ///< the blocks that `backward` reads
  std::shared_ptr<other_type_operands<T>> other_operands{};  ///< null unless operands have another element type

  /// Counts the block of x as memory that this node keeps alive.
  void hold_block(const sharded_tensor<T>& x) { kept_blocks.hold_block(x.data(), x.size() * sizeof(T)); }
};

template <class T>
std::shared_ptr<tape_node<T>> new_tape_node(const sharding& layout) {  ///< of a new value in this layout
  auto node = std::make_shared<tape_node<T>>();
  node->order = ++run_state.tape_nodes;
  node->layout = layout;
  return node;
}

/// A value with the same block as x that is not on the tape.
template <class T>
sharded_tensor<T> detach(const sharded_tensor<T>& x) {
  if (!x.state()->node) return x;
  auto state = std::make_shared<tensor_state<T>>(*x.state());
  state->node = nullptr;
  return sharded_tensor<T>(std::move(state));
}

/// Records a result on the tape if a gradient of one of the operands may be requested. `make()`, which returns the
/// backward function, is called only if the result is recorded.
template <class T, class Make>
sharded_tensor<T> record_on_tape(sharded_tensor<T> y, const std::vector<sharded_tensor<T>>& operands, Make make) {
  bool asked = false;
  for (const auto& x : operands) asked = asked || x.state()->node != nullptr;
  if (!asked) return y;
  auto node = new_tape_node<T>(y.layout());
  for (const auto& x : operands) node->operands.push_back(x.state()->node);
  node->kept_blocks.record();
  node->backward = make();
  y.state()->node = std::move(node);
  return y;
}

}  // namespace partita::detail
