// A drawing of events over time: a bar for each event, above a time axis.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/explain/long_text.hpp>
#include <partita/explain/svg.hpp>
#include <vector>

namespace partita::detail {

/// Adds an entry to the legend of a drawing at x. Returns the x where the next entry begins.
PARTITA_DECL drawing::px add_legend_entry(drawing& on, drawing::px x, std::size_t colour, const char* name);
/// Adds a time axis at the height y; `seconds` seconds pass between its ends.
PARTITA_DECL void add_time_axis(drawing& on, drawing::px from, drawing::px to, drawing::px y, double seconds);

/// One event of a timeline, and its bar.
struct timeline_bar {
  long_text event_text{};        ///< the text to the left of the bar
  long_text bar_text{};          ///< the text to the right of the bar
  double from = 0, until = 0;    ///< the start and the end of the event, in seconds
  std::size_t colour = 0;        ///< the number of the colour of the bar (colour_of)
  std::size_t memory_bytes = 0;  ///< the worker's memory during the event, in bytes
  bool is_backward = false;      ///< whether the event is in the backward pass, drawn below a line
};

/// A timeline: events from top to bottom, time from left to right; on the right is the memory of a worker.
struct timeline {
  long_text title{};                 ///< the text above the legend
  const char* column_title = "";     ///< the title of the texts to the right of the bars
  drawing on{};                      ///< the picture to which the legend and the bars are added
  drawing::px legend_x = 0;          ///< where the next entry of the legend begins
  std::vector<timeline_bar> bars{};  ///< the events, from top to bottom

  /// Adds an entry to the legend.
  void add_to_legend(std::size_t colour, const char* name) { legend_x = add_legend_entry(on, legend_x, colour, name); }
  /// Adds the bars and the time axis, and returns the drawing as SVG.
  PARTITA_DECL long_text svg();
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/explain/impl/timeline.ipp>
#endif
