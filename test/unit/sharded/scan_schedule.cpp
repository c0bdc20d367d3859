// The schedules of a scan reverse every step once, compute the fewest steps again that so many checkpoints allow, and
// cost what the estimate says.
#include <partita/sharded/scan_schedule.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "refused.hpp"

namespace {

using namespace partita;
using detail::scan_schedule;

/// Executes a schedule without tensors: what it computes, and how many states it keeps at most.
struct simulated_scan {
  std::size_t steps = 0, states = 0;
  bool is_right = true;

  simulated_scan(std::size_t n, const scan_options& options) {
    std::vector<std::size_t> kept;
    std::size_t end = n;
    bool is_first = true;
    for (const auto& sweep : scan_schedule(n, options)) {
      // the state at `resume_step` is the initial one, or the one that was kept last
      is_right = is_right && sweep.end == end && sweep.begin < end && sweep.resume_step <= sweep.begin;
      is_right = is_right && (is_first ? sweep.resume_step == 0 : !kept.empty() && sweep.resume_step == kept.back());
      for (const std::size_t at : sweep.checkpoint_steps) {
        is_right = is_right && at >= sweep.resume_step && at < sweep.begin && (kept.empty() || at > kept.back());
        kept.push_back(at);
      }
      if (!is_first && sweep.resume_step == sweep.begin) kept.pop_back();
      states = std::max(states, kept.size());
      steps += sweep.end - sweep.resume_step;
      end = sweep.begin;
      is_first = false;
    }
    is_right = is_right && end == 0 && kept.empty();
  }
};

/// The fewest steps that are computed without being recorded, for reversing n steps with c checkpoints, of which one
/// is the first state: the recurrence of Griewank and Walther, by trying all positions.
std::vector<std::vector<std::size_t>> fewest_steps(std::size_t most, std::size_t checkpoints) {
  std::vector<std::vector<std::size_t>> t(checkpoints + 1, std::vector<std::size_t>(most + 1, 0));
  for (std::size_t n = 1; n <= most; ++n) t[1][n] = n * (n - 1) / 2;
  for (std::size_t c = 2; c <= checkpoints; ++c)
    for (std::size_t n = 2; n <= most; ++n) {
      t[c][n] = t[1][n];
      for (std::size_t m = 1; m < n; ++m) t[c][n] = std::min(t[c][n], m + t[c][m] + t[c - 1][n - m]);
    }
  return t;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(schedules_of_a_scan)

BOOST_AUTO_TEST_CASE(ten_steps_with_three_checkpoints_are_computed_again_twice_at_most) {
  // 3 checkpoints reverse (3 + 2)! / (3! 2!) = 10 steps if none is computed more than twice without being recorded
  const scan_estimate cost = scan_cost(10, {.checkpoints = 3}, 8, 100);
  BOOST_TEST(cost.steps == 10U + 15U);
  BOOST_TEST(cost.states == 3U);
  BOOST_TEST(cost.bytes == 3U * 8 + 100);
  const auto sweeps = scan_schedule(10, {.checkpoints = 3});
  BOOST_TEST((sweeps[0].checkpoint_steps == std::vector<std::size_t>{0, 4, 7}));
  BOOST_TEST(sweeps[0].begin == 9U);
}

BOOST_AUTO_TEST_CASE(binomial_checkpoints_compute_as_few_steps_as_any_schedule) {
  constexpr std::size_t most = 120, checkpoints = 9;
  const auto fewest = fewest_steps(most, checkpoints);
  for (std::size_t c = 1; c <= checkpoints; ++c)
    for (std::size_t n = 0; n <= most; ++n) {
      const simulated_scan one(n, {.checkpoints = c});
      BOOST_TEST(one.is_right);
      BOOST_TEST(one.steps == n + fewest[c][n], n << " steps, " << c << " checkpoints");
      BOOST_TEST(one.states == (n == 0 ? 0 : std::min(c, n - 1)));
    }
  BOOST_TEST(scan_cost(1000, {.checkpoints = 10}, 0, 0).steps == 4636U);
  // b(3, r) steps: many of them, in closed form r n - b(4, r - 1) without being recorded
  constexpr std::size_t r = 40, n = 43 * 42 * 41 / 6;
  BOOST_TEST(scan_cost(n, {.checkpoints = 3}, 0, 0).steps == n + r * n - 43 * 42 * 41 * 40 / 24);
}

BOOST_AUTO_TEST_CASE(segments_are_computed_again_once_besides_the_last) {
  for (std::size_t n = 0; n <= 40; ++n)
    for (std::size_t k = 1; k <= 45; ++k) {
      const simulated_scan one(n, {.recompute_every = k});
      const std::size_t last = n == 0 ? 0 : (n - 1) % k + 1, segments = (n + k - 1) / k;
      const scan_estimate cost = scan_cost(n, {.recompute_every = k}, 1000, 1);
      BOOST_TEST(one.is_right);
      BOOST_TEST(one.steps == 2 * n - last);
      BOOST_TEST(one.states == (n == 0 ? 0 : segments - 1));
      BOOST_TEST(cost.steps == one.steps);
      BOOST_TEST(cost.states == one.states);
      BOOST_TEST(cost.bytes ==
                 (n == 0 ? 0 : (segments - 1) * 1000 + last + (segments == 2 && k > 1000 + last ? k : 0)));
    }
  const scan_estimate all = scan_cost(32, {}, 1000, 3);
  BOOST_TEST(all.steps == 32U);
  BOOST_TEST(all.states == 0U);
  BOOST_TEST(all.bytes == 96U);
}

BOOST_AUTO_TEST_CASE(a_limit_of_memory_is_never_exceeded_or_refused_with_the_least_possible) {
  for (std::size_t n = 0; n <= 30; ++n)
    for (const std::size_t state : {0U, 1U, 10U})
      for (const std::size_t step : {0U, 1U, 7U, 50U})
        for (std::size_t memory = 1; memory <= 70; ++memory) {
          const std::size_t least = n == 0 ? 0 : std::min(n * step, step + (n == 1 ? 0 : state));
          const auto estimate = [&] { return scan_cost(n, {.memory = memory}, state, step); };
          if (memory >= least) BOOST_TEST(estimate().bytes <= memory);
          else test::expect_refused<error>(estimate, ("at least " + std::to_string(least) + " bytes").c_str());
          if (memory >= n * step && n > 0) BOOST_TEST(estimate().steps == n);  // all of them fit on the tape
        }
  BOOST_TEST(scan_cost(30, {.memory = 300}, 10, 10).steps == 30U);  // all steps fit on the tape
  BOOST_TEST(scan_cost(30, {.memory = 299}, 10, 10).states == 28U);
  test::expect_refused<error>([] { (void)scan_cost(3, {.checkpoints = 1, .memory = 1}, 1, 1); }, "at most one of");
}

BOOST_AUTO_TEST_SUITE_END()
