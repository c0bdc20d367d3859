// The inputs of each output of pooling and upsampling, and their weights, equal their definitions: loops over all
// inputs of one dimension, also for a range of the outputs.
#include <partita/nn/detail/max_of_taps.hpp>
#include <partita/nn/pooling.hpp>
#include <partita/nn/upsampling.hpp>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "refused.hpp"

using namespace partita;

namespace {

/// The weight of each of n inputs in output o, divided as the layer does.
std::vector<double> weights_of(const taps& all, std::size_t o, std::size_t n) {
  std::vector<double> weights(n, 0);
  for (std::size_t k = all.first[o]; k < all.first[o + 1]; ++k)
    weights.at(all.input[k]) += all.weight[k] / all.divisor[o];
  return weights;
}
bool close(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return std::abs(x - y) <= 1e-12; });
}
/// Compares the taps of all outputs, and of those in an interval, with defined(o), the weights of output o.
template <class Rule, class F>
void check(std::mt19937& random, const Rule& rule, std::size_t n, F defined) {
  const std::size_t m = rule.outputs({1, 1, n})[2], start = random() % (m + 1),
                    stop = start + random() % (m + 1 - start);
  const taps all = rule.taps_of(2, {0, m}, n), some = rule.taps_of(2, {start, stop}, n);
  BOOST_TEST((all.outputs() == m && some.outputs() == stop - start));
  for (std::size_t o = 0; o < m; ++o) BOOST_TEST(close(weights_of(all, o, n), defined(o)), o << " of " << n);
  for (std::size_t o = start; o < stop; ++o) BOOST_TEST(close(weights_of(some, o - start, n), defined(o)));
}

bool same(const taps& a, const taps& b) {
  return a.first == b.first && a.input == b.input && a.weight == b.weight && a.divisor == b.divisor;
}
/// Compares a rule over two feature dimensions of 9 and 13 cells with the rules of each of them alone.
template <class Rule, class Line>
void expect_own_numbers(const char* name, const Rule& rule, const Line& first, const Line& second) {
  const std::array<std::size_t, 4> extents{2, 3, 9, 13}, of_y = rule.outputs(extents);
  BOOST_TEST((of_y == std::array<std::size_t, 4>{2, 3, first.outputs({2, 3, 9})[2], second.outputs({2, 3, 13})[2]}),
             name);
  BOOST_TEST(of_y[2] != of_y[3], name);
  BOOST_TEST(same(rule.taps_of(2, {0, of_y[2]}, 9), first.taps_of(2, {0, of_y[2]}, 9)), name);
  BOOST_TEST(same(rule.taps_of(3, {1, of_y[3]}, 13), second.taps_of(2, {1, of_y[3]}, 13)), name);
  for (std::size_t d = 0; d < 2; ++d) {  // batch and channels are passed on
    const taps identity = rule.taps_of(d, {1, extents[d]}, extents[d]);
    BOOST_TEST(identity.outputs() == extents[d] - 1, name);
    for (std::size_t o = 0; o + 1 < extents[d]; ++o)
      BOOST_TEST(
          (identity.first[o] == o && identity.input[o] == o + 1 && identity.weight[o] == 1 && identity.divisor[o] == 1),
          name);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(taps_of_outputs)

BOOST_AUTO_TEST_CASE(a_mean_is_that_of_its_window) {
  std::mt19937 random(3);
  for (std::size_t round = 0; round < 300; ++round) {
    const std::size_t kernel = 1 + random() % 5, stride = 1 + random() % 4, padding = random() % (kernel / 2 + 1),
                      n = kernel + random() % 6;
    const bool ceil_mode = random() % 2 == 0, counts = random() % 2 == 0;
    const detail::window_geometry<3> rule(
        "mean", average_pooling_options<1>{{kernel}, {{stride}}, {padding}, ceil_mode, counts});
    check(random, rule, n, [&](std::size_t o) {  // cell c of the padded tensor is input c - padding
      std::vector<double> weights(n, 0);
      double cells = 0;
      for (std::size_t c = o * stride; c < std::min(o * stride + kernel, n + 2 * padding); ++c) {
        const bool is_input = c >= padding && c < n + padding;
        if (is_input) weights[c - padding] = 1;
        cells += is_input || counts ? 1 : 0;
      }
      for (double& one : weights) one /= cells;
      return weights;
    });
  }
}

BOOST_AUTO_TEST_CASE(an_adaptive_mean_is_that_of_all_inputs_that_its_share_touches) {
  std::mt19937 random(4);
  for (std::size_t n = 1; n <= 9; ++n)
    for (std::size_t m = 1; m <= 12; ++m) {
      const detail::adaptive_rule<3> rule("mean", {.size = {m}});
      check(random, rule, n, [&](std::size_t o) {  // the share of output o is from o n / m to (o + 1) n / m
        std::vector<double> weights(n, 0);
        double count = 0;
        for (std::size_t i = 0; i < n; ++i)
          if ((i + 1) * m > o * n && i * m < (o + 1) * n) weights[i] = 1, ++count;
        for (double& one : weights) one /= count;
        return weights;
      });
    }
}

BOOST_AUTO_TEST_CASE(an_upsampled_element_lies_between_two_inputs) {
  std::mt19937 random(5);
  for (std::size_t n = 1; n <= 6; ++n)
    for (const double scale : {0.5, 1.0, 1.25, 1.5, 2.0, 3.0, 24.5, 49.0, 103.0})
      for (const bool by_size : {false, true})
        for (const int mode : {0, 1, 2}) {  // nearest, linear, linear with aligned corners
          const auto m = static_cast<std::size_t>(std::floor(static_cast<double>(n) * scale));
          if (m == 0) continue;
          upsampling_options<1> options{.mode = mode > 0 ? upsampling_mode::linear : upsampling_mode::nearest,
                                        .align_corners = mode == 2};
          if (by_size) options.size = per_dimension<1>{m};
          else options.scale = scale;
          const double step = by_size ? static_cast<double>(n) / static_cast<double>(m) : 1 / scale;
          check(random, detail::upsampling_rule<3>("upsampling", options), n, [&](std::size_t o) {
            const auto place = static_cast<double>(o), last = static_cast<double>(n - 1);
            // whole numbers, because a rounded step would take the input before the one at this place
            const std::size_t left = by_size ? o * n / m : 4 * o / static_cast<std::size_t>(4 * scale);
            const double at = mode == 0   ? static_cast<double>(left)
                              : mode == 1 ? (place + 0.5) * step - 0.5
                              : m == 1    ? 0
                                          : place * last / static_cast<double>(m - 1);
            const double inside = std::clamp(at, 0.0, last);
            std::vector<double> weights(n, 0);
            for (std::size_t i = 0; i < n; ++i)
              weights[i] = std::max(0.0, 1 - std::abs(static_cast<double>(i) - inside));
            return weights;
          });
        }
}

/// Every limit of the options, on both sides of it, along each dimension.
BOOST_AUTO_TEST_CASE(options_are_refused_beyond_their_limits_and_taken_at_them) {
  constexpr std::size_t most = std::size_t{1} << 40U;
  const auto takes = [](auto make) { return test::refused<shape_error>(make).empty(); };
  const auto at = [](std::size_t d, std::size_t value, std::size_t other) {
    per_dimension<2> all = other;
    all[d] = value;
    return all;
  };
  for (std::size_t d = 0; d < 2; ++d)
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, most, most + 1, static_cast<std::size_t>(-1)}) {
      const auto window = [&](const max_pooling_options<2>& o) {
        return takes([&] { detail::window_geometry<4>("test", o); });
      };
      const bool counts = n >= 1 && n <= most;
      BOOST_TEST(window({.kernel = at(d, n, 1)}) == counts);
      BOOST_TEST(window({.kernel = 1, .stride = at(d, n, 1)}) == counts);
      BOOST_TEST(window({.kernel = 1, .dilation = at(d, n, 1)}) == counts);
      BOOST_TEST(takes([&] { detail::adaptive_rule<4>("test", {.size = at(d, n, 1)}); }) == counts);
      BOOST_TEST(takes([&] { detail::upsampling_rule<4>("test", {.size = at(d, n, 1)}); }) == (n <= most));
      if (!counts) {
        const text got = text(", got ") << n << " along feature dimension " << d << ";";
        test::expect_refused<shape_error>(
            [&] { detail::window_geometry<4>("test", max_pooling_options<2>{.kernel = at(d, n, 1), .stride = 1}); },
            got.c_str());
      }
    }
  for (std::size_t d = 0; d < 2; ++d)
    for (std::size_t kernel = 1; kernel <= 5; ++kernel)
      for (std::size_t padding = 0; padding <= 3; ++padding) {
        const auto made = [&] {
          detail::window_geometry<4>("test",
                                     max_pooling_options<2>{.kernel = at(d, kernel, 9), .padding = at(d, padding, 0)});
        };
        const text got = text("half the kernel, ")
                         << kernel / 2 << ", got " << padding << " along feature dimension " << d;
        if (2 * padding <= kernel) BOOST_CHECK_NO_THROW(made());
        else test::expect_refused<shape_error>(made, got.c_str());
      }
  for (std::size_t n = 0; n <= 6; ++n)
    for (std::size_t kernel = 1; kernel <= 4; ++kernel)
      for (std::size_t dilation = 1; dilation <= 3; ++dilation)
        for (std::size_t padding = 0; 2 * padding <= kernel; ++padding) {
          const detail::window_geometry<3> rule(
              "test", max_pooling_options<1>{.kernel = {kernel}, .padding = {padding}, .dilation = {dilation}});
          BOOST_TEST(rule.error_message({1, 1, n}).empty() == (dilation * (kernel - 1) + 1 <= n + 2 * padding));
        }
  const auto upsamples = [&](const upsampling_options<1>& o) {
    return test::refused<shape_error>([&] { detail::upsampling_rule<3>("test", o); });
  };
  BOOST_TEST(upsamples({}) == "test: requires either a size or a scale, got neither");
  BOOST_TEST(upsamples({.size = {{2}}, .scale = 2}) == "test: requires either a size or a scale, got both");
  BOOST_TEST(upsamples({.scale = 2, .align_corners = true}) ==
             "test: requires upsampling_mode::linear with align_corners; the nearest input has no corners");
  BOOST_TEST(upsamples({.scale = 2, .mode = upsampling_mode::linear, .align_corners = true}) == "");
  for (const double wrong : {0.0, -1.0, 1e9, std::numeric_limits<double>::infinity(), std::nan("")})
    BOOST_TEST(upsamples({.scale = wrong}) == "test: requires a scale above 0 and below 10^9", wrong);
  for (const double good : {1e-9, 9e8, std::nextafter(1e9, 0)}) BOOST_TEST(upsamples({.scale = good}) == "", good);
  // a result and features are needed
  const detail::upsampling_rule<3> half("test", {.scale = 0.5}), none("test", {.size = {{0}}});
  const detail::adaptive_rule<3> adaptive("test", {.size = {4}});
  for (std::size_t n = 0; n <= 3; ++n) {
    BOOST_TEST(half.error_message({1, 1, n}).empty() == (n >= 2));
    BOOST_TEST(!none.error_message({1, 1, n}).empty());
    BOOST_TEST(adaptive.error_message({1, 1, n}).empty() == (n >= 1));
  }
}

BOOST_AUTO_TEST_CASE(the_largest_is_the_first_of_equal_ones_and_the_first_NaN) {
  std::mt19937 random(6);
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t round = 0; round < 300; ++round) {
    const std::size_t n = 3 + random() % 4, kernel = 1 + random() % 3, m = n - kernel + 1;
    std::vector<double> x(n), y(m), dy(m), dx(n), wanted(m), back(n, 0);
    for (double& one : x) one = random() % 4 == 0 ? none : static_cast<double>(random() % 3);
    for (double& one : dy) one = static_cast<double>(1 + random() % 5);
    for (std::size_t o = 0; o < m; ++o) {
      std::size_t best = o;
      for (std::size_t i = o; i < o + kernel; ++i)
        if (!std::isnan(x[best]) && (std::isnan(x[i]) || x[i] > x[best])) best = i;
      wanted[o] = x[best], back[best] += dy[o];
    }
    detail::local_taps<1> worker_taps;
    worker_taps.by_dimension[0] = taps_of_window({.kernel = kernel}, {0, m}, n, true), worker_taps.window[0] = n,
    worker_taps.outputs[0] = m;
    detail::max_of_taps largest;
    largest.forward(worker_taps, x.data(), y.data());
    largest.backward(worker_taps, dy.data(), dx.data());
    for (std::size_t o = 0; o < m; ++o) BOOST_TEST((y[o] == wanted[o] || (std::isnan(y[o]) && std::isnan(wanted[o]))));
    BOOST_TEST(dx == back, boost::test_tools::per_element());
  }
}

/// The first call reserves memory for the largest intermediate result, so that neither buffer grows step by step.
BOOST_AUTO_TEST_CASE(both_buffers_are_allocated_once) {
  using extents = std::array<std::size_t, 3>;
  for (const extents& window : {extents{9, 4, 5}, extents{2, 8, 3}}) {
    const extents outputs{11 - window[0], 12 - window[1], 8 - window[2]};
    detail::local_taps<3> worker_taps;
    std::size_t most = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      worker_taps.by_dimension[d] = taps_of_adaptive_window({0, outputs[d]}, window[d], outputs[d]);
      worker_taps.window[d] = window[d], worker_taps.outputs[d] = outputs[d];
      most *= std::max(window[d], outputs[d]);
    }
    const std::vector<double> x(volume_of(worker_taps.window), 1), dy(volume_of(worker_taps.outputs), 1);
    std::vector<double> y(dy.size()), dx(x.size());
    detail::taps_buffers<double> there, back;
    detail::apply_taps(worker_taps, x.data(), there, y.data());
    detail::apply_taps_adjoint(worker_taps, dy.data(), back, dx.data());
    for (const auto* buffers : {&there, &back})
      BOOST_TEST((buffers->from.capacity() >= most && buffers->to.capacity() >= most));
  }
}

BOOST_AUTO_TEST_CASE(each_dimension_of_the_features_has_its_own_numbers) {
  using line = detail::window_geometry<3>;
  expect_own_numbers(
      "max_pooling",
      detail::window_geometry<4>(
          "test",
          max_pooling_options<2>{
              .kernel = {2, 3}, .stride = {{1, 2}}, .padding = {1, 0}, .dilation = {2, 3}, .ceil_mode = true}),
      line("test", max_pooling_options<1>{{2}, {{1}}, {1}, {2}, true}),
      line("test", max_pooling_options<1>{{3}, {{2}}, {0}, {3}, true}));
  expect_own_numbers("average_pooling",
                     detail::window_geometry<4>(
                         "test",
                         average_pooling_options<2>{
                             .kernel = {2, 4}, .stride = {{3, 1}}, .padding = {0, 2}, .count_include_pad = false}),
                     line("test", average_pooling_options<1>{{2}, {{3}}, {0}, false, false}),
                     line("test", average_pooling_options<1>{{4}, {{1}}, {2}, false, false}));
  using adaptive = detail::adaptive_rule<3>;
  expect_own_numbers("adaptive pooling", detail::adaptive_rule<4>("test", {.size = {4, 5}}),
                     adaptive("test", {.size = {4}}), adaptive("test", {.size = {5}}));
  using upsampled = detail::upsampling_rule<3>;
  for (const auto mode : {upsampling_mode::nearest, upsampling_mode::linear}) {
    expect_own_numbers("upsampling", detail::upsampling_rule<4>("test", {.size = {{12, 7}}, .mode = mode}),
                       upsampled("test", {.size = {{12}}, .mode = mode}),
                       upsampled("test", {.size = {{7}}, .mode = mode}));
    expect_own_numbers("upsampling", detail::upsampling_rule<4>("test", {.scale = 1.5, .mode = mode}),
                       upsampled("test", {.scale = 1.5, .mode = mode}),
                       upsampled("test", {.scale = 1.5, .mode = mode}));
  }
}

BOOST_AUTO_TEST_CASE(a_window_without_a_stride_moves_by_its_kernel) {
  for (std::size_t kernel = 1; kernel <= 4; ++kernel)
    for (const bool ceil_mode : {false, true}) {
      const detail::window_geometry<3> largest("test",
                                               max_pooling_options<1>{.kernel = {kernel}, .ceil_mode = ceil_mode}),
          mean("test", average_pooling_options<1>{.kernel = {kernel}, .ceil_mode = ceil_mode});
      const std::size_t m = ceil_mode ? (11 + kernel - 1) / kernel : 11 / kernel;
      for (const auto* rule : {&largest, &mean}) {
        BOOST_TEST(rule->outputs({1, 1, 11})[2] == m);
        const taps all = rule->taps_of(2, {0, m}, 11);
        for (std::size_t o = 0; o < m; ++o) BOOST_TEST(all.input[all.first[o]] == o * kernel);
      }
    }
}

BOOST_AUTO_TEST_CASE(the_inputs_of_a_dilated_window_are_those_under_its_taps) {
  std::mt19937 random(8);
  for (std::size_t round = 0; round < 200; ++round) {
    const std::size_t kernel = 1 + random() % 4, stride = 1 + random() % 3, dilation = 1 + random() % 3,
                      padding = random() % (kernel / 2 + 1), reach = dilation * (kernel - 1) + 1,
                      n = reach + random() % 7;
    const detail::window_geometry<3> rule(
        "test",
        max_pooling_options<1>{.kernel = {kernel}, .stride = {{stride}}, .padding = {padding}, .dilation = {dilation}});
    const std::size_t m = (n + 2 * padding - reach) / stride + 1, start = random() % (m + 1);
    BOOST_TEST(rule.outputs({1, 1, n})[2] == m);
    const taps some = rule.taps_of(2, {start, m}, n);
    BOOST_TEST(some.outputs() == m - start);
    std::vector<std::size_t> first{0}, input;
    for (std::size_t o = start; o < m; ++o) {
      for (std::size_t t = 0; t < kernel; ++t)
        if (const std::size_t c = o * stride + t * dilation; c >= padding && c - padding < n)
          input.push_back(c - padding);
      first.push_back(input.size());
    }
    BOOST_TEST(some.input == input, boost::test_tools::per_element());
    BOOST_TEST(some.first == first, boost::test_tools::per_element());
    BOOST_TEST((some.weight == std::vector<double>(input.size(), 1)));
  }
}

/// The cells that a worker receives are those from the lowest to the highest input, and no input has the weight 0.
BOOST_AUTO_TEST_CASE(a_footprint_ends_after_the_highest_input_and_no_input_is_taken_in_vain) {
  taps some;
  BOOST_TEST((some.footprint() == interval{0, 0}));
  some.tap(5), some.tap(2, 0.5), some.end();
  some.tap(7), some.end(3);
  BOOST_TEST((some.footprint() == interval{2, 8}));
  BOOST_TEST((some.first == std::vector<std::size_t>{0, 2, 3} && some.input == std::vector<std::size_t>{5, 2, 7}));
  BOOST_TEST((some.weight == std::vector<double>{1, 0.5, 1} && some.divisor == std::vector<double>{1, 3}));
  some.tap(0), some.end();
  BOOST_TEST((some.footprint() == interval{0, 8}));
  BOOST_TEST((taps_of_identity({3, 6}).footprint() == interval{3, 6}));
  BOOST_TEST((taps_of_identity({3, 3}).footprint() == interval{0, 0}));
  BOOST_TEST((taps_of_adaptive_window({1, 3}, 10, 4).footprint() == interval{2, 8}));
  for (std::size_t n = 1; n <= 6; ++n)
    for (const double scale : {0.5, 1.0, 2.0, 3.0})
      for (const bool corners : {false, true}) {
        const detail::upsampling_rule<3> rule(
            "test", {.scale = scale, .mode = upsampling_mode::linear, .align_corners = corners});
        const std::size_t m = rule.outputs({1, 1, n})[2];
        const taps all = rule.taps_of(2, {0, m}, n);
        for (const double w : all.weight) BOOST_TEST(w > 0, n << " times " << scale);
        if (scale == 1) BOOST_TEST(all.input.size() == n);
      }
}

BOOST_AUTO_TEST_CASE(tensors_that_no_window_fits_are_refused_by_their_numbers) {
  const detail::window_geometry<4> rule(
      "test", max_pooling_options<2>{.kernel = {2, 7}, .padding = {1, 1}, .dilation = {3, 2}});
  BOOST_TEST(rule.error_message({1, 1, 2, 11}).empty());
  BOOST_TEST(rule.error_message({1, 1, 1, 10}) ==
             "requires windows of at most the padded tensor, got one of 4 cells along dimension 2 of extents [1, 1, 1, "
             "10] with a padding of 1");
  BOOST_TEST(
      rule.error_message({1, 1, 2, 10}) ==
      "requires windows of at most the padded tensor, got one of 13 cells along dimension 3 of extents [1, 1, 2, "
      "10] with a padding of 1");
  const detail::adaptive_rule<4> adaptive("test", {.size = {4, 5}});
  const detail::upsampling_rule<4> upsampled("test", {.scale = 2}), half("test", {.scale = 0.5});
  BOOST_TEST((adaptive.error_message({0, 0, 1, 1}).empty() && upsampled.error_message({0, 0, 1, 1}).empty()));
  for (const std::array<std::size_t, 4>& extents : {std::array<std::size_t, 4>{1, 1, 3, 0}, {1, 1, 0, 3}}) {
    BOOST_TEST(adaptive.error_message(extents) == (text("requires features, got extents ") << extents));
    const std::array<std::size_t, 4> twice{1, 1, 2 * extents[2], 2 * extents[3]};
    BOOST_TEST(upsampled.error_message(extents) ==
               (text("requires features, of x and of the result, got extents ") << extents << " and " << twice));
  }
  BOOST_TEST(half.error_message({1, 1, 3, 1}) ==
             "requires features, of x and of the result, got extents [1, 1, 3, 1] and [1, 1, 1, 0]");
}

/// The taps of a wide window may all lie in the padding: then its largest element is that of no elements.
BOOST_AUTO_TEST_CASE(the_largest_of_no_elements_is_minus_infinity_and_has_no_gradient) {
  detail::local_taps<1> worker_taps;
  worker_taps.by_dimension[0] = taps_of_window({.kernel = 2, .padding = 1, .dilation = 5}, {0, 1}, 4, true);
  BOOST_TEST((worker_taps.by_dimension[0].outputs() == 1U && worker_taps.by_dimension[0].input.empty()));
  worker_taps.window[0] = 4, worker_taps.outputs[0] = 1;
  const std::vector<double> x{1, 2, 3, 4}, dy{5};
  std::vector<double> y(1, 9), dx(4, 9);
  detail::max_of_taps largest;
  largest.forward(worker_taps, x.data(), y.data());
  largest.backward(worker_taps, dy.data(), dx.data());
  BOOST_TEST(y[0] == -std::numeric_limits<double>::infinity());
  BOOST_TEST((dx == std::vector<double>(4, 0)));
}

BOOST_AUTO_TEST_SUITE_END()
