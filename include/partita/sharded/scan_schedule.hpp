// What a scan keeps for its backward pass, and which steps it computes again: the options, the schedule, and its cost.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/core/short_list.hpp>
#include <vector>

namespace partita {

/// What `scan` keeps for the backward pass. Without an option every step is recorded on the tape, and none is computed
/// again. At most one of the options may be set.
struct scan_options {
  std::size_t recompute_every = 0;  ///< keep every k-th state, and compute and record k steps at a time again
  std::size_t checkpoints = 0;      ///< keep at most so many states: the binomial schedule, one step at a time
  std::size_t memory = 0;           ///< bytes that the scan may add to the tape of any worker: all steps if they fit,
                                    ///< otherwise as many checkpoints as fit
};

/// What a scan costs: steps that are computed, forward and again, and what is kept at most at one time.
struct scan_estimate {
  std::size_t steps = 0;   ///< calls of the step in the forward and in the backward pass
  std::size_t states = 0;  ///< states that are kept, at most at one time, besides those that the tape of steps holds
  std::size_t bytes = 0;   ///< of these states, and of the steps that are on the tape at that time
};

/// The cost of a scan of n steps that is differentiated. `state_bytes` are those of one state, `step_bytes` those that
/// one step keeps on the tape, on the worker where they are most.
/// Requires: at most one option; a memory limit that is possible [error, which states the least that is].
PARTITA_DECL scan_estimate scan_cost(std::size_t n, const scan_options& options, std::size_t state_bytes,
                                     std::size_t step_bytes);

namespace detail {

/// One sweep of a scan: from the state that was kept last, compute the steps up to `begin` without recording them, and
/// keep the states at the positions `keep` on the way. Then record the steps from `begin` to `end`, whose backward
/// steps come next. A state at `begin` that was kept is no longer needed.
struct scan_sweep {
  std::size_t from = 0, begin = 0, end = 0;
  std::vector<std::size_t> keep{};
};

/// The sweeps of a scan of n steps, the last steps first. The first sweep is the forward pass. Requires options without
/// a memory limit, at most one of them [error].
PARTITA_DECL std::vector<scan_sweep> scan_schedule(std::size_t n, const scan_options& options);

/// The same options without a memory limit: the number of checkpoints that fit. Requires a limit that is possible
/// [error].
PARTITA_DECL scan_options within_memory(std::size_t n, const scan_options& options, std::size_t state_bytes,
                                        std::size_t step_bytes);

/// After how many of n >= 3 steps the next of c >= 2 checkpoints is kept, so that the fewest steps are computed again.
/// b(c, r) = (c + r)! / (c! r!) steps can be reversed with c checkpoints if none is computed again more than r times.
/// Griewank and Walther, Algorithm 799, ACM Transactions on Mathematical Software 26 (2000), section 2, prove the range
/// of these positions. This is its first one.
PARTITA_DECL std::size_t steps_to_next_checkpoint(std::size_t n, std::size_t c);

PARTITA_DECL void require_one_scan_option(const scan_options& options);
PARTITA_DECL void require_same_extents(std::size_t step, std::size_t tensor, const shape_list& made,
                                       const shape_list& expected);

}  // namespace detail
}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/sharded/impl/scan_schedule.ipp>
#endif
