// One worker constructs a layer with an option that differs from the others'. One table has each option of each layer.
// All workers throw at the first call.
#include <boost/mpi/collectives.hpp>
#include <functional>
#include <mpi_test.hpp>
#include <partita/partita.hpp>
#include <vector>

using namespace partita;

namespace {

struct layers {
  const world& everyone;
  std::size_t n = everyone.size();

  partition<dynamic_extents<2>> batch() const { return everyone.partition(extents(n, std::size_t{1})); }
  partition<dynamic_extents<3>> lines() const { return everyone.partition(extents(n, std::size_t{1}, std::size_t{1})); }
};
struct mismatch {
  const char* name;
  std::function<void(const layers&, bool odd)> call;
};

template <std::size_t Rank>
xt::xtensor<double, Rank> ones(const std::array<std::size_t, Rank>& shape) {
  return xt::ones<double>(shape);
}
void linear_with(const layers& l, const linear_options& options) {
  const auto line = l.everyone.partition(extents(std::size_t{1}, l.n));
  linear<double> layer(line, l.everyone.partition(extents(std::size_t{1}, std::size_t{1})),
                       l.everyone.partition(extents(std::size_t{1}, l.n)), options);
  (void)layer(ones<2>({3, 2}));
}
void convolution_with(const layers& l, const convolution_options<1>& options) {
  convolution<double, 1> layer(l.lines(), options);
  (void)layer(ones<3>({2, 4, 8}));
}
void transposed_with(const layers& l, const transposed_convolution_options<1>& options) {
  transposed_convolution<double, 1> layer(l.lines(), options);
  (void)layer(ones<3>({2, 4, 8}));
}
template <class Layer, class Partition, class Options, std::size_t Rank>
void called(const Partition& p, const Options& options, const std::array<std::size_t, Rank>& shape) {
  Layer layer(p, options);
  (void)layer(ones<Rank>(shape));
}
template <class Loss, class Partition, class Options>
void loss_with(const Partition& p, const Options& options) {
  Loss loss(p, options);
  const auto x = ones<2>({2, 4});
  (void)loss(x, x);
}

const std::vector<mismatch> table{
    {"linear, in_features",
     [](const layers& l, bool odd) {
       linear_with(l, {.in_features = odd ? 2 * l.n - 1 : 2 * l.n, .out_features = 3});
     }},
    {"linear, out_features",
     [](const layers& l, bool odd) { linear_with(l, {.in_features = 2 * l.n, .out_features = odd ? 4U : 3U}); }},
    {"linear, bias",
     [](const layers& l, bool odd) { linear_with(l, {.in_features = 2 * l.n, .out_features = 3, .bias = odd}); }},
    {"linear, initial",
     [](const layers& l, bool odd) {
       linear_with(l, {.in_features = 2 * l.n,
                       .out_features = 3,
                       .initial = odd ? initial_values::zeros : initial_values::uniform});
     }},
    {"linear, seed",
     [](const layers& l, bool odd) {
       linear_with(l, {.in_features = 2 * l.n, .out_features = 3, .seed = odd ? 2U : 1U});
     }},
    {"convolution, out_channels",
     [](const layers& l, bool odd) {
       convolution_with(l, {.in_channels = 4, .out_channels = odd ? 4U : 2U, .kernel = 3});
     }},
    {"convolution, kernel",
     [](const layers& l, bool odd) {
       convolution_with(l, {.in_channels = 4, .out_channels = 4, .kernel = odd ? 2 : 3});
     }},
    {"convolution, stride",
     [](const layers& l, bool odd) {
       convolution_with(l, {.in_channels = 4, .out_channels = 4, .kernel = 3, .stride = odd ? 2 : 1});
     }},
    {"convolution, padding",
     [](const layers& l, bool odd) {
       convolution_with(l, {.in_channels = 4, .out_channels = 4, .kernel = 3, .padding = odd ? 2 : 1});
     }},
    {"convolution, dilation",
     [](const layers& l, bool odd) {
       convolution_with(l, {.in_channels = 4, .out_channels = 4, .kernel = 3, .dilation = odd ? 2 : 1});
     }},
    {"convolution, groups",
     [](const layers& l, bool odd) {
       convolution_with(l, {.in_channels = 4, .out_channels = 4, .kernel = 3, .groups = odd ? 2U : 1U});
     }},
    {"convolution, bias",
     [](const layers& l, bool odd) {
       convolution_with(l, {.in_channels = 4, .out_channels = 4, .kernel = 3, .bias = odd});
     }},
    {"convolution, padding mode",
     [](const layers& l, bool odd) {
       convolution_with(l, {.in_channels = 4,
                            .out_channels = 4,
                            .kernel = 3,
                            .padding = 1,
                            .mode = odd ? padding_mode::reflect : padding_mode::zeros});
     }},
    {"convolution, seed",
     [](const layers& l, bool odd) {
       convolution_with(l, {.in_channels = 4, .out_channels = 4, .kernel = 3, .seed = odd ? 2U : 1U});
     }},
    {"transposed convolution, output_padding",
     [](const layers& l, bool odd) {
       transposed_with(l,
                       {.in_channels = 4, .out_channels = 4, .kernel = 3, .stride = 2, .output_padding = odd ? 1 : 0});
     }},
    {"transposed convolution, bias",
     [](const layers& l, bool odd) {
       transposed_with(l, {.in_channels = 4, .out_channels = 4, .kernel = 3, .bias = odd});
     }},
    {"transposed convolution, seed",
     [](const layers& l, bool odd) {
       transposed_with(l, {.in_channels = 4, .out_channels = 4, .kernel = 3, .seed = odd ? 2U : 1U});
     }},
    {"max_pooling, kernel",
     [](const layers& l, bool odd) {
       called<max_pooling<dynamic_extents<3>>>(l.lines(), max_pooling_options<1>{.kernel = odd ? 2 : 4},
                                               std::array<std::size_t, 3>{2, 4, 8});
     }},
    {"average_pooling, count_include_pad",
     [](const layers& l, bool odd) {
       called<average_pooling<dynamic_extents<3>>>(
           l.lines(), average_pooling_options<1>{.kernel = 2, .padding = 1, .count_include_pad = odd},
           std::array<std::size_t, 3>{2, 4, 8});
     }},
    {"upsampling, scale",
     [](const layers& l, bool odd) {
       called<upsampling<dynamic_extents<3>>>(l.lines(), upsampling_options<1>{.scale = odd ? 2. : 3.},
                                              std::array<std::size_t, 3>{2, 4, 8});
     }},
    {"batch_norm, epsilon",
     [](const layers& l, bool odd) {
       called<batch_norm<double, 2>>(l.batch(), batch_norm_options{.channels = 4, .epsilon = odd ? 4. : 1.},
                                     std::array<std::size_t, 2>{2, 4});
     }},
    {"batch_norm, momentum",
     [](const layers& l, bool odd) {
       called<batch_norm<double, 2>>(l.batch(), batch_norm_options{.channels = 4, .momentum = odd ? 0.2 : 0.1},
                                     std::array<std::size_t, 2>{2, 4});
     }},
    {"batch_norm, affine",
     [](const layers& l, bool odd) {
       called<batch_norm<double, 2>>(l.batch(), batch_norm_options{.channels = 4, .affine = odd},
                                     std::array<std::size_t, 2>{2, 4});
     }},
    {"batch_norm, track",
     [](const layers& l, bool odd) {
       called<batch_norm<double, 2>>(l.batch(), batch_norm_options{.channels = 4, .track = odd},
                                     std::array<std::size_t, 2>{2, 4});
     }},
    {"layer_norm, epsilon",
     [](const layers& l, bool odd) {
       called<layer_norm<double, 2, 1>>(l.batch(), layer_norm_options<1>{.shape = {4}, .epsilon = odd ? 4. : 1.},
                                        std::array<std::size_t, 2>{2, 4});
     }},
    {"group_norm, groups",
     [](const layers& l, bool odd) {
       called<group_norm<double, 3>>(l.lines(), group_norm_options{.groups = odd ? 2U : 1U, .channels = 4},
                                     std::array<std::size_t, 3>{2, 4, 8});
     }},
    {"group_norm, epsilon",
     [](const layers& l, bool odd) {
       called<group_norm<double, 3>>(l.lines(),
                                     group_norm_options{.groups = 1, .channels = 4, .epsilon = odd ? 4. : 1.},
                                     std::array<std::size_t, 3>{2, 4, 8});
     }},
    {"dropout, probability",
     [](const layers& l, bool odd) {
       called<dropout<dynamic_extents<2>>>(l.batch(), dropout_options{.probability = odd ? 0.5 : 0.25},
                                           std::array<std::size_t, 2>{2, 4});
     }},
    {"dropout, seed",
     [](const layers& l, bool odd) {
       called<dropout<dynamic_extents<2>>>(l.batch(), dropout_options{.seed = odd ? 2U : 1U},
                                           std::array<std::size_t, 2>{2, 4});
     }},
    {"mse_loss, reduction",
     [](const layers& l, bool odd) {
       loss_with<mse_loss<double, 2>>(l.batch(),
                                      loss_options{.reduction = odd ? loss_reduction::sum : loss_reduction::mean});
     }},
    {"smooth_l1_loss, beta",
     [](const layers& l, bool odd) {
       loss_with<smooth_l1_loss<double, 2>>(l.batch(), smooth_l1_options{.beta = odd ? 2. : 1.});
     }},
    {"cross_entropy_loss, ignore_index",
     [](const layers& l, bool odd) {
       cross_entropy_loss<double, 2> loss(l.batch(), {.ignore_index = odd ? 1 : 2});
       const xt::xtensor<int, 1> classes{0, 1};
       (void)loss(ones<2>({2, 4}), classes);
     }},
    {"embedding, seed",
     [](const layers& l, bool odd) {
       embedding<double, 2> e(l.batch(), {.rows = 4, .columns = 4, .seed = odd ? 2U : 1U});
       const xt::xtensor<int, 1> rows{0, 1};
       (void)e(rows);
     }},
    {"mse_loss for l1_loss",
     [](const layers& l, bool odd) {
       if (odd) loss_with<mse_loss<double, 2>>(l.batch(), loss_options{});
       else loss_with<l1_loss<double, 2>>(l.batch(), loss_options{});
     }},
    {"bce_with_logits_loss for bce_loss",
     [](const layers& l, bool odd) {
       if (odd) loss_with<bce_with_logits_loss<double, 2>>(l.batch(), loss_options{});
       else loss_with<bce_loss<double, 2>>(l.batch(), loss_options{});
     }},
    {"kl_loss for poisson_nll_loss",
     [](const layers& l, bool odd) {
       if (odd) loss_with<kl_loss<double, 2>>(l.batch(), kl_options{});
       else loss_with<poisson_nll_loss<double, 2>>(l.batch(), poisson_nll_options{});
     }},
    {"average_pooling for max_pooling",
     [](const layers& l, bool odd) {
       if (odd)
         called<average_pooling<dynamic_extents<3>>>(l.lines(), average_pooling_options<1>{.kernel = 2},
                                                     std::array<std::size_t, 3>{2, 4, 8});
       else
         called<max_pooling<dynamic_extents<3>>>(l.lines(), max_pooling_options<1>{.kernel = 2},
                                                 std::array<std::size_t, 3>{2, 4, 8});
     }},
    {"adaptive_average_pooling for adaptive_max_pooling",
     [](const layers& l, bool odd) {
       const adaptive_pooling_options<1> half{.size = 4};
       if (odd)
         called<adaptive_average_pooling<dynamic_extents<3>>>(l.lines(), half, std::array<std::size_t, 3>{2, 4, 8});
       else called<adaptive_max_pooling<dynamic_extents<3>>>(l.lines(), half, std::array<std::size_t, 3>{2, 4, 8});
     }},
    {"upsampling, mode",
     [](const layers& l, bool odd) {
       called<upsampling<dynamic_extents<3>>>(
           l.lines(),
           upsampling_options<1>{.scale = 2, .mode = odd ? upsampling_mode::linear : upsampling_mode::nearest},
           std::array<std::size_t, 3>{2, 4, 8});
     }},
    {"rms_norm for layer_norm",
     [](const layers& l, bool odd) {
       const layer_norm_options<1> of{.shape = {4}};
       if (odd) called<rms_norm<double, 2>>(l.batch(), of, std::array<std::size_t, 2>{2, 4});
       else called<layer_norm<double, 2>>(l.batch(), of, std::array<std::size_t, 2>{2, 4});
     }},
    {"batch_norm, element type",
     [](const layers& l, bool odd) {
       const batch_norm_options o{.channels = 4};
       if (odd) (void)batch_norm<float, 2>(l.batch(), o)(xt::xtensor<float, 2>(ones<2>({2, 4})));
       else called<batch_norm<double, 2>>(l.batch(), o, std::array<std::size_t, 2>{2, 4});
     }},
    {"mse_loss, element type",
     [](const layers& l, bool odd) {
       const xt::xtensor<float, 2> x = ones<2>({2, 4});
       if (odd) (void)mse_loss<float, 2>(l.batch()).each(x, x);
       else (void)mse_loss<double, 2>(l.batch()).each(ones<2>({2, 4}), ones<2>({2, 4}));
     }},
    {"dropout, evaluate",
     [](const layers& l, bool odd) {
       dropout layer(l.batch(), {.probability = 0.5});
       if (odd) layer.evaluate();
       (void)layer(ones<2>({2, 4}));
     }},
    {"dropout, step",
     [](const layers& l, bool odd) {
       dropout layer(l.batch(), {.probability = 0.5});
       layer.step(odd ? 1 : 2);
       (void)layer(ones<2>({2, 4}));
     }},
    {"batch_norm, evaluate",
     [](const layers& l, bool odd) {
       batch_norm<double, 2> layer(l.batch(), {.channels = 4});
       if (odd) layer.evaluate();
       (void)layer(ones<2>({2, 4}));
     }},
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_layer_with_another_option_on_one_worker_is_refused_on_all, *test::at_least(2)) {
  const world everyone(test::workers());
  const layers l{everyone};
  const all_sum_reduce sums(l.batch(), dimensions<0>);
  for (const mismatch& one : table)
    for (const std::size_t odd : {std::size_t{0}, everyone.size() - 1}) {
      bool refused = false;
      try {
        one.call(l, everyone.id() == odd);
        (void)sums(ones<2>({1, 1}));
      } catch (const error&) {
        refused = true;
      }
      BOOST_TEST(boost::mpi::all_reduce(everyone.communicator(), refused, std::logical_and<>()),
                 one.name << " on worker " << odd);
    }
  BOOST_TEST(sums(ones<2>({1, 1}))(0, 0) == static_cast<double>(everyone.size()));
}

BOOST_AUTO_TEST_CASE(a_layer_with_one_set_of_options_is_called_on_all) {
  const world everyone(test::workers());
  const layers l{everyone};
  for (const mismatch& one : table) one.call(l, false);
}
