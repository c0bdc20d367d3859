// Compares layers over three feature dimensions, two of them partitioned, with loops over the whole tensors:
// convolutions and their adjoints, pooling and upsampling.
#include "layer_twin.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <partita/nn/initialise_convolution.hpp>
#include <partita/nn/layer.hpp>
#include <partita/nn/pooling.hpp>
#include <partita/nn/transposed_convolution.hpp>
#include <partita/nn/upsampling.hpp>

#include "convolution_oracle.hpp"
#include "refused.hpp"

namespace {

using namespace partita;
using shape = std::array<std::size_t, 5>;
using block = xt::xtensor<double, 5>;
using p5 = dynamic_extents<5>;
static_assert(layer<convolution<double, 3>, block> && layer<transposed_convolution<double, 3>, block>);
static_assert(layer<max_pooling<p5>, block> && layer<average_pooling<p5>, block> && layer<upsampling<p5>, block>);

/// A partition of all workers along the first and the last feature dimension.
partition<p5> over_features(const world& everyone) {
  const std::size_t n = everyone.size(), first = n % 2 == 0 ? 2 : 1;
  return everyone.partition(p5(1, 1, first, 1, n / first));
}
/// In each line the last worker holds one cell more than balanced, and the first one less.
decomposition<5> uneven(const shape& extents, const partition<p5>& p) {
  return decomposition<5>::make([&](std::size_t d) {
    const std::size_t parts = p.grid().shape()[d];
    std::vector<std::size_t> sizes;
    for (std::size_t k = 0; k < parts; ++k) sizes.push_back(balanced_part(extents[d], parts, k).size());
    if (parts > 1 && sizes.front() > 0) --sizes.front(), ++sizes.back();
    return cut::at(sizes);
  });
}
block cut_out(const block& whole, const decomposition<5>& cuts, const partition<p5>& p) {
  return test::part<5>(whole, cuts.block(p.index()));
}
shape shape_of(const block& b) { return test::whole_convolution<3>::shape_of(b); }

/// Compares the layer's results for the blocks of x and dy with y and dx.
template <class Layer>
void expect_as_whole(const partition<p5>& p, Layer& l, const block& x, const block& y, const block& dy,
                     const block& dx) {
  const auto of_x = uneven(shape_of(x), p), of_y = decomposition<5>::balanced(shape_of(y), p.grid().shape());
  for (int times = 0; times < 2; ++times) {
    BOOST_TEST((l(cut_out(x, of_x, p)) == cut_out(y, of_y, p)));
    BOOST_TEST((l.adjoint(cut_out(dy, of_y, p)) == cut_out(dx, of_x, p)));
  }
}

/// y[o] = sum over i of by(o, i) x[i] along each feature dimension, with its adjoint dx; or the largest x[i] for which
/// `by` is not 0.
struct windows_of_cubes {
  shape of_x, of_y;
  double (*by)(std::size_t feature, std::size_t o, std::size_t i);
  bool largest = false;

  void operator()(const block& x, block& y, const block& dy, block& dx) const {
    y = xt::zeros<double>(of_y), dx = xt::zeros<double>(of_x);
    for (std::size_t k = 0; k < y.size(); ++k) {
      const auto o = index_of(k, of_y);
      double best = -std::numeric_limits<double>::infinity();
      std::size_t at = 0;
      for (std::size_t j = 0; j < x.size(); ++j) {
        const auto i = index_of(j, of_x);
        double weight = o[0] == i[0] && o[1] == i[1] ? 1 : 0;
        for (std::size_t f = 0; f < 3 && weight != 0; ++f) weight *= by(f, o[2 + f], i[2 + f]);
        if (weight == 0) continue;
        if (largest && x.data()[j] > best) best = x.data()[j], at = j;
        if (!largest) y.data()[k] += weight * x.data()[j], dx.data()[j] += weight * dy.data()[k];
      }
      if (largest) y.data()[k] = best, dx.data()[at] += dy.data()[k];
    }
  }
};

template <class Layer>
void expect_windows(const world& everyone, Layer l, const windows_of_cubes& windows) {
  const block x = test::small_integers<5>(windows.of_x, 1), dy = test::small_integers<5>(windows.of_y, 2);
  block y, dx;
  windows(x, y, dy, dx);
  expect_as_whole(over_features(everyone), l, x, y, dy, dx);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(three_dimensions)

BOOST_AUTO_TEST_CASE(a_convolution_of_cubes_is_that_of_the_whole) {
  const world everyone(test::workers());
  const auto p = over_features(everyone);
  for (const padding_mode mode : {padding_mode::zeros, padding_mode::circular}) {
    const convolution_options<3> o{.in_channels = 4,
                                   .out_channels = 6,
                                   .kernel = {3, 1, 2},
                                   .stride = {1, 2, 1},
                                   .padding = {1, 0, 1},
                                   .dilation = {1, 1, 2},
                                   .groups = 2,
                                   .mode = mode};
    const test::whole_convolution<3> oracle{o, test::small_integers<5>(o.weight_shape(), 1),
                                            test::small_integers<1>({6}, 2)};
    const block x = test::small_integers<5>({2, 4, 5, 3, 7}, 3);
    const block y = oracle.forward(x), dy = test::small_integers<5>(shape_of(y), 4);
    block dw;
    xt::xtensor<double, 1> db;
    const block dx = oracle.adjoint(x, dy, dw, db);
    convolution<double, 3> l(p, o);
    l.weight() = oracle.w, l.bias() = oracle.b;
    expect_as_whole(p, l, x, y, dy, dx);
    BOOST_TEST((l.weight_gradient() == 2 * dw));
    BOOST_TEST((l.bias_gradient() == 2 * db));
  }
}

BOOST_AUTO_TEST_CASE(a_transposed_convolution_of_cubes_is_the_adjoint_of_the_whole) {
  const world everyone(test::workers());
  const auto p = over_features(everyone);
  const transposed_convolution_options<3> o{.in_channels = 2,
                                            .out_channels = 1,
                                            .kernel = {2, 1, 3},
                                            .stride = {2, 1, 3},
                                            .padding = {0, 0, 1},
                                            .output_padding = {1, 0, 2},
                                            .bias = false};
  const test::whole_convolution<3> oracle{o.convolution(), test::small_integers<5>(o.convolution().weight_shape(), 1),
                                          xt::zeros<double>({0})};
  const block x = test::small_integers<5>({1, 2, 4, 2, 5}, 3), dy = test::small_integers<5>({1, 1, 9, 2, 15}, 4);
  block dw;
  xt::xtensor<double, 1> none;
  const block y = oracle.adjoint(dy, x, dw, none);
  transposed_convolution<double, 3> l(p, o);
  l.weight() = oracle.w;
  expect_as_whole(p, l, x, y, dy, oracle.forward(dy));
  BOOST_TEST((l.weight_gradient() == 2 * dw));
}

/// A partition of fewer workers than the world: the others have no weights, no bias, and empty results.
BOOST_AUTO_TEST_CASE(layers_of_some_workers_leave_the_others_idle) {
  const world everyone(test::workers());
  const auto p = everyone.partition(p5(1, 1, 1, 1, 1), workers({everyone.size() - 1}));
  const block x = p.active() ? block(xt::ones<double>({1, 1, 1, 1, 2})) : block(shape{});
  const auto expect = [&](auto layer, std::size_t cells) {
    layer.weight().fill(2), layer.bias().fill(3);
    for (int times = 1; times <= 2; ++times) {
      const block y = layer(x), dx = layer.adjoint(y);
      BOOST_TEST((y.size() == (p.active() ? cells : 0U) && dx.size() == x.size()));
      for (const double one : y) BOOST_TEST(one == (p.active() ? 5 : 0));
      for (const double one : dx) BOOST_TEST(one == (p.active() ? 10 : 0));
      for (const double one : layer.bias_gradient()) BOOST_TEST(one == 5. * times * static_cast<double>(cells));
    }
    BOOST_TEST(layer.bias().size() == (p.active() ? 1U : 0U));
    BOOST_TEST(layer.weight().size() == (p.active() ? 1U : 0U));
  };
  expect(convolution<double, 3>(p, {.in_channels = 1, .out_channels = 1, .kernel = {1, 1, 1}}), 2);
  expect(transposed_convolution<double, 3>(p, {.in_channels = 1, .out_channels = 1, .kernel = {1, 1, 1}}), 2);
}

/// Weights are uniform in (-b, b): by default 1 / b^2 is the number of weights of one output; kaiming_uniform and
/// xavier_uniform divide 6 by that number, and by the sum of those of one input and of one output.
BOOST_AUTO_TEST_CASE(weights_of_convolutions_are_uniform_within_the_bound_of_their_definition) {
  const world everyone(test::workers());
  const auto p = over_features(everyone);
  const auto expect = [](const block& w, double bound) {
    if (w.size() == 0) return;
    BOOST_TEST(xt::amax(xt::abs(w))() < bound);
    BOOST_TEST(xt::amax(xt::abs(w))() > 0.95 * bound);
    BOOST_TEST(std::abs(xt::mean(w)()) < 0.1 * bound);
    BOOST_TEST(std::abs(3 * xt::mean(w * w)() / (bound * bound) - 1) < 0.1);
  };
  for (const std::size_t groups : {1U, 2U}) {
    const std::size_t in = 10, out = 16, taps = 2 * 3 * 1;
    const double of_output = static_cast<double>(in / groups * taps),
                 of_input = static_cast<double>(out / groups * taps);
    convolution<double, 3> layer(
        p, {.in_channels = in, .out_channels = out, .kernel = {2, 3, 1}, .groups = groups, .seed = 7});
    expect(layer.weight(), 1 / std::sqrt(of_output));
    kaiming_uniform(layer, 3);
    expect(layer.weight(), std::sqrt(6 / of_output));
    xavier_uniform(layer, 3);
    expect(layer.weight(), std::sqrt(6 / (static_cast<double>(out * taps) + of_output)));
    transposed_convolution<double, 3> back(
        p, {.in_channels = in, .out_channels = out, .kernel = {2, 3, 1}, .groups = groups, .seed = 7});
    expect(back.weight(), 1 / std::sqrt(of_input));
  }
  for (std::size_t stride = 1; stride <= 3; ++stride)
    for (std::size_t more = 0; more <= 3; ++more) {
      const auto made = [&] {
        transposed_convolution<double, 3>(p, {.in_channels = 1,
                                              .out_channels = 1,
                                              .kernel = {1, 1, 1},
                                              .stride = {1, stride, 1},
                                              .output_padding = {0, more, 0}});
      };
      BOOST_TEST(test::refused<shape_error>(made).empty() == (more < stride));
    }
}

/// A layer keeps the plans of its last tensors only: those of the first three are dropped, and made again.
BOOST_AUTO_TEST_CASE(tensors_that_return_after_many_others_have_their_results_again) {
  const world everyone(test::workers());
  const auto p = over_features(everyone);
  const auto check = [&](const char* name, auto layer) {
    const auto x_of = [&](std::size_t batch) {
      block x = xt::zeros<double>({batch, std::size_t{1}, std::size_t{1}, std::size_t{1}, std::size_t{2}});
      for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>((5 * k + everyone.id()) % 7) - 3;
      return x;
    };
    std::vector<block> y, dx;
    for (std::size_t batch = 1; batch <= 3; ++batch) {
      y.emplace_back(layer(x_of(batch)));
      dx.emplace_back(layer.adjoint(y.back()));
    }
    for (std::size_t batch = 4; batch <= 36; ++batch) layer(x_of(batch));  // 33, one more than the plans that are kept
    for (const std::size_t batch : {1U, 3U, 2U, 1U}) {
      BOOST_TEST((layer(x_of(batch)) == y[batch - 1]), name << ", batch " << batch);
      BOOST_TEST((layer.adjoint(y[batch - 1]) == dx[batch - 1]), name << ", batch " << batch);
    }
  };
  check("convolution",
        convolution<double, 3>(p, p, p, {.in_channels = 1, .out_channels = 1, .kernel = {1, 1, 2}, .bias = false}));
  check("transposed_convolution", transposed_convolution<double, 3>(
                                      p, {.in_channels = 1, .out_channels = 1, .kernel = {1, 1, 2}, .bias = false}));
}

BOOST_AUTO_TEST_CASE(gradients_and_parameters_of_other_shapes_are_refused) {
  const world everyone(test::workers());
  const auto p = everyone.partition(p5(1, 1, 1, 1, everyone.size()));
  const block x = xt::ones<double>({2, 2, 3, 1, 4});
  convolution<double, 3> there(p, {.in_channels = 2, .out_channels = 2, .kernel = {2, 1, 1}});
  transposed_convolution<double, 3> back(p, {.in_channels = 2, .out_channels = 2, .kernel = {2, 1, 1}});
  test::expect_shapes_kept("convolution", everyone, std::move(there), x);
  test::expect_shapes_kept("transposed_convolution", everyone, std::move(back), x);
}

BOOST_AUTO_TEST_CASE(options_and_partitions_that_make_no_convolution_are_refused) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(p5(1, 1, 1, 1, n)), one = everyone.partition(p5(1, 1, 1, 1, 1));
  const auto by_channels = everyone.partition(p5(1, n, 1, 1, 1));
  const convolution_options<3> good{.in_channels = 2 * n, .out_channels = 2 * n, .kernel = {1, 1, 1}};
  convolution_options<3> odd = good;
  odd.groups = 2 * n + 1;
  const text groups = text("requires channels that are multiples of groups, got ")
                      << 2 * n << " in_channels and " << 2 * n << " out_channels in " << 2 * n + 1 << " groups";
  const text call("partita::convolution(p_x, options): "), long_call("partita::convolution(p_x, p_y, p_w, options): ");
  const auto refuses = []<class Error>(const text& words, auto make) {
    test::expect_refused<Error>(make, words.c_str());
  };
  BOOST_CHECK_NO_THROW((convolution<double, 3>(p, good)));
  refuses.operator()<shape_error>(text(call) << groups, [&] { convolution<double, 3>(p, odd); });
  BOOST_CHECK_NO_THROW((convolution<double, 3>(one, one, one, good)));
  refuses.operator()<shape_error>(text(long_call) << groups, [&] { convolution<double, 3>(one, one, one, odd); });
  if (n == 1) return;
  refuses.operator()<partition_error>(
      text(call) << "requires p_x = batch x 1 x features..., whose channels are not cut, got p_x = [1, " << n
                 << ", 1, 1, 1]",
      [&] { convolution<double, 3>(by_channels, good); });
  refuses.operator()<partition_error>(
      text(long_call) << "requires p_x = batch x in x features, p_y = batch x out x features and p_w = out x in x "
                      << "features with equal features",
      [&] { convolution<double, 3>(p, p, one, good); });
  refuses.operator()<partition_error>(text("got p_x = [1, ")
                                          << n << ", 1, 1, 1], p_y = [1, 1, 1, 1, 1] and p_w = [1, 1",
                                      [&] { convolution<double, 3>(by_channels, one, one, good); });
  refuses.operator()<partition_error>(text("got p_x = [1, 1, 1, 1, 1], p_y = [1, ")
                                          << n << ", 1, 1, 1] and p_w = [1, 1",
                                      [&] { convolution<double, 3>(one, by_channels, one, good); });
}

BOOST_AUTO_TEST_CASE(pooling_of_cubes_is_that_of_the_whole) {
  const world everyone(test::workers());
  const auto p = over_features(everyone);
  const auto under = [](std::size_t f, std::size_t o, std::size_t i) {  // kernels 2, 1, 2 at strides 1, 1, 3
    return i == o * (f == 2 ? 3 : 1) || (f != 1 && i == o * (f == 2 ? 3 : 1) + 1) ? (f == 1 ? 1 : 0.5) : 0.0;
  };
  const std::array<std::size_t, 3> kernel{2, 1, 2}, stride{1, 1, 3};
  expect_windows(everyone, average_pooling(p, {.kernel = kernel, .stride = stride}),
                 {{2, 1, 4, 3, 8}, {2, 1, 3, 3, 3}, under});
  expect_windows(everyone, max_pooling(p, {.kernel = kernel, .stride = stride}),
                 {{2, 1, 4, 3, 8}, {2, 1, 3, 3, 3}, under, true});
  // no window reads the last three planes, so that a worker may receive nothing for its block
  const std::array<std::size_t, 3> wide{4, 1, 3};
  expect_windows(everyone, average_pooling(p, {.kernel = kernel, .stride = wide}),
                 {{2, 1, 5, 3, 8}, {2, 1, 1, 3, 3}, under});
}

BOOST_AUTO_TEST_CASE(upsampling_of_cubes_is_that_of_the_whole) {
  const world everyone(test::workers());
  const auto p = over_features(everyone);
  expect_windows(everyone, upsampling(p, {.scale = 2}),
                 {{1, 2, 3, 2, 4}, {1, 2, 6, 4, 8}, [](std::size_t, std::size_t o, std::size_t i) {
                    return o / 2 == i ? 1.0 : 0.0;
                  }});
  expect_windows(everyone, upsampling(p, {.scale = 2, .mode = upsampling_mode::linear}),
                 {{1, 1, 3, 2, 4}, {1, 1, 6, 4, 8}, [](std::size_t f, std::size_t o, std::size_t i) {
                    const std::size_t last = f == 0 ? 2 : f == 1 ? 1 : 3;
                    if (o == 0 || o == 2 * last + 1) return i == o / 2 ? 1.0 : 0.0;
                    const std::size_t left = (o - 1) / 2;
                    return i == o / 2 ? 0.75 : i == left || i == left + 1 ? 0.25 : 0.0;
                  }});
}

BOOST_AUTO_TEST_SUITE_END()
