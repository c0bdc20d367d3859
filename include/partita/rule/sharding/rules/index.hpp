// Rules of operations that read or write elements at positions given by an index tensor.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/operation.hpp>

namespace partita {
namespace detail {

/// The operation x, indices -> x with dimension `with.axes[0]` replaced by the dimensions of the indices. Dimension
/// `with.axes[0]` of x must be unsharded.
constexpr rule gather_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 2, 2, "gather");
  const shape_list& x = shapes[0];
  const std::size_t c = checked_dimension(with.axes[0], x.size(), "gather");
  rule r;
  const separate_factors f(r, x, std::uint32_t{1} << c), g(r, shapes[1]);
  f.add_operand(r);
  g.add_operand(r);
  r.begin_result();
  for (std::size_t d = 0; d < x.size(); ++d) {
    if (d != c) r.add_dimension(f[d]);
    for (std::size_t k = 0; d == c && k < shapes[1].size(); ++k) r.add_dimension(g[k]);
  }
  return r.complete().linear_in({0});
}
/// The operation x, indices [..., q] -> [..., rest of x], which indexes the first q dimensions of x.
constexpr rule gather_nd_rule(const shape_span& shapes, const attributes&) {
  require_operands(shapes, 2, 2, "gather_nd");
  const shape_list &x = shapes[0], &i = shapes[1];
  const std::size_t q = i.empty() ? 0 : i[i.size() - 1];
  if (i.empty() || q > x.size())
    throw shape_error(text("partita::rules::gather_nd: requires indices whose last extent is at most the rank of ")
                      << x << ", not " << i << "; add a last dimension of that extent");
  rule r;
  const separate_factors f(r, x, (std::uint32_t{1} << q) - 1U), g(r, i, std::uint32_t{1} << (i.size() - 1));
  f.add_operand(r);
  g.add_operand(r);
  r.begin_result();
  for (std::size_t d = 0; d + 1 < i.size(); ++d) r.add_dimension(g[d]);
  for (std::size_t d = q; d < x.size(); ++d) r.add_dimension(f[d]);
  return r.complete().linear_in({0});
}
/// The operation x, indices -> a tensor of the shape of the indices, which select elements along `with.axes[0]` of x.
/// Other dimensions are propagated if they have the same extent in x and the indices.
constexpr rule take_along_axis_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 2, 2, "take_along_axis");
  const shape_list &x = shapes[0], &i = shapes[1];
  const std::size_t c = checked_dimension(with.axes[0], x.size(), "take_along_axis");
  if (x.size() != i.size())
    throw shape_error(text("partita::rules::take_along_axis: requires operands of equal rank, not ")
                      << x << " and " << i << "; unsqueeze one");
  std::uint32_t unshared_dimensions = 0;
  for (std::size_t d = 0; d < x.size(); ++d)
    if (d == c || x[d] != i[d]) unshared_dimensions |= std::uint32_t{1} << d;
  rule r;
  const separate_factors f(r, x, unshared_dimensions);
  std::array<std::size_t, most_dimensions> g = f.factor_indices;
  for (std::size_t d = 0; d < i.size(); ++d)
    if (has_bit(unshared_dimensions, d))
      g[d] =
          r.add_factor(i[d], nth_letter(r.factor_count), d == c ? factor_kind::pass_through : factor_kind::replicate);
  f.add_operand(r);
  for (std::size_t t = 0; t < 2; ++t) {
    t == 0 ? r.begin_operand() : r.begin_result();
    for (std::size_t d = 0; d < i.size(); ++d) r.add_dimension(g[d]);
  }
  return r.complete().linear_in({0});
}
/// The operation x, indices, updates -> x with rows replaced, or added to; an index of rank 0 selects one row. Every
/// worker needs all updates of its columns: with sharded updates, every worker would contribute its x once more to the
/// sum.
constexpr rule scatter_rule(const shape_span& shapes, const attributes&) {
  require_operands(shapes, 3, 3, "scatter");
  const shape_list& x = shapes[0];
  rule r;
  const separate_factors f(r, x, 1);
  const std::size_t i = r.add_factor(shapes[1].empty() ? 1 : shapes[1][0], 'i', factor_kind::replicate);
  for (std::size_t t = 0; t < 4; ++t) {
    t < 3 ? r.begin_operand() : r.begin_result();
    if (t == 1) {
      for (std::size_t d = 0; d < shapes[1].size(); ++d)
        d == 0 ? r.add_dimension(i) : r.add_whole_dimension(shapes[1][d]);
      continue;
    }
    const bool one_row = t == 2 && shapes[1].empty() && shapes[2].size() + 1 == x.size();  // for an index of rank 0
    for (std::size_t d = one_row ? 1 : 0; d < x.size(); ++d) r.add_dimension(d == 0 && t == 2 ? i : f[d]);
  }
  return r.complete().with(linearity::none).with_low_priority({0});
}
/// The operation x, indices, values -> x, written along `with.axes[0]` at the positions in the indices; this dimension
/// of all three operands is unsharded. The sharding of other dimensions is propagated if their extents are equal.
constexpr rule put_along_axis_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 3, 3, "put_along_axis");
  const shape_list &x = shapes[0], &i = shapes[1];
  const std::size_t c = checked_dimension(with.axes[0], x.size(), "put_along_axis");
  if (x.size() != i.size() || !(shapes[2] == i))
    throw shape_error(
        text("partita::rules::put_along_axis: requires indices of the rank of x and values of the shape of "
             "the indices, not ")
        << x << ", " << i << " and " << shapes[2] << "; broadcast them before");
  rule r;
  std::uint32_t unshared_dimensions = 0;
  for (std::size_t d = 0; d < x.size(); ++d)
    if (d == c || x[d] != i[d]) unshared_dimensions |= std::uint32_t{1} << d;
  const separate_factors f(r, x, unshared_dimensions);
  std::array<std::size_t, most_dimensions> g = f.factor_indices;
  for (std::size_t d = 0; d < i.size(); ++d)
    if (has_bit(unshared_dimensions, d)) g[d] = r.add_factor(i[d], '_', factor_kind::replicate);
  for (std::size_t t = 0; t < 4; ++t) {
    t < 3 ? r.begin_operand() : r.begin_result();
    for (std::size_t d = 0; d < x.size(); ++d) r.add_dimension(t == 0 || t == 3 ? f[d] : g[d]);
  }
  return r.complete().with(linearity::none);
}
/// The operation x, indices [..., q], updates [..., rest of x] -> x with the updates added at the indices. Every worker
/// needs all updates of its part of x: with sharded updates, every worker would contribute its x once more to the sum.
constexpr rule scatter_nd_add_rule(const shape_span& shapes, const attributes&) {
  require_operands(shapes, 3, 3, "scatter_nd_add");
  const shape_list &x = shapes[0], &i = shapes[1], &u = shapes[2];
  const std::size_t q = i.empty() ? 0 : i[i.size() - 1];
  if (i.empty() || q > x.size() || u.size() + 1 + q != i.size() + x.size())
    throw shape_error(text("partita::rules::scatter_nd_add: requires indices [..., q] and updates [..., the last "
                           "dimensions of x from q on], not ")
                      << i << " and " << u << " for " << x << "; reshape them");
  rule r;
  const separate_factors f(r, x, (std::uint32_t{1} << q) - 1U), g(r, i, ~std::uint32_t{0});
  f.add_operand(r);
  g.add_operand(r);
  r.begin_operand();
  for (std::size_t d = 0; d + 1 < i.size(); ++d) r.add_dimension(g[d]);
  for (std::size_t d = q; d < x.size(); ++d) r.add_dimension(f[d]);
  r.begin_result(), f.write(r);
  return r.complete().with(linearity::additive).linear_in({0, 2});
}
/// The operation x, one index tensor for each of the first dimensions of x, values -> x with the elements at these
/// positions replaced. The indexed dimensions and all positions are unsharded, and the sharding of the other dimensions
/// of x is propagated.
constexpr rule index_put_rule(const shape_span& shapes, const attributes&) {
  require_operands(shapes, 3, most_dimensions + 2, "index_put");
  const shape_list &x = shapes[0], &i = shapes[1], &v = shapes[shapes.size() - 1];
  const std::size_t indexed = shapes.size() - 2;
  if (indexed > x.size() || v.size() + indexed != i.size() + x.size())
    throw shape_error(
        text("partita::rules::index_put: requires values [dimensions of the indices, the last dimensions of "
             "x from ")
        << indexed << " on], not " << v << " for " << x << " and " << i << "; broadcast them before");
  rule r;
  const separate_factors f(r, x, (std::uint32_t{1} << indexed) - 1U), g(r, i, ~std::uint32_t{0});
  f.add_operand(r);
  for (std::size_t k = 0; k < indexed; ++k) g.add_operand(r);
  g.add_operand(r);
  for (std::size_t d = indexed; d < x.size(); ++d) r.add_dimension(f[d]);
  r.begin_result(), f.write(r);
  return r.complete().with(linearity::none);
}
/// The operation class numbers -> one-hot vectors: a tensor with one more dimension, of `with.count` classes.
constexpr rule one_hot_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, 1, "one_hot");
  rule r;
  const separate_factors f(r, shapes[0]);
  const std::size_t classes = r.add_factor(with.count, nth_letter(r.factor_count));
  for (std::size_t t = 0; t < 2; ++t) {
    t == 0 ? r.begin_operand() : r.begin_result();
    f.write(r);
  }
  r.add_dimension(classes);
  return r.complete().with(linearity::none);
}
/// The operation indices, table -> [indices, columns]. A worker that has some rows of the table looks up these rows and
/// uses 0 for other rows, so the result is partial over the axes that shard the rows; unless rows must be unsharded
/// (`with.x`).
constexpr rule embedding_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 2, 2, "embedding");
  const std::size_t ids = with.y ? 1 : 0;
  rule r;
  const separate_factors f(r, shapes[ids]);
  const std::size_t v = r.add_factor(dynamic, 'v', with.x ? factor_kind::replicate : factor_kind::pass_through),
                    h = r.add_factor(dynamic, 'h');
  for (std::size_t t = 0; t < 3; ++t) {
    t < 2 ? r.begin_operand() : r.begin_result();
    if (t == 1 - ids) r.add_dimension(v);
    for (std::size_t d = 0; t != 1 - ids && d < shapes[ids].size(); ++d) r.add_dimension(f[d]);
    if (t != ids) r.add_dimension(h);
  }
  return r.complete().linear_in({1 - ids});
}

}  // namespace detail

namespace rules {

/// Takes the entries of x along `axis` whose numbers are in the indices.
constexpr operation gather(std::ptrdiff_t axis = 0) { return {"gather", &detail::gather_rule, {.axes = {axis}}}; }
/// The operation gather under PyTorch's name, index_select.
constexpr operation index_select(std::ptrdiff_t axis = 0) { return gather(axis).named("index_select"); }
inline constexpr operation gather_nd{"gather_nd", &detail::gather_nd_rule, {}};  ///< x, indices -> x at these indices
constexpr operation take_along_axis(std::ptrdiff_t axis) {  ///< x, indices -> x at these indices along `axis`
  return {"take_along_axis", &detail::take_along_axis_rule, {.axes = {axis}}};
}
inline constexpr operation scatter{"scatter", &detail::scatter_rule, {}};  ///< x, indices, updates -> x with new rows
constexpr operation put_along_axis(std::ptrdiff_t axis) {  ///< x, indices, values -> x, written along `axis`
  return {"put_along_axis", &detail::put_along_axis_rule, {.axes = {axis}}};
}
inline constexpr operation scatter_nd_add{"scatter_nd_add", &detail::scatter_nd_add_rule, {}};  ///< adds updates to x
inline constexpr operation index_put{"index_put", &detail::index_put_rule, {}};  ///< x, indices, values -> x
/// Class numbers -> vectors that are 1 at the class and 0 elsewhere.
constexpr operation one_hot(std::size_t classes) { return {"one_hot", &detail::one_hot_rule, {.count = classes}}; }
/// Lookup of rows of a table by number. With `keep_rows_whole` (padding row, sparse gradients) rows are unsharded.
constexpr operation embedding(bool keep_rows_whole = false) {
  return {"embedding", &detail::embedding_rule, {.x = keep_rows_whole}};
}
/// The vocabulary-parallel lookup, table first: each worker has a part of the rows, which starts at any row.
inline constexpr operation vocabulary_embedding{"vocabulary_embedding", &detail::embedding_rule, {.y = true}};

}  // namespace rules
}  // namespace partita
