// A run of a pipeline as a drawing.
#pragma once

#include <partita/core/config.hpp>
#include <partita/explain/long_text.hpp>
#include <partita/plan/pipeline_order.hpp>

namespace partita {

/// A row for each group of workers, time from left to right: a box for each pass of each stage, with the number of its
/// micro-batch. The legend, the axis of time and the idle share are part of the drawing.
PARTITA_DECL long_text to_svg(const pipeline_run& run);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/explain/impl/pipeline_picture.ipp>
#endif
