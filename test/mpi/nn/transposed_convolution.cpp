// The distributed transposed convolution and its gradients equal, exactly, the adjoint of a convolution that is
// computed by loops over every tap of the whole tensors.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <partita/nn/transposed_convolution.hpp>

#include <vector>

#include "convolution_oracle.hpp"

namespace {

using namespace partita;

template <std::size_t Features>
void expect_as_whole(const partition<dynamic_extents<Features + 2>>& p,
                     const transposed_convolution_options<Features>& o, const decomposition<Features + 2>& cuts) {
  constexpr std::size_t rank = Features + 2;
  const auto x = test::small_integers<rank>(cuts.extents(), 1);
  std::array<std::size_t, rank> of_y{cuts.extents()[0], o.out_channels};
  for (std::size_t f = 0; f < Features; ++f)
    of_y[2 + f] = (cuts.extents()[2 + f] - 1) * o.stride[f] + o.dilation[f] * (o.kernel[f] - 1) + 1 +
                  o.output_padding[f] - 2 * o.padding[f];
  const test::whole_convolution<Features> oracle{
      o.convolution(), test::small_integers<rank>(o.convolution().weight_shape(), 2), xt::zeros<double>({0})};
  const auto b = test::small_integers<1>({o.bias ? o.out_channels : 0}, 3);
  const auto dy = test::small_integers<rank>(of_y, 4);
  xt::xtensor<double, rank> dw, ignored;
  xt::xtensor<double, 1> none;
  auto y = oracle.adjoint(dy, x, dw, none);  // dw is that of the convolution from dy to x
  xt::xtensor<double, 1> db = xt::zeros<double>({b.size()});
  for (std::size_t k = 0; k < y.size() && b.size() > 0; ++k) {
    const std::size_t channel = index_of(k, of_y)[1];
    y.data()[k] += b(channel);
    db(channel) += dy.data()[k];
  }
  const auto dx = oracle.forward(dy);
  const auto y_cuts = decomposition<rank>::balanced(of_y, p.grid().shape());
  const auto block = [&](const auto& cut_as, const auto& whole) {
    return p.active() ? test::part<rank>(whole, cut_as.block(p.index())) : zero_volume<double, rank>();
  };
  transposed_convolution<double, Features> layer(p, o);
  if (p.active()) layer.weight() = oracle.w, layer.bias() = b;
  for (int times = 1; times <= 2; ++times) {
    const auto got = layer(block(cuts, x));
    if (p.active()) BOOST_TEST((got == block(y_cuts, y)));
    const auto back = layer.adjoint(block(y_cuts, dy));
    if (!p.active()) continue;
    BOOST_TEST((back == block(cuts, dx)));
    BOOST_TEST((layer.weight_gradient() == times * dw));
    BOOST_TEST((layer.bias_gradient() == times * db));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nn_transposed_convolution)

BOOST_AUTO_TEST_CASE(it_is_the_adjoint_of_a_convolution_on_any_cut) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const partition<dynamic_extents<3>> line = everyone.partition(dynamic_extents<3>(1, 1, n));
  expect_as_whole<1>(
      line, {.in_channels = 2, .out_channels = 3, .kernel = {3}, .stride = {2}, .padding = {1}, .output_padding = {1}},
      decomposition<3>::balanced({2, 2, 7}, {1, 1, n}));
  std::vector<std::size_t> sizes(n, 0);
  sizes[n / 2] = 5;  // all on one worker
  expect_as_whole<1>(line,
                     {.in_channels = 4, .out_channels = 2, .kernel = {2}, .stride = {3}, .dilation = {2}, .groups = 2},
                     decomposition<3>(cut::at({1}), cut::at({4}), cut::at(sizes)));
  const partition<dynamic_extents<4>> plane = everyone.partition(dynamic_extents<4>(n, 1, 1, 1));
  expect_as_whole<2>(
      plane,
      {.in_channels = 1, .out_channels = 2, .kernel = {2, 3}, .stride = {2, 1}, .padding = {0, 1}, .bias = false},
      decomposition<4>::balanced({3, 1, 4, 3}, {n, 1, 1, 1}));
}

BOOST_AUTO_TEST_CASE(what_it_cannot_map_is_refused_on_all_workers) {
  const world everyone(test::workers());
  const auto p = everyone.partition(dynamic_extents<3>(1, 1, everyone.size()));
  using layer_type = transposed_convolution<double, 1>;
  const auto says = [](const std::string& sentence, const char* part) {
    return sentence.find(part) != std::string::npos;
  };
  BOOST_TEST(says(test::refused<shape_error>([&] {
                    layer_type l(p, {.in_channels = 1, .out_channels = 1, .kernel = {2}, .output_padding = {1}});
                  }),
                  "requires an output_padding below the stride"));
  layer_type layer(p, {.in_channels = 1, .out_channels = 1, .kernel = {2}});
  const auto zeros = [&](std::size_t channels) {
    return xt::xtensor<double, 3>(xt::zeros<double>(std::array<std::size_t, 3>{1, channels, 2}));
  };
  BOOST_TEST(says(test::refused<shape_error>([&] { layer(zeros(2)); }), "requires 1 channels"));
  BOOST_TEST(says(test::refused<shape_error>([&] { layer.adjoint(zeros(1)); }), "requires a forward call before"));
  constexpr std::size_t huge = static_cast<std::size_t>(-1) / 8;
  layer_type far(p, {.in_channels = 1, .out_channels = 1, .kernel = {2}, .stride = {huge}});
  const xt::xtensor<double, 3> ten = xt::zeros<double>(std::array<std::size_t, 3>{1, 1, 10});
  // the number must not wrap around
  BOOST_TEST(says(test::refused<shape_error>([&] { far(ten); }), "no more than can be counted"));
  BOOST_TEST(says(test::refused<shape_error>([&] {
                    layer_type l(p, {.in_channels = 1, .out_channels = 1, .kernel = {9}, .dilation = {huge}});
                  }),
                  "requires a kernel that reaches over at most"));
}

BOOST_AUTO_TEST_SUITE_END()
