// A kernel's cache of plans for blocks of known shapes; a worker finds a plan by the shape of its own block.
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
#include <utility>
#include <vector>

namespace partita::detail {

/// The shapes that a plan is cached under: that of the block and that of the view to fill.
struct structure_key {
  /// One of the shapes; `none` if the plan does not depend on it.
  struct shape {
    static constexpr std::size_t none = ~std::size_t{0};
    std::size_t rank = none;
    std::array<std::size_t, most_dimensions> extents{};

    template <class = void>
    bool is(const std::array<std::size_t, most_dimensions>* other, std::size_t rank_of_other) const {
      if (other == nullptr) return rank == none;
      return rank == rank_of_other && std::equal(extents.begin(), extents.begin() + rank, other->begin());
    }
  };
  shape block, view;
};

template <class Structure>
class plan_cache {
 public:
  static constexpr std::size_t most = 32;  // one bit each in an agreement's set of choices

  /// The set of plans, one bit each, for which fits(plan) holds.
  template <class Fits>
  std::uint64_t matching(Fits fits) const {
    std::uint64_t set = 0;
    for (std::size_t k = 0; k < entries_.size(); ++k)
      if (fits(entries_[k])) set |= std::uint64_t{1} << k;
    return set;
  }
  /// The plan of a set that was used most recently. Requires a set that is not empty.
  Structure& last_used(std::uint64_t set) {
    std::size_t best = most;
    for (std::size_t k = 0; k < entries_.size(); ++k)
      if ((set >> k & 1U) != 0 && (best == most || used_[k] > used_[best])) best = k;
    used_[best] = ++clock_;
    return entries_[best];
  }
  /// The plan of a set with exactly one element; null for other sets.
  Structure* only(std::uint64_t set) {
    if (set == 0 || (set & (set - 1)) != 0) return nullptr;
    std::size_t k = 0;
    while ((set >> k & 1U) == 0) ++k;
    return &entries_[k];
  }
  /// Reserves memory, so that the next `add` allocates none.
  void make_room() {
    if (entries_.size() < entries_.capacity() && used_.size() < used_.capacity()) return;
    const std::size_t room = 2 * entries_.size() + 1 < most ? 2 * entries_.size() + 1 : most;
    entries_.reserve(room);
    used_.reserve(room);
  }
  /// Adds a plan; if the cache is full, the least recently used plan is evicted.
  Structure& add(Structure structure) {
    ++made_;
    std::size_t k = entries_.size();
    if (k < most) {
      entries_.push_back(std::move(structure));
      used_.push_back(0);
    } else {
      k = 0;
      for (std::size_t other = 1; other < most; ++other)
        if (used_[other] < used_[k]) k = other;
      if constexpr (requires { entries_[k].forget(); }) entries_[k].forget();
      entries_[k] = std::move(structure);
    }
    used_[k] = ++clock_;
    return entries_[k];
  }
  /// How many plans have been made so far.
  std::size_t made() const { return made_; }

 private:
  std::vector<Structure> entries_;
  std::vector<std::uint64_t> used_;
  std::uint64_t clock_ = 0;
  std::size_t made_ = 0;
};

/// The world of a kernel's calls, and a number that identifies the kernel: the same on all workers.
struct kernel_identity {
  world_state* world = nullptr;
  std::uint64_t number = 0;
};

/// A call of a kernel, as the workers compare it with each other.
struct kernel_call {
  std::uint64_t fingerprint = 0;  ///< of the kernel, its direction and its elements: equal for equal calls
  const complaint& before;        ///< this worker's error, if any; valid during the call only
  /// Set if the data that a worker receives cannot be checked against its own block, which does not show which plan the
  /// other workers use. Then the workers agree on the plan at every level of checks, because a receiver has to rely on
  /// it. (It is false only for sums to which every receiver contributes a block of the same shape; these may use
  /// checks::local.)
  bool without_probe = false;
  speculative_send* ahead = nullptr;      ///< what may be sent once the workers of a node agree on a plan
  bool speculative_by_structure = false;  ///< it is useless with a different plan; the same on all workers
};

/// All workers agree on the call and find a plan that fits on all of them, or make one together: `learn(complaint&)`
/// returns it and may set an error. If a worker sets an error, or had one before (call.before), all workers throw the
/// same error and nothing has moved.
template <class Structure, class Fits, class Learn, class Describe>
Structure& agreed_structure(world_state& world, plan_cache<Structure>& cache, const kernel_call& call, Fits fits,
                            Learn learn, Describe describe) {
  const auto agreed = [&](const complaint& own, std::uint64_t choices, auto what, speculative_send* ahead) {
    if (!call.without_probe) return agree_if_checked(world, call.fingerprint, own, what, choices, ahead);
    return world.agree(
        call.fingerprint, choices, own.kind, [&] { return own.any() ? own.sentence : text(what()); }, ahead);
  };
  // Most calls end here: one agreement, and all workers have a plan for their blocks.
  const std::uint64_t own = cache.matching(fits);
  const std::uint64_t set =
      agreed(call.before, own, describe, own == 0 && call.speculative_by_structure ? nullptr : call.ahead);
  if (set != 0) return cache.last_used(set);
  if (call.speculative_by_structure) world.discard_without_choice();
  // No plan fits on all workers: all make one, and agree that none of them found an error.
  complaint trouble;
  auto structure = learnt<Structure>(world, trouble, [&](complaint& found) {
    cache.make_room();
    return learn(found);
  });
  agreed(trouble, 0, describe, nullptr);
  return cache.add(std::move(structure));
}

}  // namespace partita::detail
