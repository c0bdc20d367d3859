// The schedule of a step plan: its events in the order in which a bound program executes them, with movements that
// overlap with computation.
#pragma once

#include <partita/core/config.hpp>
#include <partita/plan/step_order.hpp>
#include <partita/plan/step_plan.hpp>
#include <partita/plan/timetable.hpp>
#include <vector>

namespace partita {

/// Converts the events of a plan to steps, with the numbers of the blocks that each step reads and sets: blocks of the
/// values of the program, and of the copies and gradients that the events make.
PARTITA_DECL std::vector<step_use> steps_of(const step_plan& plan);

/// The estimated times of a training step whose movements overlap with computation: first of the forward pass, then of
/// the backward pass with the updates, in the order in which a bound program executes them.
/// Cost: the time of order_steps; no communication.
PARTITA_DECL timetable schedule_of(const step_plan& plan, const order_limits& limits = {4});

/// The cost of a plan whose movements overlap with computation, for `search_options::schedule`. The time is at most
/// that of the plan, and at least the larger of the computing time and the movement time. The peak memory is that of
/// the schedule, which makes copies earlier than the plan.
PARTITA_DECL step_cost overlapped_cost(const step_plan& plan);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/sharded/impl/step_schedule.ipp>
#endif
