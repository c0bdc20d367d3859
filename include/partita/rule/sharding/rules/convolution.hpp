// Rules of convolution: which dimensions are summed, which are propagated, and which need neighbouring cells.
#pragma once

#include <cstddef>
#include <partita/rule/sharding/operation.hpp>

namespace partita {
namespace detail {

/// The operation images [n,c,...], filters [m,c/g,...] -> [n,m,...] in `with.count` groups of channels and filters (0
/// means one, `with.x` one for each channel); with `with.y` the convolution is transposed, with filters [c,m/g,...].
/// The spatial dimensions need neighbouring cells and stay unsharded. With several groups, the summed channels may only
/// be sharded by whole groups.
constexpr rule convolution_rule(const shape_span& shapes, const attributes& with) {
  require_operands(shapes, 2, 2, "convolution");
  const shape_list &x = shapes[0], &w = shapes[1];
  if (x.size() < 2 || w.size() != x.size())
    throw shape_error(
        text("partita::rules::convolution: requires images [batch, channels, ...] and filters of the same "
             "rank, not ")
        << x << " and " << w << "; reshape one");
  const std::size_t groups = with.x ? x[1] : with.count == 0 ? 1 : with.count;
  if (groups != 1 &&
      (groups == dynamic || x[1] == dynamic || w[0] == dynamic || x[1] % groups != 0 || w[0] % groups != 0))
    throw shape_error(text("partita::rules::convolution: requires multiples of ")
                      << groups << " channels and filters, not " << x << " and " << w
                      << "; give another number of groups");
  rule r;
  const bool in_groups = groups != 1;
  const std::size_t n = r.add_factor(dynamic, 'n'), g = in_groups ? r.add_factor(groups, 'g') : 0;
  // If a group has one channel (or one filter), this dimension needs no factor. If a group has one channel and one
  // filter, the groups may be sharded unevenly.
  const std::size_t of_c = in_groups ? x[1] / groups : 0, of_m = !in_groups ? 0 : with.y ? w[1] : w[0] / groups;
  const std::size_t c = of_c == 1 ? most_factors : r.add_factor(dynamic, 'c'),
                    m = of_m == 1 ? most_factors : r.add_factor(dynamic, 'm');
  if (in_groups && (of_c != 1 || of_m != 1)) r.factors[g].merged_group = 1;
  for (const std::size_t inner : {c, m})
    if (in_groups && inner != most_factors) r.factors[inner].merged_group = 1;
  if (in_groups && c != most_factors) r.factors[c].kind = factor_kind::replicate;
  const auto add = [&](std::size_t inner, bool outer) {
    r.add_dimension();
    if (outer && in_groups) r.add_term(g);
    if (inner != most_factors) r.add_term(inner);
  };
  for (std::size_t t = 0; t < 3; ++t) {
    t < 2 ? r.begin_operand() : r.begin_result();
    if (t != 1) add(n, false), add(t == 0 ? c : m, true);
    else add(with.y ? c : m, true), add(with.y ? m : c, false);
    for (std::size_t d = 2; d < x.size(); ++d) r.add_whole_dimension();
  }
  r.complete();
  return r;
}

}  // namespace detail

namespace rules {

/// The operation images, filters -> images. The result is a sum over channels, partial over the axes that shard the
/// channels.
inline constexpr operation convolution{"convolution", &detail::convolution_rule, {}};
/// Convolution in groups of channels and filters.
constexpr operation grouped_convolution(std::size_t groups) {
  return {"grouped_convolution", &detail::convolution_rule, {.count = groups}};
}
/// Convolution in which every channel has its own filters.
inline constexpr operation depthwise_convolution{"depthwise_convolution", &detail::convolution_rule, {.x = true}};
/// Transposed convolution, with filters [channels of the images, channels of the result, ...].
constexpr operation transposed_convolution(std::size_t groups = 1) {
  return {"transposed_convolution", &detail::convolution_rule, {.y = true, .count = groups}};
}

}  // namespace rules
}  // namespace partita
