// A cache of plans that evicts the least recently used one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace partita::detail {

/// A cache of at most `Most` plans. A set of plans is a number with one bit for each plan, so that workers can agree on
/// the plans that all of them have.
template <class Plan, std::size_t Most = 32>
class plan_cache {
 public:
  static constexpr std::size_t max_plans = Most;  ///< the capacity of the cache

  /// The first plan for which is_match(plan) holds, which becomes the last used plan; null if there is no such plan.
  template <class Fits>
  Plan* find(Fits is_match) {
    for (std::size_t k = 0; k < plans_.size(); ++k)
      if (is_match(plans_[k])) {
        last_use_[k] = ++use_count_;
        return &plans_[k];
      }
    return nullptr;
  }
  /// The plans for which is_match(plan) holds, as a set with one bit for each plan.
  template <class Fits>
  std::uint64_t matching_plans(Fits is_match) const {
    std::uint64_t plan_set = 0;
    for (std::size_t k = 0; k < plans_.size(); ++k)
      if (is_match(plans_[k])) plan_set |= std::uint64_t{1} << k;
    return plan_set;
  }
  /// Returns the plan that was used last among the plans in a set, and counts this call as a use. The set must not be
  /// empty.
  Plan& use_last_plan(std::uint64_t plan_set) {
    std::size_t best = max_plans;
    for (std::size_t k = 0; k < plans_.size(); ++k)
      if ((plan_set >> k & 1U) != 0 && (best == max_plans || last_use_[k] > last_use_[best])) best = k;
    last_use_[best] = ++use_count_;
    return plans_[best];
  }
  /// The plan that was used last of all plans; null before the first plan.
  const Plan* last_plan() const {
    for (std::size_t k = 0; k < plans_.size(); ++k)
      if (last_use_[k] == use_count_) return &plans_[k];
    return nullptr;
  }
  /// The plan in a set of one element; null for any other set.
  Plan* sole_plan(std::uint64_t plan_set) {
    if (plan_set == 0 || (plan_set & (plan_set - 1)) != 0) return nullptr;
    std::size_t k = 0;
    while ((plan_set >> k & 1U) == 0) ++k;
    return &plans_[k];
  }
  /// Reserves memory, so that the next `add` allocates nothing.
  void make_room() {
    if (plans_.size() < plans_.capacity() && last_use_.size() < last_use_.capacity()) return;
    const std::size_t room = 2 * plans_.size() + 1 < max_plans ? 2 * plans_.size() + 1 : max_plans;
    plans_.reserve(room);
    last_use_.reserve(room);
  }
  /// Adds a plan; a full cache evicts the least recently used plan.
  Plan& add(Plan new_plan) {
    ++plans_made_;
    std::size_t k = plans_.size();
    if (k < max_plans) {
      plans_.push_back(std::move(new_plan));
      last_use_.push_back(0);
    } else {
      k = 0;
      for (std::size_t other = 1; other < max_plans; ++other)
        if (last_use_[other] < last_use_[k]) k = other;
      if constexpr (requires { plans_[k].forget(); }) plans_[k].forget();
      plans_[k] = std::move(new_plan);
    }
    last_use_[k] = ++use_count_;
    return plans_[k];
  }
  /// The number of plans that have been added to the cache so far.
  std::size_t plans_made() const { return plans_made_; }

 private:
  std::vector<Plan> plans_;              ///< a plan's index is also its bit in a set of plans
  std::vector<std::uint64_t> last_use_;  ///< for each plan, the number of its last use
  std::uint64_t use_count_ = 0;          ///< the number of uses of all plans so far
  std::size_t plans_made_ = 0;           ///< the number of plans that were ever added
};

}  // namespace partita::detail
