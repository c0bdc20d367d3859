// The arguments and results of a bound program: tensors whose memory is outside of the program's storage.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/comm/fingerprint.hpp>
#include <partita/core/config.hpp>
#include <partita/sharded/detail/bound_steps.hpp>
#include <partita/sharded/reshard.hpp>
#include <partita/sharded/sharded_tensor.hpp>
#include <type_traits>
#include <utility>

namespace partita::detail {

/// A tensor as a call of a program sees it, whatever its elements are.
struct given_tensor {
  const bound_mesh* on = nullptr;
  const sharding* layout = nullptr;
  const shape_list* extents = nullptr;
  std::uint64_t number = 0, type = 0;
  text (*type_name)() = nullptr;
  bool is_recorded = false;  ///< for a gradient

  given_tensor() = default;
  template <class T>
  given_tensor(const sharded_tensor<T>& x)  // NOLINT(google-explicit-constructor): a tensor is passed as what it is
      : on(x.state()->on.get()),
        layout(&x.layout()),
        extents(&x.extents()),
        number(x.state()->number),
        type(type_number<T>()),
        type_name(&detail::type_name<T>),
        is_recorded(x.state()->node != nullptr) {}

  /// Adds what is the same on all workers.
  void mix_into(hasher& all) const { all.mix(fingerprint_of(*layout)).mix(number).mix(type); }
};

/// A tensor whose memory is passed with each call.
struct outside_argument {
  std::shared_ptr<bound_mesh> on{};
  std::uint32_t number = 0;
  sharding layout{};
  shape_list extents{};
  std::uint64_t type = 0;
  text (*type_name)() = nullptr;
  std::shared_ptr<void> memory{};  ///< kept while the program may read it

  /// The tensor that stands for it while the steps are recorded.
  template <class T>
  sharded_tensor<T> recorded(bound_steps& steps, const std::shared_ptr<bound_mesh>& mesh, const sharding& lies,
                             const shape_list& shape) {
    on = mesh, layout = lies, extents = shape, type = type_number<T>(), type_name = &detail::type_name<T>;
    tensor_block<T> whole(shape_of_box(on->box(layout, extents)));
    number = steps.held_outside(whole);
    return tensor_of(on, layout, extents, std::move(whole));
  }
  /// Whether a tensor of the same extents can be taken: it is on the same mesh, and has elements but no gradient.
  bool can_take(const given_tensor& x) const { return x.on == on.get() && !x.is_recorded && !executing.is_dry; }
  /// Takes a tensor of the same extents on the same mesh for the next call.
  template <class T>
  void take(bound_steps& steps, const sharded_tensor<T>& x) {
    memory = x.layout().same_layout(layout) ? x.state()->block.memory : reshard(x, layout).state()->block.memory;
    steps.set_memory(number, memory.get());
  }
};

/// Agrees that all workers make this call of a program with this fingerprint, with tensors that fit the arguments, of
/// the same layouts and operation numbers. Throws on all workers otherwise, or with this error message if it is not
/// empty.
PARTITA_DECL void agree_on_arguments(const world& everyone, std::uint64_t fingerprint, const char* call,
                                     const given_tensor* given, std::size_t n, const outside_argument* expected,
                                     std::size_t arguments, const text& error_message);

/// Gives a result of a bound program memory that no other value uses: an argument or another result is copied.
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

/// The tensors that the arguments of a program are, and their gradients, if it is bound for T. All have elements of T;
/// <partita/sharded/traced_complex.hpp> has programs with real and complex ones.
template <class T>
struct tensors_of_program {
  using tensor = sharded_tensor<T>;
  template <class V>
  static constexpr bool takes = std::is_same_v<V, T>;

  static tensor recorded(outside_argument& one, bool, bound_steps& steps, const std::shared_ptr<bound_mesh>& mesh,
                         const sharding& layout, const shape_list& extents) {
    return one.recorded<T>(steps, mesh, layout, extents);
  }
  /// f(x) of the tensor that x is, a tensor of its elements.
  template <class F>
  static tensor mapped(const tensor& x, const F& f) {
    return f(x);
  }
  static void renew(bound_steps& steps, tensor& result, std::uint32_t number) { detail::renew(steps, result, number); }
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/outside_tensors.ipp>
#endif
