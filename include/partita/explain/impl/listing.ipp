// Defines the functions that explain/listing.hpp declares.
#pragma once

#include <partita/explain/listing.hpp>

namespace partita::detail {

PARTITA_DEF void listing_rows::add(const long_text& what, const long_text& layout, bool bold, const char* ink) {
  const drawing::px y = middle(rows_++) + 5;
  on_.words(left_ + 12, y, what, {14, drawing::anchor::start, ink, bold, false});
  on_.words(left_ + column_, y, layout, {14, drawing::anchor::start, ink, bold, false});
}

PARTITA_DEF std::size_t listing_rows::add_value(const long_text& what, const long_text& layout, bool bold) {
  on_.rectangle(left_ - 3, middle(rows_) - 3, 6, 6, {dark.ink, dark.ink}, 0, false, 3);
  add(what, layout, bold, dark.ink);
  return rows_ - 1;
}

PARTITA_DEF void listing_rows::add_arc(std::size_t from, std::size_t to, bool moves) {
  arcs_.push_back({from, to, moves});
}

PARTITA_DEF long_text listing_rows::svg() {
  for (const arc& one : arcs_) {
    const drawing::px from = middle(one.from), to = middle(one.to), far = (to - from) / 3 + 12;
    on_.curve(left_, from, left_ - (far < left_ ? far : left_), left_, to, one.moves ? red_ : pale.ink);
  }
  return on_.svg();
}

}  // namespace partita::detail
