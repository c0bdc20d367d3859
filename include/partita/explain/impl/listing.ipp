// Defines the functions that explain/listing.hpp declares.
#pragma once

#include <partita/explain/listing.hpp>

namespace partita::detail {

PARTITA_DEF void listing_rows::add(const long_text& label, const long_text& layout, bool bold, const char* colour) {
  const drawing::px y = centre(row_count_++) + 5;
  svg_.words(left_edge_ + 12, y, label, {14, drawing::anchor::start, colour, bold, false});
  svg_.words(left_edge_ + column_width_, y, layout, {14, drawing::anchor::start, colour, bold, false});
}

PARTITA_DEF std::size_t listing_rows::add_value(const long_text& label, const long_text& layout, bool bold) {
  svg_.rectangle(left_edge_ - 3, centre(row_count_) - 3, 6, 6, {dark_colour.ink, dark_colour.ink}, 0, false, 3);
  add(label, layout, bold, dark_colour.ink);
  return row_count_ - 1;
}

PARTITA_DEF void listing_rows::add_arc(std::size_t from, std::size_t to, bool is_move) {
  arcs_.push_back({from, to, is_move});
}

PARTITA_DEF long_text listing_rows::svg() {
  for (const arc& one : arcs_) {
    const drawing::px from = centre(one.from), to = centre(one.to), bow = (to - from) / 3 + 12;
    svg_.curve(left_edge_, from, left_edge_ - (bow < left_edge_ ? bow : left_edge_), left_edge_, to,
               one.is_move ? red_ink_ : pale_colour.ink);
  }
  return svg_.svg();
}

}  // namespace partita::detail
