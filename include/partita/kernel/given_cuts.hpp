// The policies from_cuts(...) and to_cuts(...), which give a side of a repartition a decomposition other than the
// default.
#pragma once

#include <cstddef>
#include <partita/plan/decomposition.hpp>
#include <type_traits>

namespace partita {

/// The source has these cuts, whatever the shapes of its blocks suggest.
template <std::size_t Rank>
struct from_cuts_t {
  decomposition<Rank> cuts;
};
/// The result gets these cuts instead of the balanced ones.
template <std::size_t Rank>
struct to_cuts_t {
  decomposition<Rank> cuts;
};

/// `from_cuts(d)`: the source of a repartition has the decomposition d.
template <std::size_t Rank>
from_cuts_t<Rank> from_cuts(const decomposition<Rank>& cuts) {
  return {cuts};
}
/// `from_cuts(cut::at({3, 1}), cut::block_cyclic(9, 2, 2))`: the same with one cut for each dimension.
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
/// `to_cuts(cut::at({3, 1}), cut::block_cyclic(9, 2, 2))`: the same with one cut for each dimension.
template <class... Cuts>
  requires(sizeof...(Cuts) > 0 && (std::is_same_v<Cuts, cut> && ...))
to_cuts_t<sizeof...(Cuts)> to_cuts(const Cuts&... cuts) {
  return {decomposition<sizeof...(Cuts)>(cuts...)};
}

}  // namespace partita
