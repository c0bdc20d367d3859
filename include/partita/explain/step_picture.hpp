// The estimated timeline of a step as a drawing: a bar for each event, which starts where the last one ended.
#pragma once

#include <cstddef>
#include <partita/explain/step_text.hpp>
#include <partita/explain/svg.hpp>

namespace partita {

/// Events from top to bottom, time from left to right. Computation is green, communication red, updates blue; on the
/// right is the memory of a worker at that time.
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
  const auto across = [&](double seconds, px length) {
    return plan.seconds() > 0 ? static_cast<px>(seconds / plan.seconds() * static_cast<double>(length) + 0.5) : 0;
  };
  double now = 0;
  px y = row;
  bool backward = false;
  for (const step_event& one : plan.events) {
    if (one.backward && !backward) on.line(0, y, column + 180, y, detail::pale.ink);
    backward = one.backward;
    const px from = across(now, wide), to = across(now + one.seconds, wide);
    now += one.seconds;
    const std::size_t colour = one.done == step_event::what::compute ? 2 : one.done == step_event::what::move ? 4 : 0;
    on.words(0, y + row - 7, detail::said_event(plan, one), plain);
    on.rectangle(words + from, y + 4, to > from ? to - from : 1, row - 8, colour_of(colour));
    long_text beside = detail::in_seconds(one.seconds);
    if (one.bytes > 0) beside << ", " << detail::in_bytes(one.bytes);
    on.words(column, y + row - 7, beside, plain);
    const px held =
        plan.peak() > 0 ? static_cast<px>(60.0 * static_cast<double>(one.held) / static_cast<double>(plan.peak())) : 0;
    on.rectangle(column + 140, y + 6, held, row - 12, detail::pale, 0);
    y += row;
  }
  return on.svg();
}

}  // namespace partita
