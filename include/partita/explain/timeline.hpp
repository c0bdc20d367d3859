// A drawing of what happens when: a bar for each event, above an axis of time.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/explain/long_text.hpp>
#include <partita/explain/svg.hpp>
#include <vector>

namespace partita::detail {

/// Adds an entry of a legend at x. Returns where the next one begins.
PARTITA_DECL drawing::px add_key(drawing& on, drawing::px x, std::size_t colour, const char* name);
/// Adds an axis of time at the height y, with so many seconds between its ends.
PARTITA_DECL void add_time_axis(drawing& on, drawing::px from, drawing::px to, drawing::px y, double seconds);

/// One line of the drawing.
struct timeline_bar {
  long_text event{};           ///< to the left of the bar
  long_text beside{};          ///< to the right of it
  double from = 0, until = 0;  ///< seconds
  std::size_t colour = 0;      ///< of the bar, see colour_of
  std::size_t held = 0;        ///< bytes
  bool backward = false;       ///< of the backward pass: a line separates the passes
};

/// The drawing: events from top to bottom, time from left to right; on the right is the memory of a worker.
struct timeline {
  long_text title{};
  const char* beside = "";  ///< the title of what stands to the right of the bars
  drawing on{};
  drawing::px at_key = 0;
  std::vector<timeline_bar> bars{};

  /// The next entry of the legend.
  void key(std::size_t colour, const char* name) { at_key = add_key(on, at_key, colour, name); }
  /// Adds the bars and the axis of time.
  PARTITA_DECL long_text svg();
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/explain/impl/timeline.ipp>
#endif
