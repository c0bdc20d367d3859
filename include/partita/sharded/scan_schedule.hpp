// The options, the schedule and the cost of a scan: which states it keeps for its backward pass, and which steps it
// computes again.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/core/short_list.hpp>
#include <vector>

namespace partita {

/// The options that limit what `scan` keeps for the backward pass. Without an option every step is recorded on the
/// tape, and no step is computed again. A program may set at most one of the three options.
struct scan_options {
  std::size_t recompute_every = 0;  ///< k > 0: keep every k-th state; the backward pass recomputes k steps at a time
  std::size_t checkpoints = 0;      ///< c > 0: keep at most c states (binomial schedule); recompute one step at a time
  std::size_t memory = 0;           ///< b > 0: record all steps if at most b bytes per worker, else choose checkpoints
};

/// The cost of a scan: the number of calls of the step, and the largest memory that is kept at one time.
struct scan_estimate {
  std::size_t steps = 0;   ///< calls of the step in the forward and in the backward pass
  std::size_t states = 0;  ///< the most states kept at one time, without the states in recorded steps
  std::size_t bytes = 0;   ///< the most bytes of kept states and recorded steps at one time
};

/// The cost of a scan of n steps with a gradient. `state_bytes` is the number of bytes of one state, and `step_bytes`
/// the number of bytes that one recorded step keeps on the tape, each on the worker where it is largest.
/// Requires: at most one option; a memory limit that is possible [error, which states the least possible limit].
PARTITA_DECL scan_estimate scan_cost(std::size_t n, const scan_options& options, std::size_t state_bytes,
                                     std::size_t step_bytes);

namespace detail {

/// One sweep over some steps of a scan. A sweep starts with the state that was kept last, before step `resume_step`.
/// The sweep first computes the steps before `begin` without recording them, and keeps the states before the steps
/// `checkpoint_steps`. Then the sweep records the steps from `begin` to `end` - 1, whose backward steps come next.
/// After the sweep, a state that was kept before step `begin` can be discarded.
struct scan_sweep {
  std::size_t resume_step = 0, begin = 0, end = 0;  ///< numbers of steps, counted from 0
  std::vector<std::size_t> checkpoint_steps{};      ///< the states before these steps are kept
};

/// The sweeps of a scan of n steps in the order of execution. The first sweep is the forward pass and records the last
/// steps. At most one option may be set, and the memory limit must not be set [error].
PARTITA_DECL std::vector<scan_sweep> scan_schedule(std::size_t n, const scan_options& options);

/// Replaces a memory limit in the options by the number of checkpoints that fit, or by no option if all recorded steps
/// fit. Throws an error if neither all recorded steps nor one checkpoint fits.
PARTITA_DECL scan_options fit_options_to_memory(std::size_t n, const scan_options& options, std::size_t state_bytes,
                                                std::size_t step_bytes);

/// The number of steps, of n >= 3, after which the next of c >= 2 checkpoints is kept so that the fewest steps are
/// computed again. b(c, r) = (c + r)! / (c! r!) steps can be reversed with c checkpoints if no step is computed again
/// more than r times. The result is the first position of the range that Griewank and Walther prove (Algorithm 799, ACM
/// Transactions on Mathematical Software 26 (2000), section 2).
PARTITA_DECL std::size_t steps_to_next_checkpoint(std::size_t n, std::size_t c);

PARTITA_DECL void require_one_scan_option(const scan_options& options);  ///< throws if several options are set
PARTITA_DECL void require_same_extents(std::size_t step, std::size_t tensor, const shape_list& made,
                                       const shape_list& expected);

}  // namespace detail
}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/sharded/impl/scan_schedule.ipp>
#endif
