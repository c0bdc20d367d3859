// Showing an array broadcast to a person: where each dimension of the operands stands, what is repeated, what is expanded.
#pragma once

#include <cstddef>
#include <partita/core/short_list.hpp>
#include <partita/rule/array_broadcast.hpp>
#include <partita/rule/broadcast_sentence.hpp>
#include <string>

namespace partita {

/// A binary operation to be shown. Requires shapes that broadcast [shape_error].
struct broadcast_picture {
  shape_list lhs;
  shape_list rhs;
  broadcast_dimensions_list dims;
  resolved_broadcast all;

  broadcast_picture(const shape_list& left, const shape_list& right, const broadcast_dimensions_list& dimensions = {})
      : lhs(left), rhs(right), dims(dimensions) {
    if (const auto verdict = judge_array_broadcast(lhs, rhs, dims); !verdict)
      throw shape_error(explain_verdict(verdict, "broadcast_picture", lhs, rhs, dims));
    all = resolve_array_broadcast(lhs, rhs, dims);
  }
};

namespace detail {

/// What stands in one dimension of the result: an extent, a 1 that is expanded, or nothing (the operand is repeated).
struct pictured_cell {
  enum class kind { spans, expanded, repeated } what = kind::spans;
  std::string words;
};
inline pictured_cell cell_of(const dimension_map& map, const shape_list& operand, const shape_list& result, std::size_t d) {
  using enum pictured_cell::kind;
  if (map.source(d) == dimension_map::unmapped) return {repeated, "*"};
  const std::string extent = std::to_string(operand[map.source(d)]);
  if (map.spans(d, operand, result)) return {spans, extent};
  return {expanded, extent + " > " + std::to_string(result[d])};
}

inline std::string joined(const shape_list& shape) {
  if (shape.empty()) return "scalar";
  std::string all;
  for (std::size_t d = 0; d < shape.size(); ++d) all += (d == 0 ? "" : " x ") + std::to_string(shape[d]);
  return all;
}

/// The dimensions that the adjoint of an operand sums over: "0 and 2".
inline std::string summed(const dimension_map& map, const shape_list& operand, const shape_list& result) {
  std::string all;
  for (std::size_t d = 0; d < result.size(); ++d)
    if (!map.spans(d, operand, result)) all += (all.empty() ? "" : ", ") + std::to_string(d);
  return all.empty() ? "adjoint sums nothing" : "adjoint sums " + all;
}

}  // namespace detail

/// Three lines, one column for each dimension of the result: `*` is repeated, `1 > 3` is expanded.
inline std::string to_text(const broadcast_picture& picture) {
  const std::size_t width = 9;
  const auto padded = [](std::string words, std::size_t n) {
    while (words.size() < n) words += ' ';
    return words;
  };
  const auto line = [&](const char* name, const shape_list& operand, const dimension_map& map) {
    std::string words = padded(name, 8);
    for (std::size_t d = 0; d < picture.all.result.size(); ++d)
      words += padded(detail::cell_of(map, operand, picture.all.result, d).words, width);
    return words + detail::summed(map, operand, picture.all.result) + "\n";
  };
  std::string result = padded("result", 8);
  for (const std::size_t extent : picture.all.result) result += padded(std::to_string(extent), width);
  return line("lhs", picture.lhs, picture.all.lhs) + line("rhs", picture.rhs, picture.all.rhs) + result + "\n";
}

/// The same as a drawing: solid cells are the operand's own, dashed ones repeat it, shaded ones expand a 1.
inline std::string to_svg(const broadcast_picture& picture) {
  const std::size_t cell = 84, row = 46, left = 150;
  const std::size_t columns = picture.all.result.size();
  const std::size_t width = left + cell * columns + 190, height = 3 * row + 20;
  const auto number = [](std::size_t n) { return std::to_string(n); };
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" + number(height) +
                    "\" font-family=\"sans-serif\" font-size=\"15\">\n";
  const auto write = [&](std::size_t x, std::size_t y, const std::string& words, const char* anchor) {
    out += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" + words + "</text>\n";
  };
  const auto box = [&](std::size_t d, std::size_t line, const detail::pictured_cell& content) {
    using enum detail::pictured_cell::kind;
    const char* style = content.what == spans      ? "fill=\"#cfe3f7\" stroke=\"#1f4e79\""
                        : content.what == expanded ? "fill=\"#fbe3c0\" stroke=\"#8a5a00\""
                                                   : "fill=\"none\" stroke=\"#888888\" stroke-dasharray=\"5 4\"";
    out += "<rect x=\"" + number(left + d * cell) + "\" y=\"" + number(line * row - 26) + "\" width=\"" +
           number(cell - 8) + "\" height=\"36\" rx=\"4\" " + style + "/>\n";
    const std::string words = content.what == expanded
                                  ? content.words.substr(0, content.words.find('>')) + "&#8594;" +
                                        content.words.substr(content.words.find('>') + 1)
                                  : content.what == repeated ? "repeated" : content.words;
    write(left + d * cell + (cell - 8) / 2, line * row - 3, words, "middle");
  };
  for (std::size_t d = 0; d < columns; ++d) write(left + d * cell + (cell - 8) / 2, 14, "dim " + number(d), "middle");
  const auto operand = [&](const char* name, const shape_list& shape, const dimension_map& map, std::size_t line) {
    write(8, line * row - 3, std::string(name) + "  " + detail::joined(shape), "start");
    for (std::size_t d = 0; d < columns; ++d) box(d, line, detail::cell_of(map, shape, picture.all.result, d));
    write(left + columns * cell + 4, line * row - 3, detail::summed(map, shape, picture.all.result), "start");
  };
  operand("lhs", picture.lhs, picture.all.lhs, 1);
  operand("rhs", picture.rhs, picture.all.rhs, 2);
  write(8, 3 * row - 3, "result  " + detail::joined(picture.all.result), "start");
  for (std::size_t d = 0; d < columns; ++d)
    box(d, 3, {detail::pictured_cell::kind::spans, number(picture.all.result[d])});
  return out + "</svg>\n";
}

}  // namespace partita
