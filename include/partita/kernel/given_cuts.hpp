// The policies source_cuts(...) and result_cuts(...), which set the decompositions of the source and of the result of a
// repartition.
#pragma once

#include <cstddef>
#include <partita/core/version.hpp>
#include <partita/plan/decomposition.hpp>
#include <type_traits>

namespace partita {

/// The policy that sets the decomposition of the source of a repartition; the shapes of the source's blocks are then
/// not used to find the decomposition.
template <std::size_t Rank>
struct source_cuts_t {
  decomposition<Rank> cuts;  ///< of the source tensor, over the source partition
};
/// The policy that gives the result of a repartition these cuts instead of balanced cuts.
template <std::size_t Rank>
struct result_cuts_t {
  decomposition<Rank> cuts;  ///< of the result tensor, over the destination partition
};

/// `source_cuts(d)`: the source of a repartition has the decomposition d.
template <std::size_t Rank>
source_cuts_t<Rank> source_cuts(const decomposition<Rank>& cuts) {
  return {cuts};
}
/// The source has one cut for each dimension, as in `source_cuts(cut::at({3, 1}), cut::block_cyclic(9, 2, 2))`.
template <class... Cuts>
  requires(sizeof...(Cuts) > 0 && (std::is_same_v<Cuts, cut> && ...))
source_cuts_t<sizeof...(Cuts)> source_cuts(const Cuts&... cuts) {
  return {decomposition<sizeof...(Cuts)>(cuts...)};
}

/// `result_cuts(d)`: the result of a repartition gets the decomposition d.
template <std::size_t Rank>
result_cuts_t<Rank> result_cuts(const decomposition<Rank>& cuts) {
  return {cuts};
}
/// The result gets one cut for each dimension, as in `result_cuts(cut::at({3, 1}), cut::block_cyclic(9, 2, 2))`.
template <class... Cuts>
  requires(sizeof...(Cuts) > 0 && (std::is_same_v<Cuts, cut> && ...))
result_cuts_t<sizeof...(Cuts)> result_cuts(const Cuts&... cuts) {
  return {decomposition<sizeof...(Cuts)>(cuts...)};
}

template <class... Cuts>
PARTITA_FORMER_NAME("use source_cuts")
auto from_cuts(const Cuts&... cuts) {  ///< the former name of source_cuts
  return source_cuts(cuts...);
}
template <class... Cuts>
PARTITA_FORMER_NAME("use result_cuts")
auto to_cuts(const Cuts&... cuts) {  ///< the former name of result_cuts
  return result_cuts(cuts...);
}

}  // namespace partita
