// Group normalisation of a tensor that is partitioned in any way: each sample and each group of channels has its own
// statistics.
#pragma once

#include <cstddef>
#include <optional>
#include <partita/comm/fingerprint.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/nn/detail/normaliser.hpp>
#include <partita/nn/detail/scale_and_shift.hpp>
#include <partita/rule/kernel_dimensions.hpp>

namespace partita {

struct group_norm_options {
  std::size_t groups = 1;            ///< how many groups of channels; groups == channels is instance normalisation
  std::size_t channels = 0;          ///< the extent of dimension 1 of x
  double epsilon = 1e-5;             ///< added to the variance before its square root is taken
  bool affine = true;                ///< whether the layer multiplies by weight() and adds bias()
  std::optional<cut> channel_cut{};  ///< how the channels are split over the workers; balanced by default

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<5>(*this); }  ///< a hash of all members
};

/// y = (x - mean) / sqrt(variance + epsilon) * weight + bias, with mean and variance of each sample and group of
/// channels (Wu and He 2018), as in `group_norm<float, 4> n(p_x, {.groups = 4, .channels = 16})`.
/// Shapes: x is batch x channels x features, partitioned over p in any way, except that its channels are split as the
/// options say; one group may be spread over several workers. y is partitioned as x. weight() and bias() hold
/// the values of this worker's channels.
/// Requires: a number of channels that is a multiple of groups, and an x with these channels, split as the options say
/// [shape_error, on all workers].
/// Cost: one all_reduce of three numbers per sample and group among the workers that share samples. The adjoint
/// takes one all_reduce of two numbers per sample and group among these workers, and with `affine` one of two numbers
/// per channel among the workers that share channels.
/// Adjoint: adjoint(dy) returns dx, and adds gradients, summed over workers, to weight_gradient() and bias_gradient().
template <class T, std::size_t Rank = detail::rank_not_given>
class group_norm : public detail::scale_and_shift<T, 1> {
  static_assert(std::is_floating_point_v<T>, "partita::group_norm<T, Rank>: requires floating-point elements");
  static_assert(Rank >= 2, "partita::group_norm<T, Rank>: requires x of batch x channels x features, of rank >= 2");
  static constexpr const char* name = "partita::group_norm(p, options)(x)";  ///< the call in error messages

 public:
  template <class Extents>
  group_norm(const partition<Extents>& p, const group_norm_options& options)
      : detail::scale_and_shift<T, 1>({detail::part_of_channels(detail::erase_extents<Rank>(p), options, name).size()},
                                      options.affine, options.affine),
        layout_(detail::erase_extents<Rank>(p), name, detail::layer_fingerprint<T>(options)),
        normaliser_(detail::erase_extents<Rank>(p), kept_dimensions<Rank>(dimensions<0>),
                    kept_dimensions<Rank>(dimensions<1>), true),
        options_(options),
        channel_cut_(detail::cut_of_channels(options, p.grid().shape()[1], name)) {
    static_assert(Extents::rank() == Rank, "partita::group_norm<T, Rank>(p, options): requires p of the rank of x");
    if (options.groups == 0 || options.channels % options.groups != 0)
      throw shape_error(text(name) << ": requires channels that are a multiple of the groups, got " << options.channels
                                   << " channels in " << options.groups << " groups");
    detail::require_epsilon(name, options.epsilon);
  }

  template <class X>
  xt::xtensor<T, Rank> operator()(const X& x) {
    static_assert(detail::block_of_rank<X, T, Rank>(),
                  "partita::group_norm<T, Rank>(x): requires an xt::xtensor of elements T and of that rank");
    const xt::xtensor<T, Rank> block = block_on(layout_.p(), x);
    const auto shape = detail::shape_array<Rank>(block.shape());
    detail::require_channels(layout_.find_layout(shape, this->error_in_parameters(name)), channel_cut_, name);
    forward_done_ = true;
    set_element_maps(shape);
    const auto all = normaliser_.compute_moments(block);
    element_counts_.clear();
    for (const auto& m : all) element_counts_.push_back(m.count);
    return normaliser_.normalise(
        block, [&](std::size_t s) { return all[s].mean; },
        [&](std::size_t s) { return all[s].count > 0 ? all[s].squared_deviation_sum / all[s].count : 0; },
        options_.epsilon, this->weight_pointers());
  }
  template <class X>
  auto forward(const X& x) {  ///< the same as operator()
    return (*this)(x);
  }
  /// Returns dx for the last x, and adds gradients, summed over workers, to weight_gradient() and bias_gradient().
  template <class Y>
  xt::xtensor<T, Rank> adjoint(const Y& dy) {
    static_assert(detail::block_of_rank<Y, T, Rank>(),
                  "partita::group_norm<T, Rank>.adjoint(dy): requires an xt::xtensor of elements T and of that rank");
    const xt::xtensor<T, Rank> block = block_on(layout_.p(), dy);
    layout_.throw_together(
        normaliser_.error_in(block, layout_.p().active(), forward_done_, name, this->error_in_parameters(name)), 2);
    return normaliser_.adjoint(block, false, element_counts_, this->weight_pointers());
  }

  /// The range of the channels that this worker keeps; empty on a worker outside of p.
  interval channels() const { return detail::part_of_channels(layout_.p(), options_, name); }
  const group_norm_options& options() const { return options_; }

 private:
  /// Gives each sample of this block one statistic for each group of the whole tensor, because several workers may
  /// share a group.
  void set_element_maps(const std::array<std::size_t, Rank>& shape) {
    detail::element_map<Rank> statistics(shape, kept_dimensions<Rank>(all_dimensions_but<0>)),
        channel_map(shape, kept_dimensions<Rank>(all_dimensions_but<1>));
    const std::size_t each = options_.channels / options_.groups;
    for (std::size_t& s : statistics.offsets[0]) s *= options_.groups;
    for (std::size_t c = 0; c < shape[1]; ++c) statistics.offsets[1][c] = (channels().start + c) / each;
    statistics.count *= options_.groups;
    normaliser_.set_element_maps(std::move(statistics), std::move(channel_map));
  }

  detail::block_layout<Rank> layout_;       ///< finds the extents of x and the splits of its dimensions
  detail::normaliser<T, Rank> normaliser_;  ///< computes moments, results and gradients
  group_norm_options options_;
  cut channel_cut_;                     ///< the split of the channels over dimension 1 of p
  std::vector<double> element_counts_;  ///< for each statistic of the last x, its elements on all workers
  bool forward_done_ = false;           ///< whether the layer was called, as adjoint() requires
};

PARTITA_FALLBACK_LAYER(group_norm, group_norm_options) {
  static_assert(detail::dependent_false<Given...>,
                "partita::group_norm<T, Rank>(p, options): requires an element type and the rank of x; write "
                "group_norm<float, 4>(p, {.groups = ..., .channels = ...})");
}

}  // namespace partita
