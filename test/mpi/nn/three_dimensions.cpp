// Compares layers over three feature dimensions, two of them partitioned, with loops over the whole tensors:
// convolutions and their adjoints, pooling and upsampling. Of convolutions, also blocks of weights, first values, and
// what is refused.
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

/// Checks that a call throws an `Error` with these words.
template <class Error, class Call>
void expect_words(const text& words, Call call) {
  test::expect_refused<Error>(call, words.c_str());
}

/// A convolution whose weights are split over out x in channels: x on the first workers, y and the weights on others.
void expect_split_weights(const world& everyone, const std::array<std::size_t, 4>& parts,
                          const convolution_options<3>& o) {
  const auto [out, in, first, last] = parts;
  const std::size_t n = everyone.size();
  const auto p_x = everyone.partition(p5(1, in, first, 1, last)),
             p_y = everyone.partition(p5(1, out, first, 1, last), workers(n - out * first * last, n)),
             p_w = everyone.partition(p5(out, in, first, 1, last));
  const shape of_x{2, o.in_channels, 4, 2, 5};
  const test::whole_convolution<3> oracle{o, test::small_integers<5>(o.weight_shape(), 1),
                                          test::small_integers<1>({o.bias ? o.out_channels : 0}, 2)};
  const block x = test::small_integers<5>(of_x, 3), y = oracle.forward(x), dy = test::small_integers<5>(shape_of(y), 4);
  block dw;
  xt::xtensor<double, 1> db;
  const block dx = oracle.adjoint(x, dy, dw, db);
  const auto own = [](const block& whole, const partition<p5>& p) {
    const auto cuts = decomposition<5>::balanced(shape_of(whole), p.grid().shape());
    return p.active() ? cut_out(whole, cuts, p) : zero_volume<double, 5>();
  };
  convolution<double, 3> l(p_x, p_y, p_w, o);
  const auto mine = l.weight_box();
  const bool adds_bias = o.bias && p_w.active() && (o.groups > 1 || p_w.index()[1] == 0);
  BOOST_TEST(l.bias().size() == (adds_bias ? mine.shape()[0] : 0));
  l.weight() = test::part<5>(oracle.w, mine);
  for (std::size_t k = 0; k < l.bias().size(); ++k) l.bias()(k) = oracle.b(mine.start[0] + k);
  for (int times = 1; times <= 2; ++times) {  // gradients accumulate
    const block got = l(own(x, p_x)), back = l.adjoint(own(dy, p_y));
    if (p_y.active()) BOOST_TEST((got == own(y, p_y)));
    else BOOST_TEST(got.size() == 0U);
    if (p_x.active()) BOOST_TEST((back == own(dx, p_x)));
    BOOST_TEST((l.weight_gradient() == times * test::part<5>(dw, mine)));
    for (std::size_t k = 0; k < l.bias().size(); ++k) BOOST_TEST(l.bias_gradient()(k) == times * db(mine.start[0] + k));
  }
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

BOOST_AUTO_TEST_CASE(blocks_of_weights_give_the_whole_result_in_one_group_and_in_several) {
  const world everyone(test::workers());
  const convolution_options<3> one{
      .in_channels = 3, .out_channels = 5, .kernel = {2, 1, 3}, .stride = {1, 1, 2}, .padding = {1, 0, 1}};
  convolution_options<3> two = one, without_bias = one;
  two.in_channels = 4, two.out_channels = 6, two.groups = 2;
  without_bias.bias = false;
  for (const std::array<std::size_t, 4>& parts : {std::array<std::size_t, 4>{1, 1, 1, 1},
                                                  {2, 1, 1, 1},
                                                  {1, 2, 1, 1},
                                                  {1, 1, 2, 1},
                                                  {2, 2, 1, 1},
                                                  {2, 1, 1, 2},
                                                  {1, 2, 2, 1},
                                                  {3, 1, 1, 1},
                                                  {1, 3, 1, 1}})
    if (parts[0] * parts[1] * parts[2] * parts[3] <= everyone.size())
      for (const auto& o : {one, two, without_bias}) expect_split_weights(everyone, parts, o);
}

BOOST_AUTO_TEST_CASE(a_transposed_convolution_of_several_groups_adds_the_bias_of_each_channel) {
  const world everyone(test::workers());
  const auto p = over_features(everyone);
  const transposed_convolution_options<3> o{.in_channels = 4,
                                            .out_channels = 2,
                                            .kernel = {2, 1, 3},
                                            .stride = {2, 1, 3},
                                            .padding = {0, 0, 1},
                                            .output_padding = {1, 0, 2},
                                            .dilation = {2, 1, 1},
                                            .groups = 2};
  const test::whole_convolution<3> oracle{o.convolution(), test::small_integers<5>({4, 1, 2, 1, 3}, 1),
                                          xt::zeros<double>({0})};
  const block x = test::small_integers<5>({2, 4, 4, 2, 5}, 3), dy = test::small_integers<5>({2, 2, 10, 2, 15}, 4);
  const xt::xtensor<double, 1> b{5, -2};
  block dw;
  xt::xtensor<double, 1> none, db{0, 0};
  block y = oracle.adjoint(dy, x, dw, none);
  for (std::size_t k = 0; k < y.size(); ++k) {
    const std::size_t channel = k / 300 % 2;
    y.data()[k] += b(channel), db(channel) += dy.data()[k];
  }
  transposed_convolution<double, 3> l(p, o);
  l.weight() = oracle.w, l.bias() = b;
  expect_as_whole(p, l, x, y, dy, oracle.forward(dy));
  BOOST_TEST((l.weight_gradient() == 2 * dw));
  BOOST_TEST((l.bias_gradient() == 2 * db));
}

/// The convolution whose adjoint is applied has the channels the other way around.
BOOST_AUTO_TEST_CASE(a_transposed_convolution_knows_the_convolution_that_it_is_the_adjoint_of) {
  const transposed_convolution_options<2> o{.in_channels = 6,
                                            .out_channels = 4,
                                            .kernel = {2, 3},
                                            .stride = {4, 5},
                                            .padding = {1, 7},
                                            .output_padding = {3, 2},
                                            .dilation = {8, 9},
                                            .groups = 2,
                                            .seed = 11};
  using pair = std::array<std::size_t, 2>;
  const convolution_options<2> there = o.convolution();
  BOOST_TEST((there.in_channels == 4 && there.out_channels == 6 && there.groups == 2 && there.seed == 11));
  BOOST_TEST((there.kernel == pair{2, 3} && there.stride == pair{4, 5}));
  BOOST_TEST((there.padding == pair{1, 7} && there.dilation == pair{8, 9}));
  BOOST_TEST((!there.bias && there.mode == padding_mode::zeros && there.initial == initial_values::uniform));
}

/// The exchanges of the last 16 tensors are known: that of the tensor which was not used for the longest time goes.
BOOST_AUTO_TEST_CASE(the_extents_of_the_last_sixteen_tensors_are_known) {
  using extents = std::array<std::size_t, 2>;
  detail::prepared_extents<2> list;
  std::vector<extents> kept;  // the last used at the end
  std::size_t draw = 1;
  for (int turn = 0; turn < 2000; ++turn) {
    draw = (draw * 1103515245 + 12345) % 2147483648U;
    const extents one{draw / 65536 % (turn < 1000 ? 3 : 5), draw / 1024 % (turn < 1000 ? 7 : 4)};
    const auto found = std::find(kept.begin(), kept.end(), one);
    const bool is_new = found == kept.end();
    if (!is_new) kept.erase(found);
    if (kept.size() == 16) kept.erase(kept.begin());
    kept.push_back(one);
    BOOST_TEST(list.add_new_extents(one) == is_new, "turn " << turn);
  }
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

/// Element k of the whole W is random number k of the seed, and the elements of the bias have the numbers after them.
BOOST_AUTO_TEST_CASE(first_values_are_numbered_in_C_order_over_the_whole_weights_and_the_bias) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const shape whole{6, 2, 2, 1, 2};
  const auto draw = [](double bound, std::uint64_t seed, std::size_t k) {
    return detail::draw_uniform<double>(bound, seed, k);
  };
  const auto expect = [&](const char* name, auto& layer, const box<5>& mine, auto weight_at, auto bias_at) {
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < layer.weight().size(); ++k) {
      auto i = index_of(k, mine.shape());
      for (std::size_t d = 0; d < 5; ++d) i[d] += mine.start[d];
      wrong += layer.weight().data()[k] == weight_at(flat_index(i, whole)) ? 0 : 1;
    }
    for (std::size_t k = 0; k < layer.bias().size(); ++k)
      wrong += layer.bias()(k) == bias_at(mine.start[0] + k) ? 0 : 1;
    for (const double g : layer.weight_gradient()) wrong += g == 0 ? 0 : 1;
    BOOST_TEST((wrong == 0 && layer.weight().size() == mine.volume()), name);
  };
  const auto zero = [](std::size_t) { return 0.0; };
  convolution_options<3> o{.in_channels = 4, .out_channels = 6, .kernel = {2, 1, 2}, .groups = 2, .seed = 5};
  const auto p = over_features(everyone), p_w = everyone.partition(p5(n, 1, 1, 1, 1)),
             p_y = everyone.partition(p5(1, n, 1, 1, 1)), one = everyone.partition(p5(1, 1, 1, 1, 1));
  for (const bool by_output : {true, false}) {
    const auto made = [&](const convolution_options<3>& options) {
      return by_output ? convolution<double, 3>(p, options) : convolution<double, 3>(one, p_y, p_w, options);
    };
    auto layer = made(o);
    const box<5> mine = layer.weight_box();
    BOOST_TEST((mine.start[0] == (by_output ? 0 : balanced_part(6, n, everyone.id()).start)));
    expect(
        "by default", layer, mine, [&](std::size_t k) { return draw(1 / std::sqrt(8.0), 5, k); },
        [&](std::size_t k) { return draw(1 / std::sqrt(8.0), 5, 48 + k); });
    layer.bias().fill(1);
    layer.weight() = xt::ones<double>({1, 1, 1, 1, 1});  // a block of another shape is replaced
    initialise(layer, [](std::size_t a, std::size_t b, std::size_t c, std::size_t d, std::size_t e) {
      return static_cast<double>((((2 * a + b) * 2 + c) + d) * 2 + e) - 20;
    });
    expect(
        "a function", layer, mine, [](std::size_t k) { return static_cast<double>(k) - 20; }, zero);
    layer.bias().fill(1);
    kaiming_uniform(layer, 3);
    expect(
        "kaiming", layer, mine, [&](std::size_t k) { return draw(std::sqrt(6 / 8.0), 3, k); }, zero);
    layer.bias().fill(1);
    xavier_uniform(layer, 4);
    expect(
        "xavier", layer, mine, [&](std::size_t k) { return draw(std::sqrt(6 / 32.0), 4, k); }, zero);
    convolution_options<3> zeros = o;
    zeros.initial = initial_values::zeros;
    auto other = made(zeros);
    expect("zeros", other, mine, zero, zero);
  }
  transposed_convolution<double, 3> back(
      p, {.in_channels = 6, .out_channels = 4, .kernel = {2, 1, 2}, .groups = 2, .seed = 5});
  expect(
      "transposed", back, {{}, whole}, [&](std::size_t k) { return draw(1 / std::sqrt(8.0), 5, k); },
      [&](std::size_t k) { return draw(1 / std::sqrt(8.0), 5, 48 + k); });
}

BOOST_AUTO_TEST_CASE(parameters_are_the_weights_and_the_bias_with_their_gradients_which_are_reset_together) {
  const world everyone(test::workers());
  const auto p = over_features(everyone);
  const auto check = [](const char* name, auto layer) {
    const auto all = layer.parameters();
    BOOST_TEST((all.size() == 2 && all[0].value() == layer.weight().data() && all[1].value() == layer.bias().data()),
               name);
    BOOST_TEST((all[0].gradient() == layer.weight_gradient().data() && all[0].size() == layer.weight().size()), name);
    BOOST_TEST((all[1].gradient() == layer.bias_gradient().data() && all[1].size() == 2), name);
    layer.weight_gradient().fill(1), layer.bias_gradient().fill(1);
    layer.zero_gradients();
    BOOST_TEST((xt::amax(layer.weight_gradient())() == 0 && xt::amax(layer.bias_gradient())() == 0), name);
  };
  check("convolution", convolution<double, 3>(p, {.in_channels = 2, .out_channels = 2, .kernel = {2, 1, 1}}));
  check("transposed_convolution",
        transposed_convolution<double, 3>(p, {.in_channels = 2, .out_channels = 2, .kernel = {2, 1, 1}}));
}

/// Calls that are refused, in the words of the layer. A layer whose last forward call was refused has no adjoint.
BOOST_AUTO_TEST_CASE(calls_of_convolutions_that_do_not_fit_are_refused) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(p5(1, 1, 1, 1, n));
  const convolution_options<3> o{.in_channels = 2, .out_channels = 2, .kernel = {2, 1, 1}};
  const block x = xt::ones<double>({2, 2, 3, 1, 4}), more = xt::ones<double>({2, 3, 3, 1, 4}),
              dy = xt::ones<double>({2, 2, 2, 1, 4}), low = xt::ones<double>({2, 2, 1, 1, 4});
  const text first("partita::convolution.adjoint(dy): requires a forward call before; call layer(x) first");
  const text of_x = text(" of extents [2, 2, 1, 1, ") << 4 * n << "]";
  for (const bool by_output : {true, false}) {
    auto l = by_output ? convolution<double, 3>(p, o) : convolution<double, 3>(p, p, p, o);
    expect_words<shape_error>(first, [&] { l.adjoint(dy); });
    l(x);
    l.adjoint(dy);
    expect_words<shape_error>(text("partita::convolution(x): requires x of 2 channels, got extents [2, 3, 3, 1, ")
                                  << 4 * n << "]",
                              [&] { l(more); });
    expect_words<shape_error>(first, [&] { l.adjoint(dy); });
    expect_words<shape_error>(text("partita::convolution(x): requires a kernel that fits into the padded x, got one "
                                   "that reaches over 2 cells ")
                                  << "and a padded x of 1 along dimension 0 of the features" << of_x,
                              [&] { l(low); });
    l(x);
    expect_words<shape_error>(
        "partita::convolution.adjoint(dy): requires dy of the shape of the last result [2, 2, 2, ",
        [&] { l.adjoint(everyone.id() + 1 == n ? x : dy); });
    auto moved = std::move(l);
    const text gone("partita::convolution: requires a layer that is there, this one was moved from");
    expect_words<partition_error>(gone, [&] { l(x); });
    expect_words<partition_error>(gone, [&] { l.parameters(); });
    BOOST_TEST((moved.adjoint(dy).shape() == x.shape()));
    if (everyone.id() + 1 == n) moved.weight() = xt::ones<double>({2, 2, 2, 1, 2});
    expect_words<shape_error>(text("partita::convolution(x): requires weights of the shape [2, 2, 2, 1, 1] on worker ")
                                  << n - 1 << ", and a bias and gradients that fit; got weights [2, 2, 2, 1, 2]",
                              [&] { moved(x); });
  }
  transposed_convolution<double, 3> back(p, {.in_channels = 2, .out_channels = 2, .kernel = {2, 1, 1}});
  const text first_there("partita::transposed_convolution.adjoint(dy): requires a forward call before");
  expect_words<shape_error>(first_there, [&] { back.adjoint(x); });
  back(dy);
  back.adjoint(x);
  expect_words<shape_error>("requires 2 channels, got extents [2, 3, 3, 1, ", [&] { back(more); });
  expect_words<shape_error>(first_there, [&] { back.adjoint(x); });
  back(dy);
  expect_words<shape_error>(
      "partita::transposed_convolution.adjoint(dy): requires dy of the shape of the last result [2, 2, 3, ",
      [&] { back.adjoint(everyone.id() + 1 == n ? dy : x); });
  if (everyone.id() + 1 == n) back.weight() = xt::ones<double>({2, 2, 2, 1, 2});
  expect_words<shape_error>(
      "partita::transposed_convolution: requires weights of the shape [2, 2, 2, 1, 1], and a bias and gradients that "
      "fit; got weights [2, 2, 2, 1, 2]",
      [&] { back(dy); });
}

BOOST_AUTO_TEST_CASE(a_transposed_convolution_without_an_output_is_refused) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(p5(1, 1, 1, 1, n));
  for (const std::size_t f : {0U, 1U, 2U}) {
    transposed_convolution_options<3> o{.in_channels = 1, .out_channels = 1, .kernel = 1};
    o.stride[f] = 2, o.output_padding[f] = 2;
    expect_words<shape_error>(text("partita::transposed_convolution(p, options): requires an output_padding below the "
                                   "stride, got 2 of 2 along ")
                                  << "dimension " << f << " of the features",
                              [&] { transposed_convolution<double, 3>(p, o); });
    o.output_padding[f] = 0, o.padding[f] = 2 * n;  // an extent of m cells becomes 2 (m - 1) + 1 - 4 n
    transposed_convolution<double, 3> layer(p, o);
    const auto cells = [&](std::size_t m) {
      shape extents{1, 1, 1, 1, 1};
      extents[2 + f] = f == 2 ? m / n : m;
      return block(xt::ones<double>(extents));
    };
    const shape refused_extents{1, 1, f == 0 ? 2 * n : 1, f == 1 ? 2 * n : 1, f == 2 ? 2 * n : n};
    expect_words<shape_error>(
        text("partita::transposed_convolution(x): requires an output of at least one cell, and of no more than can be ")
            << "counted, got x of extents " << refused_extents << ", a stride of 2 and a padding of " << 2 * n
            << " along dimension " << f << " of the features",
        [&] { layer(cells(2 * n)); });
    BOOST_TEST(layer(cells(3 * n)).size() > 0U);
  }
}

BOOST_AUTO_TEST_CASE(workers_outside_of_a_window_layer_have_no_elements) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(p5(1, 1, 1, 1, 1), workers({n - 1}));
  const block x = p.active() ? block(xt::ones<double>({2, 2, 2, 2, 2})) : block(zero_volume<double, 5>(2));
  const auto expect = [&](const char* name, auto layer, std::size_t elements) {
    const block y = layer(x);
    BOOST_TEST(y.size() == (p.active() ? elements : 0), name);
    const block dx = layer.adjoint(y);
    BOOST_TEST((p.active() ? dx.shape() == x.shape() : dx.size() == 0), name);
  };
  expect("max_pooling", max_pooling(p, {.kernel = 2}), 4);
  expect("average_pooling", average_pooling(p, {.kernel = {1, 2, 2}}), 8);
  expect("upsampling", upsampling(p, {.scale = 2}), 256);
}

/// One worker has an option that changes no message: all workers refuse the call all the same.
BOOST_AUTO_TEST_CASE(options_of_one_worker_alone_are_refused, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto p = over_features(everyone);
  const block x = xt::ones<double>({2, 2, 2, 2, 2});
  max_pooling next(p, {.kernel = {1, 1, 1}});
  for (const std::size_t odd_worker : {std::size_t{0}, everyone.size() - 1}) {
    const bool odd = everyone.id() == odd_worker;
    const auto refuses = [&](const char* name, auto layer) {
      BOOST_TEST(!test::refused([&] { layer(x), next(x); }).empty(), name);  // by the next call at the latest
    };
    const convolution_options<3> o{.in_channels = 2, .out_channels = 2, .kernel = {1, 1, 1}, .seed = odd ? 1U : 2U};
    refuses("convolution", convolution<double, 3>(p, o));
    refuses("convolution with p_w", convolution<double, 3>(p, p, p, o));
    refuses("transposed_convolution",
            transposed_convolution<double, 3>(
                p, {.in_channels = 2, .out_channels = 2, .kernel = {1, 1, 1}, .seed = odd ? 1U : 2U}));
    refuses("max_pooling", max_pooling(p, {.kernel = 2, .ceil_mode = odd}));
    refuses("average_pooling", average_pooling(p, {.kernel = 2, .count_include_pad = odd}));
    refuses("upsampling",
            upsampling(p, {.scale = 1, .mode = odd ? upsampling_mode::linear : upsampling_mode::nearest}));
  }
}

BOOST_AUTO_TEST_SUITE_END()
