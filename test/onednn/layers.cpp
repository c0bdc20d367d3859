// Layers of floats in a program that is compiled with PARTITA_ONEDNN: what workers compute of a convolution by oneDNN
// is what loops over every tap of the whole tensors give, exactly on small integers, whatever the cut.
#include "mpi_test.hpp"

#include <partita/nn/convolution.hpp>
#include <partita/nn/transposed_convolution.hpp>

#include <type_traits>

#include "convolution_oracle.hpp"

namespace {

using namespace partita;
static_assert(std::is_same_v<detail::convolver<float, 2>, detail::onednn_convolver<2>>);
static_assert(std::is_same_v<detail::convolver<double, 2>, detail::column_convolver<double, 2>>);

template <std::size_t Features>
void expect_as_whole(const partition<dynamic_extents<Features + 2>>& p, const convolution_options<Features>& o,
                     const decomposition<Features + 2>& cuts) {
  constexpr std::size_t rank = Features + 2;
  const auto x = test::small_integers<rank>(cuts.extents(), 1);
  const test::whole_convolution<Features> oracle{o, test::small_integers<rank>(o.weight_shape(), 2),
                                                 test::small_integers<1>({o.out_channels}, 3)};
  const auto of_y = oracle.result(cuts.extents());
  const auto dy = test::small_integers<rank>(of_y, 4);
  xt::xtensor<double, rank> dw;
  xt::xtensor<double, 1> db;
  const auto y = oracle.forward(x), dx = oracle.adjoint(x, dy, dw, db);
  const auto y_cuts = decomposition<rank>::balanced(of_y, p.grid().shape());
  const auto block = [&](const auto& cut_as, const auto& whole) -> xt::xtensor<float, rank> {
    return xt::cast<float>(test::part<rank>(whole, cut_as.block(p.index())));
  };
  convolution<float, Features> layer(p, o);
  layer.weight() = xt::cast<float>(oracle.w), layer.bias() = xt::cast<float>(oracle.b);
  for (int times = 1; times <= 2; ++times) {
    BOOST_TEST((layer(block(cuts, x)) == block(y_cuts, y)));
    BOOST_TEST((layer.adjoint(block(y_cuts, dy)) == block(cuts, dx)));
    BOOST_TEST((layer.weight_gradient() == times * xt::cast<float>(dw)));
    BOOST_TEST((layer.bias_gradient() == times * xt::cast<float>(db)));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onednn_layers)

BOOST_AUTO_TEST_CASE(convolutions_of_floats_are_those_of_the_whole_tensors) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const partition<dynamic_extents<4>> rows = everyone.partition(dynamic_extents<4>(1, 1, n, 1));
  expect_as_whole<2>(
      rows, {.in_channels = 17, .out_channels = 16, .kernel = {3, 3}, .padding = {1, 1}, .mode = padding_mode::reflect},
      decomposition<4>::balanced({2, 17, 7, 6}, {1, 1, n, 1}));
  expect_as_whole<2>(rows,
                     {.in_channels = 6,
                      .out_channels = 9,
                      .kernel = {2, 3},
                      .stride = {3, 2},
                      .padding = {1, 0},
                      .dilation = {1, 2},
                      .groups = 3},
                     decomposition<4>::balanced({2, 6, 11, 9}, {1, 1, n, 1}));
  const partition<dynamic_extents<5>> boxes = everyone.partition(dynamic_extents<5>(1, 1, n, 1, 1));
  expect_as_whole<3>(
      boxes, {.in_channels = 3, .out_channels = 4, .kernel = {2, 3, 3}, .stride = {2, 1, 1}, .padding = {0, 1, 1}},
      decomposition<5>::balanced({1, 3, 6, 4, 5}, {1, 1, n, 1, 1}));
}

BOOST_AUTO_TEST_CASE(a_transposed_convolution_of_floats_is_that_of_doubles) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p = everyone.partition(dynamic_extents<3>(1, 1, n));
  const transposed_convolution_options<1> o{
      .in_channels = 3, .out_channels = 2, .kernel = {3}, .stride = {2}, .output_padding = {1}};
  transposed_convolution<float, 1> layer(p, o);
  transposed_convolution<double, 1> exact(p, o);
  exact.weight() = test::small_integers<3>(o.convolution().weight_shape(), 1);
  exact.bias() = test::small_integers<1>({2}, 2);
  layer.weight() = xt::cast<float>(exact.weight()), layer.bias() = xt::cast<float>(exact.bias());
  const xt::xtensor<double, 3> x =
      test::small_integers<3>(decomposition<3>::balanced({2, 3, 9}, {1, 1, n}).shape(p.index()), 3);
  const xt::xtensor<double, 3> y = exact(x);
  BOOST_TEST((layer(xt::xtensor<float, 3>(xt::cast<float>(x))) == y));
  BOOST_TEST((layer.adjoint(xt::xtensor<float, 3>(xt::cast<float>(y))) == exact.adjoint(y)));
  BOOST_TEST((layer.weight_gradient() == exact.weight_gradient()));
}

BOOST_AUTO_TEST_SUITE_END()
