// Defines the functions that explain/pipeline_picture.hpp declares.
#pragma once

#include <partita/explain/pipeline_picture.hpp>
#include <partita/explain/quantities.hpp>
#include <partita/explain/svg.hpp>
#include <partita/explain/timeline.hpp>

namespace partita {

PARTITA_DEF long_text to_svg(const pipeline_run& schedule) {
  using px = drawing::px;
  constexpr px row = 30, names = 70;
  const drawing::style plain{13, drawing::anchor::start, detail::dark_colour.ink, false, false};
  const drawing::style middle{12, drawing::anchor::middle, detail::dark_colour.ink, false, false};
  drawing::style bold = plain;
  bold.bold = true;
  // The time scale leaves room for the number of a micro-batch in the shortest box.
  double shortest = schedule.seconds;
  std::uint32_t groups = 0;
  bool has_weights = false;
  for (const simulated_task& one : schedule.tasks) {
    const double length = one.until - one.from;
    if (length > 0 && length < shortest) shortest = length;
    groups = one.group >= groups ? one.group + 1 : groups;
    has_weights = has_weights || one.task.pass == pipeline_pass::weights;
  }
  const double scale = shortest > 0 ? 24 / shortest : 0;
  const auto at = [&](double seconds) { return names + static_cast<px>(seconds * scale + 0.5); };
  const auto colour = [](pipeline_pass pass) -> std::size_t {
    return pass == pipeline_pass::forward ? 0 : pass == pipeline_pass::backward ? 2 : 4;
  };
  drawing on;
  on.words(0, 16,
           long_text("idle ") << detail::percentage(schedule.idle) << " of the time; at most " << schedule.most_kept
                              << " micro-batches are kept by one stage",
           bold);
  px key = detail::add_legend_entry(on, 0, colour(pipeline_pass::forward), "forward");
  key = detail::add_legend_entry(on, key, colour(pipeline_pass::backward), "backward");
  if (has_weights) detail::add_legend_entry(on, key, colour(pipeline_pass::weights), "gradients of weights");
  constexpr px top = 52;
  for (std::uint32_t g = 0; g < groups; ++g) on.words(0, top + row * px(g) + 19, long_text("group ") << g, plain);
  for (const simulated_task& one : schedule.tasks) {
    const px from = at(one.from), until = at(one.until), y = top + row * px(one.group);
    if (until == from) continue;
    on.rectangle(from, y + 2, until - from, row - 4, colour_of(colour(one.task.pass)));
    on.words((from + until) / 2, y + 19, long_text() << one.task.micro_batch, middle);
  }
  detail::add_time_axis(on, names, at(schedule.seconds), top + row * px(groups) + 4, schedule.seconds);
  return on.svg();
}

}  // namespace partita
