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
  std::size_t loses = Rank, gains = Rank, others = 0;
  for (std::size_t d = 0; d < Rank; ++d) {
    if (from[d] > to[d]) loses == Rank ? loses = d : ++others;
    if (from[d] < to[d]) gains == Rank ? gains = d : ++others;
  }
  const bool moves = others == 0 && loses < Rank && gains < Rank && to[loses] > 0 && from[gains] > 0 &&
                     from[loses] % to[loses] == 0 && to[gains] % from[gains] == 0 &&
                     from[loses] / to[loses] == to[gains] / from[gains];
  if (moves || from == to) return {};
  return text(
             "requires partitions of which one dimension of p_from is cut into k times fewer parts in p_to, one other "
             "into k times more, and the rest alike; p_from = ")
         << from << ", p_to = " << to << "; take repartition for other moves";
}

}  // namespace partita
