// Learning-rate schedules equal their formulas.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <partita/nn/schedules.hpp>
#include <string>

#include "refused.hpp"

using namespace partita;

BOOST_AUTO_TEST_SUITE(schedules_of_rates)

BOOST_AUTO_TEST_CASE(constant_step_and_warm_up_are_exact) {
  constexpr schedules::constant same{0.25};
  static_assert(same(0) == 0.25 && same(1000) == 0.25);
  const schedules::step halved{.rate = 8, .every = 3, .factor = 0.5};
  const double wanted[] = {8, 8, 8, 4, 4, 4, 2};
  for (std::size_t k = 0; k < 7; ++k) BOOST_TEST(halved(k) == wanted[k]);
  const schedules::warm_up slow(4, halved);
  const double warmed[] = {2, 4, 6, 8, 8, 8, 8, 4};
  for (std::size_t k = 0; k < 8; ++k) BOOST_TEST(slow(k) == warmed[k]);
  static_assert(schedules::warm_up(0, same)(0) == 0.25);
}

BOOST_AUTO_TEST_CASE(cosine_falls_from_its_rate_to_its_last_one) {
  const schedules::cosine wave{.rate = 3, .steps = 4, .last = 1};
  BOOST_TEST(wave(0) == 3);
  BOOST_TEST(std::abs(wave(1) - (2 + std::sqrt(0.5))) < 1e-15);
  BOOST_TEST(std::abs(wave(2) - 2) < 1e-15);
  BOOST_TEST(wave(4) == 1);
  BOOST_TEST(wave(1000) == 1);
  BOOST_TEST((schedules::cosine{.rate = 3, .steps = 0, .last = 1}(0)) == 1);
}

BOOST_AUTO_TEST_CASE(every_step_of_a_schedule_is_its_formula) {
  for (const std::size_t steps : {1U, 2U, 7U, 100U}) {
    const schedules::cosine wave{.rate = 5, .steps = steps, .last = 0.5};
    const schedules::step falling{.rate = 5, .every = steps, .factor = 0.25};
    const schedules::warm_up warmed(steps, wave);
    double stepped = 5;
    for (std::size_t k = 0; k < 3 * steps + 3; ++k) {
      if (k != 0 && k % steps == 0) stepped *= 0.25;
      const double share = static_cast<double>(k) / static_cast<double>(steps);
      const double waved = k >= steps ? 0.5 : 0.5 + 4.5 * (1 + std::cos(3.14159265358979323846 * share)) / 2;
      BOOST_TEST(std::abs(wave(k) - waved) < 1e-14);
      BOOST_TEST(std::abs(falling(k) - stepped) < 1e-14);
      const double slowly = k < steps ? 5 * static_cast<double>(k + 1) / static_cast<double>(steps) : wave(k - steps);
      BOOST_TEST(std::abs(warmed(k) - slowly) < 1e-14);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_step_of_no_steps_is_refused) {
  BOOST_TEST(test::refused([] { schedules::step{.rate = 1, .every = 0}(0); }) ==
             "partita::schedules::step: requires every > 0; for one rate take constant");
}

BOOST_AUTO_TEST_CASE(a_step_takes_a_tenth_and_a_cosine_falls_to_0_by_default) {
  BOOST_TEST((schedules::step{.rate = 8, .every = 3}.factor) == 0.1);
  BOOST_TEST((schedules::cosine{.rate = 3, .steps = 4}.last) == 0.0);
  BOOST_TEST((schedules::step{.rate = 8, .every = 3}(3)) == 0.8);
  BOOST_TEST((schedules::cosine{.rate = 3, .steps = 4}(4)) == 0.0);
}

BOOST_AUTO_TEST_SUITE_END()
