// Compares the distributed convolution with loops over every output and every tap of the whole tensors: y, dx and all
// gradients must be exactly equal, on every partition that the layer supports.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <partita/kernel/repartition.hpp>
#include <partita/nn/convolution.hpp>

#include <vector>

#include "convolution_oracle.hpp"

namespace {

using namespace partita;
using shape = std::array<std::size_t, 4>;

/// x has blocks of the given `sizes` on p_x; y has balanced blocks on p_y.
void expect_as_whole(const world& everyone, convolution<double, 2>& layer, const partition<dynamic_extents<4>>& p_x,
                     const partition<dynamic_extents<4>>& p_y, const decomposition<4>& cuts) {
  const auto o = layer.options();
  const shape extents = cuts.extents();
  const test::whole_convolution<2> oracle{o, test::small_integers<4>(o.weight_shape(), 1),
                                          test::small_integers<1>({o.bias ? o.out_channels : 0}, 2)};
  const auto x = test::small_integers<4>(extents, 3), dy = test::small_integers<4>(oracle.result(extents), 4);
  xt::xtensor<double, 4> dw;
  xt::xtensor<double, 1> db;
  const auto dx = oracle.adjoint(x, dy, dw, db);
  const auto of_y = decomposition<4>::balanced(oracle.result(extents), p_y.grid().shape());
  const auto block = [](const auto& p, const auto& cut_as, const auto& whole) {
    return p.active() ? test::part<4>(whole, cut_as.block(p.index())) : zero_volume<double, 4>();
  };
  layer.weight() = test::part<4>(oracle.w, layer.weight_box());
  for (std::size_t k = 0; k < layer.bias().size(); ++k) layer.bias()(k) = oracle.b(layer.weight_box().start[0] + k);
  layer.zero_gradients();
  for (int times = 1; times <= 2; ++times) {  // gradients accumulate
    const auto y = layer(block(p_x, cuts, x));
    if (p_y.active()) BOOST_TEST((y == block(p_y, of_y, oracle.forward(x))));
    else BOOST_TEST(y.size() == 0U);
    const auto back = layer.adjoint(block(p_y, of_y, dy));
    if (p_x.active()) BOOST_TEST((back == block(p_x, cuts, dx)));
    BOOST_TEST((layer.weight_gradient() == times * test::part<4>(dw, layer.weight_box())));
    for (std::size_t k = 0; k < layer.bias().size(); ++k)
      BOOST_TEST(layer.bias_gradient()(k) == times * db(layer.weight_box().start[0] + k));
  }
  (void)everyone;
}

dynamic_extents<4> four(std::size_t n, std::size_t c, std::size_t h, std::size_t w) {
  return dynamic_extents<4>(n, c, h, w);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nn_convolution)

BOOST_AUTO_TEST_CASE(batch_and_features_cut_in_any_way_give_the_whole_result) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  for (const auto& at : {four(1, 1, n, 1), four(n, 1, 1, 1), four(1, 1, n % 2 == 0 ? 2 : 1, n % 2 == 0 ? n / 2 : n)}) {
    const dynamic_partition<4> p = everyone.partition(at);
    convolution<double, 2> layer(p, {.in_channels = 2,
                                     .out_channels = 3,
                                     .kernel = {3, 2},
                                     .stride = {2, 1},
                                     .padding = {1, 1},
                                     .mode = padding_mode::circular});
    expect_as_whole(everyone, layer, p, p, decomposition<4>::balanced({3, 2, 9, 7}, p.grid().shape()));
    const auto uneven = decomposition<4>::make([&](std::size_t d) {  // everything is on the last worker of each line
      const std::size_t extents[] = {2, 2, 6, 5};
      std::vector<std::size_t> sizes(p.grid().shape()[d], 0);
      sizes.back() = extents[d];
      return cut::at(sizes);
    });
    expect_as_whole(everyone, layer, p, p, uneven);
  }
}

BOOST_AUTO_TEST_CASE(channels_are_cut_over_blocks_of_the_weights, *test::at_least(4)) {
  const world everyone(test::workers());
  const dynamic_partition<4> p_x = everyone.partition<1, 2, 1, 1>(workers{1, 3});
  const dynamic_partition<4> p_y = everyone.partition<2, 2, 1, 1>(),
                             p_w = everyone.partition<2, 2, 1, 1>(workers{3, 0, 2, 1});
  convolution<double, 2> layer(p_x, p_y, p_w,
                               {.in_channels = 3, .out_channels = 5, .kernel = {2, 3}, .dilation = {2, 1}});
  expect_as_whole(everyone, layer, p_x, p_y, decomposition<4>::balanced({3, 3, 6, 4}, {1, 2, 1, 1}));
}

BOOST_AUTO_TEST_CASE(a_depthwise_layer_has_its_channels_cut, *test::at_least(2)) {
  const world everyone(test::workers());
  const dynamic_partition<4> p = everyone.partition<1, 2, 1, 1>(), p_w = everyone.partition<2, 1, 1, 1>();
  convolution<double, 2> layer(p, p, p_w,
                               {.in_channels = 3, .out_channels = 6, .kernel = {3, 3}, .padding = {1, 1}, .groups = 3});
  expect_as_whole(everyone, layer, p, p, decomposition<4>::balanced({2, 3, 5, 4}, {1, 2, 1, 1}));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_convolved_is_refused_on_all_workers) {
  const world everyone(test::workers());
  const dynamic_partition<4> p = everyone.partition(four(1, 1, everyone.size(), 1));
  const auto says = [](const std::string& sentence, const char* part) {
    return sentence.find(part) != std::string::npos;
  };
  const auto made = [&](const convolution_options<2>& o) {
    return test::refused<shape_error>([&] { convolution<double, 2> layer(p, o); });
  };
  BOOST_TEST(says(made({.in_channels = 3, .out_channels = 4, .kernel = {1, 1}, .groups = 2}), "multiples of groups"));
  BOOST_TEST(says(made({.in_channels = static_cast<std::size_t>(-3), .out_channels = 4, .kernel = {1, 1}}),
                  "a negative number of channels is none"));
  BOOST_TEST(
      says(made({.in_channels = 1, .out_channels = 1, .kernel = {1, 1}, .stride = {0, 1}}), "a stride of at least 1"));
  convolution<double, 2> layer(p, {.in_channels = 2, .out_channels = 1, .kernel = {3, 3}});
  const auto zeros = [&](const shape& extents) {
    return xt::xtensor<double, 4>(
        xt::zeros<double>(decomposition<4>::balanced(extents, p.grid().shape()).shape(p.index())));
  };
  BOOST_TEST(says(test::refused<shape_error>([&] { layer(zeros({1, 3, 9, 9})); }), "requires x of 2 channels"));
  BOOST_TEST(says(test::refused<shape_error>([&] { layer(zeros({1, 2, 9, 2})); }), "requires a kernel that fits"));
  BOOST_TEST(says(test::refused<shape_error>([&] {
                    layer.adjoint(zeros({1, 1, 7, 7}));
                  }),
                  "requires a forward call before"));
  layer(zeros({1, 2, 9, 9}));
  BOOST_TEST(says(test::refused<shape_error>([&] {
                    layer.adjoint(zeros({1, 1, 7, 6}));
                  }),
                  "of the shape of the last result"));
}

BOOST_AUTO_TEST_SUITE_END()
