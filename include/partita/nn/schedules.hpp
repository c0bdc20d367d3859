// Learning rate schedules. A learning rate depends only on the number of steps taken, so a training that is resumed
// continues with the same rates.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <partita/core/error.hpp>
#include <utility>

/// A program assigns `optimiser.options().learning_rate = rate(step)` before each step; steps are counted from 0.
namespace partita::schedules {

/// The schedule with the same rate at every step.
struct constant {
  double rate;  ///< the learning rate

  constexpr double operator()(std::size_t) const { return rate; }
};

/// The schedule that multiplies the rate by `factor` once in `every` steps. Requires `every` > 0 [error].
struct step {
  double rate;          ///< the learning rate of the first `every` steps
  std::size_t every;    ///< the number of steps with the same rate
  double factor = 0.1;  ///< multiplies the rate after each `every` steps

  double operator()(std::size_t k) const {
    if (every == 0) throw error("partita::schedules::step: requires every > 0; for one rate take constant");
    return rate * std::pow(factor, static_cast<double>(k / every));
  }
};

/// The schedule that falls as half a cosine wave from `rate` at step 0 to `last` at step `steps`, and stays at `last`
/// after that (Loshchilov and Hutter 2017, without restarts).
struct cosine {
  double rate;        ///< the learning rate at step 0
  std::size_t steps;  ///< the number of steps until the rate is `last`
  double last = 0;    ///< the learning rate from step `steps` on

  double operator()(std::size_t k) const {
    if (k >= steps) return last;
    const double share = static_cast<double>(k) / static_cast<double>(steps);
    return last + (rate - last) * 0.5 * (1 + std::cos(std::numbers::pi * share));
  }
};

/// The schedule that rises linearly until it reaches the first rate of another schedule at step `steps` - 1, and then
/// follows that schedule from its step 0, as in `warm_up(100, cosine{.rate = 0.001, .steps = 2000})`.
template <class Then>
class warm_up {
 public:
  constexpr warm_up(std::size_t steps, Then next_schedule) : steps_(steps), next_schedule_(std::move(next_schedule)) {}

  constexpr double operator()(std::size_t k) const {
    if (k >= steps_) return next_schedule_(k - steps_);
    return next_schedule_(0) * static_cast<double>(k + 1) / static_cast<double>(steps_);
  }

 private:
  std::size_t steps_;   ///< the number of steps of the rise
  Then next_schedule_;  ///< the schedule after the rise
};

}  // namespace partita::schedules
