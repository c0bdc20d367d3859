// The frequencies of the numbers of a spectrum: those of NumPy, each congruent to its index.
#include <partita/array/fftfreq.hpp>
#include <partita/array/fourier_rule.hpp>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "fourier_oracle.hpp"
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

BOOST_AUTO_TEST_CASE(the_error_names_the_call_and_the_number_of_points) {
  const std::string end =
      "(n, spacing): requires at least one point and a positive spacing, got n = 3; give the number of points that are "
      "transformed";
  BOOST_TEST(test::refused<shape_error>([] { fftfreq(3, -1); }) == "partita::fftfreq" + end);
  BOOST_TEST(test::refused<shape_error>([] { rfftfreq(3, -1); }) == "partita::rfftfreq" + end);
  BOOST_TEST((rfftfreq(5, 0.25) == xt::xtensor<double, 1>{0, 1 / 1.25, 2 / 1.25}));
  BOOST_TEST((fftfreq(3, 2) == xt::xtensor<double, 1>{0, 1 / 6., -1 / 6.}));
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

namespace {

using test::number;

constexpr std::array real_kinds{real_transform::dct_1, real_transform::dct_2, real_transform::dct_3,
                                real_transform::dct_4, real_transform::dst_1, real_transform::dst_2,
                                real_transform::dst_3, real_transform::dst_4, real_transform::hartley};
constexpr std::array norms{fourier_norm::backward, fourier_norm::ortho, fourier_norm::forward};

/// What FFTW makes of a line by its definitions, with the factors of `l`; n is the number of elements of the real side.
std::vector<number> line_by_fftw(const detail::line_transform& l, std::size_t n, std::vector<number> x) {
  using detail::line_kind;
  if (l.kind != line_kind::real_to_complex) x.front() *= l.before.first, x.back() *= l.before.last;
  const bool back = l.kind == line_kind::complex_to_real || (l.kind != line_kind::real_to_real && l.is_backward);
  auto y = test::line(l.kind, l.real, back, back ? fourier_norm::forward : fourier_norm::backward, n, std::move(x));
  if (l.kind != line_kind::complex_to_real) y.front() *= l.after.first, y.back() *= l.after.last;
  for (number& one : y) one *= l.factor;
  return y;
}

/// Calls f for the transform of each kind, norm and direction, of lines of several lengths.
template <class F>
void for_each_transform(F f) {
  using enum detail::line_kind;
  for (const std::size_t n : {1U, 2U, 3U, 4U, 7U, 8U})
    for (const fourier_norm norm : norms) {
      for (const bool inverse : {false, true}) {
        f(complex_to_complex, real_transform::dct_1, inverse, norm, n);
        for (const real_transform real : real_kinds)
          if (n > 1 || real != real_transform::dct_1) f(real_to_real, real, inverse, norm, n);
      }
      f(real_to_complex, real_transform::dct_1, false, norm, n);
      f(complex_to_real, real_transform::dct_1, true, norm, n);
    }
}
std::vector<number> some_line(bool is_real, std::size_t n, double seed) {
  std::vector<number> x(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double at = seed + static_cast<double>(k);
    x[k] = is_real ? number(std::sin(7 * at)) : number(std::sin(7 * at), std::cos(5 * at));
  }
  return x;
}
double real_product(const std::vector<number>& a, const std::vector<number>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k].real() * b[k].real() + a[k].imag() * b[k].imag();
  return sum;
}
bool takes_real(detail::line_kind kind) {
  return kind == detail::line_kind::real_to_complex || kind == detail::line_kind::real_to_real;
}
std::size_t extent_before(detail::line_kind kind, std::size_t n) {
  return kind == detail::line_kind::complex_to_real ? n / 2 + 1 : n;
}

static_assert(detail::half_spectrum_extent(0) == 1 && detail::half_spectrum_extent(7) == 4 &&
              detail::half_spectrum_extent(8) == 5);
template <class Kind>
constexpr bool kinds_are(std::array<detail::line_kind, 3> kinds) {
  for (std::size_t k = 0; k < 3; ++k)
    if (detail::line_kind_of_dimension<Kind>(k, 3) != kinds[k]) return false;
  return detail::line_kind_of_dimension<Kind>(0, 1) == kinds[2];
}
constexpr auto whole_line = detail::line_kind::complex_to_complex, real_line = detail::line_kind::real_to_real,
               to_half = detail::line_kind::real_to_complex, from_half = detail::line_kind::complex_to_real;
static_assert(kinds_are<complex_to_complex_t>({whole_line, whole_line, whole_line}));
static_assert(kinds_are<real_to_complex_t>({whole_line, whole_line, to_half}));
static_assert(kinds_are<complex_to_real_t>({whole_line, whole_line, from_half}));
static_assert(kinds_are<real_to_real_t<2>>({real_line, real_line, real_line}));
static_assert(detail::is_fourier_kind<complex_to_complex_t> && detail::is_fourier_kind<real_to_complex_t> &&
              detail::is_fourier_kind<complex_to_real_t> && detail::is_fourier_kind<real_to_real_t<1>> &&
              !detail::is_fourier_kind<fourier_options>);
static_assert(detail::is_real_to_real<real_to_real_t<3>> && !detail::is_real_to_real<real_to_complex_t>);
static_assert(partita::real_to_real(real_transform::dst_2, real_transform::hartley).transforms[1] ==
                  real_transform::hartley &&
              partita::real_to_real(real_transform::dst_2).size == 1);
constexpr fourier_options usual{};
static_assert(usual.norm == fourier_norm::backward && !usual.inverse && usual.real_extent == 0 && !usual.measure);

}  // namespace

BOOST_AUTO_TEST_CASE(a_transform_of_fftw_with_its_factors_is_the_transform_of_the_definition) {
  for_each_transform([](detail::line_kind kind, real_transform real, bool inverse, fourier_norm norm, std::size_t n) {
    BOOST_TEST(detail::normalisation_factor(kind, real, n) == test::points(kind, real, n));
    const detail::line_transform l = detail::make_transform(2, kind, real, inverse, norm, n);
    BOOST_TEST((l.kind == kind && l.dimension == 2 && l.is_backward == inverse));
    const auto x = some_line(takes_real(kind), extent_before(kind, n), 0.5);
    const auto y = line_by_fftw(l, n, x), wanted = test::line(kind, real, inverse, norm, n, x);
    double most = 0;
    for (std::size_t k = 0; k < y.size(); ++k) most = std::max(most, std::abs(y[k] - wanted[k]));
    BOOST_TEST(most < 1e-12, "kind " << static_cast<int>(kind) << ", " << static_cast<int>(real) << ", inverse "
                                     << inverse << ", norm " << static_cast<int>(norm) << ", " << n << " points");
  });
}

BOOST_AUTO_TEST_CASE(the_adjoint_of_a_transform_is_its_transpose) {
  for_each_transform([](detail::line_kind kind, real_transform real, bool inverse, fourier_norm norm, std::size_t n) {
    const detail::line_transform l = detail::make_transform(1, kind, real, inverse, norm, n),
                                 back = detail::adjoint_transform(l, n);
    const auto x = some_line(takes_real(kind), extent_before(kind, n), 0.5);
    const auto y = line_by_fftw(l, n, x);
    const bool gives_real = kind == from_half || kind == real_line;
    const auto dy = some_line(gives_real, y.size(), 0.25);
    const auto dx = line_by_fftw(back, n, dy);
    BOOST_TEST(back.dimension == 1U);
    BOOST_REQUIRE(dx.size() == x.size());
    BOOST_TEST(std::abs(real_product(y, dy) - real_product(x, dx)) < 1e-12,
               "kind " << static_cast<int>(kind) << ", " << static_cast<int>(real) << ", inverse " << inverse
                       << ", norm " << static_cast<int>(norm) << ", " << n << " points");
  });
}

BOOST_AUTO_TEST_CASE(a_transform_of_no_points_has_no_factors) {
  for (const fourier_norm norm : norms)
    for (const real_transform real : real_kinds)
      for (const bool inverse : {false, true}) {
        const auto l = detail::make_transform(0, real_line, real, inverse, norm, 0);
        BOOST_TEST((l.factor == 1 && !l.before.has_factors() && !l.after.has_factors()));
      }
  BOOST_TEST((detail::end_factors{1, 2}.has_factors() && detail::end_factors{2, 1}.has_factors()));
}
