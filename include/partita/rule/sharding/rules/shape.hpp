// Rules of operations that only change a tensor's dimensions, or that take or repeat parts of a tensor.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/operation.hpp>
#include <partita/rule/sharding/reshape_rule.hpp>

namespace partita {
namespace detail {

constexpr rule reshape_to_rule(const shape_span& shapes, const attributes& with) {  ///< reshapes to `with.sizes`
  require_operands(shapes, 1, 1, "reshape");
  return reshape_rule(shapes[0], reshaped(shapes[0], with.sizes));
}
constexpr rule flatten_rule(const shape_span& shapes, const attributes& with) {  ///< merges a range of dimensions
  require_operands(shapes, 1, 1, "flatten");
  const shape_list& x = shapes[0];
  if (x.empty()) return reshape_rule(x, {std::size_t{1}});
  const std::size_t first = checked_dimension(with.axes[0], x.size(), "flatten"),
                    last = checked_dimension(with.axes[1], x.size(), "flatten");
  bool unknown = false;
  for (std::size_t d = first; d <= last && first < last; ++d) unknown = unknown || x[d] == dynamic;
  if (unknown) {  // an unknown extent cannot be divided; all other dimensions are propagated
    rule r;
    const separate_factors f(r, x);
    for (std::size_t d = first; d <= last; ++d) r.factors[f[d]].merged_group = 1;
    f.add_operand(r);
    r.begin_result();
    for (std::size_t d = 0; d < x.size(); ++d) {
      if (d <= first || d > last) r.add_dimension();
      r.add_term(f[d]);
    }
    return r.complete().with(linearity::movement);
  }
  shape_list to;
  for (std::size_t d = 0; d < x.size(); ++d) {
    if (d > first && d <= last) to[to.size() - 1] *= x[d];
    else to.push_back(x[d]);
  }
  return reshape_rule(x, to);
}
/// The rule of squeeze: removes dimensions of one element (`with.axes`; empty: all), and keeps all other dimensions.
constexpr rule squeeze_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, 1, "squeeze");
  const shape_list& x = shapes[0];
  const std::uint32_t asked = with.axes.empty() ? ~std::uint32_t{0} : dimension_set(with.axes, x.size(), "squeeze");
  rule r;
  const separate_factors f(r, x);
  for (std::size_t t = 0; t < 2; ++t) {
    t == 0 ? r.begin_operand() : r.begin_result();
    for (std::size_t d = 0; d < x.size(); ++d) {
      const bool goes = has_bit(asked, d) && x[d] == 1;
      if (goes && t == 0) r.add_dimension();
      if (!goes) r.add_dimension(f[d]);
    }
  }
  r.how = linearity::movement;
  r.complete();
  return r;
}
/// The rule of unsqueeze: inserts dimensions of one element at `with.axes` of the result.
constexpr rule unsqueeze_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, 1, "unsqueeze");
  const shape_list& x = shapes[0];
  const std::size_t rank = x.size() + with.axes.size();
  const std::uint32_t added = dimension_set(with.axes, rank, "unsqueeze");
  rule r;
  const separate_factors f(r, x);
  f.add_operand(r);
  r.begin_result();
  for (std::size_t d = 0, from = 0; d < rank; ++d) {
    if (has_bit(added, d)) r.add_dimension();
    else r.add_dimension(f[from++]);
  }
  r.how = linearity::movement;
  r.complete();
  return r;
}
constexpr rule transpose_rule(const shape_span& shapes, const attributes& with) {  ///< `with.axes`: the new order
  require_operands(shapes, 1, 1, "transpose");
  const shape_list& x = shapes[0];
  if (with.axes.size() != x.size() ||
      dimension_set(with.axes, x.size(), "transpose") != (std::uint32_t{1} << x.size()) - 1U)
    throw shape_error(text("partita::rules::transpose: requires each of ")
                      << x.size() << " dimensions once, got " << with.axes.size() << " entries; give the order of all");
  rule r;
  const separate_factors f(r, x);
  f.add_operand(r);
  r.begin_result();
  for (const std::ptrdiff_t axis : with.axes) r.add_dimension(f[checked_dimension(axis, x.size(), "transpose")]);
  r.how = linearity::movement;
  r.complete();
  return r;
}
/// The rule of expand: trailing dimensions correspond; leading dimensions are new. `with.sizes` are the extents of the
/// result, where -1 keeps an extent; an expanded extent of 1 gets a new factor, too. With `with.keep` the sizes are
/// repeats, and a repeated dimension must be unsharded.
constexpr rule expand_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, 1, with.keep ? "tile" : "expand");
  const shape_list& x = shapes[0];
  const std::size_t rank = with.sizes.size() > x.size() ? with.sizes.size() : x.size();
  const std::size_t new_dimensions = rank - x.size(), unspecified = rank - with.sizes.size();
  rule r;
  const separate_factors f(r, x);
  f.add_operand(r);
  r.begin_result();
  for (std::size_t d = 0; d < rank; ++d) {
    const std::ptrdiff_t asked = d < unspecified ? (with.keep ? 1 : -1) : with.sizes[d - unspecified];
    const bool is_new = d < new_dimensions;
    const std::size_t was = is_new ? 1 : x[d - new_dimensions];
    const std::size_t extent = asked < 0 || (with.keep && was == dynamic) ? was
                               : with.keep                                ? was * static_cast<std::size_t>(asked)
                                                                          : static_cast<std::size_t>(asked);
    if (!is_new && extent == was && !(with.keep && asked != 1)) {
      r.add_dimension(f[d - new_dimensions]);
      continue;
    }
    if (!is_new && !with.keep && was != 1)
      throw shape_error(text("partita::rules::expand: requires extents of 1 where they grow, but dimension ")
                        << d - new_dimensions << " of " << x << " shall be " << extent << "; tile repeats others");
    const bool repeats = with.keep && !is_new;
    if (repeats) r.factors[f[d - new_dimensions]].kind = factor_kind::replicate;
    r.add_dimension(
        r.add_factor(extent, nth_letter(r.factor_count), repeats ? factor_kind::replicate : factor_kind::pass_through));
  }
  r.how = linearity::movement;
  r.complete();
  return r;
}
/// The rule of resize: the operand must be unsharded along `with.axes`, and the result has the extents `with.sizes`
/// along these dimensions (dynamic if not given); all other dimensions are propagated.
constexpr rule resize_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, 1, "slice");
  const shape_list& x = shapes[0];
  const std::uint32_t resized_dimensions = dimension_set(with.axes, x.size(), "slice");
  rule r;
  const separate_factors f(r, x, resized_dimensions);
  f.add_operand(r);
  for (std::size_t j = 0; j < (with.count == 0 ? 1 : with.count); ++j) {
    r.begin_result();
    for (std::size_t d = 0; d < x.size(); ++d) {
      if (!has_bit(resized_dimensions, d)) {
        r.add_dimension(f[d]);
        continue;
      }
      std::size_t size = dynamic;
      for (std::size_t k = 0; k < with.axes.size() && k < with.sizes.size(); ++k)
        if (checked_dimension(with.axes[k], x.size(), "slice") == d) size = static_cast<std::size_t>(with.sizes[k]);
      r.add_whole_dimension(size);
    }
  }
  r.how = with.x ? linearity::movement : linearity::none;
  r.complete();
  return r;
}

}  // namespace detail

namespace rules {

/// Reshapes a tensor, in row-major order; a 0 in `target` keeps an extent, and one -1 is computed from the others.
constexpr operation reshape(const attributes::extents_list& target) {
  return {"reshape", &detail::reshape_to_rule, {.sizes = target}};
}
constexpr operation flatten(std::ptrdiff_t first = 0, std::ptrdiff_t last = -1) {  ///< merges dimensions first … last
  return {"flatten", &detail::flatten_rule, {.axes = {first, last}}};
}
constexpr operation squeeze(const attributes::list& axes = {}) {  ///< removes dimensions of one element (empty: all)
  return {"squeeze", &detail::squeeze_rule, {.axes = axes}};
}
constexpr operation unsqueeze(const attributes::list& axes) {  ///< inserts dimensions of one element at `axes`
  return {"unsqueeze", &detail::unsqueeze_rule, {.axes = axes}};
}
constexpr operation transpose(const attributes::list& order) {  ///< dimension d of the result is order[d] of x
  return {"transpose", &detail::transpose_rule, {.axes = order}};
}
constexpr operation expand(const attributes::extents_list& extents) {  ///< repeats extents of 1; -1 keeps an extent
  return {"expand", &detail::expand_rule, {.sizes = extents}};
}
constexpr operation tile(const attributes::extents_list& repeats) {  ///< repeats x along the last dimensions
  return {"tile", &detail::expand_rule, {.sizes = repeats, .keep = true}};
}
/// Takes a part of the given extents along some dimensions of a tensor.
constexpr operation slice(const attributes::list& axes, const attributes::list& extents = {}) {
  return {"slice", &detail::resize_rule, {.axes = axes, .sizes = extents, .x = true}};
}
/// Adds elements along some dimensions of a tensor. The values of added elements are not known, so pending reductions
/// of the operand are taken first.
constexpr operation pad(const attributes::list& axes, const attributes::list& extents = {}) {
  return {"pad", &detail::resize_rule, {.axes = axes, .sizes = extents}};
}
/// Takes the k largest elements along a dimension, and their positions.
constexpr operation topk(std::ptrdiff_t axis, std::size_t k) {
  return {"topk", &detail::resize_rule, {.axes = {axis}, .sizes = {static_cast<std::ptrdiff_t>(k)}, .count = 2}};
}

}  // namespace rules
}  // namespace partita
