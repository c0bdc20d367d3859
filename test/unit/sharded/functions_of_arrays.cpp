// Functions of tensors without a mesh are their definitions: operators and comparisons of tensors and numbers, casts,
// dropout, scans, pooling, convolutions of groups, reductions along two dimensions, and causal attention.
#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/attention.hpp>
#include <partita/sharded/cast.hpp>
#include <partita/sharded/clip.hpp>
#include <partita/sharded/compare.hpp>
#include <partita/sharded/complex.hpp>
#include <partita/sharded/convolve.hpp>
#include <partita/sharded/drop.hpp>
#include <partita/sharded/pool.hpp>
#include <partita/sharded/reductions.hpp>
#include <partita/sharded/scan.hpp>
#include <partita/sharded/tuple_sums.hpp>
#include <partita/sharded/value_and_gradient.hpp>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "refused.hpp"

using namespace partita;

namespace {

using line = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;
using images = xt::xtensor<double, 4>;
using tensor = sharded_tensor<double>;

tensor of(const matrix& x) { return detail::as_run_time(x); }
std::vector<double> elements_of(const tensor& x) { return {x.data(), x.data() + x.size()}; }
/// The results of f for each pair of elements.
template <class F>
std::vector<double> each_of(const matrix& x, const matrix& y, F f) {
  std::vector<double> all;
  for (std::size_t k = 0; k < x.size(); ++k) all.push_back(static_cast<double>(f(x.data()[k], y.data()[k])));
  return all;
}
images numbered(const std::array<std::size_t, 4>& shape, std::size_t salt) {
  images x(shape);
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>((salt + 7 * k) % 13) - 6;
  return x;
}
double at_or_zero(const images& x, std::size_t n, std::size_t c, std::ptrdiff_t i, std::ptrdiff_t j) {
  const auto is_inside = [&](std::ptrdiff_t k, std::size_t d) {
    return k >= 0 && k < static_cast<std::ptrdiff_t>(x.shape()[d]);
  };
  return is_inside(i, 2) && is_inside(j, 3) ? x(n, c, static_cast<std::size_t>(i), static_cast<std::size_t>(j)) : 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(functions_of_arrays)

BOOST_AUTO_TEST_CASE(operators_take_tensors_and_numbers_in_their_order) {
  const matrix x{{1, 2, 4}, {0.5, -8, 2}}, y{{2, 2, -4}, {0.25, 8, 1}}, two = 2 * xt::ones<double>({2, 3});
  const auto check = [&](const char* name, const auto& f) {
    BOOST_TEST((elements_of(f(of(x), of(y))) == each_of(x, y, f)), name);
    BOOST_TEST((elements_of(f(of(x), 2)) == each_of(x, two, f)), name << " of a number");
    BOOST_TEST((elements_of(f(2, of(x))) == each_of(two, x, f)), "number " << name);
  };
  check("+", [](const auto& a, const auto& b) { return a + b; });
  check("-", [](const auto& a, const auto& b) { return a - b; });
  check("*", [](const auto& a, const auto& b) { return a * b; });
  check("/", [](const auto& a, const auto& b) { return a / b; });
  check("<", [](const auto& a, const auto& b) { return a < b; });
  check("<=", [](const auto& a, const auto& b) { return a <= b; });
  check(">", [](const auto& a, const auto& b) { return a > b; });
  check(">=", [](const auto& a, const auto& b) { return a >= b; });
}

BOOST_AUTO_TEST_CASE(comparisons_take_tensors_and_numbers_in_their_order) {
  const matrix x{{1, 2, 4}, {0.5, -8, 2}}, y{{2, 2, -4}, {0.25, 8, 1}}, two = 2 * xt::ones<double>({2, 3});
  const auto check = [&](const char* name, const auto& f, const auto& wanted) {
    BOOST_TEST((elements_of(f(of(x), of(y))) == each_of(x, y, wanted)), name);
    BOOST_TEST((elements_of(f(of(x), 2)) == each_of(x, two, wanted)), name << " of a number");
    BOOST_TEST((elements_of(f(2, of(x))) == each_of(two, x, wanted)), "number " << name);
  };
  check(
      "less", [](const auto& a, const auto& b) { return less(a, b); }, [](double a, double b) { return a < b; });
  check(
      "less_equal", [](const auto& a, const auto& b) { return less_equal(a, b); },
      [](double a, double b) { return a <= b; });
  check(
      "greater", [](const auto& a, const auto& b) { return greater(a, b); }, [](double a, double b) { return a > b; });
  check(
      "greater_equal", [](const auto& a, const auto& b) { return greater_equal(a, b); },
      [](double a, double b) { return a >= b; });
  check(
      "equal_to", [](const auto& a, const auto& b) { return equal_to(a, b); },
      [](double a, double b) { return a == b; });
  check(
      "not_equal_to", [](const auto& a, const auto& b) { return not_equal_to(a, b); },
      [](double a, double b) { return a != b; });
}

/// A limit that is NaN is in no order.
BOOST_AUTO_TEST_CASE(clip_takes_two_limits_that_are_in_order) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const line x{-2, -1, 0, 1, 2};
  for (const double low : {-infinity, -1.0, 0.0, 1.0, infinity, nan})
    for (const double high : {-infinity, -1.0, 0.0, 1.0, infinity, nan})
      if (low <= high) {
        const line y = clip(x, low, high);
        for (std::size_t k = 0; k < x.size(); ++k) BOOST_TEST(y(k) == (x(k) < low ? low : x(k) > high ? high : x(k)));
      } else {
        test::expect_refused<shape_error>([&] { (void)clip(x, low, high); }, "partita::clip(x, low, high): requires");
      }
}

BOOST_AUTO_TEST_CASE(a_cast_converts_each_element_and_is_refused_where_a_gradient_is_asked) {
  const tensor x = of({{1.75, -2.75}, {0, 300}});
  const sharded_tensor<int> whole = cast<int>(x);
  BOOST_TEST((std::vector<int>(whole.data(), whole.data() + 4) == std::vector<int>{1, -2, 0, 300}));
  BOOST_TEST((whole.extents() == shape_list{2, 2}));
  BOOST_TEST((elements_of(cast<double>(whole)) == std::vector<double>{1, -2, 0, 300}));
  BOOST_TEST(cast<double>(x).state().get() == x.state().get());  // the same type: the tensor itself
  const auto asked = [&](const auto& f) {
    return test::refused<error>([&] { (void)value_and_gradient(f, matrix{{1, 2}}); });
  };
  BOOST_TEST(asked([](const auto& a) {
               (void)cast<float>(a);
               return sum(a);
             }).find("cast<T>(stop_gradient(x))") != std::string::npos);
  BOOST_TEST(asked([](const auto& a) {
               (void)cast<float>(stop_gradient(a));
               return sum(a);
             }).empty());
}

BOOST_AUTO_TEST_CASE(parts_of_complex_elements_have_equal_extents) {
  using matrix = xt::xtensor<double, 2>;
  const std::vector<std::array<std::size_t, 2>> shapes{{2, 3}, {3, 2}, {1, 3}, {2, 1}, {1, 1}, {0, 3}, {2, 0}, {0, 0}};
  for (const auto& a : shapes)
    for (const auto& b : shapes) {
      const matrix re = xt::full_like(matrix(a), 2.), im = xt::full_like(matrix(b), 3.);
      if (a == b) {
        const xt::xtensor<std::complex<double>, 2> z = to_complex(re, im);
        BOOST_TEST((z.shape() == re.shape()));
        for (const auto& element : z) BOOST_TEST(element == std::complex<double>(2, 3));
      } else {
        const text words = text("partita::to_complex(re, im): requires tensors of equal extents, got ")
                           << a << " and " << b << "; reshape one of them";
        BOOST_TEST(test::refused<shape_error>([&] { (void)to_complex(re, im); }) == words.c_str());
      }
    }
}

BOOST_AUTO_TEST_CASE(tuples_of_tensors_are_added_in_pairs) {
  const std::tuple x{of({{1, 2}}), of({{3}, {4}})}, y{of({{10, 20}}), of({{30}, {40}})};
  const auto check = [](const auto& sums) {
    BOOST_TEST((elements_of(std::get<0>(sums)) == std::vector<double>{11, 22}));
    BOOST_TEST((elements_of(std::get<1>(sums)) == std::vector<double>{33, 44}));
    BOOST_TEST((std::get<1>(sums).extents() == shape_list{2, 1}));
  };
  check(add(x, y));
  check(x + y);
  const std::tuple arrays{line{1, 2}, matrix{{3}}}, more{line{4, 8}, matrix{{16}}};
  BOOST_TEST((std::get<0>(arrays + more) == line{5, 10}));
  BOOST_TEST((std::get<1>(add(arrays, more)) == matrix{{19}}));
}

BOOST_AUTO_TEST_CASE(dropout_keeps_the_elements_whose_random_words_are_not_below_the_probability) {
  const std::uint64_t large = (std::uint64_t{1} << 40) + 3;
  for (const double probability : {0.0, 0.25, 0.5, 0.9, 1.0})
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{7}, large})
      for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{1}, large})
        for (const shape_list& extents : {shape_list{}, shape_list{5}, shape_list{3, 5}, shape_list{2, 3, 7}}) {
          detail::tensor_block<double> block(extents), weights(extents);
          for (std::size_t k = 0; k < block.size(); ++k) block.data()[k] = static_cast<double>(k) + 1;
          const auto x = detail::tensor_of<double>(nullptr, sharding(mesh(), extents.size()), extents, block);
          detail::random_words words(seed, step);
          std::vector<double> wanted, slopes;
          for (std::size_t k = 0; k < block.size(); ++k) {
            const bool is_kept = static_cast<double>(words[k]) / 4294967296.0 >= probability;
            slopes.push_back(is_kept ? 1 / (1 - probability) : 0);
            wanted.push_back(is_kept ? block.data()[k] * (1 / (1 - probability)) : 0);
          }
          const dropout_options options{.probability = probability, .seed = seed};
          BOOST_TEST((elements_of(apply_dropout(x, options, step)) == wanted));
          const auto loss = [&](const auto& a) { return sum(apply_dropout(a, options, step)); };
          BOOST_TEST((elements_of(std::get<0>(value_and_gradient(loss, x).gradients)) == slopes));
        }
  const line x{1, 2, 3};
  for (const double wrong : {-0.001, 1.001, std::numeric_limits<double>::quiet_NaN()})
    test::expect_refused<shape_error>([&] { (void)apply_dropout(x, {.probability = wrong}, 0); },
                                      "requires a probability from 0 to 1");
}

BOOST_AUTO_TEST_CASE(a_scan_counts_its_steps_and_keeps_the_form_of_its_state) {
  const line x{1, 2};
  const auto digit = [](std::size_t i, const auto& u) { return add(multiply(u, 10), static_cast<double>(i + 1)); };
  BOOST_TEST((scan(digit, x, 0) == x));
  BOOST_TEST((scan(digit, x, 3) == line{1123, 2123}));
  const auto moved = [](const auto& state, const auto& by) {
    const auto& [a, b] = state;
    return std::tuple{b, add(a, by)};
  };
  const auto last = scan(moved, std::tuple{line{1, 2}, line{3, 4}}, 3, line{10, 20});
  BOOST_TEST((std::get<0>(last) == line{13, 24}));
  BOOST_TEST((std::get<1>(last) == line{21, 42}));
  const auto of_tensors = scan(moved, std::tuple{of({{1, 2}}), of({{3, 4}})}, 3, of({{10, 20}}));
  BOOST_TEST((elements_of(std::get<0>(of_tensors)) == std::vector<double>{13, 24}));
  BOOST_TEST((elements_of(std::get<1>(of_tensors)) == std::vector<double>{21, 42}));
}

BOOST_AUTO_TEST_CASE(a_scan_whose_state_changes_its_extents_or_with_two_options_is_refused) {
  const auto shorter = [](std::size_t i, const auto& state) {
    const auto& [a, b] = state;
    return std::tuple{a, i == 2 ? tensor(slice(b, dimensions<0>, {1, 4})) : b};
  };
  const auto column = [](std::size_t n) { return detail::as_run_time(line(xt::ones<double>({n}))); };
  const auto call = [&](std::size_t n) { (void)scan(shorter, std::tuple{column(2), column(4)}, n); };
  call(2);
  BOOST_TEST(test::refused<shape_error>([&] { call(3); }).find("but step 2 makes [3] of [4] in its tensor 1") !=
             std::string::npos);
  const auto same = [](const auto& u) { return add(u, 1); };
  for (const scan_options& two :
       {scan_options{.recompute_every = 1, .checkpoints = 1}, scan_options{.checkpoints = 1, .memory = 1000},
        scan_options{.recompute_every = 1, .memory = 1000}}) {
    test::expect_refused<error>([&] { (void)scan(same, column(2), 3, two); }, "at most one of");
    test::expect_refused<error>([&] { (void)scan(same, line{1, 2}, 3, two); }, "at most one of");
  }
}

BOOST_AUTO_TEST_CASE(a_scan_within_a_memory_limit_takes_the_steps_of_its_cost) {
  const line x{0.1, -0.2, 0.3, 0.4}, by{0.5, 0.25, -0.125, 1};
  std::size_t calls = 0;
  const auto step = [&](const auto& u, const auto& more) {
    ++calls;
    return tanh(add(u, more));  // keeps its result of 32 bytes
  };
  const auto run = [&](const scan_options& options) {
    calls = 0;
    return value_and_gradient([&](const auto& u, const auto& more) { return sum(scan(step, u, 6, options, more)); }, x,
                              by);
  };
  const auto expected = run({});
  BOOST_TEST(calls == 6U);
  std::size_t fewest = ~std::size_t{0}, most = 0;
  for (std::size_t bytes = 64; bytes <= 320; bytes += 16) {
    const auto got = run({.memory = bytes});
    BOOST_TEST(calls == 1 + scan_cost(6, {.memory = bytes}, 32, 32).steps, bytes << " bytes");
    fewest = std::min(fewest, calls), most = std::max(most, calls);
    BOOST_TEST(got.value == expected.value);
    BOOST_TEST((std::get<0>(got.gradients) == std::get<0>(expected.gradients)));
    BOOST_TEST((std::get<1>(got.gradients) == std::get<1>(expected.gradients)));
  }
  BOOST_TEST(fewest == 7U);
  BOOST_TEST(most > fewest);
  test::expect_refused<error>([&] { (void)run({.memory = 63}); }, "at least 64 bytes");
}

BOOST_AUTO_TEST_CASE(adaptive_pooling_divides_the_features_into_windows) {
  const images x = numbered({2, 2, 5, 7}, 1);
  for (const std::array<std::size_t, 2>& size : {std::array<std::size_t, 2>{1, 1}, {2, 3}, {5, 7}, {3, 4}, {5, 2}}) {
    const images means = adaptive_average_pool<2>(x, {.size = {size[0], size[1]}});
    const images largest = adaptive_max_pool<2>(x, {.size = {size[0], size[1]}});
    BOOST_REQUIRE(means.shape()[2] == size[0]);
    BOOST_REQUIRE(largest.shape()[3] == size[1]);
    const auto first = [](std::size_t k, std::size_t n, std::size_t m) { return k * n / m; };
    const auto end = [](std::size_t k, std::size_t n, std::size_t m) { return ((k + 1) * n + m - 1) / m; };
    for (std::size_t n = 0; n < 2; ++n)
      for (std::size_t c = 0; c < 2; ++c)
        for (std::size_t i = 0; i < size[0]; ++i)
          for (std::size_t j = 0; j < size[1]; ++j) {
            double total = 0, most = -1e300, count = 0;
            for (std::size_t a = first(i, 5, size[0]); a < end(i, 5, size[0]); ++a)
              for (std::size_t b = first(j, 7, size[1]); b < end(j, 7, size[1]); ++b)
                total += x(n, c, a, b), most = std::max(most, x(n, c, a, b)), ++count;
            BOOST_TEST(std::abs(means(n, c, i, j) - total / count) < 1e-14);
            BOOST_TEST(largest(n, c, i, j) == most);
          }
  }
}

BOOST_AUTO_TEST_CASE(pooling_slides_a_window_over_the_features) {
  const images x = numbered({1, 2, 5, 6}, 2);
  const images largest = max_pool<2>(x, {.kernel = {2, 3}, .stride = {{2, 1}}, .padding = {1, 0}});
  const images means = average_pool<2>(x, {.kernel = {2, 3}, .stride = {{2, 1}}, .padding = {1, 0}});
  BOOST_REQUIRE((largest.shape() == std::array<std::size_t, 4>{1, 2, 3, 4}));
  BOOST_REQUIRE((means.shape() == largest.shape()));
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 4; ++j) {
        double total = 0, most = -1e300;
        for (std::ptrdiff_t a = 0; a < 2; ++a)
          for (std::ptrdiff_t b = 0; b < 3; ++b) {
            const auto row = static_cast<std::ptrdiff_t>(2 * i) - 1 + a, column = static_cast<std::ptrdiff_t>(j) + b;
            total += at_or_zero(x, 0, c, row, column);
            if (row >= 0 && row < 5) most = std::max(most, at_or_zero(x, 0, c, row, column));
          }
        BOOST_TEST(largest(0, c, i, j) == most);
        BOOST_TEST(std::abs(means(0, c, i, j) - total / 6) < 1e-14);
      }
}

BOOST_AUTO_TEST_CASE(upsampling_repeats_the_nearest_cells) {
  const images x = numbered({2, 1, 3, 2}, 3);
  const images twice = upsample<2>(x, {.scale = 2}), sized = upsample<2>(x, {.size = {{9, 4}}});
  BOOST_REQUIRE((twice.shape() == std::array<std::size_t, 4>{2, 1, 6, 4}));
  BOOST_REQUIRE((sized.shape() == std::array<std::size_t, 4>{2, 1, 9, 4}));
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t j = 0; j < 4; ++j) {
      for (std::size_t i = 0; i < 6; ++i) BOOST_TEST(twice(n, 0, i, j) == x(n, 0, i / 2, j / 2));
      for (std::size_t i = 0; i < 9; ++i) BOOST_TEST(sized(n, 0, i, j) == x(n, 0, i / 3, j / 2));
    }
}

BOOST_AUTO_TEST_CASE(functions_of_features_refuse_tensors_of_other_ranks) {
  const tensor flat = of({{1, 2}, {3, 4}});
  const auto expect = [](const char* name, const auto& call) {
    const std::string text = test::refused<shape_error>(call);
    BOOST_TEST(text.find(name) != std::string::npos, text);
    BOOST_TEST(text.find(": requires x = batch x channels x 2 features, got [2, 2]") != std::string::npos, text);
  };
  expect("partita::max_pool<D>(x, options)", [&] { (void)max_pool<2>(flat, {.kernel = {1, 1}}); });
  expect("partita::average_pool<D>(x, options)", [&] { (void)average_pool<2>(flat, {.kernel = {1, 1}}); });
  expect("partita::adaptive_max_pool<D>(x, options)", [&] { (void)adaptive_max_pool<2>(flat, {.size = {1, 1}}); });
  expect("partita::adaptive_average_pool<D>(x, options)", [&] {
    (void)adaptive_average_pool<2>(flat, {.size = {1, 1}});
  });
  expect("partita::upsample<D>(x, options)", [&] { (void)upsample<2>(flat, {.scale = 2}); });
  const tensor image = detail::as_run_time(numbered({1, 2, 3, 3}, 0));
  const char* const filters = "requires images batch x channels x 2 features and filters out x in x 2 features, got ";
  test::expect_refused<shape_error>([&] { (void)convolve<2>(flat, image); }, filters);
  test::expect_refused<shape_error>([&] { (void)convolve<2>(image, flat); }, filters);
  test::expect_refused<shape_error>([&] { (void)convolve_transposed<2>(image, flat); }, filters);
}

BOOST_AUTO_TEST_CASE(a_convolution_of_groups_is_its_sum) {
  const images x = numbered({2, 4, 7, 6}, 4), w = numbered({6, 2, 3, 2}, 5);
  const line b{1, 2, 3, 4, 5, 6};
  const convolve_options<2> options{.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}};
  const images y = convolve<2, 2>(x, w, options), more = convolve<2, 2>(x, w, b, options);
  BOOST_REQUIRE((y.shape() == std::array<std::size_t, 4>{2, 6, 4, 8}));
  std::size_t wrong = 0;
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t o = 0; o < 6; ++o)
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 8; ++j) {
          double total = 0;
          for (std::size_t c = 0; c < 2; ++c)
            for (std::size_t s = 0; s < 3; ++s)
              for (std::size_t t = 0; t < 2; ++t)
                total += w(o, c, s, t) * at_or_zero(x, n, o / 3 * 2 + c, static_cast<std::ptrdiff_t>(2 * i + s) - 1,
                                                    static_cast<std::ptrdiff_t>(j + 2 * t) - 2);
          wrong += y(n, o, i, j) != total, wrong += more(n, o, i, j) != total + b(o);
        }
  BOOST_TEST(wrong == 0U);
}

BOOST_AUTO_TEST_CASE(a_transposed_convolution_adds_each_cell_times_the_filter) {
  const images x = numbered({2, 4, 3, 4}, 6), w = numbered({4, 3, 2, 3}, 7);
  const convolve_transposed_options<2> options{
      .stride = {3, 2}, .padding = {1, 2}, .output_padding = {2, 1}, .dilation = {2, 1}};
  const images y = convolve_transposed<2, 2>(x, w, options);
  // (n - 1) stride - 2 padding + dilation (kernel - 1) + 1 + output_padding
  const std::size_t rows = 2 * 3 - 2 + 2 * 1 + 1 + 2, columns = 3 * 2 - 4 + 2 + 1 + 1;
  BOOST_REQUIRE((y.shape() == std::array<std::size_t, 4>{2, 6, rows, columns}));
  images wanted = xt::zeros<double>({std::size_t{2}, std::size_t{6}, rows, columns});
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t c = 0; c < 4; ++c)
      for (std::size_t o = 0; o < 3; ++o)
        for (std::size_t i = 0; i < 3; ++i)
          for (std::size_t j = 0; j < 4; ++j)
            for (std::size_t s = 0; s < 2; ++s)
              for (std::size_t t = 0; t < 3; ++t) {
                const std::size_t row = 3 * i + 2 * s - 1, column = 2 * j + t - 2;  // below 0: very large
                if (row < rows && column < columns)
                  wanted(n, c / 2 * 3 + o, row, column) += x(n, c, i, j) * w(c, o, s, t);
              }
  BOOST_TEST((y == wanted));
  test::expect_refused<shape_error>(
      [&] {
        (void)convolve_transposed<2, 2>(x, w, {.stride = {3, 2}, .output_padding = {3, 0}});
      },
      "got an output_padding of 3, a stride of 3 and a padding of 0 along dimension 0 of the features of extents ");
  test::expect_refused<shape_error>(
      [&] {
        (void)convolve_transposed<2, 2>(numbered({2, 6, 3, 4}, 0), w);
      },
      "requires as many channels as filters begin with, got [2, 6, 3, 4] and [4, 3, 2, 3]");
}

BOOST_AUTO_TEST_CASE(reductions_along_two_dimensions_count_the_elements_of_both) {
  const images x = numbered({3, 2, 4, 2}, 8);
  const matrix sums = sum(x, dimensions<0, 2>), means = mean(x, dimensions<0, 2>);
  const matrix largest = maximum(x, dimensions<0, 2>), least = minimum(x, dimensions<0, 2>);
  const matrix spread = variance(x, dimensions<0, 2>), all = variance(x, dimensions<0, 2>, 0);
  const images kept = mean(x, dimensions<0, 2>, keep_dimensions);
  BOOST_REQUIRE((kept.shape() == std::array<std::size_t, 4>{1, 2, 1, 2}));
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t j = 0; j < 2; ++j) {
      double total = 0, squares = 0, most = -1e300, fewest = 1e300;
      for (std::size_t n = 0; n < 3; ++n)
        for (std::size_t i = 0; i < 4; ++i) {
          total += x(n, c, i, j);
          most = std::max(most, x(n, c, i, j)), fewest = std::min(fewest, x(n, c, i, j));
        }
      for (std::size_t n = 0; n < 3; ++n)
        for (std::size_t i = 0; i < 4; ++i) squares += std::pow(x(n, c, i, j) - total / 12, 2);
      BOOST_TEST(sums(c, j) == total);
      BOOST_TEST(std::abs(means(c, j) - total / 12) < 1e-14);
      BOOST_TEST(kept(0, c, 0, j) == means(c, j));
      BOOST_TEST(largest(c, j) == most);
      BOOST_TEST(least(c, j) == fewest);
      BOOST_TEST(std::abs(spread(c, j) - squares / 11) < 1e-12);
      BOOST_TEST(std::abs(all(c, j) - squares / 12) < 1e-12);
    }
}

BOOST_AUTO_TEST_CASE(causal_attention_weighs_the_keys_up_to_the_query) {
  matrix q({3, 4}), k({5, 4}), v({5, 2}), w({3, 2});
  const auto fill = [](matrix& x, double salt) {
    for (std::size_t e = 0; e < x.size(); ++e) x.data()[e] = std::sin(salt + 1.3 * static_cast<double>(e));
  };
  fill(q, 1), fill(k, 2), fill(v, 3), fill(w, 4);
  for (const bool causal : {false, true})
    for (const double scale : {0.0, 0.7}) {
      const attention_options options{.causal = causal, .scale = scale};
      const auto wanted = [&](const matrix& a, const matrix& b, const matrix& c) {
        matrix y = xt::zeros<double>({3, 2});
        for (std::size_t i = 0; i < 3; ++i) {
          double total = 0;
          for (std::size_t j = 0; j < (causal ? i + 3 : 5); ++j) {
            double score = 0;
            for (std::size_t d = 0; d < 4; ++d) score += a(i, d) * b(j, d);
            const double weight = std::exp(score * (scale == 0 ? 0.5 : scale));
            total += weight;
            for (std::size_t d = 0; d < 2; ++d) y(i, d) += weight * c(j, d);
          }
          for (std::size_t d = 0; d < 2; ++d) y(i, d) /= total;
        }
        return y;
      };
      const matrix y = attention(q, k, v, options), expected = wanted(q, k, v);
      for (std::size_t e = 0; e < y.size(); ++e) BOOST_TEST(std::abs(y.data()[e] - expected.data()[e]) < 1e-14);
      const auto loss = [&](const auto& a, const auto& b, const auto& c) {
        return sum(multiply(attention(a, b, c, options), w));
      };
      const auto gradients = value_and_gradient(loss, q, k, v).gradients;
      const auto check = [&](matrix& x, const matrix& dx) {
        for (std::size_t e = 0; e < x.size(); ++e) {
          const double before = x.data()[e], h = 1e-5;
          x.data()[e] = before + h;
          const double above = xt::sum(wanted(q, k, v) * w)();
          x.data()[e] = before - h;
          const double below = xt::sum(wanted(q, k, v) * w)();
          x.data()[e] = before;
          BOOST_TEST(std::abs(dx.data()[e] - (above - below) / (2 * h)) < 1e-9);
        }
      };
      check(q, std::get<0>(gradients));
      check(k, std::get<1>(gradients));
      check(v, std::get<2>(gradients));
    }
  test::expect_refused<shape_error>([&] { (void)attention(k, matrix(q), matrix(w), {.causal = true}); },
                                    "requires at least as many keys as queries to be causal, got 3 keys for 5 queries");
}

BOOST_AUTO_TEST_SUITE_END()
