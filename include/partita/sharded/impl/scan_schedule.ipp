// Defines the functions that sharded/scan_schedule.hpp declares.
#pragma once

#include <algorithm>
#include <cstddef>
#include <partita/core/error.hpp>
#include <partita/core/text.hpp>
#include <partita/sharded/scan_schedule.hpp>
#include <utility>
#include <vector>

namespace partita {
namespace detail {

PARTITA_DEF std::size_t steps_to_next_checkpoint(std::size_t n, std::size_t c) {
  c = std::min(c, n);                              // more checkpoints are of no use; the products below stay small
  std::size_t r = 1, before = 1, reached = c + 1;  // b(c, r - 1), b(c, r) = (c + r)! / (c! r!)
  while (reached < n) {
    ++r;
    before = std::exchange(reached, reached * (c + r) / r);
  }
  const std::size_t once_less = before * (r - 1) / (c + r - 1);   // b(c, r - 2)
  const std::size_t one_checkpoint_less = reached * c / (c + r);  // b(c - 1, r)
  const std::size_t rest = n > one_checkpoint_less ? n - one_checkpoint_less : 0;
  return std::max({std::size_t{1}, once_less, rest});
}

PARTITA_DEF void require_one_scan_option(const scan_options& options) {
  const int set =
      (options.recompute_every > 0 ? 1 : 0) + (options.checkpoints > 0 ? 1 : 0) + (options.memory > 0 ? 1 : 0);
  if (set > 1)
    throw error(
        "partita::scan: requires at most one of the options recompute_every, checkpoints and memory; leave the others "
        "out");
}

PARTITA_DEF std::vector<scan_sweep> scan_schedule(std::size_t n, const scan_options& options) {
  require_one_scan_option(options);
  const std::size_t checkpoints = options.checkpoints;
  const std::size_t segment = options.recompute_every > 0 ? options.recompute_every : checkpoints > 0 ? 1 : n;
  std::vector<scan_sweep> sweeps;
  std::vector<std::size_t> kept;  // the step numbers of the states that are kept
  for (std::size_t end = n; end > 0;) {
    scan_sweep one;
    one.end = end;
    one.begin = (end - 1) / segment * segment;
    if (kept.empty() && one.begin > 0) {
      one.checkpoint_steps.push_back(0);
      kept.push_back(0);
    }
    one.resume_step = kept.empty() ? 0 : kept.back();
    for (std::size_t at = one.resume_step; one.begin - at > 1;) {
      if (checkpoints > 0 && kept.size() >= checkpoints) break;
      at += checkpoints > 0 ? steps_to_next_checkpoint(end - at, checkpoints - kept.size() + 1) : segment;
      if (at >= one.begin) break;
      one.checkpoint_steps.push_back(at);
      kept.push_back(at);
    }
    if (!kept.empty() && kept.back() == one.begin) kept.pop_back();
    end = one.begin;
    sweeps.push_back(std::move(one));
  }
  return sweeps;
}

PARTITA_DEF scan_options fit_options_to_memory(std::size_t n, const scan_options& options, std::size_t state_bytes,
                                               std::size_t step_bytes) {
  require_one_scan_option(options);
  if (options.memory == 0 || n == 0) return {};
  if (step_bytes == 0 || options.memory / step_bytes >= n) return {};  // the tape can keep all steps
  const std::size_t one_checkpoint = step_bytes + state_bytes;
  if (options.memory < one_checkpoint)
    throw error(text("partita::scan: requires a memory limit of at least ")
                << (one_checkpoint / step_bytes >= n ? n * step_bytes : one_checkpoint) << " bytes, as a state has "
                << state_bytes << " and a step keeps " << step_bytes << " on the tape, got " << options.memory
                << "; allow that many, or use more workers");
  return {.checkpoints = state_bytes == 0 ? n : (options.memory - step_bytes) / state_bytes};
}

PARTITA_DEF void require_same_extents(std::size_t step, std::size_t tensor, const shape_list& made,
                                      const shape_list& expected) {
  if (!(made == expected))
    throw shape_error(text("partita::scan: requires a step that keeps the extents of the state, but step ")
                      << step << " makes " << made << " of " << expected << " in its tensor " << tensor
                      << "; pad or slice it in the step");
}

}  // namespace detail

PARTITA_DEF scan_estimate scan_cost(std::size_t n, const scan_options& options, std::size_t state_bytes,
                                    std::size_t step_bytes) {
  scan_estimate all;
  std::size_t kept = 0;
  const scan_options fitting =
      options.memory > 0 ? detail::fit_options_to_memory(n, options, state_bytes, step_bytes) : options;
  std::vector<std::size_t> positions;
  for (const detail::scan_sweep& one : detail::scan_schedule(n, fitting)) {
    positions.insert(positions.end(), one.checkpoint_steps.begin(), one.checkpoint_steps.end());
    if (!positions.empty() && positions.back() == one.begin) positions.pop_back();
    kept = positions.size();
    all.steps += one.end - one.resume_step;
    all.states = std::max(all.states, kept);
    all.bytes = std::max(all.bytes, kept * state_bytes + (one.end - one.begin) * step_bytes);
  }
  return all;
}

}  // namespace partita
