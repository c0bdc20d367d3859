// Defines the functions that sharded/detail/tensor_block.hpp declares.
#pragma once

#include <partita/sharded/detail/tensor_block.hpp>

namespace partita::detail {

PARTITA_DEF std::size_t shape_size(const shape_list& shape) {
  std::size_t n = 1;
  for (const std::size_t extent : shape) n *= extent;
  return n;
}

PARTITA_DEF shape_list shape_of_box(const short_list<interval>& box) {
  shape_list shape;
  for (const interval& one : box) shape.push_back(one.size());
  return shape;
}

PARTITA_DEF short_list<std::ptrdiff_t> strides_of(const shape_list& shape) {
  auto steps = short_list<std::ptrdiff_t>::filled(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) steps[d - 1] = steps[d] * static_cast<std::ptrdiff_t>(shape[d]);
  return steps;
}

}  // namespace partita::detail
