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

PARTITA_DECL pictured_cell cell_of(const dimension_map& map, const shape_list& operand, const shape_list& result,
                                   std::size_t d) {
  using enum pictured_cell::kind;
  if (map.source(d) == dimension_map::unmapped) return {repeated, result[d]};
  return {map.spans(d, operand, result) ? spans : expanded, result[d]};
}

PARTITA_DECL long_text extents_in_words(const shape_list& shape) {
  long_text all(shape.empty() ? "scalar" : "");
  for (std::size_t d = 0; d < shape.size(); ++d) all << (d == 0 ? "" : " x ") << shape[d];
  return all;
}

PARTITA_DEF long_text summed_dimensions(const dimension_map& map, const shape_list& operand, const shape_list& result) {
  long_text all("adjoint sums ");
  bool any = false;
  for (std::size_t d = 0; d < result.size(); ++d) {
    if (map.spans(d, operand, result)) continue;
    all << (any ? ", " : "") << d;
    any = true;
  }
  return any ? all : long_text("adjoint sums nothing");
}

}  // namespace partita::detail

namespace partita {

PARTITA_DEF long_text to_text(const broadcast_picture& picture) {
  using enum detail::pictured_cell::kind;
  const shape_list& result = picture.all.result;
  long_text all;
  const auto line = [&](const char* name, const shape_list& operand, const dimension_map& map) {
    all << long_text(name).pad(8);
    for (std::size_t d = 0; d < result.size(); ++d) {
      const auto cell = detail::cell_of(map, operand, result, d);
      long_text words(cell.what == repeated ? "*" : cell.what == expanded ? "1 > " : "");
      if (cell.what != repeated) words << cell.extent;
      all << words.pad(9);
    }
    all << detail::summed_dimensions(map, operand, result) << "\n";
  };
  line("lhs", picture.lhs, picture.all.lhs);
  line("rhs", picture.rhs, picture.all.rhs);
  all << long_text("result").pad(8);
  for (const std::size_t extent : result) all << (long_text() << extent).pad(9);
  return all << "\n";
}

PARTITA_DEF long_text to_svg(const broadcast_picture& picture) {
  using enum detail::pictured_cell::kind;
  constexpr drawing::px cell = 84, row = 46, left = 150, wide = cell - 8, high = 36;
  const shape_list& result = picture.all.result;
  const auto column = [](std::size_t d) { return left + static_cast<drawing::px>(d) * cell; };
  drawing on;
  const auto draw = [&](std::size_t d, drawing::px y, const detail::pictured_cell& content) {
    const colour paint = content.what == spans      ? colour_of(0)
                         : content.what == expanded ? colour_of(1)
                                                    : colour{"none", detail::pale.ink};
    on.rectangle(column(d), y, wide, high, paint, 1, content.what == repeated, 5);
    long_text words(content.what == repeated ? "repeated" : content.what == expanded ? "1 → " : "");
    if (content.what != repeated) words << content.extent;
    on.words(column(d) + wide / 2, y + 23, words, {.size = 15, .at = drawing::anchor::middle, .ink = paint.ink});
  };
  const auto operand = [&](const char* name, const shape_list& shape, const dimension_map& map, drawing::px y) {
    on.words(0, y + 23, long_text(name) << "  " << detail::extents_in_words(shape), {.size = 15});
    for (std::size_t d = 0; d < result.size(); ++d) draw(d, y, detail::cell_of(map, shape, result, d));
    on.words(column(result.size()) + 8, y + 23, detail::summed_dimensions(map, shape, result), {.size = 15});
  };
  for (std::size_t d = 0; d < result.size(); ++d)
    on.words(column(d) + wide / 2, 14, long_text("dim ") << d, {.size = 15, .at = drawing::anchor::middle});
  operand("lhs", picture.lhs, picture.all.lhs, 24);
  operand("rhs", picture.rhs, picture.all.rhs, 24 + row);
  on.words(0, 24 + 2 * row + 23, long_text("result  ") << detail::extents_in_words(result), {.size = 15});
  for (std::size_t d = 0; d < result.size(); ++d) draw(d, 24 + 2 * row, {spans, result[d]});
  return on.svg();
}

}  // namespace partita
