// Defines the functions that plan/overlap.hpp declares.
#pragma once

#include <partita/plan/overlap.hpp>

namespace partita::detail {

PARTITA_DEF std::size_t estimate_overlaps(const cut& own, std::size_t part, const cut& other) {
  std::size_t count = 0;
  own.for_pieces(part, [&](interval piece, std::size_t) {
    if (count == 0) count = other.count_overlaps(piece);
  });
  return count;
}

PARTITA_DEF void find_overlaps(const cut& own, std::size_t part, const cut& other, std::vector<overlap>& overlaps) {
  own.for_pieces(part, [&](interval piece, std::size_t at) {
    other.for_overlaps(piece, [&](std::size_t other_part, interval range, std::size_t other_start, std::size_t size) {
      overlaps.push_back({other_part, range, at + range.start - piece.start, other_start, size});
    });
  });
}

}  // namespace partita::detail
