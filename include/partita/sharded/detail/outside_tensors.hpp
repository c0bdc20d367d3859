// The arguments and results of a bound program, whose memory is outside of the program's storage.
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

/// The properties, but not the elements, of a tensor that is passed to a program; the workers compare the properties.
struct tensor_argument {
  const bound_mesh* on = nullptr;       ///< the mesh of the tensor; null if the tensor is on no mesh
  const sharding* layout = nullptr;     ///< the layout of the tensor
  const shape_list* extents = nullptr;  ///< the extents of the tensor
  std::uint64_t number = 0, type = 0;   ///< the hash of the operation that made the tensor; the type_number of elements
  text (*type_name)() = nullptr;        ///< returns the name of the element type
  bool is_recorded = false;             ///< whether the tensor is on a tape

  tensor_argument() = default;  ///< no tensor
  template <class T>
  tensor_argument(const sharded_tensor<T>& x)  // NOLINT(google-explicit-constructor): a tensor is passed as what it is
      : on(x.state()->on.get()),
        layout(&x.layout()),
        extents(&x.extents()),
        number(x.state()->number),
        type(type_number<T>()),
        type_name(&detail::type_name<T>),
        is_recorded(x.state()->node != nullptr) {}

  /// Adds the properties of the tensor that must be equal on all workers to a hash.
  void add_to_hash(hasher& all) const { all.mix(fingerprint_of(*layout)).mix(number).mix(type); }
};

/// An argument of a bound program, whose memory is passed with each call.
struct outside_argument {
  std::shared_ptr<bound_mesh> on{};  ///< the mesh of the program
  std::uint32_t block_number = 0;    ///< the number of the argument's block in the program
  sharding layout{};                 ///< the layout in which the program reads the argument
  shape_list extents{};              ///< the extents of the whole argument
  std::uint64_t type = 0;            ///< the type_number of the elements
  text (*type_name)() = nullptr;     ///< returns the name of the element type
  std::shared_ptr<void> memory{};    ///< keeps the argument alive while the program may read it

  /// The tensor that represents the argument while the steps are recorded.
  template <class T>
  sharded_tensor<T> recorded(bound_steps& steps, const std::shared_ptr<bound_mesh>& mesh,
                             const sharding& completed_layout, const shape_list& shape) {
    on = mesh, layout = completed_layout, extents = shape, type = type_number<T>(), type_name = &detail::type_name<T>;
    tensor_block<T> whole(shape_of_box(on->box(layout, extents)));
    block_number = steps.add_outside_block(whole);
    return tensor_of(on, layout, extents, std::move(whole));
  }
  /// Whether the program can use tensor x, which has the right extents: x is on the same mesh as the program and on no
  /// tape, and this is no dry run.
  bool accepts_tensor(const tensor_argument& x) const {
    return x.on == on.get() && !x.is_recorded && !run_state.is_dry_run;
  }
  /// Passes x, which has the right extents and mesh, to the next call. Reshards x if its layout is not the argument's.
  template <class T>
  void set_tensor(bound_steps& steps, const sharded_tensor<T>& x) {
    memory = x.layout().same_layout(layout) ? x.state()->block.memory : reshard(x, layout).state()->block.memory;
    steps.set_memory(block_number, memory.get());
  }
};

/// Makes all workers agree that they call the program of this fingerprint with tensors that fit the arguments, each of
/// the same layout on all workers and made by the same operation (of equal number). All workers throw an error if their
/// calls differ, if a tensor does not fit, or if a worker passes an error message; at checks::local each worker checks
/// only its own tensors.
PARTITA_DECL void agree_on_arguments(const world& everyone, std::uint64_t fingerprint, const char* call,
                                     const tensor_argument* actual_arguments, std::size_t n,
                                     const outside_argument* expected, std::size_t arguments,
                                     const text& error_message);

/// Gives a result of a bound program its own memory: copies a result that is an argument, a constant or another result.
template <class T>
sharded_tensor<T> make_outside_result(bound_steps& steps, const sharded_tensor<T>& y, std::uint32_t& number) {
  tensor_block<T> block = y.state()->block;
  if (!steps.is_set_by_step(block)) {
    block = tensor_block<T>(block.shape);
    run_step({y.state()->block}, block, [n = block.size()](const T* const* x, T* to) { std::copy_n(x[0], n, to); });
  }
  number = steps.add_outside_block(block);
  return tensor_of(y.state()->on, y.layout(), y.extents(), std::move(block));
}
/// Before a call, allocates new memory for a result whose memory another tensor shares.
template <class T>
void ensure_unique_memory(bound_steps& steps, sharded_tensor<T>& result, std::uint32_t number) {
  if (result.state().use_count() > 1 || !result.state()->block.is_unique())
    result = tensor_of(result.state()->on, result.layout(), result.extents(), tensor_block<T>(result.shape()));
  steps.set_memory(number, result.state()->block.data());
}

/// The types of the arguments and gradients of a program that is bound for T: all have elements of T.
/// <partita/sharded/traced_complex.hpp> defines the types for programs with real and complex arguments.
template <class T>
struct tensors_of_program {
  using tensor = sharded_tensor<T>;  ///< the type of each argument and gradient
  template <class V>
  static constexpr bool takes = std::is_same_v<V, T>;  ///< whether arguments may have elements V

  /// The tensor that represents argument `one` while the steps are recorded.
  static tensor recorded(outside_argument& one, bool, bound_steps& steps, const std::shared_ptr<bound_mesh>& mesh,
                         const sharding& layout, const shape_list& extents) {
    return one.recorded<T>(steps, mesh, layout, extents);
  }
  /// Returns f(x), a tensor of the same element type as x.
  template <class F>
  static tensor transform(const tensor& x, const F& f) {
    return f(x);
  }
  /// Before a call, allocates new memory for a result whose memory another tensor shares.
  static void ensure_unique_memory(bound_steps& steps, tensor& result, std::uint32_t number) {
    detail::ensure_unique_memory(steps, result, number);
  }
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/outside_tensors.ipp>
#endif
