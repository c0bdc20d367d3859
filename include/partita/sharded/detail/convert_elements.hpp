// Operations whose result has another element type than their operands, such as the real parts of complex numbers.
// Callers first reshard operands with other layouts or with reductions that cannot stay pending; convert_elements()
// moves no element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <partita/sharded/call.hpp>
#include <partita/sharded/detail/run_backward.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The operands, with elements T, of a tape node whose value has elements U.
template <class T, class U>
struct converted_operands final : other_type_operands<U> {
  std::vector<std::shared_ptr<tape_node<T>>> operands{};  ///< the operands' nodes; null if one has no gradient
  std::function<sharded_tensor<T>(std::size_t i, const sharded_tensor<U>& dy)> backward{};  ///< cotangent of operand i

  void count_node_uses(std::uint64_t tape_nodes_before) override {  ///< counts the uses of the operands' tape nodes
    for (const auto& one : operands)
      if (one) detail::count_node_uses(one, tape_nodes_before);
  }
  void propagate_cotangent(const sharded_tensor<U>& cotangent, backward_pass& pass) override {  ///< see the base class
    for (std::size_t i = 0; i < operands.size() && cotangent.state() != nullptr; ++i)
      if (operands[i]) add_cotangent(*operands[i], backward(i, cotangent));
    for (const auto& one : operands)
      if (one) pass.count_use(one);
  }
};

/// Computes a tensor of elements U from at most two tensors of elements T on one mesh. `local(x, y)` computes this
/// worker's block y of the result from the blocks x of the operands (pointers to their memory), at once or in each run
/// of a program, so it must not refer to variables of the call. `backward(i, dy)` computes the cotangent of operand i,
/// and reads the values `kept`.
template <class U, class T, class Local, class Backward>
sharded_tensor<U> convert_elements(const char* name, std::uint64_t fingerprint, const std::vector<sharded_tensor<T>>& x,
                                   const sharding& result_layout, const shape_list& extents, const Local& local,
                                   const Backward& backward, const std::vector<sharded_tensor<T>>& kept = {}) {
  const auto on = x[0].state()->on;
  const std::uint64_t number =
      record_operation<U>(hasher(type_number<T>()).mix(fingerprint).mix(name).value(), name, on.get(), extents, x);
  const shape_list shape = on ? shape_of_box(on->box(result_layout, extents)) : extents;
  tensor_block<U> block;
  if (on && !on->active()) block = zero_block<U>(shape);
  else {
    block = new_block<U>(shape);
    std::vector<tensor_block<T>> blocks;
    for (const auto& one : x) blocks.push_back(one.state()->block);
    run_step(blocks, block, local);
  }
  auto y = tensor_of(on, result_layout, extents, std::move(block), number);
  bool asked = false;
  for (const auto& one : x) asked = asked || one.state()->node != nullptr;
  if (!asked) return y;
  const auto other_operands = std::make_shared<converted_operands<T, U>>();
  auto node = new_tape_node<U>(result_layout);
  node->kept_blocks.record();
  for (const auto& one : kept) node->kept_blocks.hold_block(one.data(), one.size() * sizeof(T));
  for (const auto& one : x) other_operands->operands.push_back(one.state()->node);
  other_operands->backward = backward;
  node->other_operands = other_operands;
  y.state()->node = std::move(node);
  return y;
}

/// Whether all pending reductions of a value are sums or means, so that a linear function may be applied first.
constexpr bool has_only_pending_sums(const sharding& s) {
  bool all = true;
  for (const pending_reduction kind : s.pending) all = all && (kind == pending_reduction::none || is_linear(kind));
  return all;
}
/// The layout in which a function of one operand, linear or not, reads the operand and leaves its result.
constexpr sharding layout_of_function(bool linear, const sharding& s) {
  return layout_of(linear && has_only_pending_sums(s) ? s : s.without_partials());
}
/// The layout in which a linear function of two operands reads both operands.
constexpr sharding layout_of_function(const sharding& a, const sharding& b) {
  return layout_of_function(layout_of(a).same_layout(layout_of(b)), a);
}

/// The layouts of functions of one operand, and their names. Types have the names of layouts as template arguments,
/// because g++ 12 fails to compile shardings as template arguments.
template <bool Linear, auto Layout>
inline constexpr sharding function_layout = layout_of_function(Linear, layout_of_name<Layout>);
template <bool Linear, auto Layout>
inline constexpr layout_name<layout_text(function_layout<Linear, Layout>).size()> function_layout_name =
    make_layout_name<layout_text(function_layout<Linear, Layout>).size()>(function_layout<Linear, Layout>);
/// The layouts of linear functions of two operands, and their names.
template <auto A, auto B>
inline constexpr sharding binary_function_layout = layout_of_function(layout_of_name<A>, layout_of_name<B>);
template <auto A, auto B>
inline constexpr layout_name<layout_text(binary_function_layout<A, B>).size()> binary_function_layout_name =
    make_layout_name<layout_text(binary_function_layout<A, B>).size()>(binary_function_layout<A, B>);

/// Reshards x to the layout `target`. If x has the layout `target` already, returns x itself.
template <class T>
sharded_tensor<T> to_layout(const sharded_tensor<T>& x, const sharding& target) {
  return !x.state()->on || layout_of(x.layout()).same_layout(target) ? x : reshard(x, target);
}

}  // namespace partita::detail
