// A repartition of a whole tensor as a drawing: the blocks before and after, divided into their overlaps.
#pragma once

#include <array>
#include <cstddef>
#include <partita/explain/arrangement.hpp>
#include <partita/explain/plan_svg.hpp>
#include <partita/plan/decomposition.hpp>

namespace partita {

namespace detail {

/// Writes the title of a drawn tensor, such as "x, 6 × 8, on 2 × 2".
template <std::size_t Rank>
long_text tensor_title(const char* name, const std::array<std::size_t, Rank>& extents,
                       const std::array<std::size_t, Rank>& partition) {
  long_text words(name);
  words << ", " << extents_text(extents, " × ");
  if (Rank > 0) words << ", on " << extents_text(partition, " × ");
  return words;
}

/// A grid of blocks in a drawing: the start of each column and of each row of blocks. Blocks along leading dimensions
/// are drawn below each other.
template <std::size_t Rank>
struct tiling {
  static constexpr drawing::px gap = 14, label_height = 18;  ///< in pixels: between blocks; for the label above a block
  std::array<std::size_t, Rank> part_counts;                 ///< the number of blocks along each dimension
  std::vector<drawing::px> columns, rows;  ///< the starts of columns and rows of blocks, and where one more would start

  /// Places the blocks of a tensor with these cuts, on a grid of workers of this shape.
  tiling(const decomposition<Rank>& cuts, const std::array<std::size_t, Rank>& shape, const block_scales& length)
      : part_counts(shape) {
    const std::size_t column_count = drawn_columns(shape), row_count = drawn_rows(shape);
    std::vector<drawing::px> wide(column_count, 58), high(row_count, 8);  // the label of a block must fit above it
    for (std::size_t place = 0; place < column_count * row_count; ++place) {
      const auto block = cuts.shape(index_of(place, shape));
      const drawing::px w = length.x_axis(drawn_columns(block)), h = length.y_axis(drawn_rows(block));
      if (w > wide[place % column_count]) wide[place % column_count] = w;
      if (h > high[place / column_count]) high[place / column_count] = h;
    }
    columns.push_back(0);
    for (const drawing::px w : wide) columns.push_back(columns.back() + w + gap);
    rows.push_back(0);
    for (const drawing::px h : high) rows.push_back(rows.back() + h + gap + label_height);
  }
  drawing::px x(std::size_t place) const { return columns[place % (columns.size() - 1)]; }
  drawing::px y(std::size_t place) const { return rows[place / (columns.size() - 1)] + label_height; }
  drawing::px height() const { return rows.back() - gap; }  ///< the height of all rows of blocks with labels, in pixels
};

}  // namespace detail

/// The blocks that every worker sends and receives when a tensor is redistributed from one partition to another. `P`
/// and `Q` are grids or partitions.
/// Requires: partitions p_x and p_y of the tensor's rank.
template <class Src, class Dst, std::size_t Rank = Src::rank()>
struct repartition_picture {
  grid<Src> p_x;             ///< the source partition
  grid<Dst> p_y;             ///< the destination partition
  decomposition<Rank> from;  ///< the cuts of the tensor on p_x
  decomposition<Rank> to;    ///< the cuts of the tensor on p_y

  /// Makes the picture of a tensor with the cuts `x_cuts` on the partition x and `y_cuts` on y.
  template <class P, class Q>
  repartition_picture(const P& x, const Q& y, const decomposition<Rank>& x_cuts, const decomposition<Rank>& y_cuts)
      : p_x(detail::worker_grid(x)), p_y(detail::worker_grid(y)), from(x_cuts), to(y_cuts) {}
  /// Makes the picture for balanced distributions on both partitions.
  template <class P, class Q, std::size_t... E>
  repartition_picture(const P& x, const Q& y, const extents<E...>& global)
      : repartition_picture(x, y, decomposition<Rank>::balanced(global.array(), detail::worker_grid(x).shape()),
                            decomposition<Rank>::balanced(global.array(), detail::worker_grid(y).shape())) {}

  /// What one worker sends, keeps and receives.
  repartition_plan<Rank> plan(std::size_t worker) const { return plan_repartition(p_x, from, p_y, to, worker); }
};

template <class P, class Q, class... Cuts>
repartition_picture(const P&, const Q&, const Cuts&...)
    -> repartition_picture<detail::grid_shape<P>, detail::grid_shape<Q>, detail::grid_shape<P>::rank()>;

/// Draws the blocks of both partitions side by side and, as text below them, the plan of worker `worker`.
template <class Src, class Dst, std::size_t Rank>
long_text to_svg(const repartition_picture<Src, Dst, Rank>& picture, std::size_t worker,
                 std::size_t element_bytes = 0) {
  drawing on;
  const auto extents = picture.from.extents();
  const detail::block_scales length(detail::drawn_rows(extents), detail::drawn_columns(extents));
  const detail::tiling<Rank> before(picture.from, picture.p_x.shape(), length),
      after(picture.to, picture.p_y.shape(), length);
  const drawing::px tallest = before.height() > after.height() ? before.height() : after.height();
  const auto side = [&](drawing::px x, const char* name, const auto& p, const detail::tiling<Rank>& tiles, bool sends) {
    on.words(x, 14, detail::tensor_title(name, extents, p.shape()), detail::heading_style);
    const drawing::px top = 26 + (tallest - tiles.height()) / 2;
    for (std::size_t place = 0; place < p.size(); ++place) {
      const std::size_t k = p.workers()[place];
      const auto plan = picture.plan(k);
      const drawing::px left = x + tiles.x(place), y = top + tiles.y(place);
      drawing::style who = detail::caption_style;
      if (sends) who.ink = colour_of(k).ink;
      on.words(left, y - 5, long_text("worker ") << k, who);
      detail::draw_block(on, left, y, sends ? plan.source_shape : plan.destination_shape, length,
                         sends ? detail::source_parts(plan) : detail::destination_parts(plan));
    }
  };
  side(0, "x", picture.p_x, before, true);
  const drawing::px middle = on.width() + 24, centre = 26 + tallest / 2 + detail::tiling<Rank>::label_height / 2;
  on.arrow(middle, centre, middle + 84, centre, detail::dark_colour.ink);
  on.words(middle + 38, centre - 10, "repartition", {.size = 12, .at = drawing::anchor::middle});
  side(middle + 112, "y", picture.p_y, after, false);
  detail::write_legend_of_parts<Rank>(on);
  on.text_lines(0, on.height() + 30, to_text(picture.plan(worker), element_bytes), detail::code_style);
  return on.svg();
}

}  // namespace partita
