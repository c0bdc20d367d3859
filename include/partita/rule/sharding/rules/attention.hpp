// Rules of attention: heads and batches are independent, positions are not.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/operation.hpp>

namespace partita {
namespace detail {

/// The operation q[b,s,h,d], k[b,t,h,d], v[b,t,h,e] and up to five unsharded operands -> y[b,s,h,e], scores[b,h,s,t],
/// log-sum-exp[b,h,s]. With `with.x` the queries may be sharded by position, while each query needs all keys.
constexpr rule attention_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 3, 8, "attention");
  const auto pass = [](bool cut) { return cut ? factor_kind::pass_through : factor_kind::replicate; };
  rule r;
  const std::size_t b = r.add_factor(dynamic, 'b'), s = r.add_factor(dynamic, 's', pass(with.x)),
                    t = r.add_factor(dynamic, 't', pass(false)), h = r.add_factor(dynamic, 'h'),
                    d = r.add_factor(dynamic, 'd', pass(false)), e = r.add_factor(dynamic, 'e', pass(false));
  const auto add = [&](std::initializer_list<std::size_t> all) {
    for (const std::size_t f : all) r.add_dimension(f);
  };
  r.begin_operand(), add({b, s, h, d});
  r.begin_operand(), add({b, t, h, d});
  r.begin_operand(), add({b, t, h, e});
  for (std::size_t k = 3; k < shapes.size(); ++k) {
    r.begin_operand();
    for (std::size_t n = 0; n < shapes[k].size(); ++n) r.add_whole_dimension(shapes[k][n]);
  }
  r.begin_result(), add({b, s, h, e});
  r.begin_result(), add({b, h, s, t});
  r.begin_result(), add({b, h, s});
  return r.complete().with(linearity::none);
}
/// The rule of rope: `with.count` tensors [b,s,h,d], then optional sine and cosine [1,s,1,d] and positions [b,s] -> the
/// rotated tensors. `with.x` means tensors [s,b,h,d].
constexpr rule rope_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, 6, "rope");
  rule r;
  const std::size_t b = r.add_factor(dynamic, 'b'), s = r.add_factor(dynamic, 's', factor_kind::replicate),
                    h = r.add_factor(dynamic, 'h'), d = r.add_factor(dynamic, 'd', factor_kind::replicate);
  const auto add_rotated_tensor = [&] {
    r.add_dimension(with.x ? s : b), r.add_dimension(with.x ? b : s), r.add_dimension(h), r.add_dimension(d);
  };
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    r.begin_operand();
    if (k < with.count) {
      add_rotated_tensor();
    } else if (shapes[k].size() == 2) {
      r.add_dimension(b), r.add_dimension(s);
    } else {
      for (std::size_t n = 0; n < shapes[k].size(); ++n) r.add_whole_dimension(shapes[k][n]);
    }
  }
  for (std::size_t k = 0; k < with.count; ++k) r.begin_result(), add_rotated_tensor();
  return r.complete().with(linearity::none);
}

}  // namespace detail

namespace rules {

/// Scaled dot-product attention. The sharding of heads is propagated; the caller repeats keys and values that have
/// fewer heads.
inline constexpr operation attention{"attention", &detail::attention_rule, {}};
/// Attention whose queries may be sharded by position.
inline constexpr operation sequence_parallel_attention{
    "sequence_parallel_attention", &detail::attention_rule, {.x = true}};
/// Rotary position embedding of `tensors` operands.
constexpr operation rope(std::size_t tensors, bool time_major = false) {
  return {"rope", &detail::rope_rule, {.x = time_major, .count = tensors}};
}

}  // namespace rules
}  // namespace partita
