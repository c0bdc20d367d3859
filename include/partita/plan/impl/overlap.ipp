// Defines the functions that plan/overlap.hpp declares.
#pragma once

#include <partita/plan/overlap.hpp>

namespace partita::detail {

PARTITA_DEF std::size_t about_how_many(const cut& own, std::size_t part, const cut& other) {
  std::size_t count = 0;
  own.for_pieces(part, [&](interval piece, std::size_t) {
    if (count == 0) count = other.count_overlaps(piece);
  });
  return count;
}

PARTITA_DEF void find_overlaps(const cut& own, std::size_t part, const cut& other, std::vector<overlap>& found) {
  own.for_pieces(part, [&](interval piece, std::size_t at) {
    other.for_overlaps(piece, [&](std::size_t other_part, interval range, std::size_t at_other, std::size_t size) {
      found.push_back({other_part, range, at + range.start - piece.start, at_other, size});
    });
  });
}

}  // namespace partita::detail
