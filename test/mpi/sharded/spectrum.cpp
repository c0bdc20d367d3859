// Truncated and padded spectra, and shifted frequencies, equal those of whole arrays for all layouts.
#include "check_complex.hpp"
#include "refused.hpp"

#include <partita/array/fftfreq.hpp>
#include <partita/sharded/spectrum.hpp>
#include <string>

using namespace partita;
using test::complex;

namespace {

using v = std::vector<sharded_tensor<complex>>;
using line = xt::xtensor<complex, 1>;

/// The matrix entry of the wave `to` of m points and the wave `from` of n points by the definition of resize_spectrum.
double entry(std::ptrdiff_t to, std::size_t m, std::ptrdiff_t from, std::size_t n) {
  if (n == m) return to == from ? 1 : 0;
  const auto least = static_cast<std::ptrdiff_t>(std::min(n, m));
  if (2 * std::abs(to) > least || 2 * std::abs(from) > least) return 0;
  if (2 * std::abs(to) < least || 2 * std::abs(from) < least) return to == from ? 1 : 0;
  return n < m ? 0.5 : 1;  // the waves N / 2 and -N / 2
}
std::ptrdiff_t wave(std::size_t i, std::size_t n) { return std::lround(fftfreq(n)(i) * static_cast<double>(n)); }

}  // namespace

BOOST_AUTO_TEST_CASE(the_highest_wave_is_halved_and_added) {
  // [points]
  const line four{1, 2, 6, 3};  // waves 0, 1, 2 (which is also -2), -1
  const line six = resize_spectrum(four, dimensions<0>, 6), again = resize_spectrum(six, dimensions<0>, 4);
  const line half{1, 2, 6};  // of four real numbers
  const line half_of_six = resize_half_spectrum(half, dimensions<0>, 4, 6);
  // [/points]
  BOOST_TEST((six == line{1, 2, 3, 0, 3, 3}));
  BOOST_TEST((again == four));
  BOOST_TEST((half_of_six == line{1, 2, 3, 0}));
  BOOST_TEST((resize_half_spectrum(half_of_six, dimensions<0>, 6, 4) == half));
  BOOST_TEST((resize_spectrum(four, dimensions<0>, 3) == line{1, 2, 3}));
  BOOST_TEST((resize_spectrum(four, dimensions<0>, 4) == four));
}

BOOST_AUTO_TEST_CASE(spectra_of_any_number_of_points_are_those_of_the_definition) {
  for (std::size_t n = 1; n <= 7; ++n)
    for (std::size_t m = 1; m <= 7; ++m) {
      line x(std::array{n}), y = xt::zeros<complex>({m});
      for (std::size_t i = 0; i < n; ++i) x(i) = complex(2 * static_cast<double>(i * i), 4 * static_cast<double>(i));
      for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) y(i) += entry(wave(i, m), m, wave(j, n), n) * x(j);
      const auto found = resize_spectrum(x, dimensions<0>, m);
      BOOST_TEST((found == y), n << " points to " << m);
      if (m < n) continue;
      BOOST_TEST((resize_spectrum(found, dimensions<0>, n) == x), n << " points to " << m << " and back");
      const line half(xt::view(x, xt::range(std::size_t(0), n / 2 + 1)));
      const auto more = resize_half_spectrum(half, dimensions<0>, n, m);
      BOOST_TEST((more == xt::view(y, xt::range(std::size_t(0), m / 2 + 1))), "half of " << n << " to " << m);
      BOOST_TEST((resize_half_spectrum(more, dimensions<0>, m, n) == half), "half of " << n << " to " << m << " back");
    }
}

BOOST_AUTO_TEST_CASE(frequencies_are_shifted_into_rising_order_and_back) {
  for (std::size_t n = 1; n <= 5; ++n) {
    const auto k = fftfreq(n);
    const auto rising = fftshift(k, dimensions<0>);
    BOOST_TEST(std::is_sorted(rising.begin(), rising.end()));
    BOOST_TEST((ifftshift(rising, dimensions<0>) == k));
  }
}

BOOST_AUTO_TEST_CASE(tensors_of_all_layouts_have_the_spectra_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(37);
  for (std::size_t k = 0; k < test::random_cases(6); ++k) {
    const std::size_t a = 1 + random() % 7, b = 1 + random() % 6, c = random() % 3, m = 1 + random() % 8,
                      p = 1 + random() % 7;
    const auto check = [&](const char* name, const std::vector<shape_list>& extents, auto f) {
      test::check_elements<complex>(everyone, name, random, extents, f, {.is_linear = true});
    };
    check("resize of one", {{a, c}}, [&](const v& x) { return resize_spectrum(x[0], dimensions<0>, m); });
    check("resize", {{c, a, b}}, [&](const v& x) { return resize_spectrum(x[0], dimensions<1, 2>, m, p); });
    check("half", {{a, b / 2 + 1}}, [&](const v& x) { return resize_half_spectrum(x[0], dimensions<0, 1>, b, m, p); });
    check("shift", {{a, b}}, [&](const v& x) { return fftshift(x[0], dimensions<0, 1>); });
    check("shift back", {{a, b, c}}, [&](const v& x) { return ifftshift(x[0], dimensions<1>); });
  }
}

BOOST_AUTO_TEST_CASE(parts_of_complex_tensors_of_all_layouts_are_those_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(38);
  for (std::size_t k = 0; k < test::random_cases(12); ++k) {
    const shape_list e{random() % 6, 1 + random() % 5};
    const auto check = [&](const char* name, std::size_t operands, auto f, bool is_linear = true) {
      test::check_elements<complex>(everyone, name, random, std::vector<shape_list>(operands, e), f,
                                    {.is_linear = is_linear, .tolerance = is_linear ? 0 : 1e-12});
    };
    check("real", 1, [](const v& z) { return real(z[0]); });
    check("imag", 1, [](const v& z) { return imag(z[0]); });
    check("conj", 1, [](const v& z) { return conj(z[0]); });
    check("to_complex", 1, [](const v& z) { return to_complex(imag(z[0])); });
    check("to_complex of two", 2, [](const v& z) { return to_complex(imag(z[0]), real(z[1])); });
    check(
        "abs", 1, [](const v& z) { return abs(z[0]); }, false);
    check(
        "angle", 1, [](const v& z) { return angle(z[0]); }, false);
  }
}

BOOST_AUTO_TEST_CASE(types_and_programs_keep_their_layouts, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"a", 2}, axis{"b", 2}};
  const auto f = [](const auto& z) {
    return fftshift(resize_spectrum(resize_half_spectrum(z, dimensions<0, 1>, 6, 3, 8), dimensions<0>, 6),
                    dimensions<0, 1>);
  };
  const auto whole = f(test::plain<complex>({4, 4}, 2));
  const auto z = test::placed<complex>(everyone, m.layout("a", "b"), {4, 4}, 2);
  const auto y = f(shard<m.layout("a", "b")>(everyone, detail::as_array<2>(test::plain<complex>({4, 4}, 2))));
  static_assert(decltype(y)::layout() == m.layout("a", "b"));
  BOOST_TEST(test::same(y.run_time_tensor(), whole));
  const auto program = trace<complex>(f, spec(m.layout("a", "b"), {4, 4}));
  BOOST_TEST(test::same(program(z), whole));
}

BOOST_AUTO_TEST_CASE(extents_that_no_spectrum_has_are_refused) {
  const xt::xtensor<complex, 2> z = xt::zeros<complex>({4, 3});
  const auto says = [](const auto& call, const char* wanted) {
    return test::refused<shape_error>(call).find(wanted) != std::string::npos;
  };
  BOOST_TEST(says([&] { resize_spectrum(z, dimensions<0>, std::size_t(0)); }, "at least one point along dimension 0"));
  BOOST_TEST(says([&] { resize_half_spectrum(z, dimensions<0, 1>, 6, 4, 8); }, "got n = 6 and a tensor of extents"));
  const xt::xtensor<complex, 2> one = xt::zeros<complex>({4, 1}), none = xt::zeros<complex>({4, 0});
  BOOST_TEST(says([&] { resize_half_spectrum(one, dimensions<1>, 0, 4); }, "got n = 0 and a tensor of extents"));
  BOOST_TEST(says([&] { resize_spectrum(none, dimensions<1>, 4); }, "at least one point along dimension 1"));
  world everyone(test::workers());
  const auto Z = shard(everyone, mesh{axis{"a", 1}}.layout("a", ""), z);
  BOOST_TEST(test::refused([&] { resize_spectrum(Z, dimensions<2>, 5); }).find("dimension") != std::string::npos);
  BOOST_TEST(test::refused([&] { fftshift(Z, dimensions<2>); }).find("dimension") != std::string::npos);
  BOOST_TEST(test::refused([&] { resize_half_spectrum(Z, dimensions<2>, 4, 6); }).find("dimension") !=
             std::string::npos);
}
