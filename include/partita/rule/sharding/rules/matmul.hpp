// Rules of matrix products: which dimensions are summed and which are propagated.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/operation.hpp>

namespace partita {
namespace detail {

/// The operation matmul: k,k-> · k,...kn->...n · ...mk,k->...m · ...mk,...kn->...mn; `with.x` transposes x, `with.y` y.
constexpr rule matmul_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 2, 2, "matmul");
  const std::size_t x = shapes[0].size(), y = shapes[1].size();
  if (x == 0 || y == 0 || (with.x && x < 2) || (with.y && y < 2))
    throw shape_error(
        text("partita::rules::matmul: requires operands of one dimension at least, two to be transposed, not ")
        << shapes[0] << " and " << shapes[1] << "; reshape them");
  rule r;
  const std::size_t m = r.add_factor(dynamic, 'm'), k = r.add_factor(dynamic, 'k'), n = r.add_factor(dynamic, 'n');
  const std::size_t x_batch = x > 2 ? x - 2 : 0, y_batch = y > 2 ? y - 2 : 0,
                    batch = x_batch > y_batch ? x_batch : y_batch;
  std::size_t b[most_dimensions]{};
  for (std::size_t d = 0; d < batch; ++d) {
    b[d] = r.add_factor(dynamic, nth_letter(d < 10 ? d : d + 16));
    r.factors[b[d]].broadcasts = true;
  }
  const auto add_batch = [&](std::size_t own) {
    for (std::size_t d = batch - own; d < batch; ++d) r.add_dimension(b[d]);
  };
  r.begin_operand();
  add_batch(x_batch);
  if (x > 1) r.add_dimension(with.x ? k : m);
  r.add_dimension(with.x ? m : k);
  r.begin_operand();
  add_batch(y_batch);
  if (y > 1) r.add_dimension(with.y ? n : k);
  r.add_dimension(y == 1 || with.y ? k : n);
  r.begin_result();
  add_batch(batch);
  if (x > 1) r.add_dimension(m);
  if (y > 1) r.add_dimension(n);
  r.complete();
  return r;
}
/// The operation x, y, bias [n] -> x y + bias. A sum of partial results would contain the bias once per summand, so the
/// summed dimension must be unsharded; or (`with.keep`) the operation itself sums over the axes that shard this
/// dimension.
constexpr rule matmul_bias_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 3, 3, "matmul_bias");
  const shape_list factors[] = {shapes[0], shapes[1]};
  const rule product = matmul_rule(shape_span(factors, 2), with);
  const std::size_t n = product.number('n'), k = product.number('k');
  if (shapes[2].size() != 1 || shapes[1].size() < 2)
    throw shape_error(
        text("partita::rules::matmul_bias: requires a bias of one dimension and a matrix on the right, not ")
        << shapes[2] << " and " << shapes[1] << "; reshape them");
  rule r;
  for (; r.factor_count < product.factor_count; ++r.factor_count)
    r.factors[r.factor_count] = product.factors[r.factor_count];
  for (std::size_t t = 0; t < 4; ++t) {
    t < 3 ? r.begin_operand() : r.begin_result();
    if (t == 2) r.add_dimension(n);
    const std::size_t from = t < 2 ? t : 2;
    for (std::size_t d = 0; t != 2 && d < product.rank(from); ++d)
      r.add_dimension(product.term(product.at(from, d), 0));
  }
  r.factors[k].kind = with.keep ? factor_kind::collective : factor_kind::replicate;
  return r.complete().with(linearity::none);
}
constexpr rule bmm_rule(const shape_span&, const attributes&) { return "bmk,bkn->bmn"; }      ///< a batch of products
constexpr rule linear_rule(const shape_span&, const attributes&) { return "...i,oi->...o"; }  ///< y = x W^T
constexpr rule linear_weight_gradient_rule(const shape_span&, const attributes&) {            ///< x, dy -> dW, db
  return rule("...k,...n->kn,n").result_depends_on(1, {1});
}

}  // namespace detail

namespace rules {

/// The product of matrices, of batches of them with broadcasting, and of vectors. The result is partial over the axes
/// that shard the contracted dimension.
inline constexpr operation matmul{"matmul", &detail::matmul_rule, {}};
/// The product in which the last two dimensions of x, of y, or of both are exchanged first.
constexpr operation matmul_transposed(bool x, bool y) {
  return {"matmul_transposed", &detail::matmul_rule, {.x = x, .y = y}};
}
/// The operation x y + bias: a dense layer in one operation. The summed dimension must be unsharded, unless the
/// operation itself sums over the axes that shard this dimension.
constexpr operation matmul_bias(bool x = false, bool y = false, bool reduces_partial_sums = false) {
  return {"matmul_bias", &detail::matmul_bias_rule, {.keep = reduces_partial_sums, .x = x, .y = y}};
}
inline constexpr operation bmm{"bmm", &detail::bmm_rule, {}};  ///< the product of two batches of matrices
/// y = x W^T, where W is out × in.
inline constexpr operation linear{"linear", &detail::linear_rule, {}};
/// The gradients of weight and bias of a linear layer from x and dy, summed over all leading dimensions.
inline constexpr operation linear_weight_gradient{"linear_weight_gradient", &detail::linear_weight_gradient_rule, {}};

}  // namespace rules
}  // namespace partita
