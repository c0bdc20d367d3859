// Defines the functions that explain/broadcast_picture.hpp declares.
#pragma once

#include <partita/explain/broadcast_picture.hpp>

namespace partita {

PARTITA_DEF broadcast_picture::broadcast_picture(const shape_list& left, const shape_list& right,
                                                 const broadcast_dimensions_list& dimensions)
    : lhs(left), rhs(right), dims(dimensions) {
  if (const auto verdict = judge_array_broadcast(lhs, rhs, dims); !verdict)
    throw shape_error(explain_verdict(verdict, "broadcast_picture", lhs, rhs, dims));
  all = resolve_array_broadcast(lhs, rhs, dims);
}

}  // namespace partita

namespace partita::detail {

/// How an operand fills dimension d of the result.
PARTITA_DECL cell_drawing cell_for_dimension(const dimension_map& map, const shape_list& operand,
                                             const shape_list& result, std::size_t d) {
  using enum cell_drawing::kind;
  if (map.source(d) == dimension_map::unmapped) return {repeated, result[d]};
  return {map.equals_result(d, operand, result) ? own_extent : expanded, result[d]};
}

PARTITA_DEF long_text sum_text(const dimension_map& map, const shape_list& operand, const shape_list& result) {
  long_text all("adjoint sums ");
  bool any = false;
  for (std::size_t d = 0; d < result.size(); ++d) {
    if (map.equals_result(d, operand, result)) continue;
    all << (any ? ", " : "") << d;
    any = true;
  }
  return any ? all : long_text("adjoint sums nothing");
}

}  // namespace partita::detail

namespace partita {

PARTITA_DEF long_text to_text(const broadcast_picture& picture) {
  using enum detail::cell_drawing::kind;
  const shape_list& result = picture.all.result;
  long_text all;
  const auto line = [&](const char* name, const shape_list& operand, const dimension_map& map) {
    all << long_text(name).pad(8);
    for (std::size_t d = 0; d < result.size(); ++d) {
      const auto cell = detail::cell_for_dimension(map, operand, result, d);
      long_text words(cell.fill == repeated ? "*" : cell.fill == expanded ? "1 > " : "");
      if (cell.fill != repeated) words << cell.extent;
      all << words.pad(9);
    }
    all << detail::sum_text(map, operand, result) << "\n";
  };
  line("lhs", picture.lhs, picture.all.lhs);
  line("rhs", picture.rhs, picture.all.rhs);
  all << long_text("result").pad(8);
  for (const std::size_t extent : result) all << (long_text() << extent).pad(9);
  return all << "\n";
}

PARTITA_DEF long_text to_svg(const broadcast_picture& picture) {
  using enum detail::cell_drawing::kind;
  constexpr drawing::px cell = 84, row = 46, left = 150, wide = cell - 8, high = 36;
  const shape_list& result = picture.all.result;
  const auto column = [](std::size_t d) { return left + static_cast<drawing::px>(d) * cell; };
  drawing on;
  const auto draw_cell = [&](std::size_t d, drawing::px y, const detail::cell_drawing& tile) {
    const colour paint = tile.fill == own_extent ? colour_of(0)
                         : tile.fill == expanded ? colour_of(1)
                                                 : colour{"none", detail::pale_colour.ink};
    on.rectangle(column(d), y, wide, high, paint, 1, tile.fill == repeated, 5);
    long_text words(tile.fill == repeated ? "repeated" : tile.fill == expanded ? "1 → " : "");
    if (tile.fill != repeated) words << tile.extent;
    on.words(column(d) + wide / 2, y + 23, words, {.size = 15, .at = drawing::anchor::middle, .ink = paint.ink});
  };
  const auto operand = [&](const char* name, const shape_list& shape, const dimension_map& map, drawing::px y) {
    on.words(0, y + 23, long_text(name) << "  " << detail::extents_text(shape), {.size = 15});
    for (std::size_t d = 0; d < result.size(); ++d) draw_cell(d, y, detail::cell_for_dimension(map, shape, result, d));
    on.words(column(result.size()) + 8, y + 23, detail::sum_text(map, shape, result), {.size = 15});
  };
  for (std::size_t d = 0; d < result.size(); ++d)
    on.words(column(d) + wide / 2, 14, long_text("dim ") << d, {.size = 15, .at = drawing::anchor::middle});
  operand("lhs", picture.lhs, picture.all.lhs, 24);
  operand("rhs", picture.rhs, picture.all.rhs, 24 + row);
  on.words(0, 24 + 2 * row + 23, long_text("result  ") << detail::extents_text(result), {.size = 15});
  for (std::size_t d = 0; d < result.size(); ++d) draw_cell(d, 24 + 2 * row, {own_extent, result[d]});
  return on.svg();
}

}  // namespace partita
