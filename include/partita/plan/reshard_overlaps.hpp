// The direct exchange that moves a tensor from one sharding to another: which worker sends which box to which.
//
// Every place receives each index from the place that differs from it only in the axes that shard the source: from
// itself if possible. So the requests are spread evenly over the replicas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/plan/mesh_block.hpp>
#include <vector>

namespace partita {

/// A box that one place of a mesh sends to another. If values are reduced, it is one of several summands.
struct reshard_overlap {
  std::size_t place = 0;    ///< the other place; it may be the same place
  std::size_t summand = 0;  ///< in C order over the axes that are reduced
  short_list<interval> where{};
};

/// The exchange: both shardings of one mesh, and the axes (as bits) whose summands are gathered.
struct reshard_exchange {
  sharding from{}, to{};
  std::uint32_t reduced = 0;

  constexpr std::size_t summands() const {
    std::size_t n = 1;
    for (std::size_t a = 0; a < from.on.rank(); ++a)
      if ((reduced >> a & 1U) != 0) n *= from.on.size(a);
    return n;
  }
  friend constexpr bool operator==(const reshard_exchange&, const reshard_exchange&) = default;
};

namespace detail {

/// Whether `source` is the replica that sends to `target`.
constexpr bool serves(const reshard_exchange& e, std::size_t source, std::size_t target) {
  const std::uint32_t free = e.from.cutting() | e.reduced;
  for (std::size_t a = 0; a < e.from.on.rank(); ++a)
    if ((free >> a & 1U) == 0 && coordinate_of(e.from.on, source, a) != coordinate_of(e.from.on, target, a))
      return false;
  return true;
}
constexpr std::size_t summand_of(const reshard_exchange& e, std::size_t source) {
  std::size_t n = 0;
  for (std::size_t a = 0; a < e.from.on.rank(); ++a)
    if ((e.reduced >> a & 1U) != 0) n = n * e.from.on.size(a) + coordinate_of(e.from.on, source, a);
  return n;
}
/// The intersection of two boxes; `there` is false if it is empty.
struct common_box {
  short_list<interval> where{};
  bool there = true;

  constexpr common_box(const short_list<interval>& a, const short_list<interval>& b) {
    for (std::size_t d = 0; d < a.size(); ++d) {
      const interval both{a[d].start > b[d].start ? a[d].start : b[d].start,
                          a[d].stop < b[d].stop ? a[d].stop : b[d].stop};
      there = there && both.stop > both.start;
      where.push_back(both);
    }
  }
};

}  // namespace detail

/// What a place receives, in the order of the senders. Cost: O(places).
template <class = void>
inline std::vector<reshard_overlap> overlaps_taken(const reshard_exchange& e, const shape_list& shape,
                                                   std::size_t place) {
  std::vector<reshard_overlap> all;
  const auto wanted = mesh_block(e.to, shape, place);
  for (std::size_t other = 0; other < e.from.on.size(); ++other) {
    if (!detail::serves(e, other, place)) continue;
    const detail::common_box both(mesh_block(e.from, shape, other), wanted);
    if (both.there) all.push_back({other, detail::summand_of(e, other), both.where});
  }
  return all;
}
/// What a place sends, in the order of the receivers; the summand is its own.
template <class = void>
inline std::vector<reshard_overlap> overlaps_given(const reshard_exchange& e, const shape_list& shape,
                                                   std::size_t place) {
  std::vector<reshard_overlap> all;
  const auto held = mesh_block(e.from, shape, place);
  const std::size_t summand = detail::summand_of(e, place);
  for (std::size_t other = 0; other < e.from.on.size(); ++other) {
    if (!detail::serves(e, place, other)) continue;
    const detail::common_box both(held, mesh_block(e.to, shape, other));
    if (both.there) all.push_back({other, summand, both.where});
  }
  return all;
}

}  // namespace partita
