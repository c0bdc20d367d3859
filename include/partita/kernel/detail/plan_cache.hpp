// What a kernel learnt about the blocks of all workers, found again by the shape of this worker's own block.
//
// All workers add structures in the same order, so a structure has the same number everywhere. At a call each worker
// says which structures its block fits; one that fits everywhere needs no further message, however shapes alternate.
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

/// The shapes by which a worker finds a structure again: those of its block and of the view it wants filled.
struct structure_key {
  /// One of them; none for what the structure does not depend on.
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
  static constexpr std::size_t most = 32;  // a choice each of an agreement

  /// The set (a bit for each) of structures for which fits(structure, key) holds.
  template <class Fits>
  std::uint64_t matching(Fits fits) const {
    std::uint64_t set = 0;
    for (std::size_t k = 0; k < entries_.size(); ++k)
      if (fits(entries_[k])) set |= std::uint64_t{1} << k;
    return set;
  }
  /// The structure of a set that was used last. Requires a set that is not empty.
  Structure& last_used(std::uint64_t set) {
    std::size_t best = most;
    for (std::size_t k = 0; k < entries_.size(); ++k)
      if ((set >> k & 1U) != 0 && (best == most || used_[k] > used_[best])) best = k;
    used_[best] = ++clock_;
    return entries_[best];
  }
  /// The structure of a set of one; null of other sets.
  Structure* only(std::uint64_t set) {
    if (set == 0 || (set & (set - 1)) != 0) return nullptr;
    std::size_t k = 0;
    while ((set >> k & 1U) == 0) ++k;
    return &entries_[k];
  }
  /// Afterwards `add` needs no memory.
  void make_room() {
    if (entries_.size() < entries_.capacity() && used_.size() < used_.capacity()) return;
    const std::size_t room = 2 * entries_.size() + 1 < most ? 2 * entries_.size() + 1 : most;
    entries_.reserve(room);
    used_.reserve(room);
  }
  /// Adds a structure; the one used longest ago makes room.
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
  /// How many structures were worked out so far.
  std::size_t made() const { return made_; }

 private:
  std::vector<Structure> entries_;
  std::vector<std::uint64_t> used_;
  std::uint64_t clock_ = 0;
  std::size_t made_ = 0;
};

/// Which world a kernel's calls are of, and a number that tells the kernel from others: the same on all workers.
struct kernel_identity {
  world_state* world = nullptr;
  std::uint64_t number = 0;
};

/// A call of a kernel as the workers tell it from others.
struct kernel_call {
  std::uint64_t fingerprint = 0;  ///< of the kernel, its direction and its elements: equal for equal calls
  const complaint& before;        ///< what this worker has to complain about, if anything: for as long as the call
  /// What a worker receives does not follow from the block in its hands, which then does not tell it which structure
  /// the others mean. So the workers find the structure together at every level of checks: what arrives is what the
  /// receiver believes. (Sums of blocks of one shape that all members get are all that is left to checks::local.)
  bool without_probe = false;
  speculative_send* ahead = nullptr;      ///< what may begin where the workers of a node know a structure
  bool speculative_by_structure = false;  ///< and is of no use with another structure; the same on all workers
};

/// All workers agree on the call and find a structure that fits on all of them, or work one out together:
/// `learn(complaint&)` returns it and may complain; then all workers throw the same error and nothing has moved. So
/// they do if one complains before.
template <class Structure, class Fits, class Learn, class Describe>
Structure& agreed_structure(world_state& world, plan_cache<Structure>& cache, const kernel_call& call, Fits fits,
                            Learn learn, Describe describe) {
  const auto agreed = [&](const complaint& own, std::uint64_t choices, auto what, speculative_send* ahead) {
    if (!call.without_probe) return agree_if_checked(world, call.fingerprint, own, what, choices, ahead);
    return world.agree(
        call.fingerprint, choices, own.kind, [&] { return own.any() ? own.sentence : text(what()); }, ahead);
  };
  const std::uint64_t own = cache.matching(fits);
  const std::uint64_t set =
      agreed(call.before, own, describe, own == 0 && call.speculative_by_structure ? nullptr : call.ahead);
  if (set != 0) return cache.last_used(set);
  if (call.speculative_by_structure) world.discard_without_choice();
  complaint trouble;
  auto structure = learnt<Structure>(world, trouble, [&](complaint& found) {
    cache.make_room();
    return learn(found);
  });
  agreed(trouble, 0, describe, nullptr);
  return cache.add(std::move(structure));
}

}  // namespace partita::detail
