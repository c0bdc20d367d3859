// Rules of matrix products and of convolution: what is summed, what passes.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/operation.hpp>

namespace partita {
namespace detail {

/// k,k-> · k,...kn->...n · ...mk,k->...m · ...mk,...kn->...mn; `with.x` and `with.y` swap the last two dimensions.
constexpr rule matmul_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 2, 2, "matmul");
  const std::size_t x = shapes[0].size(), y = shapes[1].size();
  if (x == 0 || y == 0 || (with.x && x < 2) || (with.y && y < 2))
    throw shape_error(text("partita::rules::matmul: requires operands of one dimension at least, two to be transposed, not ")
                      << shapes[0] << " and " << shapes[1] << "; reshape them");
  rule r;
  const std::size_t m = r.add_factor(dynamic, 'm'), k = r.add_factor(dynamic, 'k'), n = r.add_factor(dynamic, 'n');
  const std::size_t x_batch = x > 2 ? x - 2 : 0, y_batch = y > 2 ? y - 2 : 0, batch = x_batch > y_batch ? x_batch : y_batch;
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
  return r.complete();
}
/// nc__,mc__->nm__: images, filters; places along the spatial dimensions need their neighbours.
constexpr rule convolution_rule(const shape_span& shapes, const attributes&) {
  require_operands(shapes, 2, 2, "convolution");
  rule r;
  const std::size_t n = r.add_factor(dynamic, 'n'), c = r.add_factor(dynamic, 'c'), m = r.add_factor(dynamic, 'm');
  for (std::size_t t = 0; t < 3; ++t) {
    t < 2 ? r.begin_operand() : r.begin_result();
    r.add_dimension(t == 1 ? m : n);
    r.add_dimension(t == 2 ? m : c);
    for (std::size_t d = 2; d < shapes[0].size(); ++d) r.add_whole_dimension();
  }
  return r.complete();
}

}  // namespace detail

namespace rules {

/// The product of matrices, of batches of them with broadcasting, and of vectors; what is cut in the contracted dimension is
/// partial in the result.
inline constexpr operation matmul{"matmul", &detail::matmul_rule, {}};
constexpr operation matmul_transposed(bool x, bool y) {
  attributes with;
  with.x = x;
  with.y = y;
  return {"matmul", &detail::matmul_rule, with};
}
inline constexpr rule bmm = rule("bmk,bkn->bmn").named("bmm");
/// y = x W^T, W out × in.
inline constexpr rule linear = rule("...i,oi->...o").named("linear");
/// The gradients of weight and bias of a linear layer from x and dy, over all leading dimensions.
inline constexpr rule linear_weight_gradient = rule("...k,...n->kn,n").result_reads(1, {1}).named("linear_weight_gradient");
inline constexpr operation convolution{"convolution", &detail::convolution_rule, {}};

}  // namespace rules
}  // namespace partita
