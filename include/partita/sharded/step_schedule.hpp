// The schedule of a step plan: its events as steps that need each other, in the order in which a bound program executes
// them, where moves are pending while something else is computed.
#pragma once

#include <partita/core/config.hpp>
#include <partita/plan/step_order.hpp>
#include <partita/plan/step_plan.hpp>
#include <partita/plan/timetable.hpp>
#include <vector>

namespace partita {

/// The events of a plan as steps: what each reads and sets. Blocks are numbered: the values of the program, and the
/// copies and gradients that the events make.
PARTITA_DECL std::vector<step_use> steps_of(const step_plan& plan);

/// The estimated times of a step in which moves are pending while something else is computed: the forward pass, then
/// the backward pass with the updates, as a bound program orders them.
/// Cost: that of order_steps; no communication.
PARTITA_DECL timetable schedule_of(const step_plan& plan, const order_limits& limits = {4});

/// The cost of that schedule: never more seconds than the plan, and never fewer than the larger of computing and
/// moving. Its peak is that of the schedule, in which copies are made earlier. For `search_options::schedule`.
PARTITA_DECL step_cost overlapped_cost(const step_plan& plan);

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/sharded/impl/step_schedule.ipp>
#endif
