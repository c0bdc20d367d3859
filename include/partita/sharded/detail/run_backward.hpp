// Reverse mode: the cotangents of all values behind a result, the last made first.
#pragma once

#include <partita/sharded/detail/adjoint.hpp>
#include <queue>
#include <utility>
#include <vector>

namespace partita::detail {

/// Adds a contribution to a node's cotangent, where the value's layout says that cotangents lie.
template <class T>
void contribute(tape_node<T>& node, const sharded_tensor<T>& dx) {
  const naming_operation name("cotangent");
  sharded_tensor<T> more = dx.state()->on ? reshard(untaped(dx), place_of_cotangent(node.layout)) : untaped(dx);
  if (node.cotangent.state() == nullptr) {
    node.cotangent = std::move(more);
    return;
  }
  const std::vector<sharded_tensor<T>> both{node.cotangent, more};
  const sharding alike[] = {more.layout(), more.layout()};
  node.cotangent = run_operation<T>(elements_operation<T>(element_function::add, both), both, {alike, &more.layout()});
}

/// Runs back from a result whose cotangent is `seed`. Nodes that are done with let go of what they kept.
template <class T>
void run_backward(const sharded_tensor<T>& y, const sharded_tensor<T>& seed) {
  using step = std::shared_ptr<tape_node<T>>;
  if (!y.state()->node) return;
  struct scope {
    bool before = going_back;
    scope() { going_back = true; }
    ~scope() { going_back = before; }
  } const now_back;
  const auto later = [](const step& a, const step& b) { return a->order < b->order; };
  std::priority_queue<step, std::vector<step>, decltype(later)> open(later);
  contribute(*y.state()->node, seed);
  open.push(y.state()->node);
  while (!open.empty()) {
    const step now = open.top();
    open.pop();
    while (!open.empty() && open.top() == now) open.pop();
    if (!now->back) continue;  // a parameter: it keeps its cotangent
    for (std::size_t i = 0; i < now->operands.size(); ++i) {
      if (!now->operands[i]) continue;
      const auto dx = now->back(i, now->cotangent);
      if (dx.state() == nullptr) continue;  // nothing goes back to this operand
      contribute(*now->operands[i], dx);
      open.push(now->operands[i]);
    }
    now->back = nullptr;
    now->held.release();
    now->operands.clear();
    now->cotangent = {};
  }
}

}  // namespace partita::detail
