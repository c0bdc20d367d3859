// The timetable of a bound program, as text and as a drawing.
#pragma once

#include <partita/core/config.hpp>
#include <partita/explain/long_text.hpp>
#include <partita/plan/timetable.hpp>

namespace partita {

/// What is computed and moved, in the order in which it begins: when, how long, the bytes that this worker receives,
/// and the memory for intermediate values at that time; then the time of a step beside the least that is possible.
PARTITA_DECL long_text to_text(const timetable& times);
/// The same as bars above an axis of time: computations are green, movements red.
PARTITA_DECL long_text to_svg(const timetable& times);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/explain/impl/timetable_picture.ipp>
#endif
