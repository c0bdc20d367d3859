// The estimated timeline of a training step as a drawing: a bar for each event, which starts where the previous event
// ended, above a time axis.
#pragma once

#include <cstddef>
#include <partita/explain/step_text.hpp>
#include <partita/explain/timeline.hpp>

namespace partita {

/// Draws events from top to bottom and time from left to right. Computation is green, communication red, updates blue;
/// on the right is a worker's memory at the time of the event. The legend and the time axis are part of the drawing.
template <class Graph>
long_text to_svg(const step_plan_of<Graph>& plan) {
  detail::timeline on{long_text("a step takes ") << detail::cost_text(plan.cost), "time, bytes"};
  on.add_to_legend(2, "computes");
  on.add_to_legend(4, "communicates");
  on.add_to_legend(0, "updates");
  for (double now = 0; const step_event& one : plan.events) {
    const std::size_t colour = one.kind == step_event::what::compute ? 2 : one.kind == step_event::what::update ? 0 : 4;
    long_text label = detail::seconds_text(one.seconds);
    if (one.bytes > 0) label << ", " << detail::bytes_text(one.bytes);
    on.bars.push_back(
        {detail::event_text(plan, one), label, now, now + one.seconds, colour, one.bytes_held, one.backward});
    now += one.seconds;
  }
  return on.svg();
}

}  // namespace partita
