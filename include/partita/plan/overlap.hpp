// The overlaps of a block of one decomposition with the blocks of another: products of the overlaps in each dimension.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/box.hpp>
#include <partita/core/config.hpp>
#include <partita/plan/decomposition.hpp>
#include <partita/plan/grid.hpp>
#include <partita/rule/permute.hpp>
#include <vector>

namespace partita::detail {

/// The overlap of a block with one part of the other decomposition along one dimension: the part, the indices, and
/// where these start in both blocks.
struct overlap {
  std::size_t part;                            ///< the number of the part of the other decomposition
  interval range;                              ///< the global indices that both have in common
  std::size_t start, other_start, other_size;  ///< positions in both blocks; the other part's size
};

/// Estimates the number of overlaps along one dimension. The number is exact unless a block-cyclic part has several
/// pieces or a part of `other` is empty.
PARTITA_DECL std::size_t estimate_overlaps(const cut& own, std::size_t part, const cut& other);

/// Appends the overlaps of a part with another cut along one dimension.
PARTITA_DECL void find_overlaps(const cut& own, std::size_t part, const cut& other, std::vector<overlap>& overlaps);

/// The cuts of a decomposition; cut d of the result is that of dimension order[d].
template <std::size_t Rank>
std::array<const cut*, Rank> pointers_to_cuts(const decomposition<Rank>& all,
                                              const axes_order<Rank>& order = same_axes<Rank>()) {
  std::array<const cut*, Rank> cuts{};
  for (std::size_t d = 0; d < Rank; ++d) cuts[d] = &all.cuts[order[d]];
  return cuts;
}

/// Cuts of `extents` whose middle part, along each dimension, is the range of a box.
template <std::size_t Rank>
decomposition<Rank> cuts_at_box(const box<Rank>& b, const std::array<std::size_t, Rank>& extents) {
  return decomposition<Rank>::make([&](std::size_t d) {
    return cut::at({b.start[d], b.stop[d] - b.start[d], extents[d] - b.stop[d]});
  });
}
/// The position 1 along each dimension: that of the box in the decomposition that cuts_at_box returns.
template <std::size_t Rank>
constexpr index<Rank> index_of_middle_part() {
  index<Rank> i{};
  for (std::size_t d = 0; d < Rank; ++d) i[d] = 1;
  return i;
}

/// The overlap of two blocks: its indices, its start in this side's block and in the other side's block, and the shape
/// of the other side's block.
template <std::size_t Rank>
struct block_overlap {
  box<Rank> where{};                            ///< the global indices
  index<Rank> start{}, other_start{};           ///< the positions of the overlap in both blocks
  std::array<std::size_t, Rank> other_shape{};  ///< the shape of the other side's block
};

/// Nested loops over the overlaps of dimensions D, D + 1, …, which compute for each box only what differs from the box
/// before. overlaps[k] for first[d] <= k < first[d + 1] are the overlaps along dimension d.
template <std::size_t D, std::size_t Rank, class F>
[[gnu::always_inline]] inline void visit_overlaps(const overlap* overlaps,
                                                  const std::array<std::size_t, Rank + 1>& first, index<Rank>& peer,
                                                  block_overlap<Rank>& m, F& f) {
  if constexpr (D == Rank) {
    f(peer, m);
  } else {
    for (std::size_t k = first[D], end = first[D + 1]; k < end; ++k) {
      const overlap& o = overlaps[k];
      peer[D] = o.part;
      m.where.start[D] = o.range.start;
      m.where.stop[D] = o.range.stop;
      m.start[D] = o.start;
      m.other_start[D] = o.other_start;
      m.other_shape[D] = o.other_size;
      visit_overlaps<D + 1>(overlaps, first, peer, m, f);
    }
  }
}

/// Calls f(index of the other side's block, overlap) for all overlaps of one block with the other decomposition: the
/// product of the overlaps along each dimension, which are stored in `overlaps`. Before the first call of f it calls
/// reserve(number of overlaps).
template <std::size_t Rank, class F, class Expect>
void for_each_overlap(const std::array<const cut*, Rank>& own, const index<Rank>& i,
                      const std::array<const cut*, Rank>& other, std::vector<overlap>& overlaps, F f, Expect reserve) {
  std::array<std::size_t, Rank + 1> first{};  // the overlaps along dimension d are [first[d], first[d + 1])
  std::size_t count = 0;
  for (std::size_t d = 0; d < Rank; ++d) count += estimate_overlaps(*own[d], i[d], *other[d]);
  overlaps.clear();
  if (overlaps.capacity() < count) overlaps.reserve(count + count / 8);  // the adjoint may have a few overlaps more
  count = 1;
  for (std::size_t d = 0; d < Rank; ++d) {
    find_overlaps(*own[d], i[d], *other[d], overlaps);
    first[d + 1] = overlaps.size();
    if (first[d + 1] == first[d]) return;
    count *= first[d + 1] - first[d];
  }
  reserve(count);
  index<Rank> peer{};
  block_overlap<Rank> m;
  visit_overlaps<0>(overlaps.data(), first, peer, m, f);
}

// The functions below accept two forms of blocks: a decomposition, and, for staggered blocks, a list of boxes by place.
// order[d] is the dimension of these blocks that is dimension d in the common order of both sides.

/// The global extents of the tensor.
template <std::size_t Rank>
std::array<std::size_t, Rank> tensor_extents(const decomposition<Rank>& cuts) {
  return cuts.extents();
}
template <std::size_t Rank>
std::array<std::size_t, Rank> tensor_extents(const std::vector<box<Rank>>& boxes) {
  std::array<std::size_t, Rank> extents{};
  for (const box<Rank>& b : boxes)
    for (std::size_t d = 0; d < Rank; ++d) extents[d] = b.stop[d] > extents[d] ? b.stop[d] : extents[d];
  return extents;
}

/// Calls f(cuts, i, shape) for the block at a place, which is part i of these cuts, and has this shape.
template <class Extents, std::size_t Rank, class F>
void with_cuts(const grid<Extents>& side, const decomposition<Rank>& blocks, std::size_t place,
               const axes_order<Rank>& order, F f) {
  const index<Rank> i = side.index(place);
  f(pointers_to_cuts(blocks, order), in_result_order(i, order), blocks.shape(i));
}
template <class Extents, std::size_t Rank, class F>
void with_cuts(const grid<Extents>&, const std::vector<box<Rank>>& blocks, std::size_t place,
               const axes_order<Rank>& order, F f) {
  const decomposition<Rank> around = cuts_at_box(blocks[place], tensor_extents(blocks));
  f(pointers_to_cuts(around, order), index_of_middle_part<Rank>(), blocks[place].shape());
}

/// Calls f(place, overlap) for all overlaps of part i of `own` with a block of the other side. If the other side is a
/// decomposition, first calls reserve(number of overlaps).
template <class Extents, std::size_t Rank, class F, class Expect>
void for_each_block_overlap(const std::array<const cut*, Rank>& own, const index<Rank>& i, const grid<Extents>& side,
                            const decomposition<Rank>& blocks, const axes_order<Rank>& order,
                            std::vector<overlap>& scratch, F f, Expect reserve) {
  std::array<std::size_t, Rank> steps{};  // the distances between places, in the common order
  for (std::size_t d = Rank, next = 1; d-- > 0; next *= side.extents()[d]) steps[d] = next;
  steps = in_result_order(steps, order);
  for_each_overlap(
      own, i, pointers_to_cuts(blocks, order), scratch,
      [&](const index<Rank>& j, const block_overlap<Rank>& m) {
        std::size_t place = 0;
        for (std::size_t d = 0; d < Rank; ++d) place += j[d] * steps[d];
        f(place, m);
      },
      reserve);
}
template <class Extents, std::size_t Rank, class F, class Expect>
void for_each_block_overlap(const std::array<const cut*, Rank>& own, const index<Rank>& i, const grid<Extents>&,
                            const std::vector<box<Rank>>& blocks, const axes_order<Rank>& order,
                            std::vector<overlap>& scratch, F f, Expect) {
  const auto extents = tensor_extents(blocks);
  for (std::size_t place = 0; place < blocks.size(); ++place) {
    if (blocks[place].empty()) continue;
    const decomposition<Rank> around = cuts_at_box(blocks[place], extents);
    for_each_overlap(
        own, i, pointers_to_cuts(around, order), scratch,
        [&](const index<Rank>& j, const block_overlap<Rank>& m) {
          if (j == index_of_middle_part<Rank>()) f(place, m);
        },
        [](std::size_t) {});
  }
}

/// The boxes of all blocks of a decomposition. Requires that no cut is block-cyclic.
template <class Extents, std::size_t Rank>
std::vector<box<Rank>> block_boxes(const decomposition<Rank>& cuts, const grid<Extents>& places) {
  std::vector<box<Rank>> boxes(places.size());
  for (std::size_t k = 0; k < boxes.size(); ++k) boxes[k] = cuts.block(places.index(k));
  return boxes;
}

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/plan/impl/overlap.ipp>
#endif
