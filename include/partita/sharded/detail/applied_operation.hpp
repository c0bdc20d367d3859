// An operation as data: what an operation is at run time, and its work on blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <partita/rule/sharding/bound.hpp>

namespace partita::detail {

/// The kind of work that an operation does on blocks.
enum class block_work : std::uint8_t {
  product,
  map,
  reshape,
  own  ///< the function that the operation itself declares
};

struct custom_op;

/// An operation as data: its rule, bound to the shapes, and its work on blocks.
struct applied_operation {
  rule how{};
  block_work work = block_work::own;
  std::shared_ptr<const custom_op> own{};
  /// The values that the adjoint reads to compute the gradients of the operands `asked`: one bit per operand, then the
  /// result. The other values need not be kept.
  std::uint32_t (*adjoint_reads)(std::uint32_t asked) = [](std::uint32_t) { return ~std::uint32_t{0}; };
  bool is_of_elements = false;  ///< an element function: the positions of the blocks do not matter
  bool truncates = false;       ///< results for integers are truncated, so that pending sums are taken before
};

}  // namespace partita::detail
