// A drawing of what happens when: a bar for each event, above an axis of time.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/explain/long_text.hpp>
#include <partita/explain/svg.hpp>
#include <vector>

namespace partita::detail {

/// One line of the drawing.
struct timeline_bar {
  long_text event{};           ///< to the left of the bar
  long_text beside{};          ///< to the right of it
  double from = 0, until = 0;  ///< seconds
  std::size_t colour = 0;      ///< of the bar, see colour_of
  std::size_t held = 0;        ///< bytes
  bool backward = false;       ///< of the backward pass: a line separates the passes
};
/// What a colour means.
struct timeline_key {
  std::size_t colour = 0;
  const char* name = "";
};

/// The drawing: events from top to bottom, time from left to right; on the right is the memory of a worker.
PARTITA_DECL long_text timeline(const long_text& title, const char* beside, const std::vector<timeline_key>& keys,
                                const std::vector<timeline_bar>& bars);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/explain/impl/timeline.ipp>
#endif
