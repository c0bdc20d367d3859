// Defines the functions that explain/worker_broadcast_picture.hpp declares.
#pragma once

#include <partita/explain/worker_broadcast_picture.hpp>

namespace partita::detail {

PARTITA_DEF long_text symbol(const char* letter, std::size_t number) {
  long_text all(letter);
  basic_text<24> digits;
  digits << number;
  for (const char digit : digits) all << "\xE2\x82" << static_cast<char>(0x80 + (digit - '0'));
  return all;
}

PARTITA_DEF void draw_tile(drawing& on, drawing::px x, drawing::px y, std::size_t worker, const long_text& name,
                           const colour& paint) {
  constexpr drawing::px wide = tile_drawing<0>::tile_width, high = tile_drawing<0>::tile_height;
  on.rectangle(x, y, wide, high, paint, 1, false, 5);
  on.words(x + wide / 2, y + 24, name, {.size = 17, .at = drawing::anchor::middle, .ink = paint.ink, .bold = true});
  on.words(x + wide / 2, y + 43, long_text("worker ") << worker,
           {.size = 12, .at = drawing::anchor::middle, .ink = paint.ink});
}

}  // namespace partita::detail
