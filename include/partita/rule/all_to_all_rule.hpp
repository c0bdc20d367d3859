// Conditions of an all-to-all between two partitions: one dimension is split into fewer blocks, and another one into
// more.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/text.hpp>

namespace partita {

/// Returns an empty message if `to` splits one dimension into k times fewer parts than `from`, one other dimension into
/// k times more, and the remaining dimensions equally, or if `to` equals `from`; otherwise the error message.
template <std::size_t Rank>
constexpr text all_to_all_error(const std::array<std::size_t, Rank>& from, const std::array<std::size_t, Rank>& to) {
  std::size_t old_split = Rank, new_split = Rank, others = 0;
  for (std::size_t d = 0; d < Rank; ++d) {
    if (from[d] > to[d]) old_split == Rank ? old_split = d : ++others;
    if (from[d] < to[d]) new_split == Rank ? new_split = d : ++others;
  }
  const bool moves = others == 0 && old_split < Rank && new_split < Rank && to[old_split] > 0 && from[new_split] > 0 &&
                     from[old_split] % to[old_split] == 0 && to[new_split] % from[new_split] == 0 &&
                     from[old_split] / to[old_split] == to[new_split] / from[new_split];
  if (moves || from == to) return {};
  return text(
             "requires partitions of which one dimension of p_from is cut into k times fewer parts in p_to, one other "
             "into k times more, and the rest alike; p_from = ")
         << from << ", p_to = " << to << "; take repartition for other moves";
}

}  // namespace partita
