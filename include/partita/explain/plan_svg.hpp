// A worker's plan as a drawing: the boxes that it sends and receives, or the trees of workers along which blocks are
// broadcast or summed.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/explain/drawn_block.hpp>
#include <partita/explain/plan_text.hpp>
#include <partita/plan/binomial_tree.hpp>
#include <partita/plan/group_plan.hpp>
#include <partita/plan/repartition_plan.hpp>
#include <vector>

namespace partita {

namespace detail {

/// The parts of its source block that a worker sends to other workers or keeps, for a drawing.
template <std::size_t Rank>
std::vector<block_part<Rank>> source_parts(const repartition_plan<Rank>& plan) {
  std::vector<block_part<Rank>> parts;
  const colour own = colour_of(plan.worker);
  for (const auto& t : plan.sends)
    parts.push_back({t.at, t.where.shape(), own, long_text("to ") << t.worker, long_text() << t.worker});
  for (const auto& k : plan.kept)
    parts.push_back({k.source_start, k.where.shape(), own, "stays", long_text() << plan.worker});
  return parts;
}
/// The parts of its destination block that a worker receives or keeps, for a drawing.
template <std::size_t Rank>
std::vector<block_part<Rank>> destination_parts(const repartition_plan<Rank>& plan) {
  std::vector<block_part<Rank>> parts;
  const colour own = colour_of(plan.worker);
  for (const auto& t : plan.receives)
    parts.push_back(
        {t.at, t.where.shape(), colour_of(t.worker), long_text("from ") << t.worker, long_text() << t.worker});
  for (const auto& k : plan.kept)
    parts.push_back(
        {k.destination_start, in_result_order(k.where.shape(), plan.axes), own, "stayed", long_text() << plan.worker});
  return parts;
}

}  // namespace detail

/// Draws one worker's part in a repartition: its source block, its destination block, and its plan as text.
template <std::size_t Rank>
long_text to_svg(const repartition_plan<Rank>& plan, std::size_t element_bytes = 0) {
  drawing on;
  const auto larger = [](std::size_t a, std::size_t b) { return a > b ? a : b; };
  const detail::block_scales length(
      larger(detail::drawn_rows(plan.source_shape), detail::drawn_rows(plan.destination_shape)),
      larger(detail::drawn_columns(plan.source_shape), detail::drawn_columns(plan.destination_shape)));
  drawing::px x = 0;
  if (plan.gives) {
    on.words(0, 12, long_text("worker ") << plan.worker << " gives " << detail::extents_text(plan.source_shape, " × "),
             detail::heading_style);
    detail::draw_block(on, 0, 24, plan.source_shape, length, detail::source_parts(plan));
    x = on.width() + 40;
  }
  if (plan.takes) {
    long_text title(plan.gives ? "and takes " : "worker ");
    if (!plan.gives) title << plan.worker << " takes ";
    on.words(x, 12, title << detail::extents_text(plan.destination_shape, " × "), detail::heading_style);
    detail::draw_block(on, x, 24, plan.destination_shape, length, detail::destination_parts(plan));
  }
  detail::write_legend_of_parts<Rank>(on);
  on.text_lines(0, on.height() + 30, to_text(plan, element_bytes), detail::code_style);
  return on.svg();
}

/// Draws one worker's part in a broadcast or a sum: the tree of each group of the worker, and the plan as text below
/// the trees. Of each group at most the first 16 members are drawn.
PARTITA_DECL long_text to_svg(const group_plan& plan);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/explain/impl/plan_svg.ipp>
#endif
