// Defines the functions that explain/timeline.hpp declares.
#pragma once

#include <partita/explain/quantities.hpp>
#include <partita/explain/timeline.hpp>

namespace partita::detail {

PARTITA_DEF drawing::px add_legend_entry(drawing& on, drawing::px x, std::size_t colour, const char* name) {
  const drawing::style plain{13, drawing::anchor::start, dark_colour.ink, false, false};
  on.rectangle(x, 28, 14, 12, colour_of(colour));
  on.words(x + 20, 39, name, plain);
  return x + 20 + drawing::width_of(name, plain) + 16;
}

PARTITA_DEF void add_time_axis(drawing& on, drawing::px from, drawing::px to, drawing::px y, double seconds) {
  constexpr int ticks = 4;
  on.line(from, y, to, y, dark_colour.ink);
  for (int k = 0; k <= ticks; ++k) {
    const drawing::px x = from + (to - from) * k / ticks;
    on.line(x, y, x, y + 5, dark_colour.ink);
    on.words(x, y + 20, k == 0 ? "0" : seconds_text(seconds * k / ticks), {.size = 12, .at = drawing::anchor::middle});
  }
}

PARTITA_DEF long_text timeline::svg() {
  using px = drawing::px;
  constexpr px row = 22, wide = 360, memory = 180, full = 60;  // the width of the memory column, and of its longest bar
  const drawing::style plain{13, drawing::anchor::start, dark_colour.ink, false, false};
  drawing::style bold = plain;
  bold.bold = true;
  double total = 0;
  std::size_t peak = 0;
  px text_width = 0;
  for (const timeline_bar& one : bars) {
    total = one.until > total ? one.until : total;
    peak = one.memory_bytes > peak ? one.memory_bytes : peak;
    if (const px own = drawing::width_of(one.event_text, plain); own > text_width) text_width = own;
  }
  text_width += 16;
  const px column = text_width + wide + 24;
  on.words(0, row - 6, title, {.size = 12});
  on.words(column, row + row - 5, column_title, bold);
  on.words(column + memory, row + row - 5, long_text("memory, at most ") << bytes_text(peak), bold);
  const auto time_position = [&](double seconds) {
    return total > 0 ? static_cast<px>(seconds / total * static_cast<double>(wide) + 0.5) : 0;
  };
  px y = 2 * row + 4;
  bool is_backward = false;
  for (const timeline_bar& one : bars) {
    if (one.is_backward && !is_backward) on.line(0, y, column + memory + full, y, pale_colour.ink);
    is_backward = one.is_backward;
    const px from = time_position(one.from), to = time_position(one.until);
    on.words(0, y + row - 7, one.event_text, plain);
    on.rectangle(text_width + from, y + 4, to > from ? to - from : 1, row - 8, colour_of(one.colour));
    on.words(column, y + row - 7, one.bar_text, plain);
    const double share = peak > 0 ? static_cast<double>(one.memory_bytes) / static_cast<double>(peak) : 0;
    on.rectangle(column + memory, y + 6, static_cast<px>(static_cast<double>(full) * share), row - 12,
                 {"#c3cad2", pale_colour.ink}, 0);
    y += row;
  }
  add_time_axis(on, text_width, text_width + wide, y + 4, total);
  return on.svg();
}

}  // namespace partita::detail
