// The timetable of a bound program, as text and as a drawing.
#pragma once

#include <partita/core/config.hpp>
#include <partita/explain/long_text.hpp>
#include <partita/plan/timetable.hpp>

namespace partita {

/// Writes the entries of a timetable in order: start, duration, the bytes that this worker receives, and the memory for
/// intermediate values; then the time of a step, and two lower bounds of it for any order, one of which is the longest
/// chain of dependent entries.
PARTITA_DECL long_text to_text(const timetable& times);
/// Draws the timetable of a bound program as bars above a time axis: computations are green, movements red.
PARTITA_DECL long_text to_svg(const timetable& times);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/explain/impl/timetable_picture.ipp>
#endif
