// The arguments and results of a bound program: tensors whose memory is outside of the program's storage.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <partita/sharded/detail/bound_steps.hpp>
#include <partita/sharded/reshard.hpp>
#include <partita/sharded/sharded_tensor.hpp>
#include <utility>

namespace partita::detail {

/// A tensor whose memory is passed with each call.
template <class T>
struct outside_argument {
  std::shared_ptr<bound_mesh> on{};
  std::uint32_t number = 0;
  sharding layout{};
  shape_list extents{};
  tensor_block<T> block{};  ///< kept while the program may read it

  /// The tensor that stands for it while the steps are recorded.
  sharded_tensor<T> recorded(bound_steps& steps, const std::shared_ptr<bound_mesh>& mesh, const sharding& lies,
                             const shape_list& shape) {
    on = mesh, layout = lies, extents = shape;
    tensor_block<T> whole(shape_of_box(on->box(layout, extents)));
    number = steps.held_outside(whole);
    return tensor_of(on, layout, extents, std::move(whole));
  }
  /// Whether a tensor of the same extents can be taken: it is on the same mesh, and has elements but no gradient.
  bool can_take(const sharded_tensor<T>& x) const {
    return x.state()->on == on && !x.state()->node && !executing.is_dry;
  }
  /// Takes a tensor of the same extents on the same mesh for the next call.
  void take(bound_steps& steps, const sharded_tensor<T>& x) {
    block = x.layout().same_layout(layout) ? x.state()->block : reshard(x, layout).state()->block;
    steps.set_memory(number, block.data());
  }
};

/// A result of a program in its own memory. If it is an argument, another result or a constant, a copy step is added.
template <class T>
sharded_tensor<T> outside_result(bound_steps& steps, const sharded_tensor<T>& y, std::uint32_t& number) {
  tensor_block<T> block = y.state()->block;
  if (!steps.is_made_inside(block)) {
    block = tensor_block<T>(block.shape);
    perform({y.state()->block}, block, [n = block.size()](const T* const* x, T* to) { std::copy_n(x[0], n, to); });
  }
  number = steps.held_outside(block);
  return tensor_of(y.state()->on, y.layout(), y.extents(), std::move(block));
}
/// Before a call: new memory for a result if another tensor shares its current memory.
template <class T>
void renew(bound_steps& steps, sharded_tensor<T>& result, std::uint32_t number) {
  if (result.state().use_count() > 1 || !result.state()->block.alone())
    result = tensor_of(result.state()->on, result.layout(), result.extents(), tensor_block<T>(result.shape()));
  steps.set_memory(number, result.state()->block.data());
}

}  // namespace partita::detail
