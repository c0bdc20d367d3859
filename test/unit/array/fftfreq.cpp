// The frequencies of the numbers of a spectrum: those of NumPy, each congruent to its index.
#include <partita/array/fftfreq.hpp>
#include <partita/array/fourier_rule.hpp>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <initializer_list>
#include <limits>

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

BOOST_AUTO_TEST_CASE(a_spacing_that_is_not_positive_is_refused_also_if_it_is_no_number) {
  using limits = std::numeric_limits<double>;
  for (const double spacing : {0.0, -0.0, -1.0, -limits::denorm_min(), -limits::infinity(), limits::quiet_NaN()}) {
    BOOST_TEST(!test::refused<shape_error>([&] { fftfreq(3, spacing); }).empty(), "spacing " << spacing);
    BOOST_TEST(!test::refused<shape_error>([&] { rfftfreq(3, spacing); }).empty(), "spacing " << spacing);
  }
  BOOST_TEST(fftfreq(3, limits::min())(0) == 0);
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

/// A transform and its inverse in FFTW multiply by the number of points; the factors of a norm take that back, each in
/// the direction that the norm names.
BOOST_AUTO_TEST_CASE(a_transform_and_its_inverse_divide_by_the_points_once_in_the_direction_of_the_norm) {
  using namespace partita::detail;
  using enum real_transform;
  using enum line_kind;
  const auto is = [](double a, double b) { return std::abs(a - b) < 1e-14 * std::abs(b); };
  for (const line_kind kind : {complex_to_complex, real_to_complex, complex_to_real, real_to_real})
    for (const real_transform real : {dct_1, dct_2, dct_3, dct_4, dst_1, dst_2, dst_3, dst_4, hartley})
      for (const std::size_t n : {2U, 3U, 8U}) {
        const auto line = [&](bool inverse, fourier_norm norm) {
          return make_transform(1, kind, real, inverse, norm, n);
        };
        for (const fourier_norm norm : {fourier_norm::backward, fourier_norm::ortho, fourier_norm::forward}) {
          const line_transform there = line(false, norm), back = line(true, norm);
          BOOST_TEST(is(there.factor * back.factor * normalisation_factor(kind, real, n), 1));
          BOOST_TEST((!there.is_backward && back.is_backward && there.dimension == 1));
          BOOST_TEST((inverse_kind(there.real) == back.real && inverse_kind(back.real) == there.real));
          BOOST_TEST((is(there.before.first * back.after.first, 1) && is(there.before.last * back.after.last, 1)));
          BOOST_TEST((is(there.after.first * back.before.first, 1) && is(there.after.last * back.before.last, 1)));
        }
        BOOST_TEST((line(false, fourier_norm::backward).factor == 1 && line(true, fourier_norm::forward).factor == 1));
        BOOST_TEST(line(false, fourier_norm::ortho).factor == line(true, fourier_norm::ortho).factor);
        BOOST_TEST(!line(false, fourier_norm::backward).before.has_factors());
        BOOST_TEST(!line(false, fourier_norm::forward).after.has_factors());
      }
}
