// A drawing of what happens when: a bar for each event, above an axis of time.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/explain/long_text.hpp>
#include <partita/explain/svg.hpp>

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

/// The drawing: events from top to bottom, time from left to right; on the right is the memory of a worker.
class timeline {
 public:
  using px = drawing::px;

  /// `total` and `peak` are the last time and the most memory of all bars, `longest` the width of the longest `event`.
  timeline(double total, std::size_t peak, px longest) : total_(total), peak_(peak), words_(longest + 16) {}

  static px width_of(const long_text& event) { return drawing::width_of(event, plain()); }
  PARTITA_DECL void title(const long_text& words, const char* beside);
  /// The next entry of the legend.
  PARTITA_DECL void key(std::size_t colour, const char* name);
  PARTITA_DECL void bar(const timeline_bar& one);
  /// Adds the axis of time below the bars.
  PARTITA_DECL long_text svg();

 private:
  static constexpr px row = 22, wide = 480, memory = 190, full = 60;  // the column of memory, and its longest bar

  static drawing::style plain() { return {13, drawing::anchor::start, dark.ink, false, false}; }
  px column() const { return words_ + wide + 24; }

  double total_;
  std::size_t peak_;
  px words_, at_key_ = 0, y_ = 2 * row + 4;
  bool is_backward_ = false;
  drawing on_;
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/explain/impl/timeline.ipp>
#endif
