// How a kernel finds the plan for a call in its cache: by the shapes of the blocks, in one agreement of all workers.
//
// All workers add plans in the same order, so a plan has the same number on every worker. In a call each worker states
// which plans fit its block; a plan that fits on all workers needs no further message, even if shapes alternate.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/comm/agreement.hpp>
#include <partita/core/index.hpp>
#include <partita/core/short_list.hpp>
#include <partita/plan/cached_plans.hpp>
#include <utility>
#include <vector>

namespace partita::detail {

/// The shapes under which a plan is cached: the shape of the block and the shape of the view to fill.
struct plan_key {
  /// The shape of the caller's block or view; `rank` is `none` if the plan does not depend on this shape.
  struct shape {
    static constexpr std::size_t none = ~std::size_t{0};  ///< a rank that stands for any shape
    std::size_t rank = none;                              ///< the number of dimensions, or `none`
    std::array<std::size_t, most_dimensions> extents{};   ///< the first `rank` of them count

    /// Whether this shape equals another one; a null pointer stands for a shape of rank `none`.
    bool equals(const std::array<std::size_t, most_dimensions>* other, std::size_t other_rank) const {
      if (other == nullptr) return rank == none;
      return rank == other_rank && std::equal(extents.begin(), extents.begin() + rank, other->begin());
    }
  };
  shape block, view;  ///< the shape of the block, and of the view to fill
};

/// The world of a kernel's calls, and a number that identifies the kernel and is equal on all workers.
struct kernel_identity {
  world_state* world = nullptr;  ///< the world of the kernel's calls
  std::uint64_t number = 0;      ///< a fingerprint of the kernel and its transport
};

/// A call of a kernel, in the form in which the workers compare their calls.
struct kernel_call {
  std::uint64_t fingerprint = 0;  ///< the fingerprint of kernel, direction and elements: equal for equal calls
  const local_error& own_error;   ///< this worker's error, if any; valid during the call only
  /// Whether the shape of a worker's own block does not show which plan the other workers use. If true, the workers
  /// agree on the plan at every level of checks, because a receiver relies on the plan. (False only for sums to which
  /// every receiver contributes a block of the same shape; only these sums need no agreement at checks::local.)
  bool must_agree_on_plan = false;
  speculative_send* early_send = nullptr;  ///< the data that may be sent once the workers of a node agree on a plan
  bool send_depends_on_plan = false;       ///< whether `early_send` is useless with another plan; equal on all workers
};

/// Whether a new plan follows from data that all workers know, so that no worker alone can find an error.
template <class Plan>
bool is_known_to_all(const Plan& s) {
  if constexpr (requires { s.is_known_to_all; }) return s.is_known_to_all;
  else return false;
}

/// Removes all plans from the cache if workers have thrown an error for missing memory since failure number `known`:
/// the worker without memory may lack a plan that the others added because they all knew that the plan had no errors.
template <class Plan>
void drop_plans_after_failures(const world_state& world, plan_cache<Plan>& cache, std::uint64_t& known) {
  if (known == world.failure_count()) return;
  for (std::uint64_t all = cache.matching_plans([](const Plan&) { return true; }); all != 0; all &= all - 1)
    cache.sole_plan(all & ~(all - 1))->forget();
  cache = {};
  known = world.failure_count();
}

/// Agrees on a call and finds a plan that fits on all workers, or makes a plan together with all workers: the function
/// `learn(local_error&)` makes the plan and may set an error. If a worker sets an error, or had an error before
/// (call.own_error), all workers throw it (at checks::local only that worker, unless call.must_agree_on_plan); no
/// result is written.
template <class Plan, class Fits, class Learn, class Describe>
Plan& agreed_structure(world_state& world, plan_cache<Plan>& cache, const kernel_call& call, Fits fits, Learn learn,
                       Describe describe) {
  const auto agreed = [&](const local_error& own, std::uint64_t choices, auto what, speculative_send* ahead) {
    return call.must_agree_on_plan ? agree_on_call(world, call.fingerprint, own, what, choices, ahead)
                                   : agree_if_checked(world, call.fingerprint, own, what, choices, ahead);
  };
  // Most calls end after one agreement: all workers have a plan for their blocks.
  const std::uint64_t own = cache.matching_plans(fits);
  const std::uint64_t set =
      agreed(call.own_error, own, describe, own == 0 && call.send_depends_on_plan ? nullptr : call.early_send);
  if (set != 0) return cache.use_last_plan(set);
  if (call.send_depends_on_plan) world.discard_speculative_messages();
  // If no plan fits on all workers, all workers make a plan; if one alone may find an error, all agree that none did.
  local_error found_error;
  auto structure = prepare_call<Plan>(world, found_error, [&](local_error& found) {
    cache.make_room();
    return learn(found);
  });
  if (!is_known_to_all(structure)) agreed(found_error, 0, describe, nullptr);
  return cache.add(std::move(structure));
}

}  // namespace partita::detail
