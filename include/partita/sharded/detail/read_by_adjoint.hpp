// Which values the adjoint of an operation reads; the tape keeps only these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/sharded/detail/by_label.hpp>

namespace partita::detail {

/// Which values the adjoint of an operation reads if the gradients of these operands are wanted: one bit per operand,
/// and the next bit for the result. The other values need not be kept.
inline std::uint32_t read_by_adjoint(const applied_operation& op, std::uint32_t asked) {
  using e = element_function;
  const std::uint32_t all = ~std::uint32_t{0}, result = std::uint32_t{1} << op.how.operand_count;
  switch (op.work) {
    case block_work::product:
      return ((asked & 1U) << 1U) | ((asked >> 1U) & 1U);
    case block_work::reshape:
    case block_work::pick:
    case block_work::rows:
      return 0;
    case block_work::map:
      return op.kind == owed_reduction::sum ? 0 : all;
    case block_work::own:
      return op.adjoint_reads;
    case block_work::elements:
      break;
    default:
      return all;
  }
  if (is_comparison(op.function)) return 0;
  switch (op.function) {
    case e::add:
    case e::subtract:
    case e::shift:
    case e::scale:
    case e::over:
      return 0;
    case e::multiply:
      return ((asked & 1U) << 1U) | ((asked >> 1U) & 1U);
    case e::divide:
      return (asked & 2U) != 0 ? 2U | result : 2U;
    case e::exp:
    case e::tanh:
    case e::sigmoid:
    case e::sqrt:
      return result;
    case e::power:
    case e::relu:
    case e::log:
    case e::abs:
    case e::square:
    case e::gelu:
    case e::where:
    case e::where_number:
    case e::unless_number:
      return 1;
    default:
      return all;
  }
}
/// A block of the same shape, without memory.
template <class T>
tensor_block<T> without_elements(const tensor_block<T>& x) {
  tensor_block<T> y;
  y.shape = x.shape;
  return y;
}

}  // namespace partita::detail
