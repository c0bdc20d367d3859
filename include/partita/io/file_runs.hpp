// Where a block lies in a file of the whole tensor: runs of elements that follow each other.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/index.hpp>
#include <partita/plan/decomposition.hpp>

namespace partita {

namespace detail {

/// The dimension of the last cut that leaves this many indices of the extent to a block; Rank if all are whole.
template <std::size_t Rank, class Whole>
std::size_t last_cut(Whole whole) {
  for (std::size_t d = Rank; d-- > 0;)
    if (!whole(d)) return d;
  return Rank;
}

template <std::size_t Rank, class F>
struct run_walk {
  const decomposition<Rank>& cuts;
  const index<Rank>& position;
  std::size_t last, behind;  // the last dimension that is cut, and the elements behind each of its indices
  F& f;
  std::size_t local = 0;

  /// `at` numbers the indices of the dimensions before d.
  void operator()(std::size_t d, std::size_t at) {
    at *= cuts.cuts[d].extent();
    cuts.cuts[d].for_pieces(position[d], [&](interval piece, std::size_t) {
      if (d == last) {
        f((at + piece.start) * behind, local, piece.size() * behind);
        local += piece.size() * behind;
        return;
      }
      for (std::size_t i = piece.start; i < piece.stop; ++i) (*this)(d + 1, at + i);
    });
  }
};

}  // namespace detail

/// Calls f(at, local, count) for the runs of the block at a position: `count` elements from number `at` of the tensor
/// in C order on, which are those from `local` on of the block. Ascending, and none is empty.
template <std::size_t Rank, class F>
void for_file_runs(const decomposition<Rank>& cuts, const index<Rank>& position, F f) {
  const auto extents = cuts.extents();
  if (volume_of(cuts.shape(position)) == 0) return;
  const std::size_t last =
      detail::last_cut<Rank>([&](std::size_t d) { return cuts.cuts[d].size(position[d]) == extents[d]; });
  if (last == Rank) return f(std::size_t{0}, std::size_t{0}, volume_of(extents));
  std::size_t behind = 1;
  for (std::size_t d = last + 1; d < Rank; ++d) behind *= extents[d];
  detail::run_walk<Rank, F>{cuts, position, last, behind, f}(0, 0);
}

/// How many elements a run of these cuts has on average, over all blocks; parts that hold nothing count as one each.
template <std::size_t Rank>
std::size_t mean_run(const decomposition<Rank>& cuts) {
  const auto extents = cuts.extents();
  const std::size_t last = detail::last_cut<Rank>([&](std::size_t d) { return cuts.cuts[d].parts() == 1; });
  std::size_t behind = 1;
  for (std::size_t d = last == Rank ? 0 : last + 1; d < Rank; ++d) behind *= extents[d];
  if (last == Rank || extents[last] == 0) return last == Rank ? behind : 0;
  return extents[last] * behind / cuts.cuts[last].count_overlaps({0, extents[last]});
}

}  // namespace partita
