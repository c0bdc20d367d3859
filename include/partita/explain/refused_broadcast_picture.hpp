// An invalid worker broadcast or sum-reduce as a drawing: both partitions, the comparison in each dimension, and the
// dimension that violates NumPy's broadcasting rule.
#pragma once

#include <cstddef>
#include <partita/explain/worker_broadcast_picture.hpp>

namespace partita {
namespace detail {

/// A broadcast or sum-reduce that the broadcasting rule rejects: its two partitions, in the order of the call.
template <class Src, class Dst, bool Sums>
struct refused_picture {
  grid<Src> p_x;                                          ///< the source partition
  grid<Dst> p_y;                                          ///< the destination partition
  bool is_x_transposed = false, is_y_transposed = false;  ///< whether the call reverses p_x, or p_y
  worker_broadcast_verdict verdict{};                     ///< the rule that is violated, and where

  /// Draws the refused call of the kernel `name` from partition x to partition y.
  template <class P, class Q, class... Policies>
  refused_picture(const char* name, const P& x, const Q& y, Policies...)
      : p_x(worker_grid(x)),
        p_y(worker_grid(y)),
        is_x_transposed(has_policy<transpose_src_t, Policies...>),
        is_y_transposed(has_policy<transpose_dest_t, Policies...>),
        verdict(Sums ? judge_worker_broadcast(p_y.shape(), p_x.shape(), is_y_transposed, is_x_transposed, true)
                     : judge_worker_broadcast(p_x.shape(), p_y.shape(), is_x_transposed, is_y_transposed)) {
    static_assert((broadcast_policy<Policies> && ...),
                  "partita::refused_broadcast_picture(p_x, p_y, policies...), refused_sum_reduce_picture: requires "
                  "policies among transpose_src, transpose_dest, discard_batch");
    if (verdict)
      throw partition_error(text("partita::refused_")
                            << name << "_picture(p_x, p_y): requires a " << name << " that is refused, but from "
                            << p_x.shape() << " to " << p_y.shape() << " is legal; draw a "
                            << (Sums ? "sum_reduce_picture" : "worker_broadcast_picture") << " of it");
  }
};

}  // namespace detail

/// A call broadcast(p_x, p_y, policies...) that the broadcasting rule rejects. The arguments are grids or partitions.
/// If the rule accepts the call, the constructor throws a partition_error: use a worker_broadcast_picture.
template <class Src, class Dst>
struct refused_broadcast_picture : detail::refused_picture<Src, Dst, false> {
  template <class P, class Q, class... Policies>
  refused_broadcast_picture(const P& x, const Q& y, Policies... policies)
      : detail::refused_picture<Src, Dst, false>("broadcast", x, y, policies...) {}
};
template <class P, class Q, class... Policies>
refused_broadcast_picture(const P&, const Q&, Policies...)
    -> refused_broadcast_picture<detail::grid_shape<P>, detail::grid_shape<Q>>;

/// A call sum_reduce(p_x, p_y, policies...) that the broadcasting rule rejects. The arguments are grids or partitions.
/// If the rule accepts the call, the constructor throws a partition_error: use a sum_reduce_picture.
template <class Src, class Dst>
struct refused_sum_reduce_picture : detail::refused_picture<Src, Dst, true> {
  template <class P, class Q, class... Policies>
  refused_sum_reduce_picture(const P& x, const Q& y, Policies... policies)
      : detail::refused_picture<Src, Dst, true>("sum_reduce", x, y, policies...) {}
};
template <class P, class Q, class... Policies>
refused_sum_reduce_picture(const P&, const Q&, Policies...)
    -> refused_sum_reduce_picture<detail::grid_shape<P>, detail::grid_shape<Q>>;

/// Draws both partitions side by side with a crossed-out arrow between them, and compares below them the extents of
/// every dimension.
template <class Src, class Dst, bool Sums>
long_text to_svg(const detail::refused_picture<Src, Dst, Sums>& picture) {
  using px = drawing::px;
  constexpr const char* red = "#9b2226";
  constexpr std::size_t small_rank = Sums ? Dst::rank() : Src::rank(), large_rank = Sums ? Src::rank() : Dst::rank();
  drawing on;
  const detail::tile_drawing<Src::rank()> from{picture.p_x.shape()};
  const detail::tile_drawing<Dst::rank()> to{picture.p_y.shape()};
  const px top = 28, tallest = from.height() > to.height() ? from.height() : to.height();
  const drawing::style heading_style{.size = 14, .bold = true}, plain{.size = 13},
      broken{.size = 13, .ink = red, .bold = true};
  const auto side = [&](px left, const char* name, const auto& p, const auto& tiling, bool transposed) {
    on.words(left, 14,
             long_text(name) << ", " << detail::extents_text(tiling.shape, " × ") << (transposed ? ", transposed" : ""),
             heading_style);
    const px above = top + (tallest - tiling.height()) / 2;
    for (std::size_t place = 0; place < p.size(); ++place)
      detail::draw_tile(on, left + tiling.x(place), above + tiling.y(place), p.workers()[place], long_text("?"),
                        detail::pale_colour);
  };
  side(0, "p_x", picture.p_x, from, picture.is_x_transposed);
  const px between = on.width() + 20, length = 134, centre = top + tallest / 2;
  on.arrow(between, centre, between + length, centre, detail::dark_colour.ink);
  on.line(between + length / 2 - 12, centre - 12, between + length / 2 + 12, centre + 12, red, 3);
  on.line(between + length / 2 - 12, centre + 12, between + length / 2 + 12, centre - 12, red, 3);
  on.words(between + length / 2, centre - 18, Sums ? "sum_reduce" : "broadcast",
           {.size = 12, .at = drawing::anchor::middle});
  side(between + length + 20, "p_y", picture.p_y, to, picture.is_y_transposed);

  px y = on.height() + 30;
  if constexpr (small_rank > large_rank) {
    on.words(0, y,
             long_text("rank ") << Src::rank() << " does not go to rank " << Dst::rank() << ": use "
                                << (Sums ? "broadcast" : "sum_reduce"),
             broken);
  } else {
    // Dimensions are numbered as in the partition of higher rank; its additional leading dimensions have extent 1 in
    // the other partition.
    for (std::size_t d = 0; d < large_rank; ++d, y += 20) {
      const std::size_t here = detail::extended_extent(from.shape, large_rank, d, picture.is_x_transposed),
                        there = detail::extended_extent(to.shape, large_rank, d, picture.is_y_transposed);
      const bool fits = (Sums ? there : here) == 1 || here == there;
      const auto added = [&](std::size_t rank) { return d < large_rank - rank ? " (added)" : ""; };
      on.words(0, y,
               long_text("dimension ") << d << ": " << here << added(Src::rank()) << " against " << there
                                       << added(Dst::rank())
                                       << (here == there ? ", equal"
                                           : !fits       ? ", neither 1 nor equal"
                                           : Sums        ? ", summed"
                                                         : ", copied"),
               fits ? plain : broken);
    }
  }
  return on.svg();
}

}  // namespace partita
