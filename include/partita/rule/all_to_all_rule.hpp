// Conditions of an all-to-all between two partitions: the split of one dimension moves to another dimension.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/text.hpp>

namespace partita {

/// Returns an empty message if exactly one dimension loses its split and exactly one other dimension gains a split
/// between partitions of these extents, or if the extents are equal (one worker); otherwise the error message.
template <std::size_t Rank>
constexpr text all_to_all_error(const std::array<std::size_t, Rank>& from, const std::array<std::size_t, Rank>& to) {
  std::size_t losing_dimension = Rank, gaining_dimension = Rank, others = 0;
  for (std::size_t d = 0; d < Rank; ++d) {
    if (from[d] > to[d]) losing_dimension == Rank ? losing_dimension = d : ++others;
    if (from[d] < to[d]) gaining_dimension == Rank ? gaining_dimension = d : ++others;
  }
  const bool moves = others == 0 && losing_dimension < Rank && gaining_dimension < Rank && to[losing_dimension] > 0 &&
                     from[gaining_dimension] > 0 && from[losing_dimension] % to[losing_dimension] == 0 &&
                     to[gaining_dimension] % from[gaining_dimension] == 0 &&
                     from[losing_dimension] / to[losing_dimension] == to[gaining_dimension] / from[gaining_dimension];
  if (moves || from == to) return {};
  return text(
             "requires partitions of which one dimension of p_from is cut into k times fewer parts in p_to, one other "
             "into k times more, and the rest alike; p_from = ")
         << from << ", p_to = " << to << "; take repartition for other moves";
}

}  // namespace partita
