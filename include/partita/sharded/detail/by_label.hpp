// What operations do with blocks, as data; and those that read or write by label.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/rule/sharding/bound.hpp>
#include <partita/sharded/detail/element_function.hpp>
#include <partita/sharded/detail/tensor_block.hpp>
#include <vector>

namespace partita::detail {

/// What an operation does with blocks.
enum class block_work : std::uint8_t {
  elements,
  product,
  map,
  reshape,
  pick,     ///< of each row the element that its label names
  spread,   ///< back: each element to the place in its row that the label names
  rows,     ///< for each label a row of a table
  to_rows,  ///< back: rows added to those that the labels name
  own       ///< what the operation itself declares
};

struct custom_op;

/// An operation as data: the rule, bound to the shapes, and what is done on blocks.
struct applied_operation {
  rule how{};
  block_work work = block_work::elements;
  element_function function = element_function::add;
  double number = 0;
  owed_reduction kind = owed_reduction::sum;  ///< of a map
  std::shared_ptr<const std::vector<std::size_t>> labels{};
  std::shared_ptr<const custom_op> own{};
  std::uint32_t adjoint_reads = ~std::uint32_t{0};  ///< of an own one: a bit for each operand, the next for the result
};

/// Calls f(k, label) for each row of a box of rows, with the label that stands at its index of the whole.
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

/// The operations that read or write by label: where blocks lie matters to them.
template <class T>
void compute_by_label(const applied_operation& op, const tensor_block<T>& x, const short_list<interval>& x_box,
                      const tensor_block<T>& y, const short_list<interval>& y_box, const shape_list& x_extents,
                      const shape_list& y_extents) {
  const bool spreads = op.work == block_work::spread || op.work == block_work::to_rows;
  const auto& large = spreads ? y_box : x_box;  // the one that labels point into
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
