// A worker broadcast as a drawing: two partitions, where each worker has the colour of its block.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/explain/arrangement.hpp>
#include <partita/explain/plan_text.hpp>
#include <partita/explain/svg.hpp>
#include <partita/plan/group_plan.hpp>
#include <partita/rule/kernel_policy.hpp>
#include <partita/rule/worker_broadcast.hpp>

namespace partita {

namespace detail {

/// Writes the symbol of a block, such as x₁₂.
PARTITA_DECL long_text symbol(const char* letter, std::size_t number);

/// The workers of a partition as tiles; leading dimensions are drawn below each other, with a gap between them.
template <std::size_t Rank>
struct tile_drawing {
  static constexpr drawing::px tile_width = 84, tile_height = 54, gap = 8;  ///< in pixels; gap: between two tiles
  std::array<std::size_t, Rank> shape;                                      ///< the shape of the partition

  std::size_t columns() const {  ///< the number of tiles side by side
    if constexpr (Rank == 0) return 1;
    else return shape[Rank - 1];
  }
  std::size_t rows() const { return volume_of(shape) / columns(); }  ///< the number of tiles below each other
  drawing::px x(std::size_t place) const { return static_cast<drawing::px>(place % columns()) * (tile_width + gap); }
  drawing::px y(std::size_t place) const {
    const std::size_t row = place / columns();
    std::size_t slab = row;
    if constexpr (Rank > 1) slab = shape[Rank - 2];
    return static_cast<drawing::px>(row) * (tile_height + gap) +
           (Rank > 2 ? static_cast<drawing::px>(row / slab) * 2 * gap : 0);
  }
  drawing::px width() const { return static_cast<drawing::px>(columns()) * (tile_width + gap) - gap; }  ///< in pixels
  drawing::px height() const { return y(volume_of(shape) - 1) + tile_height; }  ///< the height of all tiles, in pixels
};

/// Draws one worker with the symbol of its block.
PARTITA_DECL void draw_tile(drawing& on, drawing::px x, drawing::px y, std::size_t worker, const long_text& name,
                            const colour& paint);

/// Draws a smaller and a larger partition whose blocks are paired, and the communication between them from left to
/// right: the larger partition is on the right for a broadcast and on the left for a sum. The text below lists the
/// forward and the adjoint communication of every block.
template <class Small, class Large, class Pairing>
long_text draw_paired_partitions(const grid<Small>& small_grid, const grid<Large>& large_grid, const Pairing& pairing,
                                 bool small_transposed, bool large_transposed, bool is_sum) {
  using px = drawing::px;
  drawing on;
  const tile_drawing<Small::rank()> small_tiles{small_grid.shape()};
  const tile_drawing<Large::rank()> large_tiles{large_grid.shape()};
  const px top = 28, a = small_tiles.height(), b = large_tiles.height(), tallest = a > b ? a : b, length = 134;
  const auto side = [&](px left, const char* name, const auto& t, bool transposed, const auto& draw) {
    on.words(left, 14, long_text(name) << ", " << extents_text(t.shape, " × ") << (transposed ? ", transposed" : ""),
             {.size = 14, .bold = true});
    const px above = top + (tallest - t.height()) / 2;
    for (std::size_t place = 0; place < volume_of(t.shape); ++place) draw(left + t.x(place), above + t.y(place), place);
  };
  const auto draw_small = [&](px left) {
    side(left, is_sum ? "p_y" : "p_x", small_tiles, small_transposed, [&](px x, px y, std::size_t place) {
      draw_tile(on, x, y, small_grid.workers()[place], symbol(is_sum ? "y" : "x", place), colour_of(place));
    });
  };
  const auto draw_large = [&](px left) {
    side(left, is_sum ? "p_x" : "p_y", large_tiles, large_transposed, [&](px x, px y, std::size_t place) {
      const std::size_t block = pairing.small_partner(large_grid.index(place)), worker = large_grid.workers()[place];
      draw_tile(on, x, y, worker, symbol("x", is_sum ? worker : block), colour_of(block));
    });
  };
  if (is_sum) draw_large(0);
  else draw_small(0);
  const px between = on.width() + 20, centre = top + tallest / 2, right = between + length + 20;
  on.arrow(between, centre - 8, between + length, centre - 8, dark_colour.ink);
  on.arrow(between + length, centre + 8, between, centre + 8, dark_colour.ink);
  const drawing::style label{.size = 12, .at = drawing::anchor::middle};
  on.words(between + length / 2, centre - 18, is_sum ? "sum_reduce sums" : "broadcast copies", label);
  on.words(between + length / 2, centre + 27, is_sum ? "its adjoint copies" : "its adjoint sums", label);
  if (is_sum) draw_small(right);
  else draw_large(right);

  // Each block has one line: its forward communication on the left, its adjoint communication on the right.
  px y = on.height() + 30, adjoint_at = right;
  const std::size_t most = 12, fan = pairing.large_workers_per_small();
  std::vector<long_text> forward, backward;
  for (std::size_t block = 0; block < small_grid.size() && block < most; ++block) {
    std::vector<std::size_t> members;
    long_text sum;
    for (std::size_t k = 0; k < fan; ++k) {
      const std::size_t member = large_grid.workers()[pairing.large_partner(block, k)];
      members.push_back(member);
      if (k < 4) sum << (k == 0 ? "" : " + ") << symbol(is_sum ? "x" : "dy", member);
      if (k == 4) sum << " + …";
    }
    const long_text copied = symbol(is_sum ? "dy" : "x", block)
                             << " goes to " << list_of_workers(members.data(), members.size()),
                    summed = symbol(is_sum ? "y" : "dx", block) << " = " << sum;
    forward.push_back(is_sum ? summed : copied);
    backward.push_back(is_sum ? copied : summed);
    const px end = drawing::width_of(forward.back(), {.size = 13}) + 24;
    if (end > adjoint_at) adjoint_at = end;
  }
  for (std::size_t block = 0; block < forward.size(); ++block, y += 20) {
    const drawing::style line{.size = 13, .ink = colour_of(block).ink};
    on.words(0, y, forward[block], line);
    on.words(adjoint_at, y, backward[block], line);
  }
  return on.svg();
}

}  // namespace detail

/// A call broadcast(p_x, p_y, policies...) and its adjoint. The arguments are grids or partitions. Requires a call that
/// the kernel broadcast accepts [partition_error].
template <class Src, class Dst>
struct worker_broadcast_picture {
  grid<Src> p_x;                                          ///< the source partition
  grid<Dst> p_y;                                          ///< the destination partition
  bool is_x_transposed = false, is_y_transposed = false;  ///< whether the call reverses p_x, or p_y

  template <class P, class Q, class... Policies>
  worker_broadcast_picture(const P& x, const Q& y, Policies...)
      : p_x(detail::worker_grid(x)),
        p_y(detail::worker_grid(y)),
        is_x_transposed(has_policy<transpose_src_t, Policies...>),
        is_y_transposed(has_policy<transpose_dest_t, Policies...>) {
    static_assert(detail::are_broadcast_policies<Policies...>,
                  "partita::worker_broadcast_picture(p_x, p_y, policies...): requires policies among transpose_src, "
                  "transpose_dest, discard_batch");
    const auto verdict = judge_worker_broadcast(p_x.shape(), p_y.shape(), is_x_transposed, is_y_transposed);
    if (!verdict)
      throw partition_error(explain_verdict(verdict, p_x.shape(), p_y.shape(), is_x_transposed, is_y_transposed));
  }

  /// Which workers of p_y get the block of each worker of p_x.
  worker_pairing<Dst::rank()> pairing() const {
    if constexpr (Src::rank() <= Dst::rank()) return {p_x.shape(), p_y.shape(), is_x_transposed, is_y_transposed};
    else return {};
  }
};

template <class P, class Q, class... Policies>
worker_broadcast_picture(const P&, const Q&, Policies...)
    -> worker_broadcast_picture<detail::grid_shape<P>, detail::grid_shape<Q>>;

/// Draws both partitions side by side, with arrows for the forward and the adjoint communication between them; below,
/// one line for the forward and one for the adjoint communication of every block.
template <class Src, class Dst>
long_text to_svg(const worker_broadcast_picture<Src, Dst>& picture) {
  return detail::draw_paired_partitions(picture.p_x, picture.p_y, picture.pairing(), picture.is_x_transposed,
                                        picture.is_y_transposed, false);
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/explain/impl/worker_broadcast_picture.ipp>
#endif
