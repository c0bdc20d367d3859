// The simulated run of a pipeline as a drawing.
#pragma once

#include <partita/core/config.hpp>
#include <partita/explain/long_text.hpp>
#include <partita/plan/pipeline_order.hpp>

namespace partita {

/// Draws a run of a pipeline: a row for each group of workers, time from left to right, and a box with the number of
/// the micro-batch for each pass of a micro-batch through a stage. The legend, the time axis and the idle share are
/// part of the drawing.
PARTITA_DECL long_text to_svg(const pipeline_run& schedule);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/explain/impl/pipeline_picture.ipp>
#endif
