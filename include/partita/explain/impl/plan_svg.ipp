// Defines the functions that explain/plan_svg.hpp declares.
#pragma once

#include <partita/explain/plan_svg.hpp>

namespace partita {

PARTITA_DEF long_text to_svg(const group_plan& plan) {
  using px = drawing::px;
  constexpr px wide = 84, high = 30, step_x = 94, step_y = 62;
  constexpr std::size_t most = 16;
  drawing on;
  for (const worker_group& g : plan.groups) {
    const px top = on.height() + (on.height() > 0 ? 34 : 0);
    const auto x = [](std::size_t position) { return static_cast<px>(position) * step_x; };
    const auto y = [&](std::size_t position) {
      px depth = 0;
      for (; position != 0; position = binomial_tree::parent(position)) ++depth;
      return top + depth * step_y;
    };
    const std::size_t shown = g.members.size() < most ? g.members.size() : most;
    for (std::size_t k = 1; k < shown; ++k) {
      const std::size_t parent = binomial_tree::parent(k);
      on.line(x(parent) + wide / 2, y(parent) + high, x(k) + wide / 2, y(k), detail::dark_colour.ink);
    }
    for (std::size_t k = 0; k < shown; ++k) {
      const bool here = k == g.position,
                 holds = k != 0 || g.root_is_large || plan.movement == group_plan::kind::broadcast;
      const colour paint = here ? colour_of(plan.worker) : detail::pale_colour;
      on.rectangle(x(k), y(k), wide, high, paint, here ? 2 : 1, !holds, 5);
      on.words(x(k) + wide / 2, y(k) + 20, long_text("worker ") << g.members[k],
               {.size = 12, .at = drawing::anchor::middle, .ink = paint.ink, .bold = here});
    }
  }
  on.text_lines(0, on.height() + 28, to_text(plan), detail::code_style);
  return on.svg();
}

}  // namespace partita
