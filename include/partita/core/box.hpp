// A half-open box of indices of the global tensor.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/index.hpp>
#include <partita/core/short_list.hpp>

namespace partita {

/// The indices i with start <= i < stop in every dimension.
template <std::size_t Rank>
struct box {
  index<Rank> start{};  ///< the first index in each dimension
  index<Rank> stop{};   ///< in each dimension, the index after the last one

  /// The extents of the box: an extent is 0 where stop <= start.
  constexpr std::array<std::size_t, Rank> shape() const {
    std::array<std::size_t, Rank> shape{};
    for (std::size_t d = 0; d < Rank; ++d) shape[d] = stop[d] > start[d] ? stop[d] - start[d] : 0;
    return shape;
  }
  constexpr std::size_t volume() const { return volume_of(shape()); }  ///< The number of indices: 1 for rank 0.
  constexpr bool empty() const { return volume() == 0; }               ///< Whether the box has no index.
  /// Whether an index is in the box.
  constexpr bool contains(const index<Rank>& i) const {
    for (std::size_t d = 0; d < Rank; ++d)
      if (i[d] < start[d] || i[d] >= stop[d]) return false;
    return true;
  }

  friend constexpr bool operator==(const box&, const box&) = default;
};

/// A half-open box of indices whose rank is known at run time only.
template <>
struct box<dynamic> {
  shape_list start{}, stop{};  ///< the first index, and the index after the last one, in each dimension

  constexpr shape_list shape() const {  ///< the extents of the box: an extent is 0 where stop <= start
    shape_list shape;
    for (std::size_t d = 0; d < start.size(); ++d) shape.push_back(stop[d] > start[d] ? stop[d] - start[d] : 0);
    return shape;
  }
  constexpr std::size_t volume() const {
    std::size_t n = 1;
    for (const std::size_t extent : shape()) n *= extent;
    return n;
  }

  friend constexpr bool operator==(const box&, const box&) = default;
};

/// The indices that are in both boxes, as a box.
template <std::size_t Rank>
constexpr box<Rank> intersection(const box<Rank>& a, const box<Rank>& b) {
  box<Rank> common{};
  for (std::size_t d = 0; d < Rank; ++d) {
    common.start[d] = a.start[d] > b.start[d] ? a.start[d] : b.start[d];
    common.stop[d] = a.stop[d] < b.stop[d] ? a.stop[d] : b.stop[d];
    if (common.stop[d] < common.start[d]) common.stop[d] = common.start[d];
  }
  return common;
}

/// Writes a box as its ranges, for example [0, 4) x [2, 6); a box of rank 0 is written as "scalar".
template <class Text, std::size_t Rank>
  requires requires(Text& out) { out << "" << std::size_t{}; }
constexpr Text&& operator<<(Text&& out, const box<Rank>& b) {
  if constexpr (Rank == 0) out << "scalar";
  for (std::size_t d = 0; d < b.start.size(); ++d) {
    if (d > 0) out << " x ";
    out << "[" << b.start[d] << ", " << b.stop[d] << ")";
  }
  return static_cast<Text&&>(out);
}

}  // namespace partita
