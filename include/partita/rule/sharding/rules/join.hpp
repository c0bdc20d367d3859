// Rules of operations that put tensors together and take them apart along a dimension.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/operation.hpp>

namespace partita {
namespace detail {

/// Operands that agree in all dimensions but `with.axes[0]`, in which the result is as long as all of them.
constexpr rule concatenate_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, most_operands, "concatenate");
  const std::size_t rank = shapes[0].size(), c = dimension_of(with.axes[0], rank, "concatenate");
  rule r;
  const own_factors f(r, shapes[0], std::uint32_t{1} << c);
  std::size_t length = 0;
  for (std::size_t t = 0; t < shapes.size(); ++t) {
    if (shapes[t].size() != rank)
      throw shape_error(text("partita::rules::concatenate: requires operands of equal rank, not ") << shapes[0] << " and " << shapes[t]
                        << "; stack makes a new dimension");
    r.begin_operand();
    for (std::size_t d = 0; d < rank; ++d) {
      if (d == c && t > 0)
        r.add_whole_dimension(shapes[t][d]);
      else
        r.add_dimension(f[d]);
    }
    length += shapes[t][c];
  }
  r.begin_result();
  for (std::size_t d = 0; d < rank; ++d) {
    if (d == c)
      r.add_whole_dimension(length);
    else
      r.add_dimension(f[d]);
  }
  r.alike = true;
  r.how = linearity::movement;
  return r.complete();
}
/// Operands of one shape; the new dimension stands at `with.axes[0]` of the result.
constexpr rule stack_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, most_operands, "stack");
  const std::size_t rank = shapes[0].size(), s = dimension_of(with.axes[0], rank + 1, "stack");
  rule r;
  const own_factors f(r, shapes[0]);
  for (std::size_t t = 0; t < shapes.size(); ++t) {
    r.begin_operand();
    for (std::size_t d = 0; d < rank; ++d) r.add_dimension(f[d]);
  }
  r.begin_result();
  for (std::size_t d = 0; d <= rank; ++d) {
    if (d == s)
      r.add_whole_dimension(shapes.size());
    else
      r.add_dimension(f[d < s ? d : d - 1]);
  }
  r.alike = true;
  r.how = linearity::movement;
  return r.complete();
}
/// Results of the extents `with.sizes` along `with.axes[0]`, or `with.count` equal ones; without that dimension if `with.x`.
constexpr rule split_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, 1, "split");
  const shape_list& x = shapes[0];
  const std::size_t c = dimension_of(with.axes[0], x.size(), "split");
  const std::size_t parts = with.x ? x[c] : with.sizes.empty() ? with.count : with.sizes.size();
  if (parts == 0 || (with.sizes.empty() && x[c] % parts != 0))
    throw shape_error(text("partita::rules::split: requires parts that fill dimension ") << c << " of " << x << ", not " << parts
                      << " equal ones; give their extents");
  rule r;
  const own_factors f(r, x, std::uint32_t{1} << c);
  r.begin_operand();
  f.write(r);
  for (std::size_t j = 0; j < parts; ++j) {
    r.begin_result();
    for (std::size_t d = 0; d < x.size(); ++d) {
      if (d != c)
        r.add_dimension(f[d]);
      else if (!with.x)
        r.add_whole_dimension(with.sizes.empty() ? x[c] / parts : static_cast<std::size_t>(with.sizes[j]));
    }
  }
  r.how = linearity::movement;
  return r.complete();
}

}  // namespace detail

namespace rules {

constexpr operation concatenate(std::ptrdiff_t axis) {
  attributes with;
  with.axes = {axis};
  return {"concatenate", &detail::concatenate_rule, with};
}
constexpr operation stack(std::ptrdiff_t axis) {
  attributes with;
  with.axes = {axis};
  return {"stack", &detail::stack_rule, with};
}
/// Into parts of these extents.
constexpr operation split(std::ptrdiff_t axis, const attributes::list& extents) {
  attributes with;
  with.axes = {axis};
  with.sizes = extents;
  return {"split", &detail::split_rule, with};
}
constexpr operation split_evenly(std::ptrdiff_t axis, std::size_t parts) {
  attributes with;
  with.axes = {axis};
  with.count = parts;
  return {"split", &detail::split_rule, with};
}
/// Into as many results as the dimension has elements, without the dimension.
constexpr operation unbind(std::ptrdiff_t axis) {
  attributes with;
  with.axes = {axis};
  with.x = true;
  return {"unbind", &detail::split_rule, with};
}

}  // namespace rules
}  // namespace partita
