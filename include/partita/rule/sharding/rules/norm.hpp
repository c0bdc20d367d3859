// Rules of normalisation: over the last dimensions, over groups of channels, over the batch.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/operation.hpp>

namespace partita {
namespace detail {

/// The rule of layer_norm: x, scale, bias -> y, mean, variance. `with.axes[0]` is the first normalised dimension,
/// `with.count` the number of statistics.
constexpr rule norm_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, 3, "norm");
  const shape_list& x = shapes[0];
  const std::size_t begin = checked_dimension(with.axes[0], x.size(), "norm");
  rule r;
  const separate_factors f(r, x, ~std::uint32_t{0} << begin);
  f.add_operand(r);
  for (std::size_t t = 1; t < shapes.size(); ++t) {
    r.begin_operand();
    for (std::size_t d = 0; d < shapes[t].size(); ++d) r.add_whole_dimension(shapes[t][d]);
  }
  for (std::size_t j = 0; j <= with.count; ++j) {
    r.begin_result();
    for (std::size_t d = 0; d < (j == 0 ? x.size() : begin); ++d) r.add_dimension(f[d]);
  }
  r.how = linearity::none;
  r.complete();
  return r;
}
/// The operation x [n,c,...], scale [c], bias [c] -> y, mean [n,g], variance [n,g]: channels in `with.count` groups (0:
/// one channel per group) are normalised over all spatial positions. Whole groups may be sharded.
constexpr rule group_norm_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 1, 3, "group_norm");
  const shape_list& x = shapes[0];
  const std::size_t channels = x.size() > 1 ? x[1] : 0, groups = with.count == 0 ? channels : with.count;
  if (x.size() < 2 || (channels != groups && (channels == dynamic || channels % groups != 0)))
    throw shape_error(text("partita::rules::group_norm: requires x [batch, channels, ...] with a multiple of ")
                      << groups << " channels, not " << x << "; give another number of groups");
  rule r;
  const std::size_t n = r.add_factor(dynamic, 'n'), g = r.add_factor(groups, 'g');
  const bool merged = channels != groups;
  const std::size_t e = merged ? r.add_factor(channels / groups, 'e', factor_kind::replicate) : 0;
  if (merged) r.factors[g].merged_group = r.factors[e].merged_group = 1;
  const auto add_channels = [&] {
    r.add_dimension(g);
    if (merged) r.add_term(e);
  };
  std::size_t places[most_dimensions]{};
  for (std::size_t d = 2; d < x.size(); ++d) places[d] = r.add_factor(x[d], '_', factor_kind::replicate);
  const auto add_image = [&] {
    r.add_dimension(n), add_channels();
    for (std::size_t d = 2; d < x.size(); ++d) r.add_dimension(places[d]);
  };
  r.begin_operand(), add_image();
  for (std::size_t t = 1; t < shapes.size(); ++t) r.begin_operand(), add_channels();
  r.begin_result(), add_image();
  for (std::size_t j = 0; j < 2; ++j) r.begin_result(), r.add_dimension(n), r.add_dimension(g);
  r.how = linearity::none;
  r.complete();
  return r;
}
/// The operation x [n,c,...], running mean, running variance, scale, bias [c] -> y and, unless `with.x`, four
/// statistics [c]. The statistics use the whole batch, so the batch is unsharded, or (`with.y`) the operation itself
/// communicates over the axes that shard the batch.
constexpr rule batch_norm_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 3, 5, "batch_norm");
  const shape_list& x = shapes[0];
  if (x.size() < 2)
    throw shape_error(text("partita::rules::batch_norm: requires x [batch, channels, ...], not ")
                      << x << "; add a dimension");
  const factor_kind of_batch = with.x   ? factor_kind::pass_through
                               : with.y ? factor_kind::collective
                                        : factor_kind::replicate;
  rule r;
  const std::size_t n = r.add_factor(dynamic, 'n', of_batch), c = r.add_factor(dynamic, 'c');
  std::size_t places[most_dimensions]{};
  for (std::size_t d = 2; d < x.size(); ++d) places[d] = r.add_factor(x[d], nth_letter(d + 20), of_batch);
  const auto add_image = [&] {
    r.add_dimension(n), r.add_dimension(c);
    for (std::size_t d = 2; d < x.size(); ++d) r.add_dimension(places[d]);
  };
  r.begin_operand(), add_image();
  for (std::size_t t = 1; t < shapes.size(); ++t) r.begin_operand(), r.add_dimension(c);
  r.begin_result(), add_image();
  for (std::size_t j = 0; !with.x && j < 4; ++j) r.begin_result(), r.add_dimension(c);
  r.how = linearity::none;
  r.complete();
  return r;
}

}  // namespace detail

namespace rules {

/// The operation x, scale, bias -> y, mean, variance, which normalises over the dimensions from `begin` on.
constexpr operation layer_norm(std::ptrdiff_t begin = -1) {
  return {"layer_norm", &detail::norm_rule, {.axes = {begin}, .count = 2}};
}
/// The operation x, scale -> y, inverse root mean square, over the last dimension.
constexpr operation rms_norm() { return {"rms_norm", &detail::norm_rule, {.axes = {-1}, .count = 1}}; }
/// The operation x, scale, bias -> y, mean, variance of groups of channels. Axes may shard whole groups, but not the
/// spatial dimensions.
constexpr operation group_norm(std::size_t groups) {
  return {"group_norm", &detail::group_norm_rule, {.count = groups}};
}
/// Group normalisation of every channel separately.
inline constexpr operation instance_norm{"instance_norm", &detail::group_norm_rule, {}};
/// The operation x, running mean, running variance, scale, bias -> y, running mean, running variance, mean, variance of
/// every channel over the batch and the spatial dimensions, all of which must be unsharded.
inline constexpr operation batch_norm{"batch_norm", &detail::batch_norm_rule, {}};
/// Batch normalisation that communicates its statistics over the axes that shard the batch.
inline constexpr operation synchronised_batch_norm{"synchronised_batch_norm", &detail::batch_norm_rule, {.y = true}};
/// The operation x, mean, variance, scale, bias -> y, which is element-wise because the statistics are given.
inline constexpr operation batch_norm_inference{"batch_norm_inference", &detail::batch_norm_rule, {.x = true}};

}  // namespace rules
}  // namespace partita
