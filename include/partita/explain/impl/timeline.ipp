// Defines the functions that explain/timeline.hpp declares.
#pragma once

#include <partita/explain/quantities.hpp>
#include <partita/explain/timeline.hpp>

namespace partita::detail {

PARTITA_DEF long_text timeline(const long_text& title, const char* beside, const std::vector<timeline_key>& keys,
                               const std::vector<timeline_bar>& bars) {
  using px = drawing::px;
  constexpr px row = 22, wide = 480, memory = 190,
               full = 60;  // the column of memory, and the length of its longest bar
  const drawing::style plain{13, drawing::anchor::start, dark.ink, false, false};
  drawing::style bold = plain;
  bold.bold = true;
  px words = 0;
  double last = 0;
  std::size_t peak = 0;
  for (const timeline_bar& one : bars) {
    if (const px own = drawing::width_of(one.event, plain) + 16; own > words) words = own;
    last = one.until > last ? one.until : last;
    peak = one.held > peak ? one.held : peak;
  }
  const px column = words + wide + 24;
  drawing on;
  on.words(0, row - 6, title, bold);
  // the legend, and the headings of the columns
  px at = 0;
  for (const timeline_key& key : keys) {
    on.rectangle(at, row + 6, 14, row - 10, colour_of(key.colour));
    on.words(at + 20, row + row - 5, key.name, plain);
    at += 20 + drawing::width_of(key.name, plain) + 16;
  }
  on.words(column, row + row - 5, beside, bold);
  on.words(column + memory, row + row - 5, long_text("memory, at most ") << in_bytes(peak), bold);
  const auto across = [&](double seconds) {
    return last > 0 ? static_cast<px>(seconds / last * static_cast<double>(wide) + 0.5) : 0;
  };
  px y = 2 * row + 4;
  bool backward = false;
  for (const timeline_bar& one : bars) {
    if (one.backward && !backward) on.line(0, y, column + memory + full, y, pale.ink);
    backward = one.backward;
    const px from = across(one.from), to = across(one.until);
    on.words(0, y + row - 7, one.event, plain);
    on.rectangle(words + from, y + 4, to > from ? to - from : 1, row - 8, colour_of(one.colour));
    on.words(column, y + row - 7, one.beside, plain);
    const px held =
        peak > 0
            ? static_cast<px>(static_cast<double>(full) * static_cast<double>(one.held) / static_cast<double>(peak))
            : 0;
    on.rectangle(column + memory, y + 6, held, row - 12, {"#c3cad2", pale.ink}, 0);
    y += row;
  }
  // the axis of time, below the bars
  constexpr int ticks = 4;
  on.line(words, y + 4, words + wide, y + 4, dark.ink);
  for (int k = 0; k <= ticks; ++k) {
    const px x = words + k * wide / ticks;
    on.line(x, y + 4, x, y + 9, dark.ink);
    on.words(x, y + 24, in_seconds(last * k / ticks), {.size = 12, .at = drawing::anchor::middle});
  }
  return on.svg();
}

}  // namespace partita::detail
