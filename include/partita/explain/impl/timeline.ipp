// Defines the functions that explain/timeline.hpp declares.
#pragma once

#include <partita/explain/quantities.hpp>
#include <partita/explain/timeline.hpp>

namespace partita::detail {

PARTITA_DEF void timeline::title(const long_text& words, const char* beside) {
  drawing::style bold = plain();
  bold.bold = true;
  on_.words(0, row - 6, words, bold);
  on_.words(column(), row + row - 5, beside, bold);
  on_.words(column() + memory, row + row - 5, long_text("memory, at most ") << in_bytes(peak_), bold);
}

PARTITA_DEF void timeline::key(std::size_t colour, const char* name) {
  on_.rectangle(at_key_, row + 6, 14, row - 10, colour_of(colour));
  on_.words(at_key_ + 20, row + row - 5, name, plain());
  at_key_ += 20 + width_of(name) + 16;
}

PARTITA_DEF void timeline::bar(const timeline_bar& one) {
  const auto across = [&](double seconds) {
    return total_ > 0 ? static_cast<px>(seconds / total_ * static_cast<double>(wide) + 0.5) : 0;
  };
  if (one.backward && !is_backward_) on_.line(0, y_, column() + memory + full, y_, pale.ink);
  is_backward_ = one.backward;
  const px from = across(one.from), to = across(one.until);
  on_.words(0, y_ + row - 7, one.event, plain());
  on_.rectangle(words_ + from, y_ + 4, to > from ? to - from : 1, row - 8, colour_of(one.colour));
  on_.words(column(), y_ + row - 7, one.beside, plain());
  const double share = peak_ > 0 ? static_cast<double>(one.held) / static_cast<double>(peak_) : 0;
  on_.rectangle(column() + memory, y_ + 6, static_cast<px>(static_cast<double>(full) * share), row - 12,
                {"#c3cad2", pale.ink}, 0);
  y_ += row;
}

PARTITA_DEF long_text timeline::svg() {
  constexpr int ticks = 4;
  on_.line(words_, y_ + 4, words_ + wide, y_ + 4, dark.ink);
  for (int k = 0; k <= ticks; ++k) {
    const px x = words_ + k * wide / ticks;
    on_.line(x, y_ + 4, x, y_ + 9, dark.ink);
    on_.words(x, y_ + 24, in_seconds(total_ * k / ticks), {.size = 12, .at = drawing::anchor::middle});
  }
  return on_.svg();
}

}  // namespace partita::detail
