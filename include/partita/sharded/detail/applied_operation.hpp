// Describes an operation at run time: its rule, and its work on blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <partita/rule/sharding/bound.hpp>

namespace partita::detail {

/// The kind of work that an operation does on blocks.
enum class block_work : std::uint8_t {
  product,        ///< a product of two blocks; see block_product
  sum_or_repeat,  ///< sums along dimensions, repeats or transposes elements; see block_sum_or_repeat
  reshape,        ///< the elements of the operand, in the same order, with other extents
  custom          ///< the local function that the operation declares
};

struct custom_op;

/// An operation that is applied to operands of known shapes: its rule, bound to the shapes, and its work on blocks.
struct applied_operation {
  rule how{};                                 ///< the rule, which has the extents of operands and result
  block_work work = block_work::custom;       ///< selects the function that computes blocks
  std::shared_ptr<const custom_op> custom{};  ///< the declared functions, if `work` is block_work::custom
  /// The values that the adjoint reads to compute the gradients of the operands `gradients`, with one bit per operand
  /// and the next bit for the result. The tape need not keep other operands or results.
  std::uint32_t (*adjoint_reads)(std::uint32_t gradients) = [](std::uint32_t) { return ~std::uint32_t{0}; };
  bool is_elementwise = false;  ///< an element function, whose work does not depend on the positions of the blocks
  bool truncates = false;       ///< results for integers are truncated, so pending sums must be taken before
};

}  // namespace partita::detail
