// The linear layer as a drawing: x is broadcast down the columns of p_w, and products are summed along the rows of p_w.
#pragma once

#include <cstddef>
#include <partita/explain/arrangement.hpp>
#include <partita/explain/worker_broadcast_picture.hpp>
#include <partita/rule/linear_rule.hpp>

namespace partita {

/// The linear layer on p_x, p_y, p_w, which are grids or partitions. Requires partitions that fit the layer
/// [partition_error].
template <class X, class Y, class W>
struct linear_picture {
  grid<X> p_x;  ///< the partition of x
  grid<Y> p_y;  ///< the partition of y
  grid<W> p_w;  ///< the partition of the weights

  /// Draws a linear layer from the partitions of x, of y and of the weights.
  template <class P, class Q, class R>
  linear_picture(const P& x, const Q& y, const R& w)
      : p_x(detail::worker_grid(x)), p_y(detail::worker_grid(y)), p_w(detail::worker_grid(w)) {
    static_assert(W::rank() == 2, "partita::linear_picture(p_x, p_y, p_w): requires p_w = f_out x f_in, of rank 2");
    const auto verdict = judge_linear(p_x.shape(), p_y.shape(), p_w.shape());
    if (!verdict) throw partition_error(explain_verdict(verdict, p_x.shape(), p_y.shape(), p_w.shape()));
  }
};

template <class P, class Q, class R>
linear_picture(const P&, const Q&, const R&)
    -> linear_picture<detail::grid_shape<P>, detail::grid_shape<Q>, detail::grid_shape<R>>;

/// Draws the weights in the middle, x above and y beside the weights, and the bias on column 0.
template <class X, class Y, class W>
long_text to_svg(const linear_picture<X, Y, W>& picture) {
  using px = drawing::px;
  drawing on;
  const auto shape = picture.p_w.shape();
  const detail::tile_drawing<2> weights{shape};
  const px wide = weights.tile_width, high = weights.tile_height, x_top = 28, w_top = x_top + high + 64;
  on.words(0, 14, long_text("x on p_x, 1 × ") << shape[1], {.size = 14, .bold = true});
  for (std::size_t column = 0; column < shape[1]; ++column) {
    const px x = weights.x(column);
    detail::draw_tile(on, x, x_top, picture.p_x.workers()[column], detail::symbol("x", column), colour_of(column));
    on.arrow(x + wide / 2, x_top + high + 8, x + wide / 2, w_top - 8, colour_of(column).ink);
  }
  on.words(weights.width() + 14, x_top + high + 36, "broadcast down each column", {.size = 12});

  const px y_left = weights.width() + 74;
  for (std::size_t place = 0; place < picture.p_w.size(); ++place) {
    const std::size_t row = place / shape[1], column = place % shape[1];
    const px x = weights.x(place), y = w_top + weights.y(place);
    detail::draw_tile(on, x, y, picture.p_w.workers()[place],
                      long_text("W") << detail::symbol("", row) << "‚" << detail::symbol("", column),
                      colour_of(column));
    if (column == 0)
      on.words(x + wide - 6, y + 15, detail::symbol("b", row),
               {.size = 12, .at = drawing::anchor::end, .ink = colour_of(column).ink});
  }
  for (std::size_t row = 0; row < shape[0]; ++row) {
    const px y = w_top + weights.y(row * shape[1]);
    on.arrow(weights.width() + 10, y + high / 2, y_left - 10, y + high / 2, detail::dark_colour.ink);
    detail::draw_tile(on, y_left, y, picture.p_y.workers()[row], detail::symbol("y", row), colour_of(shape[1] + row));
  }
  const px below = w_top + weights.height() + 28;
  on.words(0, below, long_text("W on p_w, ") << shape[0] << " × " << shape[1], {.size = 14, .bold = true});
  on.words(y_left, below, long_text("y on p_y, 1 × ") << shape[0], {.size = 14, .bold = true});
  on.words(0, below + 24, "each worker of p_w multiplies, then sum-reduce along each row:  y = x Wᵀ + b", {.size = 12});
  return on.svg();
}

}  // namespace partita
