// The runs of consecutive elements that a block of a tensor occupies in a file of the whole tensor.
#pragma once

#include <cstddef>
#include <partita/core/index.hpp>
#include <partita/plan/decomposition.hpp>

namespace partita {

namespace detail {

/// The last divided dimension, that is, the last d for which whole(d) is false; Rank if no dimension is divided.
template <std::size_t Rank, class Whole>
std::size_t last_divided_dimension(Whole whole) {
  for (std::size_t d = Rank; d-- > 0;)
    if (!whole(d)) return d;
  return Rank;
}

/// Visits the runs of a block by a recursion over its dimensions.
template <std::size_t Rank, class F>
struct file_run_walk {
  const decomposition<Rank>& cuts;       ///< how the tensor is cut into blocks
  const index<Rank>& position;           ///< the index of the block among all blocks
  std::size_t last, elements_per_index;  ///< the last divided dimension, and the number of elements per index of it
  F& f;                                  ///< called for each run, as in for_file_runs
  std::size_t local = 0;                 ///< the index in the block of the first element of the next run

  /// Visits the runs of the block in dimensions d to Rank - 1; `at` is the flat index, in C order, over the dimensions
  /// before d.
  void operator()(std::size_t d, std::size_t at) {
    at *= cuts.cuts[d].extent();
    cuts.cuts[d].for_pieces(position[d], [&](interval piece, std::size_t) {
      if (d == last) {
        f((at + piece.start) * elements_per_index, local, piece.size() * elements_per_index);
        local += piece.size() * elements_per_index;
        return;
      }
      for (std::size_t i = piece.start; i < piece.stop; ++i) (*this)(d + 1, at + i);
    });
  }
};

}  // namespace detail

/// Calls f(at, local, count) for each run of consecutive elements of the block at `position`. The run has `count`
/// elements and begins at element `at` of the tensor in C order and at element `local` of the block. Runs are ascending
/// and not empty.
template <std::size_t Rank, class F>
void for_file_runs(const decomposition<Rank>& cuts, const index<Rank>& position, F f) {
  const auto extents = cuts.extents();
  if (volume_of(cuts.shape(position)) == 0) return;
  const std::size_t last =
      detail::last_divided_dimension<Rank>([&](std::size_t d) { return cuts.cuts[d].size(position[d]) == extents[d]; });
  if (last == Rank) return f(std::size_t{0}, std::size_t{0}, volume_of(extents));
  std::size_t elements_per_index = 1;
  for (std::size_t d = last + 1; d < Rank; ++d) elements_per_index *= extents[d];
  detail::file_run_walk<Rank, F>{cuts, position, last, elements_per_index, f}(0, 0);
}

/// The average number of elements per run over all blocks with these cuts. An empty part between other parts of the
/// last divided dimension counts as one run.
template <std::size_t Rank>
std::size_t mean_run(const decomposition<Rank>& cuts) {
  const auto extents = cuts.extents();
  const std::size_t last =
      detail::last_divided_dimension<Rank>([&](std::size_t d) { return cuts.cuts[d].parts() == 1; });
  std::size_t elements_per_index = 1;
  for (std::size_t d = last == Rank ? 0 : last + 1; d < Rank; ++d) elements_per_index *= extents[d];
  if (last == Rank || extents[last] == 0) return last == Rank ? elements_per_index : 0;
  return extents[last] * elements_per_index / cuts.cuts[last].count_overlaps({0, extents[last]});
}

}  // namespace partita
