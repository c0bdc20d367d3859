// Executes element functions in the simplest case, operands with equal layouts and extents and without gradients, at
// the cost of the loop and the memory of the result only.
#pragma once

#include <array>
#include <cstddef>
#include <partita/comm/fingerprint.hpp>
#include <partita/sharded/detail/elements_op.hpp>
#include <partita/sharded/sharded_tensor.hpp>
#include <vector>

namespace partita::detail {

/// Whether the tensors are on the same mesh, have equal extents, and are on no tape; false in a dry run.
template <class T, std::size_t N>
bool are_compatible_states(const std::array<const tensor_state<T>*, N>& x) {
  const tensor_state<T>& first = *x[0];
  if (first.node != nullptr || run_state.is_dry_run) return false;  // tensors have no elements in a dry run
  for (std::size_t i = 1; i < N; ++i)
    if (x[i]->on != first.on || x[i]->node != nullptr || !(x[i]->extents == first.extents)) return false;
  return true;
}
/// Whether tensors with run-time layouts have equal shardings. The result is false for partial values and layouts with
/// bits in `open` or `must_replicate`, for which the function's rule decides. The result is also false for a sharded
/// dimension of extent 1, because the function's result is not sharded along this dimension.
template <class T, std::size_t N>
bool have_equal_shardings(const std::array<const tensor_state<T>*, N>& x) {
  const sharding& first = x[0]->layout;
  if (first.open != 0 || first.must_replicate != 0 || first.is_partial()) return false;
  for (std::size_t i = 1; i < N; ++i)
    if (x[i]->layout.open != 0 || x[i]->layout.must_replicate != 0 || !x[i]->layout.same_layout(first)) return false;
  for (std::size_t d = 0; d < x[0]->extents.size(); ++d)
    if (x[0]->extents[d] == 1 && !first.cuts[d].empty()) return false;
  return true;
}

/// Computes a result with the sharding of the operands x, at once or as a step of a program; a block is one row.
template <class T, std::size_t N>
sharded_tensor<T> run_row_function(const row_function_call<T>& work, std::uint64_t fingerprint, const char* name,
                                   const std::array<const tensor_state<T>*, N>& x) {
  const auto state = std::make_shared<tensor_state<T>>();
  state->on = x[0]->on;
  state->layout = x[0]->layout;
  state->layout.open = state->layout.must_replicate = state->layout.reduced_over = 0;  // in place: faster than a copy
  state->layout.priority = 0;
  state->extents = x[0]->extents;
  state->block = tensor_block<T>(x[0]->block.shape);
  if (state->on) {
    hasher operation(type_number<T>());
    operation.mix(fingerprint);
    for (const tensor_state<T>* one : x) operation.mix(one->number);
    state->number = state->on->log_operation(operation.value(), name, state->extents);
  }
  static constexpr std::ptrdiff_t steps[] = {1, 1, 1};
  const std::size_t n = state->block.size();
  if (run_state.steps != nullptr) {
    std::vector<tensor_block<T>> blocks;
    for (const tensor_state<T>* one : x) blocks.push_back(one->block);
    run_state.steps->add(blocks, state->block, [=](const T* const* from, T* to) {
      work.function(work.parameters.data(), n, to, 1, from, steps);
    });
  } else {
    const T* rows[N] = {};
    for (std::size_t i = 0; i < N; ++i) rows[i] = x[i]->block.data();
    work.function(work.parameters.data(), n, state->block.data(), 1, rows, steps);
  }
  return sharded_tensor<T>(state);
}

#define PARTITA_INSTANTIATE_IN_PLACE_OPERATIONS(EXTERN, T)                                                          \
  EXTERN template sharded_tensor<T> run_row_function<T, 1>(const row_function_call<T>&, std::uint64_t, const char*, \
                                                           const std::array<const tensor_state<T>*, 1>&);           \
  EXTERN template sharded_tensor<T> run_row_function<T, 2>(const row_function_call<T>&, std::uint64_t, const char*, \
                                                           const std::array<const tensor_state<T>*, 2>&);           \
  EXTERN template sharded_tensor<T> run_row_function<T, 3>(const row_function_call<T>&, std::uint64_t, const char*, \
                                                           const std::array<const tensor_state<T>*, 3>&);
PARTITA_FOR_EACH_USUAL_ELEMENT(PARTITA_INSTANTIATE_IN_PLACE_OPERATIONS, extern)

}  // namespace partita::detail
