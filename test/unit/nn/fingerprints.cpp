// Workers compare the options of a layer by a fingerprint: options that differ in any one member differ in it.
#include <partita/nn/batch_norm.hpp>
#include <partita/nn/convolution_options.hpp>
#include <partita/nn/cross_entropy.hpp>
#include <partita/nn/dropout.hpp>
#include <partita/nn/embedding.hpp>
#include <partita/nn/group_norm.hpp>
#include <partita/nn/layer_norm.hpp>
#include <partita/nn/loss.hpp>
#include <partita/nn/pooling.hpp>
#include <partita/nn/transposed_convolution.hpp>
#include <partita/nn/update_rule.hpp>
#include <partita/nn/upsampling.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <set>
#include <vector>

using namespace partita;

namespace {

/// Checks that all of these have fingerprints of their own, and that equal ones have equal fingerprints.
template <class Options>
void expect_all_different(const char* name, const std::vector<Options>& all) {
  std::set<std::uint64_t> numbers;
  for (const Options& one : all) {
    numbers.insert(one.fingerprint());
    BOOST_TEST(one.fingerprint() == Options(one).fingerprint(), name);
  }
  BOOST_TEST(numbers.size() == all.size(), name);
}
/// Adam's options, coupled and decoupled, have the same members.
template <class Options>
void expect_all_different_of_adam(const char* name) {
  expect_all_different<Options>(name, {{},
                                       {.learning_rate = 1},
                                       {.beta1 = 0.5},
                                       {.beta2 = 0.5},
                                       {.epsilon = 1},
                                       {.weight_decay = 0.5},
                                       {.amsgrad = true}});
}
/// The rules of layers over windows, made from options.
template <class Rule, class Options>
std::vector<Rule> rules_of(const std::vector<Options>& all) {
  std::vector<Rule> rules;
  for (const Options& one : all) rules.emplace_back("test", one);
  return rules;
}
template <std::size_t D>
per_dimension<D> one_only(std::size_t d, std::size_t value, std::size_t others) {
  per_dimension<D> all = others;
  all[d] = value;
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fingerprints_of_layers)

BOOST_AUTO_TEST_CASE(rules_of_windows_differ_with_each_option_of_each_dimension) {
  std::vector<max_pooling_options<2>> largest{{.kernel = 4}, {.kernel = 4, .ceil_mode = true}};
  std::vector<average_pooling_options<2>> means{
      {.kernel = 4}, {.kernel = 4, .ceil_mode = true}, {.kernel = 4, .count_include_pad = false}};
  std::vector<adaptive_pooling_options<2>> adaptive{{.size = 1}};
  std::vector<upsampling_options<2>> upsampled{{.scale = 1.5},
                                               {.scale = 1.25},
                                               {.scale = 1.5, .mode = upsampling_mode::linear},
                                               {.scale = 1.5, .mode = upsampling_mode::linear, .align_corners = true},
                                               {.size = 1}};
  for (std::size_t d = 0; d < 2; ++d) {
    largest.push_back({.kernel = one_only<2>(d, 5, 4), .stride = 4});
    largest.push_back({.kernel = 4, .stride = one_only<2>(d, 2, 4)});
    largest.push_back({.kernel = 4, .padding = one_only<2>(d, 1, 0)});
    largest.push_back({.kernel = 4, .dilation = one_only<2>(d, 2, 1)});
    means.push_back({.kernel = one_only<2>(d, 5, 4), .stride = 4});
    means.push_back({.kernel = 4, .stride = one_only<2>(d, 2, 4)});
    means.push_back({.kernel = 4, .padding = one_only<2>(d, 1, 0)});
    adaptive.push_back({.size = one_only<2>(d, 2, 1)});
    upsampled.push_back({.size = one_only<2>(d, 2, 1)});
  }
  expect_all_different("max_pooling", rules_of<detail::window_geometry<4>>(largest));
  expect_all_different("average_pooling", rules_of<detail::window_geometry<4>>(means));
  expect_all_different("adaptive pooling", rules_of<detail::adaptive_rule<4>>(adaptive));
  expect_all_different("upsampling", rules_of<detail::upsampling_rule<4>>(upsampled));
}

BOOST_AUTO_TEST_CASE(options_of_convolutions_differ_with_each_member) {
  using options = convolution_options<2>;
  std::vector<options> all{{.in_channels = 2},
                           {.in_channels = 4},
                           {.in_channels = 2, .out_channels = 2},
                           {.in_channels = 2, .groups = 2},
                           {.in_channels = 2, .bias = false},
                           {.in_channels = 2, .mode = padding_mode::reflect},
                           {.in_channels = 2, .initial = initial_values::zeros},
                           {.in_channels = 2, .seed = 1}};
  using transposed = transposed_convolution_options<2>;
  std::vector<transposed> back{{.in_channels = 2},
                               {.in_channels = 4},
                               {.in_channels = 2, .out_channels = 2},
                               {.in_channels = 2, .groups = 2},
                               {.in_channels = 2, .bias = false},
                               {.in_channels = 2, .seed = 1}};
  for (std::size_t d = 0; d < 2; ++d) {
    all.push_back({.in_channels = 2, .kernel = one_only<2>(d, 3, 0)});
    all.push_back({.in_channels = 2, .stride = one_only<2>(d, 2, 1)});
    all.push_back({.in_channels = 2, .padding = one_only<2>(d, 1, 0)});
    all.push_back({.in_channels = 2, .dilation = one_only<2>(d, 2, 1)});
    back.push_back({.in_channels = 2, .kernel = one_only<2>(d, 3, 0)});
    back.push_back({.in_channels = 2, .stride = one_only<2>(d, 2, 1)});
    back.push_back({.in_channels = 2, .padding = one_only<2>(d, 1, 0)});
    back.push_back({.in_channels = 2, .dilation = one_only<2>(d, 2, 1)});
    back.push_back({.in_channels = 2, .output_padding = one_only<2>(d, 1, 0)});
  }
  expect_all_different("convolution", all);
  expect_all_different("transposed_convolution", back);
}

BOOST_AUTO_TEST_CASE(options_of_the_other_layers_differ_with_each_member) {
  expect_all_different<batch_norm_options>("batch_norm", {{.channels = 4},
                                                          {.channels = 5},
                                                          {.channels = 4, .epsilon = 1e-4},
                                                          {.channels = 4, .momentum = 0.2},
                                                          {.channels = 4, .momentum = std::nullopt},
                                                          {.channels = 4, .affine = false},
                                                          {.channels = 4, .track = false},
                                                          {.channels = 4, .channel_cut = cut::at({1, 3})},
                                                          {.channels = 4, .channel_cut = cut::at({2, 2})}});
  expect_all_different<group_norm_options>("group_norm",
                                           {{.groups = 1, .channels = 4},
                                            {.groups = 2, .channels = 4},
                                            {.groups = 1, .channels = 5},
                                            {.groups = 1, .channels = 4, .epsilon = 1e-4},
                                            {.groups = 1, .channels = 4, .affine = false},
                                            {.groups = 1, .channels = 4, .channel_cut = cut::at({1, 3})}});
  expect_all_different<layer_norm_options<2>>(
      "layer_norm",
      {{.shape = {2, 3}}, {.shape = {3, 2}}, {.shape = {2, 3}, .epsilon = 1e-4}, {.shape = {2, 3}, .affine = false}});
  expect_all_different<dropout_options>("dropout", {{}, {.probability = 0.25}, {.seed = 1}});
  expect_all_different<cross_entropy_options>(
      "cross_entropy", {{}, {.reduction = loss_reduction::sum}, {.ignore_index = 0}, {.ignore_index = 1}});
  expect_all_different<smooth_l1_options>("smooth_l1", {{}, {.reduction = loss_reduction::sum}, {.beta = 2}});
  expect_all_different<kl_options>("kl", {{}, {.reduction = loss_reduction::sum}, {.log_target = true}});
  expect_all_different<poisson_nll_options>(
      "poisson_nll", {{}, {.reduction = loss_reduction::sum}, {.log_input = false}, {.epsilon = 1}});
  expect_all_different<embedding_options>("embedding",
                                          {{}, {.rows = 1}, {.columns = 1}, {.cut = embedding_cut::rows}, {.seed = 1}});
  expect_all_different<sgd_options>(
      "sgd",
      {{}, {.learning_rate = 1}, {.momentum = 0.5}, {.dampening = 0.5}, {.weight_decay = 0.5}, {.nesterov = true}});
  expect_all_different_of_adam<adam_options>("adam");
  expect_all_different_of_adam<adamw_options>("adamw");
}

BOOST_AUTO_TEST_CASE(layers_of_other_elements_or_options_have_other_fingerprints) {
  const dropout_options one, other{.seed = 1};
  const std::set<std::uint64_t> all{detail::layer_fingerprint<float>(one), detail::layer_fingerprint<double>(one),
                                    detail::layer_fingerprint<float>(other), detail::layer_fingerprint<double>(other)};
  BOOST_TEST(all.size() == 4U);
}

BOOST_AUTO_TEST_SUITE_END()
