// The frequencies of the numbers of a spectrum: those of NumPy, each congruent to its index.
#include <partita/array/fftfreq.hpp>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "refused.hpp"

using namespace partita;

BOOST_AUTO_TEST_CASE(frequencies_are_in_the_order_of_a_spectrum) {
  BOOST_TEST((fftfreq(5) == xt::xtensor<double, 1>{0, 1 / 5., 2 / 5., -2 / 5., -1 / 5.}));
  BOOST_TEST((fftfreq(4, 0.5) == xt::xtensor<double, 1>{0, 0.5, -1, -0.5}));
  BOOST_TEST((rfftfreq(4, 0.5) == xt::xtensor<double, 1>{0, 0.5, 1}));
  BOOST_TEST((fftfreq(1) == xt::xtensor<double, 1>{0}));
  BOOST_TEST((rfftfreq(1) == xt::xtensor<double, 1>{0}));
  BOOST_TEST((rfftfreq(2) == xt::xtensor<double, 1>{0, 0.5}));
  BOOST_TEST(test::refused<shape_error>([] { fftfreq(0); }).find("at least one point") != std::string::npos);
  BOOST_TEST(test::refused<shape_error>([] { rfftfreq(3, 0); }).find("a positive spacing") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_frequency_is_the_one_from_minus_a_half_to_below_a_half_that_its_index_names) {
  for (std::size_t n = 1; n <= 12; ++n) {
    const auto all = fftfreq(n), half = rfftfreq(n);
    BOOST_TEST(all.size() == n);
    BOOST_TEST(half.size() == n / 2 + 1);
    for (std::size_t i = 0; i < n; ++i) {
      const long wave = std::lround(all(i) * static_cast<double>(n)), points = static_cast<long>(n);
      BOOST_TEST((-points <= 2 * wave && 2 * wave < points));
      BOOST_TEST((wave + points) % points == static_cast<long>(i));
      if (i < half.size()) BOOST_TEST(std::lround(half(i) * static_cast<double>(n)) == static_cast<long>(i));
    }
  }
}
