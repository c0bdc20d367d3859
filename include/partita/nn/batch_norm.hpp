// Batch normalisation of a tensor that is partitioned in any way. In training, mean and variance are those of the whole
// batch, not those of the block of one worker.
#pragma once

#include <cstddef>
#include <optional>
#include <partita/comm/fingerprint.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/nn/detail/normaliser.hpp>
#include <partita/nn/detail/scale_and_shift.hpp>
#include <partita/rule/kernel_dimensions.hpp>
#include <vector>

namespace partita {

struct batch_norm_options {
  std::size_t channels = 0;  ///< the extent of dimension 1 of x
  double epsilon = 1e-5;     ///< added to the variance before its square root is taken
  /// The weight of a new batch in the running statistics, as in PyTorch. With momentum 0 the running statistics never
  /// change; without a momentum they are the averages over all training batches so far.
  std::optional<double> momentum = 0.1;
  bool affine = true;                ///< whether the layer multiplies by weight() and adds bias()
  bool track = true;                 ///< whether the layer keeps running statistics, which evaluation mode uses
  std::optional<cut> channel_cut{};  ///< how the channels are split over the workers; balanced by default

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<6>(*this); }  ///< a hash of all members
};

/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias, with mean and variance of each channel over batch and
/// features, as in `batch_norm<float, 4> n(p_x, {.channels = 16})`. The layer starts in training mode.
/// Shapes: x is batch x channels x features, of rank Rank >= 2, partitioned over p in any way, except that its
/// channels are split as the options say; y is partitioned as x. weight(), bias(), running_mean() and
/// running_variance() hold the values of this worker's channels, are the same on all workers with these
/// channels, and are empty on a worker outside of p.
/// Requires: an x whose channels have the number and the split that the options say, and in training more than one
/// element in each channel [shape_error, on all workers].
/// Cost: one all_reduce of three numbers per channel among the workers that share channels (count, mean and sum of
/// squared deviations, merged pairwise); in evaluation with `track` an agreement instead. The adjoint takes one
/// all_reduce of two numbers per channel.
/// Adjoint: adjoint(dy) returns dx, and adds gradients, summed over workers, to weight_gradient() and bias_gradient().
template <class T, std::size_t Rank = detail::rank_not_given>
class batch_norm : public detail::scale_and_shift<T, 1> {
  static_assert(std::is_floating_point_v<T>, "partita::batch_norm<T, Rank>: requires floating-point elements");
  static_assert(Rank >= 2, "partita::batch_norm<T, Rank>: requires x of batch x channels x features, of rank >= 2");
  static constexpr auto channel_dimension = kept_dimensions<Rank>(all_dimensions_but<1>);  ///< marks dimension 1
  static constexpr auto non_channel_dimensions = kept_dimensions<Rank>(dimensions<1>);     ///< batch and features
  static constexpr const char* name = "partita::batch_norm(p, options)(x)";  ///< the call in error messages

 public:
  template <class Extents>
  batch_norm(const partition<Extents>& p, const batch_norm_options& options)
      : detail::scale_and_shift<T, 1>({detail::part_of_channels(detail::erase_extents<Rank>(p), options, name).size()},
                                      options.affine, options.affine),
        layout_(detail::erase_extents<Rank>(p), name, detail::layer_fingerprint<T>(options)),
        normaliser_(detail::erase_extents<Rank>(p), non_channel_dimensions, non_channel_dimensions, true),
        options_(options),
        channel_cut_(detail::cut_of_channels(options, p.grid().shape()[1], name)) {
    static_assert(Extents::rank() == Rank, "partita::batch_norm<T, Rank>(p, options): requires p of the rank of x");
    detail::require_epsilon(name, options.epsilon);
    if (options.momentum && !(*options.momentum >= 0 && *options.momentum <= 1))
      throw shape_error(text(name) << ": requires a momentum from 0 to 1, the share of a new batch");
    const std::size_t kept = options.track ? channels().size() : 0;
    running_mean_ = uninitialised<double, 1>({kept});
    running_variance_ = uninitialised<double, 1>({kept});
    running_mean_.fill(0), running_variance_.fill(1);
  }

  template <class X>
  xt::xtensor<T, Rank> operator()(const X& x) {
    static_assert(detail::block_of_rank<X, T, Rank>(),
                  "partita::batch_norm<T, Rank>(x): requires an xt::xtensor of elements T and of that rank");
    const xt::xtensor<T, Rank> block = block_on(layout_.p(), x);
    const auto shape = detail::shape_array<Rank>(block.shape());
    const auto& tensor = layout_.find_layout(shape, this->error_in_parameters(name));
    std::size_t elements_per_channel = 1;
    for (std::size_t d = 0; d < Rank; ++d) elements_per_channel *= d == 1 ? 1 : tensor.extents[d];
    require_trainable(tensor, elements_per_channel);
    forward_done_ = true;
    normaliser_.set_element_maps({shape, channel_dimension}, {shape, channel_dimension});
    uses_running_stats_ = !training_ && options_.track;
    if (uses_running_stats_)
      return normaliser_.normalise(
          block, [&](std::size_t c) { return running_mean_(c); }, [&](std::size_t c) { return running_variance_(c); },
          options_.epsilon, this->weight_pointers());
    const auto all = normaliser_.compute_moments(block);
    element_counts_.assign(all.size(), static_cast<double>(elements_per_channel));
    if (training_ && options_.track) update_running_moments(all);
    return normaliser_.normalise(
        block, [&](std::size_t c) { return all[c].mean; },
        [&](std::size_t c) { return all[c].squared_deviation_sum / all[c].count; }, options_.epsilon,
        this->weight_pointers());
  }
  template <class X>
  auto forward(const X& x) {  ///< the same as operator()
    return (*this)(x);
  }
  /// Returns dx for the last x, and adds gradients, summed over workers, to weight_gradient() and bias_gradient().
  template <class Y>
  xt::xtensor<T, Rank> adjoint(const Y& dy) {
    static_assert(detail::block_of_rank<Y, T, Rank>(),
                  "partita::batch_norm<T, Rank>.adjoint(dy): requires an xt::xtensor of elements T and of that rank");
    const xt::xtensor<T, Rank> block = block_on(layout_.p(), dy);
    layout_.throw_together(
        normaliser_.error_in(block, layout_.p().active(), forward_done_, name, this->error_in_parameters(name)), 2);
    return normaliser_.adjoint(block, uses_running_stats_, element_counts_, this->weight_pointers());
  }

  /// After train() the layer uses the statistics of each batch, and with `track` updates the running statistics. After
  /// evaluate() it uses the running statistics (without `track`, those of the batch).
  void train() { training_ = true; }
  void evaluate() { training_ = false; }       ///< the next calls use the running statistics if there are any
  bool training() const { return training_; }  ///< whether the layer is in training mode, as it is initially

  /// The running statistics, which are empty without `track`. The running variance averages unbiased estimates of the
  /// variance, with the factor n / (n - 1), as in PyTorch.
  xt::xtensor<double, 1>& running_mean() { return running_mean_; }
  xt::xtensor<double, 1>& running_variance() { return running_variance_; }  ///< for each channel of this worker
  /// The range of the channels that this worker keeps; empty on a worker outside of p.
  interval channels() const { return detail::part_of_channels(layout_.p(), options_, name); }
  const batch_norm_options& options() const { return options_; }

 private:
  /// Throws an error if the norm does not accept x; `tensor` is equal on all workers, so all throw the same error.
  void require_trainable(const detail::tensor_layout<Rank>& tensor, std::size_t elements_per_channel) const {
    detail::require_channels(tensor, channel_cut_, name);
    if (training_ && elements_per_channel <= 1)
      throw shape_error(
          text(name) << ": requires more than one element in each channel when training, got x of extents "
                     << tensor.extents << "; one element has no variance");
  }
  /// Counts one more batch, and moves the running statistics towards those of this batch.
  void update_running_moments(const std::vector<detail::moments>& all) {
    ++batch_count_;
    const double share = options_.momentum ? *options_.momentum : 1 / static_cast<double>(batch_count_);
    for (std::size_t c = 0; c < all.size() && c < running_mean_.size(); ++c) {
      running_mean_(c) += share * (all[c].mean - running_mean_(c));
      running_variance_(c) += share * (all[c].squared_deviation_sum / (all[c].count - 1) - running_variance_(c));
    }
  }

  detail::block_layout<Rank> layout_;       ///< finds the extents of x and the splits of its dimensions
  detail::normaliser<T, Rank> normaliser_;  ///< computes moments, results and gradients
  batch_norm_options options_;
  cut channel_cut_;                                         ///< the split of the channels over dimension 1 of p
  xt::xtensor<double, 1> running_mean_, running_variance_;  ///< for each channel of this worker; empty without `track`
  std::vector<double> element_counts_;  ///< elements of each channel in the whole x that last gave the statistics
  std::size_t batch_count_ = 0;         ///< the number of batches in the running statistics
  /// The mode now, whether the last call used the running statistics, and whether the layer was called.
  bool training_ = true, uses_running_stats_ = false, forward_done_ = false;
};

/// Fallback for `batch_norm layer(p, options)` without an element type: a compile-time error with a readable message.
template <std::size_t Rank>
class batch_norm<detail::element_type_not_given, Rank> {
 public:
  template <class P>
  batch_norm(const partition<P>&, const batch_norm_options& = {}) {
    static_assert(
        detail::dependent_false<P>,
        "partita::batch_norm<T, Rank>(p, options): requires an element type and a rank, which partitions do not "
        "tell; write batch_norm<float, 4>(p, {.channels = ...})");
  }
};
/// Deduces the fallback class for a call without an element type.
template <class P>
batch_norm(const partition<P>&, const batch_norm_options& = {})
    -> batch_norm<detail::element_type_not_given, P::rank()>;

PARTITA_FALLBACK_LAYER(batch_norm, batch_norm_options) {
  static_assert(detail::dependent_false<Given...>,
                "partita::batch_norm<T, Rank>(p, options): requires an element type and the rank of x; write "
                "batch_norm<float, 4>(p, {.channels = ...})");
}

}  // namespace partita
