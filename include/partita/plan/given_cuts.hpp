// How the caller of a repartition says that a side is cut otherwise than by default: from(cuts...) and to(cuts...).
#pragma once

#include <cstddef>
#include <partita/plan/decomposition.hpp>
#include <type_traits>

namespace partita {

/// The source is cut like this, whatever the shapes of its blocks suggest.
template <std::size_t Rank>
struct from_t {
  decomposition<Rank> cuts;
};
/// The result shall be cut like this, instead of in balance.
template <std::size_t Rank>
struct to_t {
  decomposition<Rank> cuts;
};

/// `from(d)`: the source of a repartition has the decomposition d.
template <std::size_t Rank>
from_t<Rank> from(const decomposition<Rank>& cuts) {
  return {cuts};
}
/// `from(cut::at({3, 1}), cut::block_cyclic(9, 2, 2))`: the same with one cut for each dimension.
template <class... Cuts>
  requires(sizeof...(Cuts) > 0 && (std::is_same_v<Cuts, cut> && ...))
from_t<sizeof...(Cuts)> from(const Cuts&... cuts) {
  return {decomposition<sizeof...(Cuts)>{{cuts...}}};
}

/// `to(d)`: the result of a repartition gets the decomposition d.
template <std::size_t Rank>
to_t<Rank> to(const decomposition<Rank>& cuts) {
  return {cuts};
}
/// `to(cut::at({3, 1}), cut::block_cyclic(9, 2, 2))`: the same with one cut for each dimension.
template <class... Cuts>
  requires(sizeof...(Cuts) > 0 && (std::is_same_v<Cuts, cut> && ...))
to_t<sizeof...(Cuts)> to(const Cuts&... cuts) {
  return {decomposition<sizeof...(Cuts)>{{cuts...}}};
}

}  // namespace partita
