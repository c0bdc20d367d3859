// The estimated timeline of a step as a drawing: a bar for each event, which starts where the last one ended, above an
// axis of time.
#pragma once

#include <cstddef>
#include <partita/explain/step_text.hpp>
#include <partita/explain/svg.hpp>

namespace partita {

/// Events from top to bottom, time from left to right. Computation is green, communication red, updates blue; on the
/// right is the memory of a worker at that time. The legend and the axis of time are part of the drawing.
template <class Graph>
long_text to_svg(const step_plan_of<Graph>& plan) {
  using px = drawing::px;
  constexpr px row = 22, wide = 480;
  const drawing::style plain{13, drawing::anchor::start, detail::dark.ink, false, false};
  px words = 0;
  for (const step_event& one : plan.events)
    if (const px own = drawing::width_of(detail::said_event(plan, one), plain) + 16; own > words) words = own;
  const px column = words + wide + 24;
  drawing on;
  drawing::style title = plain;
  title.bold = true;
  on.words(0, row - 6, long_text("a step takes ") << detail::said_cost(plan.cost), title);
  constexpr px memory = 140, full = 60;  // the column of memory, and the length of its longest bar
  // the legend, and the headings of the columns
  px at = 0;
  const auto key = [&](std::size_t colour, const char* name) {
    on.rectangle(at, row + 6, 14, row - 10, colour_of(colour));
    on.words(at + 20, row + row - 5, name, plain);
    at += 20 + drawing::width_of(name, plain) + 16;
  };
  key(2, "computes");
  key(4, "communicates");
  key(0, "updates");
  on.words(column, row + row - 5, "time, bytes", title);
  on.words(column + memory, row + row - 5, long_text("memory, at most ") << detail::in_bytes(plan.peak()), title);
  const auto across = [&](double seconds, px length) {
    return plan.seconds() > 0 ? static_cast<px>(seconds / plan.seconds() * static_cast<double>(length) + 0.5) : 0;
  };
  double now = 0;
  px y = 2 * row + 4;
  bool backward = false;
  for (const step_event& one : plan.events) {
    if (one.backward && !backward) on.line(0, y, column + memory + full, y, detail::pale.ink);
    backward = one.backward;
    const px from = across(now, wide), to = across(now + one.seconds, wide);
    now += one.seconds;
    const std::size_t colour = one.done == step_event::what::compute ? 2 : one.done == step_event::what::update ? 0 : 4;
    on.words(0, y + row - 7, detail::said_event(plan, one), plain);
    on.rectangle(words + from, y + 4, to > from ? to - from : 1, row - 8, colour_of(colour));
    long_text beside = detail::in_seconds(one.seconds);
    if (one.bytes > 0) beside << ", " << detail::in_bytes(one.bytes);
    on.words(column, y + row - 7, beside, plain);
    const px held = plan.peak() > 0 ? static_cast<px>(static_cast<double>(full) * static_cast<double>(one.held) /
                                                      static_cast<double>(plan.peak()))
                                    : 0;
    on.rectangle(column + memory, y + 6, held, row - 12, {"#c3cad2", detail::pale.ink}, 0);
    y += row;
  }
  // the axis of time, below the bars
  constexpr int ticks = 4;
  on.line(words, y + 4, words + wide, y + 4, detail::dark.ink);
  for (int k = 0; k <= ticks; ++k) {
    const px x = words + k * wide / ticks;
    on.line(x, y + 4, x, y + 9, detail::dark.ink);
    on.words(x, y + 24, detail::in_seconds(plan.seconds() * k / ticks), {.size = 12, .at = drawing::anchor::middle});
  }
  return on.svg();
}

}  // namespace partita
