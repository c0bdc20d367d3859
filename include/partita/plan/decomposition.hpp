// The decomposition of a tensor over a grid: one cut for each dimension; for staggered blocks, one box for each worker.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/box.hpp>
#include <partita/plan/cut.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// A Cartesian decomposition: cuts[d] distributes the indices of dimension d, independently of the other dimensions.
template <std::size_t Rank>
struct decomposition {
  std::array<cut, Rank> cuts;  ///< the distribution of each dimension's indices

  explicit decomposition(std::array<cut, Rank> all) : cuts(std::move(all)) {}
  /// Makes a decomposition from one cut for each dimension: `decomposition<2>(c_0, c_1)`.
  template <class... Cut>
    requires(sizeof...(Cut) == Rank && (std::is_same_v<Cut, cut> && ...))
  explicit decomposition(const Cut&... cut_of_dimension) : cuts{cut_of_dimension...} {}

  /// The balanced decomposition of a tensor of these extents over a grid of this shape.
  static decomposition balanced(const std::array<std::size_t, Rank>& extents,
                                const std::array<std::size_t, Rank>& grid) {
    return make([&](std::size_t d) { return cut::balanced(extents[d], grid[d]); });
  }
  /// The block-cyclic layout of ScaLAPACK: blocks of these extents are assigned round-robin along every dimension.
  static decomposition block_cyclic(const std::array<std::size_t, Rank>& extents,
                                    const std::array<std::size_t, Rank>& grid,
                                    const std::array<std::size_t, Rank>& block) {
    return make([&](std::size_t d) { return cut::block_cyclic(extents[d], grid[d], block[d]); });
  }

  /// Constructs a decomposition from a function that returns the cut of a dimension.
  template <class MakeCut>
  static decomposition make(MakeCut make_cut) {
    return make(make_cut, std::make_index_sequence<Rank>());
  }

  /// The global extents of the tensor.
  std::array<std::size_t, Rank> extents() const {
    std::array<std::size_t, Rank> all{};
    for (std::size_t d = 0; d < Rank; ++d) all[d] = cuts[d].extent();
    return all;
  }
  /// The number of parts along each dimension, which is the shape of the grid of the decomposition.
  std::array<std::size_t, Rank> parts() const {
    std::array<std::size_t, Rank> all{};
    for (std::size_t d = 0; d < Rank; ++d) all[d] = cuts[d].parts();
    return all;
  }
  /// The shape of the block at a position of the grid; a position outside the grid is a shape_error.
  template <class Index = index<0>>  // so that {} can be passed
  std::array<std::size_t, Rank> shape(const Index& position) const {
    const auto i = index_from<Rank>(position);
    std::array<std::size_t, Rank> sizes{};
    for (std::size_t d = 0; d < Rank; ++d) sizes[d] = cuts[d].size(i[d]);
    return sizes;
  }
  /// The shape of the block at a position in braces, one coordinate for each dimension.
  template <std::size_t N>
  std::array<std::size_t, Rank> shape(const std::size_t (&i)[N]) const {
    return shape(index_from<Rank>(i));
  }
  /// The box of the block at a position of the grid; a position outside the grid is a shape_error. Requires that no cut
  /// is block-cyclic (such a block is not one box).
  template <class Index = index<0>>  // so that {} can be passed
  box<Rank> block(const Index& position) const {
    const auto i = index_from<Rank>(position);
    box<Rank> b{};
    for (std::size_t d = 0; d < Rank; ++d) {
      if (cuts[d].how() == cut::kind::block_cyclic)
        throw shape_error(
            "partita::decomposition::block: requires cuts that are balanced or explicit; a block-cyclic block is many "
            "boxes, use cuts[d].for_pieces");
      cuts[d].for_pieces(i[d], [&](interval piece, std::size_t) {
        b.start[d] = piece.start;
        b.stop[d] = piece.stop;
      });
    }
    return b;
  }
  template <std::size_t N>
  box<Rank> block(const std::size_t (&i)[N]) const {
    return block(index_from<Rank>(i));
  }

  /// The position in the grid of the worker that holds the element with this global index, which must be inside
  /// extents() [shape_error]: `p.worker(d.owner({i, j}))` is the worker's id. Cost: no communication.
  template <class Index = index<0>>  // so that {} can be passed
  index<Rank> owner(const Index& element) const {
    const auto i = index_from<Rank>(element);
    index<Rank> position{};
    for (std::size_t d = 0; d < Rank; ++d) position[d] = cuts[d].owner(i[d]);
    return position;
  }
  template <std::size_t N>
  index<Rank> owner(const std::size_t (&i)[N]) const {
    return owner(index_from<Rank>(i));
  }
  /// The local index, in its owner's block, of the element with this global index inside extents() [shape_error].
  template <class Index = index<0>>  // so that {} can be passed
  index<Rank> place(const Index& element) const {
    const auto i = index_from<Rank>(element);
    index<Rank> at{};
    for (std::size_t d = 0; d < Rank; ++d) at[d] = cuts[d].place(i[d]);
    return at;
  }
  template <std::size_t N>
  index<Rank> place(const std::size_t (&i)[N]) const {
    return place(index_from<Rank>(i));
  }

  std::uint64_t fingerprint() const { return hasher().mix(cuts).value(); }  ///< equal for equal decompositions
  friend bool operator==(const decomposition&, const decomposition&) = default;

 private:
  template <class MakeCut, std::size_t... D>
  static decomposition make(MakeCut& make_cut, std::index_sequence<D...>) {
    return decomposition(std::array<cut, Rank>{make_cut(D)...});
  }
};

template <class... Cut>
  requires(std::is_same_v<Cut, cut> && ...)
decomposition(const Cut&...) -> decomposition<sizeof...(Cut)>;  ///< the rank is the number of cuts
template <std::size_t Rank>
decomposition(const std::array<cut, Rank>&) -> decomposition<Rank>;

/// The tensor that blocks form when they are laid side by side over a grid.
template <std::size_t Rank>
struct layout_of_blocks {
  text error_message;                                    ///< empty if the blocks fit together
  std::array<std::size_t, Rank> extents{};               ///< the extents of the global tensor
  bool cartesian = true;                                 ///< whether `sizes` describes the blocks; else `boxes` does
  std::vector<std::size_t> sizes[Rank == 0 ? 1 : Rank];  ///< for each dimension the sizes of the blocks along it
  std::vector<box<Rank>> boxes;                          ///< the boxes of staggered blocks, in C order of the grid
};

/// Lays blocks of the given shapes (by place in the grid, C order) side by side, and returns the tensor that they form.
///
/// Sizes may differ along each dimension, may be 0, and may be staggered (with different cuts in each line of the
/// grid), provided that every line has the same total and the blocks tile the tensor. Other blocks form no tensor, and
/// `error_message` says where they do not fit. Requires as many shapes as the grid has places [shape_error].
template <std::size_t Rank>
layout_of_blocks<Rank> lay_out(const std::vector<std::array<std::size_t, Rank>>& shapes,
                               const std::array<std::size_t, Rank>& grid) {
  layout_of_blocks<Rank> layout;
  const std::size_t places = shapes.size();
  if (places != volume_of(grid))
    throw shape_error(text("partita::lay_out(shapes, grid): requires one shape for each place of the grid ")
                      << grid << ", got " << places << " shapes");
  // 1. Find the extents from the blocks along the lines through index 0.
  for (std::size_t d = 0; d < Rank; ++d) {
    layout.sizes[d].resize(grid[d]);
    for (std::size_t k = 0; k < grid[d]; ++k) {
      index<Rank> i{};
      i[d] = k;
      layout.sizes[d][k] = places == 0 ? 0 : shapes[flat_index(i, grid)][d];
      if (layout.sizes[d][k] > static_cast<std::size_t>(-1) - layout.extents[d]) {
        layout.error_message << "the blocks hold more indices along dimension " << d
                             << " than can be counted: " << layout.extents[d] << " + " << layout.sizes[d][k];
        return layout;
      }
      layout.extents[d] += layout.sizes[d][k];
    }
  }
  // 2. Test whether all lines have the same sizes; then the decomposition is Cartesian.
  for (std::size_t place = 0; place < places; ++place) {
    const index<Rank> i = index_of(place, grid);
    for (std::size_t d = 0; d < Rank; ++d)
      layout.cartesian = layout.cartesian && shapes[place][d] == layout.sizes[d][i[d]];
  }
  if (layout.cartesian) return layout;

  // 3. If sizes differ, place every block at the stop of the previous block in its line; all lines need the same total.
  layout.boxes.resize(places);
  for (std::size_t place = 0; place < places; ++place) {
    const index<Rank> i = index_of(place, grid);
    for (std::size_t d = 0; d < Rank; ++d) {
      index<Rank> before = i;
      before[d] = i[d] - 1;
      const std::size_t start = i[d] == 0 ? 0 : layout.boxes[flat_index(before, grid)].stop[d];
      layout.boxes[place].start[d] = start;
      layout.boxes[place].stop[d] = start + shapes[place][d];
      if (i[d] + 1 == grid[d] && layout.boxes[place].stop[d] != layout.extents[d] && layout.error_message.empty())
        layout.error_message << "the blocks are ragged: along dimension " << d
                             << ", the line of the partition that ends at " << i << " holds "
                             << layout.boxes[place].stop[d] << " indices, the line through index 0 holds "
                             << layout.extents[d] << "; give every line the same total";
    }
  }
  if (!layout.error_message.empty()) return layout;
  // 4. Test whether the boxes of the blocks overlap, and whether they fill the tensor.
  std::size_t volume = 0;
  for (std::size_t a = 0; a < places; ++a) {
    volume += layout.boxes[a].volume();
    for (std::size_t b = 0; b < a; ++b) {
      const box<Rank> common = intersection(layout.boxes[a], layout.boxes[b]);
      if (common.empty()) continue;
      layout.error_message << "the blocks overlap: those at " << index_of(b, grid) << " and " << index_of(a, grid)
                           << " of the partition both hold " << common << "; stagger the cuts in one dimension only";
      return layout;
    }
  }
  if (std::size_t whole = 0; !multiply(layout.extents, whole) || volume != whole)
    layout.error_message << "the blocks leave holes: together they hold " << volume
                         << " elements of a tensor of extents " << layout.extents
                         << "; stagger the cuts in one dimension only";
  return layout;
}

}  // namespace partita
