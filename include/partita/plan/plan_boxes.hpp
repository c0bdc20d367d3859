// The planner of exchanges of boxes: from the boxes that workers hold to the boxes that they want.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/plan/box_overlaps.hpp>
#include <partita/plan/exchange_plan.hpp>

namespace partita {

/// The plan of one worker: the worker receives each index of its wanted box from one worker that holds the index, from
/// itself if possible. Blocks are contiguous. In the plan, a box of rank 0 has one dimension of extent 1, because
/// exchanges need a dimension. If workers prefer copies on their node (prefer_same_node), the exchange has a second
/// plan, made with `is_forwarded`: workers pass on within their node what came from other nodes, and the wanted boxes
/// are both source and destination.
/// Shapes:   all boxes have the same rank.
/// Requires: held boxes that cover the wanted boxes, and are equal or disjoint.
/// Cost:     O(workers).
/// Adjoint:  `reversed(plan)`, which adds up, because several workers may want the same index.
PARTITA_DECL exchange_plan<dynamic> plan_boxes(const box_overlaps& all, std::size_t worker, bool is_forwarded = false);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/plan/impl/plan_boxes.ipp>
#endif
