// Options that are not given have the values that the headers and PyTorch's pages name.
#include "mpi_test.hpp"

#include <limits>
#include <partita/io/file_policy.hpp>
#include <partita/io/save_checkpoint.hpp>
#include <partita/kernel/sort.hpp>
#include <partita/kernel/sorted_numbers.hpp>
#include <partita/nn/batch_norm.hpp>
#include <partita/nn/convolution_options.hpp>
#include <partita/nn/cross_entropy.hpp>
#include <partita/nn/dropout.hpp>
#include <partita/nn/embedding.hpp>
#include <partita/nn/group_norm.hpp>
#include <partita/nn/layer_norm.hpp>
#include <partita/nn/loss.hpp>
#include <partita/nn/pooling.hpp>
#include <partita/nn/schedules.hpp>
#include <partita/nn/transposed_convolution.hpp>
#include <partita/nn/update_rule.hpp>
#include <partita/nn/upsampling.hpp>
#include <partita/sharded/attention.hpp>
#include <partita/sharded/convolve.hpp>
#include <partita/sharded/label_losses.hpp>
#include <partita/sharded/losses.hpp>
#include <partita/sharded/norms.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/pipeline.hpp>
#include <partita/sharded/pipeline_search.hpp>
#include <partita/sharded/scan_schedule.hpp>
#include <partita/sharded/sort_along.hpp>

using namespace partita;

namespace {

constexpr std::size_t all_bytes = std::numeric_limits<std::size_t>::max();

/// Whether an option of each dimension has this value in all of them.
template <class Option>
bool is(const Option& all, std::size_t number) {
  bool equal = true;
  for (const std::size_t one : all) equal = equal && one == number;
  return equal;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(options_that_are_not_given)

BOOST_AUTO_TEST_CASE(of_layers) {
  const linear_options line{};
  BOOST_TEST((line.in_features == 0 && line.out_features == 0 && line.bias && line.seed == 0));
  BOOST_TEST((line.initial == initial_values::uniform));
  const convolution_options<2> conv{};
  BOOST_TEST((conv.in_channels == 0 && conv.out_channels == 0 && conv.groups == 1 && conv.bias && conv.seed == 0));
  BOOST_TEST((is(conv.kernel, 0) && is(conv.stride, 1) && is(conv.padding, 0) && is(conv.dilation, 1)));
  BOOST_TEST((conv.mode == padding_mode::zeros && conv.initial == initial_values::uniform));
  const transposed_convolution_options<2> back{};
  BOOST_TEST((back.in_channels == 0 && back.out_channels == 0 && back.groups == 1 && back.bias && back.seed == 0));
  BOOST_TEST((is(back.kernel, 0) && is(back.stride, 1) && is(back.padding, 0) && is(back.dilation, 1)));
  BOOST_TEST(is(back.output_padding, 0));
  const batch_norm_options batch{};
  BOOST_TEST((batch.channels == 0 && batch.epsilon == 1e-5 && batch.momentum == 0.1 && batch.affine && batch.track));
  BOOST_TEST(!batch.channel_cut.has_value());
  const group_norm_options group{};
  BOOST_TEST((group.groups == 1 && group.channels == 0 && group.epsilon == 1e-5 && group.affine));
  BOOST_TEST(!group.channel_cut.has_value());
  const layer_norm_options<2> layer{};
  BOOST_TEST((layer.shape == std::array<std::size_t, 2>{} && layer.epsilon == 1e-5 && layer.affine));
  BOOST_TEST(!layer.cuts.has_value());
  BOOST_TEST((dropout_options{}.probability == 0.5 && dropout_options{}.seed == 0));
  const embedding_options table{};
  BOOST_TEST((table.rows == 0 && table.columns == 0 && table.cut == embedding_cut::columns && table.seed == 0));
  const max_pooling_options<2> most{};
  BOOST_TEST((is(most.kernel, 0) && !most.stride && is(most.padding, 0) && is(most.dilation, 1) && !most.ceil_mode));
  const average_pooling_options<2> mean{};
  BOOST_TEST((is(mean.kernel, 0) && !mean.stride && is(mean.padding, 0) && !mean.ceil_mode && mean.count_include_pad));
  BOOST_TEST(is(adaptive_pooling_options<2>{}.size, 0));
  const upsampling_options<2> larger{};
  BOOST_TEST((!larger.size && !larger.scale && larger.mode == upsampling_mode::nearest && !larger.align_corners));
}

BOOST_AUTO_TEST_CASE(of_losses_and_optimisers) {
  using enum loss_reduction;
  BOOST_TEST((loss_options{}.reduction == mean && cross_entropy_options{}.reduction == mean));
  BOOST_TEST(!cross_entropy_options{}.ignore_index.has_value());
  BOOST_TEST((smooth_l1_options{}.reduction == mean && smooth_l1_options{}.beta == 1));
  BOOST_TEST((kl_options{}.reduction == mean && !kl_options{}.log_target));
  const poisson_nll_options poisson{};
  BOOST_TEST((poisson.reduction == mean && poisson.log_input && poisson.epsilon == 1e-8));
  const sgd_options descent{};
  BOOST_TEST((descent.learning_rate == 0.01 && descent.momentum == 0 && descent.dampening == 0));
  BOOST_TEST((descent.weight_decay == 0 && !descent.nesterov));
  const auto is_adam = [](const auto& o, double decay) {
    return o.learning_rate == 0.001 && o.beta1 == 0.9 && o.beta2 == 0.999 && o.epsilon == 1e-8 &&
           o.weight_decay == decay && !o.amsgrad;
  };
  BOOST_TEST(is_adam(adam_options{}, 0));
  BOOST_TEST(is_adam(adamw_options{}, 0.01));
}

BOOST_AUTO_TEST_CASE(of_operations_on_sharded_tensors) {
  BOOST_TEST((!attention_options{}.causal && attention_options{}.scale == 0));
  const convolve_options<2> conv{};
  BOOST_TEST((is(conv.stride, 1) && is(conv.padding, 0) && is(conv.dilation, 1)));
  const convolve_transposed_options<2> back{};
  BOOST_TEST((is(back.stride, 1) && is(back.padding, 0) && is(back.output_padding, 0) && is(back.dilation, 1)));
  BOOST_TEST((margin{}.before == 0 && margin{}.after == 0));
  const local_response_options response{};
  BOOST_TEST((response.size == 5 && response.alpha == 1e-4 && response.beta == 0.75 && response.k == 1));
  BOOST_TEST((!sort_options{}.length && !sort_options{}.descending && !searchsorted_options{}.right));
  BOOST_TEST(!sort_direction{}.descending);
}

BOOST_AUTO_TEST_CASE(of_schedules_and_files) {
  const schedule_options steps{};
  BOOST_TEST((steps.memory == all_bytes && steps.pending == 4));
  const scan_options scanned{};
  BOOST_TEST((scanned.recompute_every == 0 && scanned.checkpoints == 0 && scanned.memory == 0));
  const pipeline_options line{};
  BOOST_TEST((line.rows == 0 && line.micro_batches == 1 && line.memory == all_bytes));
  BOOST_TEST((line.order == pipeline_order::one_forward_one_backward));
  BOOST_TEST(pipeline_search_options{}.memory == all_bytes);
  BOOST_TEST((pipeline_search_options{}.micro_batches == std::vector<std::size_t>{1, 2, 4, 8, 16, 32}));
  const file_options file{};
  BOOST_TEST((file.page_bytes == 4096 && file.owner_bytes == 65536 && file.run_bytes == 4096 && file.sync));
  const checkpoint_options saved{};
  BOOST_TEST((saved.keep_last == 0 && saved.slab_bytes == 4194304));
}

BOOST_AUTO_TEST_SUITE_END()
