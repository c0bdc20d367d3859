// Applies an operation to sharded tensors: its rule gives the layouts of the operands, the operands are resharded, the
// local function computes each worker's block, and the adjoint is composed of operations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/core/config.hpp>
#include <partita/rule/sharding/moved_bytes.hpp>
#include <partita/rule/sharding/propagate.hpp>
#include <partita/sharded/detail/applied_operation.hpp>
#include <partita/sharded/detail/block_product.hpp>
#include <partita/sharded/detail/custom_op.hpp>
#include <partita/sharded/detail/operation_fingerprint.hpp>
#include <partita/sharded/reshard.hpp>
#include <type_traits>
#include <vector>

namespace partita::detail {

/// The layouts of operands and result, if static types, a completed program or an adjoint fix them; otherwise null.
struct fixed_layouts {
  const sharding* operands = nullptr;  ///< an array of one layout for each operand
  const sharding* result = nullptr;    ///< the layout of the result
};

/// Describes operation Op on operands of these shapes, for elements of the types T.
template <std::size_t Operands, class... T, class Op>
applied_operation bind_operation(const Op& op, const shape_span& shapes) {
  const partita::rule made = Op::rule(shapes);
  if constexpr (requires { op.make_applied_operation(made); }) {
    if constexpr (requires { Op::uses_matrix_product; }) (multiply_by_blas<T>(), ...);
    return op.make_applied_operation(bind_shapes(made, shapes));
  } else {
    applied_operation all;
    if constexpr (requires { op.result_extents(shapes); }) {
      const shape_list extents = op.result_extents(shapes);
      all.how = bind_shapes(made, shapes, shape_span(&extents, 1));
    } else {
      all.how = bind_shapes(made, shapes);
    }
    all.work = block_work::custom;
    if constexpr (requires { Op::is_elementwise; }) {
      all.is_elementwise = true;
      all.truncates = op.truncates();
    }
    if constexpr (requires { Op::adjoint_read_mask(0U); }) all.adjoint_reads = &Op::adjoint_read_mask;
    else if constexpr (requires { Op::adjoint_reads; })
      all.adjoint_reads = [](std::uint32_t) { return std::uint32_t{Op::adjoint_reads}; };
    if constexpr (requires { op.template make_custom_op<T...>(); }) all.custom = op.template make_custom_op<T...>();
    else all.custom = std::unique_ptr<const custom_op>(new work_of_op<Op, Operands, T...>(op));
    return all;
  }
}
template <std::size_t Operands, class T>
std::array<shape_list, Operands> operand_shapes(const std::vector<sharded_tensor<T>>& x) {  ///< extents of the tensors
  std::array<shape_list, Operands> shapes;
  for (std::size_t i = 0; i < Operands; ++i) shapes[i] = x[i].extents();
  return shapes;
}
template <std::size_t Operands, class T, class Op>
applied_operation bind_operation(const Op& op, const std::vector<sharded_tensor<T>>& x) {
  return bind_operation<Operands, T>(op, shape_span(operand_shapes<Operands>(x).data(), Operands));
}

/// The mesh that the operands have in common. Throws an error if the operands are on several meshes.
template <class T>
std::shared_ptr<bound_mesh> common_mesh(const applied_operation& op, const std::vector<sharded_tensor<T>>& operands) {
  const auto on = operands[0].state()->on;
  for (const auto& x : operands)
    if (x.state()->on != on)
      throw partition_error(text("partita::") << op.how.name() << ": requires operands on one mesh of one world"
                                              << (on == nullptr || x.state()->on == nullptr
                                                      ? ", but one of them is a plain array; shard it first"
                                                      : ", but there are two; make them from the same mesh"));
  return on;
}

/// Makes the block of this shape that is the result of an operation without declared functions: computes it at once or
/// as a step of a program. In a dry run the block has no memory.
template <class T>
tensor_block<T> compute(const applied_operation& op, const std::vector<tensor_block<T>>& x, const shape_list& shape) {
  if (op.work == block_work::reshape) {
    tensor_block<T> y = x[0];
    y.shape = shape;
    return y;
  }
  const tensor_block<T> y = new_block<T>(shape);
  if (run_state.is_dry_run) return y;
  if (op.work == block_work::product) run_step(x, y, block_product<T>(op.how, x[0].shape, x[1].shape, shape));
  else run_step(x, y, block_sum_or_repeat<T>(op.how, x[0].shape, shape));
  return y;
}

/// Whether an operation that has to move an operand of this layout must throw an error; see no_implicit_reshard.
inline bool is_move_forbidden(const sharding& s) {
  return (run_state.no_implicit_reshard_scopes > 0 || s.on.requires_explicit_reshards) && !run_state.is_backward;
}

/// Throws a partition_error if operand i would have to move elements although explicit reshards are required.
PARTITA_DECL void require_no_forbidden_move(const rule& how, std::size_t i, const sharding& from, const sharding& to,
                                            const shape_list& extents, std::size_t element_bytes);

/// The box of indices that a block has in its tensor, and the extents of the tensor.
struct box_in_tensor {
  short_list<interval> box{};   ///< the indices of the block
  shape_list tensor_extents{};  ///< the extents of the whole tensor
};
/// Makes this worker's block of the result from its blocks of the operands, without communication: computes it at once
/// or as a step of a program. In a dry run the block has no memory.
template <class T>
tensor_block<T> local_result(const applied_operation& op, const std::vector<tensor_block<T>>& x,
                             const std::vector<box_in_tensor>& operand_boxes, const box_in_tensor& result_box) {
  const shape_list shape = shape_of_box(result_box.box);
  if (!op.custom) return compute(op, x, shape);
  tensor_block<T> y = new_block<T>(shape);
  if (run_state.is_dry_run) return y;
  std::vector<tensor_part<const T>> parts;
  for (std::size_t i = 0; i < x.size(); ++i)
    parts.push_back({x[i].data(), x[i].shape, operand_boxes[i].box, operand_boxes[i].tensor_extents});
  const tensor_part<T> result_part{y.data(), shape, result_box.box, result_box.tensor_extents};
  const auto& custom = work_for_type<T>(*op.custom, op.how.name());
  if (run_state.steps != nullptr)
    run_state.steps->add(
        x, y, [keep = op.custom, run = custom.prepared(parts, result_part)](const T* const* from, T* memory) {
          run(from, memory);
        });
  else custom.compute(parts, result_part);
  return y;
}

template <class T>
cotangent_function<T> make_adjoint(const applied_operation& op, const std::vector<sharded_tensor<T>>& x,
                                   const sharded_tensor<T>& y);

/// The values that the adjoint of an operation reads to compute the gradients of the operands `gradients`, as bits.
PARTITA_DECL std::uint32_t values_read_by_adjoint(const applied_operation& op, std::uint32_t gradients);
/// Makes a block that has the shape of x and no memory.
template <class T>
tensor_block<T> empty_block(const tensor_block<T>& x) {
  tensor_block<T> y;
  y.shape = x.shape;
  return y;
}

/// Adds a tape node to the result y, if a gradient of an operand may be requested. The tape keeps each operand that the
/// adjoint reads in the layout in which the operation read it, so that the operand is not moved twice.
template <class T>
sharded_tensor<T> record_result(const applied_operation& op, const std::vector<sharded_tensor<T>>& operands,
                                const std::vector<sharding>& operand_layouts,
                                const std::vector<tensor_block<T>>& blocks, const sharded_tensor<T>& y) {
  const auto& on = y.state()->on;
  const std::size_t n = operands.size();
  std::uint32_t gradients = 0;
  for (std::size_t i = 0; i < n; ++i) gradients |= operands[i].state()->node != nullptr ? std::uint32_t{1} << i : 0U;
  if (gradients == 0) return y;
  const std::uint32_t read = values_read_by_adjoint(op, gradients);
  const auto reads = [&](std::size_t i) { return (read >> i & 1U) != 0; };
  std::vector<sharded_tensor<T>> kept;
  for (std::size_t i = 0; i < n; ++i)
    kept.push_back(tensor_of<T>(on, on ? operand_layouts[i] : operands[i].layout(), operands[i].extents(),
                                reads(i) ? blocks[i] : empty_block(blocks[i]), operands[i].state()->number));
  const auto result = reads(n)
                          ? detach(y)
                          : tensor_of<T>(on, y.layout(), y.extents(), empty_block(y.state()->block), y.state()->number);
  auto recorded_y = record_on_tape<T>(sharded_tensor<T>(std::make_shared<tensor_state<T>>(*y.state())), operands,
                                      [&] { return make_adjoint(op, kept, result); });
  for (const auto& one : kept) recorded_y.state()->node->hold_block(one);
  recorded_y.state()->node->hold_block(result);
  return recorded_y;
}

/// Executes an operation and returns its result, in the layout of `preset` or in the layout that propagation chooses.
/// Collective if elements move.
template <class T>
sharded_tensor<T> run_operation(const applied_operation& op, const std::vector<sharded_tensor<T>>& operands,
                                const fixed_layouts& preset = {}) {
  const auto on = common_mesh(op, operands);
  // A function that rounds integers does not commute with a sum, so pending sums are taken first.
  if constexpr (std::is_integral_v<T>) {
    if (op.truncates && operands[0].layout().is_partial()) {
      std::vector<sharded_tensor<T>> summed = operands;
      summed[0] = reshard(operands[0], operands[0].layout().without_partials());
      const auto y = run_operation<T>(op, summed);
      return preset.result == nullptr ? y : reshard(y, *preset.result);
    }
  }
  const scoped_name name(op.how.name());
  const std::size_t n = operands.size();
  const shape_list extents = result_shape(op.how, 0);
  const std::uint64_t number =
      record_operation<T>(on ? operation_fingerprint(op) : 0, op.how.name(), on.get(), extents, operands);
  // 1. Find the layouts in which the operands are read, and the layout of the result.
  std::vector<sharding> operand_layouts(n);
  sharding result_layout;
  if (preset.result != nullptr) {
    result_layout = *preset.result;
    for (std::size_t i = 0; i < n; ++i) operand_layouts[i] = preset.operands[i];
    for (std::size_t t = 0; t <= n; ++t)  // repeated dimensions of extent 1 are not sharded
      for (std::size_t d = 0; d < op.how.rank(t); ++d)
        if (op.how.at(t, d).count == 0) (t < n ? operand_layouts[t] : result_layout).cuts[d] = axis_list();
  } else {
    std::vector<spec> specs;
    for (const auto& x : operands) specs.push_back(spec(x.layout(), x.extents()).with_element_bytes(sizeof(T)));
    const propagation p = propagate(operands[0].layout().on, op.how, spec_list(specs));
    for (std::size_t i = 0; i < n; ++i) operand_layouts[i] = p.operands[i];
    result_layout = p.results[0];
  }
  result_layout = layout_of(result_layout);
  // 2. Reshard the operands to the layouts that the operation needs.
  std::vector<tensor_block<T>> blocks;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& s = *operands[i].state();
    require_no_forbidden_move(op.how, i, s.layout, operand_layouts[i], s.extents, sizeof(T));
    blocks.push_back(on ? resharded(*on, s.block, s.layout, operand_layouts[i], s.extents) : s.block);
  }
  // 3. Compute this worker's block of the result.
  tensor_block<T> block;
  if (on && !on->active()) {
    block = zero_block<T>(shape_of_box(on->box(result_layout, extents)));
  } else if (op.custom) {
    const auto place_of = [&](const sharding& s, const shape_list& e) {
      return box_in_tensor{tensor_state<T>{on, s, e, {}, nullptr}.box(), e};
    };
    std::vector<box_in_tensor> places(n);
    for (std::size_t i = 0; i < n && !op.is_elementwise; ++i)
      places[i] = place_of(operand_layouts[i], operands[i].extents());
    block = local_result(op, blocks, places, place_of(result_layout, extents));
  } else {
    block = compute(op, blocks, on ? shape_of_box(on->box(result_layout, extents)) : extents);
  }
  // 4. Record the result on the tape if a gradient may be requested.
  auto y = tensor_of<T>(on, result_layout, extents, std::move(block), number);
  return record_result(op, operands, operand_layouts, blocks, y);
}

#define PARTITA_INSTANTIATE_OPERATION(EXTERN, T)                                                                      \
  EXTERN template sharded_tensor<T> run_operation<T>(const applied_operation&, const std::vector<sharded_tensor<T>>&, \
                                                     const fixed_layouts&);
PARTITA_FOR_EACH_USUAL_ELEMENT(PARTITA_INSTANTIATE_OPERATION, extern)

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/apply.ipp>
#endif
