// Layouts for operations along dimensions that must not be sharded: the mesh axes that sharded such a dimension shard
// another dimension.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/rule/sharding/operation.hpp>
#include <partita/rule/sharding/sharding.hpp>

namespace partita::detail {

/// The dimensions among `left` that no axis shards (both as bit masks).
constexpr std::uint32_t whole_dimensions(const sharding& s, std::uint32_t left) {
  std::uint32_t found = 0;
  for (std::size_t d = 0; d < s.rank(); ++d)
    if (has_bit(left, d) && s[d].empty()) found |= std::uint32_t{1} << d;
  return found;
}
/// The layout for the next step of an operation that works along the dimensions `all`, one after the other, of which
/// the dimensions `left` remain. If one of the remaining dimensions is not sharded in s, the layout is s. If all are
/// sharded, the axes of the last remaining dimension shard another dimension: one along which the operation does not
/// work, else one along which it has worked already, else any other; a tensor of rank 1 becomes replicated over these
/// axes.
constexpr sharding make_dimension_whole(const sharding& s, std::uint32_t left, std::uint32_t all) {
  if (whole_dimensions(s, left) != 0) return s;
  std::size_t d = s.rank() - 1;
  while (!has_bit(left, d)) --d;
  std::size_t to = d;
  for (std::size_t e = 0; e < s.rank(); ++e)
    if (e != d && to == d) to = e;
  for (std::size_t e = 0; e < s.rank(); ++e)
    if (e != d && !has_bit(left, e)) to = e;
  for (std::size_t e = 0; e < s.rank(); ++e)
    if (e != d && !has_bit(all, e)) to = e;
  const axis_list moved = s[d];
  sharding y = s.cut(d, axis_list());
  if (to == d) return y;
  axis_list both = y[to];
  both.append(moved);
  return y.cut(to, both);
}

}  // namespace partita::detail
