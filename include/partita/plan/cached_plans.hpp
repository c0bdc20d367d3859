// A cache of plans that evicts the least recently used one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace partita::detail {

/// A cache of `Most` plans. If workers agree on a choice of plans, each plan has one bit in the set that they agree on.
template <class Structure, std::size_t Most = 32>
class plan_cache {
 public:
  static constexpr std::size_t most = Most;

  /// The plan for which fits(plan) holds, which becomes the last used plan; null if no plan fits.
  template <class Fits>
  Structure* find(Fits fits) {
    for (std::size_t k = 0; k < entries_.size(); ++k)
      if (fits(entries_[k])) {
        used_[k] = ++clock_;
        return &entries_[k];
      }
    return nullptr;
  }
  /// The plans for which fits(plan) holds, as a set with one bit for each plan.
  template <class Fits>
  std::uint64_t matching(Fits fits) const {
    std::uint64_t set = 0;
    for (std::size_t k = 0; k < entries_.size(); ++k)
      if (fits(entries_[k])) set |= std::uint64_t{1} << k;
    return set;
  }
  /// The plan that was used last among the plans in a set. Requires a set that is not empty.
  Structure& last_used(std::uint64_t set) {
    std::size_t best = most;
    for (std::size_t k = 0; k < entries_.size(); ++k)
      if ((set >> k & 1U) != 0 && (best == most || used_[k] > used_[best])) best = k;
    used_[best] = ++clock_;
    return entries_[best];
  }
  /// The plan that was used last of all plans; null before the first plan.
  const Structure* latest() const {
    for (std::size_t k = 0; k < entries_.size(); ++k)
      if (used_[k] == clock_) return &entries_[k];
    return nullptr;
  }
  /// The plan in a set of one element; null for any other set.
  Structure* only(std::uint64_t set) {
    if (set == 0 || (set & (set - 1)) != 0) return nullptr;
    std::size_t k = 0;
    while ((set >> k & 1U) == 0) ++k;
    return &entries_[k];
  }
  /// Reserves memory, so that the next `add` allocates nothing.
  void make_room() {
    if (entries_.size() < entries_.capacity() && used_.size() < used_.capacity()) return;
    const std::size_t room = 2 * entries_.size() + 1 < most ? 2 * entries_.size() + 1 : most;
    entries_.reserve(room);
    used_.reserve(room);
  }
  /// Adds a plan; a full cache evicts the least recently used plan.
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
  /// The number of plans that have been made so far.
  std::size_t made() const { return made_; }

 private:
  std::vector<Structure> entries_;
  std::vector<std::uint64_t> used_;
  std::uint64_t clock_ = 0;
  std::size_t made_ = 0;
};

}  // namespace partita::detail
