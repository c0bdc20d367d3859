// The policies from_cuts(...) and to_cuts(...), which set the decomposition of one side of a repartition.
#pragma once

#include <cstddef>
#include <partita/plan/decomposition.hpp>
#include <type_traits>

namespace partita {

/// The policy of a source that has these cuts, whatever the shapes of its blocks suggest.
template <std::size_t Rank>
struct from_cuts_t {
  decomposition<Rank> cuts;
};
/// The policy of a result that gets these cuts instead of the balanced cuts.
template <std::size_t Rank>
struct to_cuts_t {
  decomposition<Rank> cuts;
};

/// `from_cuts(d)`: the source of a repartition has the decomposition d.
template <std::size_t Rank>
from_cuts_t<Rank> from_cuts(const decomposition<Rank>& cuts) {
  return {cuts};
}
/// The source has one cut for each dimension, as in `from_cuts(cut::at({3, 1}), cut::block_cyclic(9, 2, 2))`.
template <class... Cuts>
  requires(sizeof...(Cuts) > 0 && (std::is_same_v<Cuts, cut> && ...))
from_cuts_t<sizeof...(Cuts)> from_cuts(const Cuts&... cuts) {
  return {decomposition<sizeof...(Cuts)>(cuts...)};
}

/// `to_cuts(d)`: the result of a repartition gets the decomposition d.
template <std::size_t Rank>
to_cuts_t<Rank> to_cuts(const decomposition<Rank>& cuts) {
  return {cuts};
}
/// The result gets one cut for each dimension, as in `to_cuts(cut::at({3, 1}), cut::block_cyclic(9, 2, 2))`.
template <class... Cuts>
  requires(sizeof...(Cuts) > 0 && (std::is_same_v<Cuts, cut> && ...))
to_cuts_t<sizeof...(Cuts)> to_cuts(const Cuts&... cuts) {
  return {decomposition<sizeof...(Cuts)>(cuts...)};
}

}  // namespace partita
