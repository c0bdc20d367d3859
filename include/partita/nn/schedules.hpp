// Learning rate schedules. A rate depends only on the number of steps taken, so a resumed training continues with the
// rates it would have had.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <partita/core/error.hpp>
#include <utility>

/// Use: `optimiser.options().learning_rate = rate(step)` before each step; steps are counted from 0.
namespace partita::schedules {

/// The same rate at every step.
struct constant {
  double rate;

  constexpr double operator()(std::size_t) const { return rate; }
};

/// Multiplies the rate by `factor` after every `every` steps. Requires `every` > 0 [error].
struct step {
  double rate;
  std::size_t every;
  double factor = 0.1;

  double operator()(std::size_t k) const {
    if (every == 0) throw error("partita::schedules::step: requires every > 0; for one rate take constant");
    return rate * std::pow(factor, static_cast<double>(k / every));
  }
};

/// Half a cosine wave from `rate` at step 0 to `last` at step `steps`, and `last` after that (Loshchilov and Hutter
/// 2017, without restarts).
struct cosine {
  double rate;
  std::size_t steps;
  double last = 0;

  double operator()(std::size_t k) const {
    if (k >= steps) return last;
    const double share = static_cast<double>(k) / static_cast<double>(steps);
    return last + (rate - last) * 0.5 * (1 + std::cos(std::numbers::pi * share));
  }
};

/// Rises linearly, and reaches the first rate of another schedule at step `steps` - 1; then follows that schedule from
/// its step 0: `warm_up(100, cosine{.rate = 0.001, .steps = 2000})`.
template <class Then>
class warm_up {
 public:
  constexpr warm_up(std::size_t steps, Then then) : steps_(steps), then_(std::move(then)) {}

  constexpr double operator()(std::size_t k) const {
    if (k >= steps_) return then_(k - steps_);
    return then_(0) * static_cast<double>(k + 1) / static_cast<double>(steps_);
  }

 private:
  std::size_t steps_;
  Then then_;
};

}  // namespace partita::schedules
