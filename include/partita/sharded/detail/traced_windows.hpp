// Operations of a traced program along sharded dimensions: the bytes that they move, and their execution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/plan/operation_window.hpp>
#include <partita/sharded/detail/along_cuts.hpp>
#include <partita/sharded/detail/in_windows.hpp>
#include <partita/sharded/detail/wider_windows.hpp>
#include <vector>

namespace partita::detail {

/// Whether operation Op can be executed while dimensions along which it works are sharded.
template <class Op, std::size_t Operands>
inline constexpr bool may_read_windows =
    (works_along_cuts<Op> && Operands == 1) || (reads_features<Op> && Operands <= max_window_operands);

/// The interface to execute an operation that reads windows on elements of type T.
template <class T>
struct window_runner {
  virtual ~window_runner() = default;
  virtual sharded_tensor<T> run_in_windows(const applied_operation& work, const std::vector<sharded_tensor<T>>& x,
                                           const sharding* operand_layouts, const sharding& result_layout,
                                           wider_window<T>* wider) const = 0;  ///< executes it on x; wider may be null
};
/// Executes the operation `op` of the traced_window Window on elements of T.
template <class Op, class Window, class T>
struct window_step : window_runner<T> {
  sharded_tensor<T> run_in_windows(const applied_operation& work, const std::vector<sharded_tensor<T>>& x,
                                   const sharding* operand_layouts, const sharding& result_layout,
                                   wider_window<T>* wider) const override {  ///< see window_runner
    const Op& op = static_cast<const Window&>(*this).op;
    if constexpr (reads_features<Op>) {
      layouts_over_features fixed;
      for (std::size_t i = 0; i < x.size(); ++i) fixed.operands[i] = operand_layouts[i];
      fixed.result = result_layout;
      return run_over_features(op, work, x, &fixed, wider);
    } else {
      return run_along_cuts(op, x[0], operand_layouts);
    }
  }
};

/// An operation on `Operands` operands that can be executed along sharded dimensions, for elements of the types T.
template <class Op, std::size_t Operands, class... T>
struct traced_window final : operation_window,
                             any_box_operation,
                             window_step<Op, traced_window<Op, Operands, T...>, T>... {
  Op op;  ///< the operation as the program declares it

  explicit traced_window(const Op& declared, std::size_t rank)
      : operation_window(windowed_tensors(), window_dimensions(rank)), op(declared) {}

  received_share receive_cost(std::size_t i, std::size_t place, const sharding* layouts,
                              const shape_list* shapes) const override {  ///< of operand i, for the worker at `place`
    if constexpr (reads_features<Op>) {
      if ((Op::windowed >> i & 1U) == 0) return {};
      const auto read = op.window(i, mesh_block(layouts[Op::anchor], shapes[Op::anchor], place), {shapes, Operands});
      return received_share_of_window(replace_features<Op>(mesh_block(layouts[i], shapes[i], place), read), layouts[i],
                                      shapes[i], place);
    } else if constexpr (reads_windows<Op>) {
      return received_share_of_window(op.window(mesh_block(layouts[1], shapes[1], place), shapes[0]), layouts[i],
                                      shapes[i], place);
    } else {  // a cumulative operation moves the totals of the blocks before (or after) a block
      const mesh& m = layouts[0].on;
      std::size_t along = 0;
      while ((dimensions >> along & 1U) == 0) ++along;
      const axis_list axes = layouts[0].cuts[along];
      const std::size_t number = part_number(m, axes, place);
      const std::size_t blocks = op.carries_backwards() ? m.size(axes) - 1 - number : number;
      std::size_t each = 1;
      const auto block = mesh_block(layouts[0], shapes[0], place);
      for (std::size_t d = 0; d < block.size(); ++d) each *= d == along ? 1 : block[d].size();
      return {blocks * each, each == 0 ? 0 : blocks};
    }
  }

  bool can_compute_boxes() const override {  ///< if only operand 0 has windows, and the result is the anchor
    if constexpr (reads_features<Op>) return Op::windowed == 1 && Op::anchor == Operands;
    else return false;
  }
  short_list<interval> operand_box(const short_list<interval>& result, const short_list<interval>& block,
                                   const shape_list* shapes) const override {  ///< see any_box_operation
    if constexpr (reads_features<Op>) return replace_features<Op>(block, op.window(0, result, {shapes, Operands}));
    else return block;
  }

 private:
  /// The operands and results whose dimensions window_dimensions() are sharded together.
  static constexpr tensor_set windowed_tensors() {
    if constexpr (!reads_features<Op>) return first_tensors(2);
    else {
      tensor_set all = 0;
      for (std::size_t t = 0; t <= Operands; ++t)
        if (has_features<Op>(t)) all |= one_tensor(t);
      return all;
    }
  }
  static std::uint32_t window_dimensions(std::size_t rank) {  ///< a bit mask of the dimensions with windows
    std::uint32_t all = 0;
    if constexpr (!reads_features<Op>) all = Op::along;
    else
      for (std::size_t d = 0; d < rank; ++d) all |= is_feature_dimension<Op>(d) ? std::uint32_t{1} << d : 0U;
    return all;
  }
};

}  // namespace partita::detail
