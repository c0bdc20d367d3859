// The work of operations on blocks, as data; and the operations that read or write by label.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/rule/sharding/bound.hpp>
#include <partita/sharded/detail/tensor_block.hpp>
#include <vector>

namespace partita::detail {

/// The kind of work that an operation does on blocks.
enum class block_work : std::uint8_t {
  product,
  map,
  reshape,
  pick,     ///< the element of each row at the row's label
  spread,   ///< adjoint of pick: each element goes to its label's place in its row
  rows,     ///< the table row of each label
  to_rows,  ///< adjoint of rows: adds each row to the table row of its label
  own       ///< the function that the operation itself declares
};

struct custom_op;

/// An operation as data: its rule, bound to the shapes, and its work on blocks.
struct applied_operation {
  rule how{};
  block_work work = block_work::own;
  std::shared_ptr<const std::vector<std::size_t>> labels{};
  std::shared_ptr<const custom_op> own{};
  /// The values that the adjoint reads to compute the gradients of the operands `asked`: one bit per operand, then the
  /// result. The other values need not be kept.
  std::uint32_t (*adjoint_reads)(std::uint32_t asked) = [](std::uint32_t) { return ~std::uint32_t{0}; };
  bool is_of_elements = false;  ///< an element function: the positions of the blocks do not matter
  bool truncates = false;       ///< results for integers are truncated, so that pending sums are taken before
};

/// Calls f(k, label) for each row k of a box of rows; the label is read at the row's global index.
template <class F>
void for_each_label(const std::vector<std::size_t>& labels, const short_list<interval>& rows, const shape_list& extents,
                    F f) {
  const shape_list shape = shape_of_box(rows);
  const std::size_t n = volume_in(shape);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t rest = k, at = 0, step = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      at += (rows[d].start + rest % shape[d]) * step;
      rest /= shape[d];
      step *= extents[d];
    }
    f(k, labels[at]);
  }
}
template <class List>
List without_last(const List& all) {
  List fewer;
  for (std::size_t k = 0; k + 1 < all.size(); ++k) fewer.push_back(all[k]);
  return fewer;
}

/// Computes the operations that read or write by label. They depend on the position of the blocks.
template <class T>
void compute_by_label(const applied_operation& op, const tensor_block<T>& x, const short_list<interval>& x_box,
                      const tensor_block<T>& y, const short_list<interval>& y_box, const shape_list& x_extents,
                      const shape_list& y_extents) {
  const bool spreads = op.work == block_work::spread || op.work == block_work::to_rows;
  const auto& large = spreads ? y_box : x_box;  // the tensor that the labels index
  if (op.work == block_work::pick || op.work == block_work::spread) {
    const interval own = large[large.size() - 1];
    y.fill(T(0));
    for_each_label(*op.labels, without_last(large), without_last(spreads ? y_extents : x_extents),
                   [&](std::size_t k, std::size_t label) {
                     if (label < own.start || label >= own.stop) return;
                     const std::size_t there = k * own.size() + label - own.start;
                     if (spreads) y.data()[there] = x.data()[k];
                     else y.data()[k] = x.data()[there];
                   });
    return;
  }
  const auto& by_label = spreads ? x_box : y_box;
  const interval own = large[0];
  const std::size_t width = large[1].size();
  y.fill(T(0));
  for_each_label(*op.labels, without_last(by_label), without_last(spreads ? x_extents : y_extents),
                 [&](std::size_t k, std::size_t label) {
                   if (label < own.start || label >= own.stop) return;
                   const T* from = x.data() + (spreads ? k : label - own.start) * width;
                   T* to = y.data() + (spreads ? label - own.start : k) * width;
                   for (std::size_t j = 0; j < width; ++j) to[j] = static_cast<T>(to[j] + from[j]);
                 });
}

}  // namespace partita::detail
