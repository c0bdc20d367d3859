// The drawing of a block of any rank: rows and columns, divided into parts with colours and labels.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/index.hpp>
#include <partita/explain/svg.hpp>
#include <vector>

namespace partita::detail {

inline constexpr drawing::style heading_style{.size = 14, .bold = true};  ///< the style of titles
inline constexpr drawing::style caption_style{.size = 12};  ///< the style of explanations and small labels
inline constexpr drawing::style code_style{.size = 12, .monospaced = true};  ///< the style of plans as text

/// A part of a block in a drawing: its start in the block, its shape, its colour, its label, and a shorter label.
template <std::size_t Rank>
struct block_part {
  index<Rank> at{};                       ///< the start of the part in the block
  std::array<std::size_t, Rank> shape{};  ///< the shape of the part, in elements
  colour paint{};                         ///< the colour of the part
  long_text label, short_label;           ///< the text in the part; the short one if the other is too wide
};

/// The scale of a drawing along one direction: converts a number of indices to a length in pixels.
struct axis_scale {
  std::size_t extent;  ///< the number of indices that `pixels` pixels show
  std::size_t pixels;  ///< the length of the drawing along the direction

  drawing::px operator()(std::size_t n) const {
    return static_cast<drawing::px>((2 * n * pixels + extent) / (2 * extent));
  }
};

/// The vertical and horizontal scales of a block: equal, unless one direction would then be too thin to see.
struct block_scales {
  axis_scale y_axis, x_axis;  ///< the scales of the rows (vertical) and of the columns (horizontal)

  block_scales(std::size_t rows, std::size_t columns) : y_axis{rows, 0}, x_axis{columns, 0} {  ///< of the largest block
    constexpr std::size_t most = 240, unit = 30, least = 108;
    if (y_axis.extent == 0) y_axis.extent = 1;
    if (x_axis.extent == 0) x_axis.extent = 1;
    const std::size_t longest = y_axis.extent > x_axis.extent ? y_axis.extent : x_axis.extent;
    for (axis_scale* s : {&y_axis, &x_axis}) {
      s->pixels = longest * unit < most ? s->extent * unit : (s->extent * most + longest / 2) / longest;
      if (s->pixels < least) s->pixels = s->extent * unit < least ? s->extent * unit : least;
    }
  }
  /// Whether single elements are large enough to be visible.
  bool can_show_cells() const { return y_axis.extent * 10 <= y_axis.pixels && x_axis.extent * 10 <= x_axis.pixels; }
};

/// The number of columns of a block as drawn. Its last dimension is drawn horizontally, all other dimensions
/// vertically.
template <std::size_t Rank>
std::size_t drawn_columns(const std::array<std::size_t, Rank>& shape) {
  if constexpr (Rank == 0) return 1;
  else return shape[Rank - 1];
}
/// The number of rows of a block as drawn.
template <std::size_t Rank>
std::size_t drawn_rows(const std::array<std::size_t, Rank>& shape) {
  std::size_t rows = 1;
  for (std::size_t d = 0; d + 1 < Rank; ++d) rows *= shape[d];
  return rows;
}

/// Writes below a drawing what the colours and labels of parts mean and, from rank 3 on, which dimensions are vertical
/// and which dimension is horizontal.
template <std::size_t Rank>
void write_legend_of_parts(drawing& on) {
  on.words(0, on.height() + 24,
           "a part has the colour of the worker that held it; its label names the worker where it goes, or comes from",
           caption_style);
  if (Rank < 3) return;
  long_text all("down: dimensions ");
  for (std::size_t d = 0; d + 1 < Rank; ++d) all << (d == 0 ? "" : d + 2 < Rank ? ", " : " and ") << d;
  all << " (each index of dimension 0 begins a new group of rows); across: dimension " << Rank - 1;
  on.words(0, on.height() + 18, all, caption_style);
}

/// Draws a block with its parts. A part whose rows are not adjacent in the drawing is drawn as several stripes, one for
/// each range of adjacent rows.
template <std::size_t Rank>
void draw_block(drawing& on, drawing::px x, drawing::px y, const std::array<std::size_t, Rank>& block,
                const block_scales& length, const std::vector<block_part<Rank>>& parts) {
  const auto stripe = [&](std::size_t row, std::size_t rows, std::size_t column, std::size_t columns,
                          const block_part<Rank>& part, bool has_label) {
    const drawing::px left = x + length.x_axis(column), top = y + length.y_axis(row);
    const drawing::px width = x + length.x_axis(column + columns) - left, height = y + length.y_axis(row + rows) - top;
    on.rectangle(left, top, width, height, part.paint);
    if (length.can_show_cells()) {
      for (std::size_t r = row + 1; r < row + rows; ++r)
        on.line(left, y + length.y_axis(r), left + width, y + length.y_axis(r), "#ffffff");
      for (std::size_t c = column + 1; c < column + columns; ++c)
        on.line(x + length.x_axis(c), top, x + length.x_axis(c), top + height, "#ffffff");
    }
    const drawing::style small{.size = 12, .at = drawing::anchor::middle, .ink = part.paint.ink, .bold = true};
    if (!has_label || height < 14) return;
    for (const long_text* label : {&part.label, &part.short_label})
      if (drawing::width_of(*label, small) + 2 <= width)
        return on.words(left + width / 2, top + height / 2 + 4, *label, small);
  };
  for (const block_part<Rank>& part : parts) {
    if (volume_of(part.shape) == 0) continue;
    if constexpr (Rank == 0) {
      stripe(0, 1, 0, 1, part, true);
    } else if constexpr (Rank == 1) {
      stripe(0, 1, part.at[0], part.shape[0], part, true);
    } else {
      // The rows of a part that are adjacent in the drawing (`run` of them) are drawn as one stripe.
      std::size_t d = Rank - 2, run = part.shape[d];
      while (d > 0 && part.shape[d] == block[d]) run *= part.shape[--d];
      const std::size_t rows = drawn_rows(part.shape);
      for (std::size_t first = 0; first < rows; first += run) {
        std::size_t row = 0, rest = first, unit = 1;
        for (std::size_t e = Rank - 1; e-- > 0; unit *= block[e], rest /= part.shape[e])
          row += (part.at[e] + rest % part.shape[e]) * unit;
        stripe(row, run, part.at[Rank - 1], part.shape[Rank - 1], part, first == 0);
      }
    }
  }
  const drawing::px width = length.x_axis(drawn_columns(block)), height = length.y_axis(drawn_rows(block));
  if (volume_of(block) == 0) on.rectangle(x, y, width > 0 ? width : 8, height > 0 ? height : 8, pale_colour, 1, true);
  else on.rectangle(x, y, width, height, dark_colour, 2);
}

}  // namespace partita::detail
