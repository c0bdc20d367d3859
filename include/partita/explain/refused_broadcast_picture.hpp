// A worker broadcast that is not legal as a drawing: both partitions, what is compared in each dimension, and what
// breaks the rule.
#pragma once

#include <cstddef>
#include <partita/explain/worker_broadcast_picture.hpp>

namespace partita {

/// broadcast(p_x, p_y, policies...) that the rule refuses. Grids or partitions. One that is legal is a partition_error:
/// draw a worker_broadcast_picture.
template <class Src, class Dst>
struct refused_broadcast_picture {
  grid<Src> p_x;
  grid<Dst> p_y;
  bool from_transposed = false, to_transposed = false;
  worker_broadcast_verdict verdict{};

  template <class P, class Q, class... Policies>
  refused_broadcast_picture(const P& x, const Q& y, Policies...)
      : p_x(detail::grid_in(x)),
        p_y(detail::grid_in(y)),
        from_transposed(has_policy<transpose_src_t, Policies...>),
        to_transposed(has_policy<transpose_dest_t, Policies...>),
        verdict(judge_worker_broadcast(p_x.shape(), p_y.shape(), from_transposed, to_transposed)) {
    static_assert((broadcast_policy<Policies> && ...),
                  "partita::refused_broadcast_picture(p_x, p_y, policies...): requires policies among transpose_src, "
                  "transpose_dest, discard_batch");
    if (verdict)
      throw partition_error(text("partita::refused_broadcast_picture(p_x, p_y): requires a broadcast that is refused, "
                                 "but from ")
                            << p_x.shape() << " to " << p_y.shape()
                            << " is legal; draw a worker_broadcast_picture of it");
  }
};

template <class P, class Q, class... Policies>
refused_broadcast_picture(const P&, const Q&, Policies...)
    -> refused_broadcast_picture<detail::extents_in<P>, detail::extents_in<Q>>;

/// Both partitions side by side, a crossed arrow between them; beneath, the rule for every dimension.
template <class Src, class Dst>
prose to_svg(const refused_broadcast_picture<Src, Dst>& picture) {
  using px = drawing::px;
  constexpr const char* red = "#9b2226";
  constexpr std::size_t small_rank = Src::rank(), large_rank = Dst::rank();
  drawing on;
  const detail::tiles<small_rank> from{picture.p_x.shape()};
  const detail::tiles<large_rank> to{picture.p_y.shape()};
  const px top = 28, tallest = from.height() > to.height() ? from.height() : to.height();
  const drawing::style heading{.size = 14, .bold = true}, sentence{.size = 13},
      broken{.size = 13, .ink = red, .bold = true};
  const auto side = [&](px left, const char* name, const auto& p, const auto& tiles, bool turned) {
    on.words(left, 14, prose(name) << ", " << detail::in_words(tiles.shape, " × ") << (turned ? ", transposed" : ""),
             heading);
    const px above = top + (tallest - tiles.height()) / 2;
    for (std::size_t place = 0; place < p.size(); ++place)
      detail::draw_tile(on, left + tiles.x(place), above + tiles.y(place), p.workers()[place], prose("?"),
                        detail::pale);
  };
  side(0, "p_x", picture.p_x, from, picture.from_transposed);
  const px between = on.width() + 20, length = 134, centre = top + tallest / 2;
  on.arrow(between, centre, between + length, centre, detail::dark.ink);
  on.line(between + length / 2 - 12, centre - 12, between + length / 2 + 12, centre + 12, red, 3);
  on.line(between + length / 2 - 12, centre + 12, between + length / 2 + 12, centre - 12, red, 3);
  side(between + length + 20, "p_y", picture.p_y, to, picture.to_transposed);

  px y = on.height() + 30;
  if constexpr (small_rank > large_rank) {
    on.words(0, y, prose("rank ") << small_rank << " does not go to rank " << large_rank << ": use sum_reduce", broken);
  } else {
    for (std::size_t d = 0; d < large_rank; ++d, y += 20) {
      const bool added = d < large_rank - small_rank;
      std::size_t here = 1;
      if constexpr (small_rank > 0) {
        const std::size_t own = added ? 0 : d - (large_rank - small_rank);
        if (!added) here = from.shape[picture.from_transposed ? small_rank - 1 - own : own];
      }
      const std::size_t there = to.shape[picture.to_transposed ? large_rank - 1 - d : d];
      const bool fits = here == 1 || here == there;
      on.words(0, y,
               prose("dimension ") << d << ": " << here << (added ? " (added)" : "") << " against " << there
                                   << (here == there ? ", equal"
                                       : fits        ? ", copied"
                                                     : ", neither 1 nor equal"),
               fits ? sentence : broken);
    }
  }
  return on.svg();
}

}  // namespace partita
