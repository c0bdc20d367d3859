// Rules of operations that join and split tensors along a dimension.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/operation.hpp>

namespace partita {
namespace detail {

/// The factors of dimensions that stay unsharded: one factor for each extent while the rule has room, then one factor
/// for all other dimensions, whose extents are not compared.
struct replicated_factors {
  rule& r;
  std::size_t extents[most_factors]{}, factor_indices[most_factors]{};  ///< an extent, and the number of its factor
  std::size_t count = 0;                                                ///< the number of extents with a factor

  constexpr explicit replicated_factors(rule& of) : r(of) {}  ///< of: the rule that gets the factors
  constexpr std::size_t operator()(std::size_t extent) {
    for (std::size_t k = 0; k < count; ++k)
      if (extents[k] == extent || r.factors[factor_indices[k]].extents_may_differ) return factor_indices[k];
    const bool last = r.factor_count + 2U >= most_factors;  // one free factor is kept for the result
    factor_indices[count] = r.add_factor(last ? dynamic : extent, '_', factor_kind::replicate);
    r.factors[factor_indices[count]].extents_may_differ = last;
    extents[count] = extent;
    return factor_indices[count++];
  }
};
/// Factors for all dimensions of a tensor but one; that dimension is unsharded and is added by the caller.
struct factors_except_one {
  std::array<std::size_t, most_dimensions> factor_indices{};  ///< for each dimension but one, its factor's number
  constexpr factors_except_one(rule& r, const shape_list& shape, std::size_t excluded_dimension) {  ///< adds them to r
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (d != excluded_dimension) factor_indices[d] = r.add_factor(shape[d], nth_letter(d));
  }
  constexpr std::size_t operator[](std::size_t d) const { return factor_indices[d]; }
};

/// The rule of concatenate: operands with equal extents except along `with.axes[0]`, where the result has the sum of
/// their extents.
constexpr rule concatenate_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, most_operands, "concatenate");
  const std::size_t rank = shapes[0].size(), c = checked_dimension(with.axes[0], rank, "concatenate");
  rule r;
  const factors_except_one f(r, shapes[0], c);
  replicated_factors whole(r);
  std::size_t length = 0;
  for (std::size_t t = 0; t < shapes.size(); ++t) {
    if (shapes[t].size() != rank)
      throw shape_error(text("partita::rules::concatenate: requires operands of equal rank, not ")
                        << shapes[0] << " and " << shapes[t] << "; stack makes a new dimension");
    r.begin_operand();
    for (std::size_t d = 0; d < rank; ++d) r.add_dimension(d == c ? whole(shapes[t][c]) : f[d]);
    length = length == dynamic || shapes[t][c] == dynamic ? dynamic : length + shapes[t][c];
  }
  r.begin_result();
  for (std::size_t d = 0; d < rank; ++d) {
    if (d == c) r.add_whole_dimension(length);
    else r.add_dimension(f[d]);
  }
  r.has_equivalent_operands = true;
  r.how = linearity::movement;
  r.complete();
  return r;
}
/// The rule of stack: operands of the same shape; the new dimension is dimension `with.axes[0]` of the result.
constexpr rule stack_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, most_operands, "stack");
  const std::size_t rank = shapes[0].size(), s = checked_dimension(with.axes[0], rank + 1, "stack");
  rule r;
  const separate_factors f(r, shapes[0]);
  for (std::size_t t = 0; t < shapes.size(); ++t) f.add_operand(r);
  r.begin_result();
  for (std::size_t d = 0; d <= rank; ++d) {
    if (d == s) r.add_whole_dimension(shapes.size());
    else r.add_dimension(f[d < s ? d : d - 1]);
  }
  r.has_equivalent_operands = true;
  r.how = linearity::movement;
  r.complete();
  return r;
}
/// The rule of split: results with the extents `with.sizes` along `with.axes[0]`, or `with.count` equal results;
/// results lack that dimension if `with.x`.
constexpr rule split_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, 1, "split");
  const shape_list& x = shapes[0];
  const std::size_t c = checked_dimension(with.axes[0], x.size(), "split");
  const std::size_t parts = with.x ? x[c] : with.sizes.empty() ? with.count : with.sizes.size();
  const bool known = x[c] != dynamic;
  if (parts == 0 || (with.x && !known) || (with.sizes.empty() && known && x[c] % parts != 0))
    throw shape_error(text("partita::rules::split: requires parts that fill dimension ")
                      << c << " of " << x << ", not " << parts << " equal ones; give their extents");
  rule r;
  const factors_except_one f(r, x, c);
  const std::size_t length = r.add_factor(x[c], '_', factor_kind::replicate);
  replicated_factors whole(r);
  r.begin_operand();
  for (std::size_t d = 0; d < x.size(); ++d) r.add_dimension(d == c ? length : f[d]);
  for (std::size_t j = 0; j < parts; ++j) {
    r.begin_result();
    for (std::size_t d = 0; d < x.size(); ++d) {
      if (d != c) r.add_dimension(f[d]);
      else if (!with.x)
        r.add_dimension(
            whole(with.sizes.empty() ? (known ? x[c] / parts : dynamic) : static_cast<std::size_t>(with.sizes[j])));
    }
  }
  r.how = linearity::movement;
  r.complete();
  return r;
}

}  // namespace detail

namespace rules {

constexpr operation concatenate(std::ptrdiff_t axis) {  ///< joins operands along dimension `axis`
  return {"concatenate", &detail::concatenate_rule, {.axes = {axis}}};
}
/// Joins operands of one shape along a new dimension `axis` of the result.
constexpr operation stack(std::ptrdiff_t axis) { return {"stack", &detail::stack_rule, {.axes = {axis}}}; }
/// Splits a tensor along `axis` into parts of the given extents.
constexpr operation split(std::ptrdiff_t axis, const attributes::extents_list& extents) {
  return {"split", &detail::split_rule, {.axes = {axis}, .sizes = extents}};
}
constexpr operation split_evenly(std::ptrdiff_t axis, std::size_t parts) {  ///< into `parts` equal parts along `axis`
  return {"split_evenly", &detail::split_rule, {.axes = {axis}, .count = parts}};
}
/// Splits a tensor into as many results as dimension `axis` has elements; the results lack that dimension.
constexpr operation unbind(std::ptrdiff_t axis) { return {"unbind", &detail::split_rule, {.axes = {axis}, .x = true}}; }

}  // namespace rules
}  // namespace partita
