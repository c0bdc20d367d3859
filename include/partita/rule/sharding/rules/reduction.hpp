// Rules of operations that need whole dimensions: reductions, softmax, sorting, cross entropy.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/operation.hpp>

namespace partita {
namespace detail {

/// The dimensions `axes` as a bit set; all dimensions if the list is empty.
constexpr std::uint32_t dimensions_or_all(const attributes::list& axes, std::size_t rank, const char* call) {
  return axes.empty() ? (std::uint32_t{1} << rank) - 1U : dimension_set(axes, rank, call);
}

/// The rule of reductions: the operand is reduced along `with.axes` (empty: all) by `with.kind`. With
/// `pending_reduction::none` results of blocks cannot be combined: the operand must be unsharded along `with.axes`.
/// `with.x` declares that the operation is not linear.
constexpr rule reduction_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, 1, "reduction");
  const shape_list& x = shapes[0];
  const std::uint32_t reduced = dimensions_or_all(with.axes, x.size(), "reduction");
  rule r;
  const separate_factors f(r, x, with.kind == pending_reduction::none ? reduced : 0);
  r.begin_operand();
  for (std::size_t d = 0; d < x.size(); ++d) {
    r.add_dimension(f[d]);
    if (has_bit(reduced, d) && with.kind != pending_reduction::none) r.factors[f[d]].how = with.kind;
  }
  r.begin_result();
  for (std::size_t d = 0; d < x.size(); ++d) {
    if (!has_bit(reduced, d)) r.add_dimension(f[d]);
    else if (with.keep) r.add_dimension();
  }
  r.how = with.x                  ? linearity::none
          : is_linear(with.kind)  ? linearity::additive
          : is_extreme(with.kind) ? linearity::monotone
                                  : linearity::none;
  r.complete();
  return r;
}
/// The rule of operations along dimensions: operands of one shape, `with.count` results of this shape (one if 0),
/// unsharded along `with.axes`; entirely unsharded if `with.keep`.
constexpr rule along_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, most_operands, "along");
  const shape_list& x = shapes[0];
  if (with.axes.empty() && !x.empty() && !with.keep)
    throw shape_error(
        "partita::rules::along: requires the dimensions that must be whole; give one, or use rules::elementwise");
  rule r;
  // A scalar is its own softmax and its own cumulative sum: axis 0 or -1 is valid, as if the scalar had one dimension.
  const std::uint32_t axes = dimension_set(with.axes, x.empty() ? 1 : x.size(), "along");
  const separate_factors f(r, x, with.keep ? ~std::uint32_t{0} : axes);
  for (std::size_t t = 0; t < shapes.size() + (with.count == 0 ? 1 : with.count); ++t) {
    t < shapes.size() ? r.begin_operand() : r.begin_result();
    f.write(r);
  }
  r.how = with.x ? linearity::additive : linearity::none;
  r.complete();
  for (std::size_t k = 0; k < r.factor_count; ++k) r.factors[k].precedence = 0;
  return r;
}
/// The operation logits, labels -> softmax, loss along `with.axes[0]`. `with.x`: labels are probabilities. `with.y`:
/// the classes may be sharded if labels are not probabilities.
constexpr rule cross_entropy_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 2, 2, "cross_entropy");
  const shape_list& x = shapes[0];
  const std::size_t c = checked_dimension(with.axes[0], x.size(), "cross_entropy");
  rule r;
  const bool cut_classes = with.y && !with.x;
  const separate_factors f(r, x, cut_classes ? 0 : std::uint32_t{1} << c);
  if (cut_classes) r.factors[f[c]].kind = factor_kind::collective;
  for (std::size_t t = 0; t < 4; ++t) {
    t < 2 ? r.begin_operand() : r.begin_result();
    for (std::size_t d = 0; d < x.size(); ++d) {
      if (d != c || t == 0 || t == 2 || (t == 1 && with.x)) r.add_dimension(f[d]);
      else if (t == 3 || shapes[1].size() == x.size()) r.add_dimension();
    }
  }
  r.how = linearity::none;
  r.complete();
  return r;
}

}  // namespace detail

namespace rules {

/// Reductions (sums, means, extremes, …) along some dimensions, by default all. A mean over sharded dimensions needs
/// equal blocks, so these dimensions are never sharded unevenly.
constexpr operation reduction(pending_reduction kind, const attributes::list& axes = {}, bool keep = false) {
  return {name_of(kind), &detail::reduction_rule, {.axes = axes, .keep = keep, .kind = kind}};
}
constexpr operation sum(const attributes::list& axes = {}, bool keep = false) {  ///< sums over `axes`, or over all
  return reduction(pending_reduction::sum, axes, keep);
}
constexpr operation mean(const attributes::list& axes = {}, bool keep = false) {  ///< means over `axes`, or over all
  return reduction(pending_reduction::avg, axes, keep).named("mean");
}
constexpr operation max(const attributes::list& axes = {}, bool keep = false) {  ///< maxima over `axes`, or over all
  return reduction(pending_reduction::max, axes, keep);
}
constexpr operation min(const attributes::list& axes = {}, bool keep = false) {  ///< minima over `axes`, or over all
  return reduction(pending_reduction::min, axes, keep);
}
/// Sums of a function of the elements: squares, counts. The sums of the workers are added, but pending reductions of
/// the operand must be taken first.
constexpr operation sum_of_function(const attributes::list& axes = {}, bool keep = false) {
  return {"sum_of_function", &detail::reduction_rule, {.axes = axes, .keep = keep, .x = true}};
}
/// Reductions for which results of blocks are not combined: logsumexp, p-norm, argmax. The operand must be unsharded
/// along the reduced dimensions.
constexpr operation whole_reduction(const attributes::list& axes = {}, bool keep = false) {
  return reduction(pending_reduction::none, axes, keep).named("whole_reduction");
}
constexpr operation logsumexp(const attributes::list& axes = {}, bool keep = false) {  ///< log(sum(exp(x))) over `axes`
  return whole_reduction(axes, keep).named("logsumexp");
}
constexpr operation p_norm(const attributes::list& axes = {}, bool keep = false) {  ///< p-norms over `axes`, or all
  return whole_reduction(axes, keep).named("p_norm");
}
constexpr operation argmax(const attributes::list& axes = {}, bool keep = false) {  ///< positions of the maxima
  return whole_reduction(axes, keep).named("argmax");
}

/// Operations that keep the shape and need unsharded dimensions: softmax, sorting, cumulative sums, rolls, triangles.
constexpr operation along(const attributes::list& axes, std::size_t results = 1, bool is_additive = false) {
  return {"along", &detail::along_rule, {.axes = axes, .x = is_additive, .count = results}};
}
constexpr operation softmax(std::ptrdiff_t axis = -1) { return along({axis}).named("softmax"); }  ///< along `axis`
/// Sorts values along a dimension; the results are the sorted values and their original positions.
constexpr operation argsort(std::ptrdiff_t axis = -1) { return along({axis}, 2).named("argsort"); }
constexpr operation cumsum(std::ptrdiff_t axis) { return along({axis}, 1, true).named("cumsum"); }  ///< running sums
/// Cumulative maxima (cummin: minima) along a dimension, and their positions.
constexpr operation cummax(std::ptrdiff_t axis) { return along({axis}, 2).named("cummax"); }
constexpr operation cummin(std::ptrdiff_t axis) { return along({axis}, 2).named("cummin"); }           ///< see cummax
constexpr operation roll(const attributes::list& axes) { return along(axes, 1, true).named("roll"); }  ///< cyclic shift
constexpr operation triu() { return along({-2, -1}, 1, true).named("triu"); }  ///< keeps the upper triangles

/// The operation logits, labels -> softmax, cross entropy. Classes in the last dimension may be sharded if labels are
/// class numbers: the operation itself then communicates over the axes that shard the classes.
constexpr operation cross_entropy_with_softmax(std::ptrdiff_t axis = -1, bool soft_label = false,
                                               bool cut_classes = true) {
  return {
      "cross_entropy_with_softmax", &detail::cross_entropy_rule, {.axes = {axis}, .x = soft_label, .y = cut_classes}};
}

}  // namespace rules
}  // namespace partita
