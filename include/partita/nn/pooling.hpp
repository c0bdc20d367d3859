// The pooling layers: the largest element or the mean of each window of a tensor that is partitioned in any way.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <partita/core/per_dimension.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/nn/detail/max_of_taps.hpp>
#include <partita/nn/detail/windowed.hpp>

namespace partita {

/// Options of max pooling over D feature dimensions. Without a stride, the stride is the kernel.
template <std::size_t D>
struct max_pooling_options {
  per_dimension<D> kernel{};                 ///< the number of elements of a window along each dimension
  std::optional<per_dimension<D>> stride{};  ///< cells between the starts of two windows; by default the kernel
  per_dimension<D> padding{};                ///< the number of cells added before and after the tensor
  per_dimension<D> dilation = 1;             ///< the distance in cells between two elements of a window
  bool ceil_mode = false;  ///< whether a last window, cut off by the end of the dimension, covers the remaining cells
};
/// Options of average pooling; those with the names of members of max_pooling_options have the same meaning.
template <std::size_t D>
struct average_pooling_options {
  per_dimension<D> kernel{};                 ///< the number of elements of a window along each dimension
  std::optional<per_dimension<D>> stride{};  ///< cells between the starts of two windows; by default the kernel
  per_dimension<D> padding{};                ///< the number of cells added before and after the tensor
  bool ceil_mode = false;                    ///< whether a last, shorter window covers the remaining cells
  /// whether the divisor of a mean also counts the window's cells in the padding, not only those in the tensor
  bool count_include_pad = true;
};
/// The number of outputs along each feature dimension, for any extents of x.
template <std::size_t D>
struct adaptive_pooling_options {
  per_dimension<D> size{};  ///< the number of outputs along each dimension
};

namespace detail {

/// The windows of max and average pooling: a kernel slides over the features; batch and channels are not changed.
template <std::size_t Rank>
class window_geometry {
  static constexpr std::size_t feature_dims = feature_dims_of_rank<Rank>;  ///< the number of feature dimensions

 public:
  template <class Options>
  window_geometry(const char* name, const Options& options) : name_(name) {
    for (std::size_t d = 0; d < feature_dims; ++d) {
      sliding& s = kernels_[d];
      s = {.kernel = options.kernel[d],
           .stride = options.stride ? (*options.stride)[d] : options.kernel[d],
           .padding = options.padding[d],
           .dilation = 1,
           .ceil_mode = options.ceil_mode};
      if constexpr (requires { options.dilation; }) s.dilation = options.dilation[d];
      if constexpr (requires { options.count_include_pad; }) includes_padding_ = options.count_include_pad;
      for (const std::size_t n : {s.kernel, s.stride, s.dilation})
        if (n == 0 || n > most)
          throw shape_error(text(name) << ": requires kernels, strides and dilations of 1 to " << most << ", got " << n
                                       << " along feature dimension " << d << "; numbers must not be negative");
      if (s.padding > s.kernel / 2)
        throw shape_error(text(name) << ": requires a padding of at most half the kernel, " << s.kernel / 2 << ", got "
                                     << s.padding << " along feature dimension " << d
                                     << "; else a window could hold nothing");
    }
  }
  const char* name() const { return name_; }  ///< the call in error messages
  std::uint64_t fingerprint() const {
    std::uint64_t hash = includes_padding_ ? 1 : 2;
    for (const sliding& s : kernels_)
      for (const std::size_t n : {s.kernel, s.stride, s.padding, s.dilation, std::size_t{s.ceil_mode}})
        hash = mixed(hash, n);
    return hash;
  }
  /// The error message if windows do not fit into an x of these extents; empty if they fit.
  text error_message(const std::array<std::size_t, Rank>& extents) const {
    text problem;
    for (std::size_t d = 0; d < feature_dims && problem.empty(); ++d)
      if (kernels_[d].output_extent(extents[d + 2]) == 0)
        problem << "requires windows of at most the padded tensor, got one of " << kernels_[d].reach()
                << " cells along dimension " << d + 2 << " of extents " << extents << " with a padding of "
                << kernels_[d].padding;
    return problem;
  }
  /// The extents of y for an x of these extents.
  std::array<std::size_t, Rank> outputs(const std::array<std::size_t, Rank>& extents) const {
    auto all = extents;
    for (std::size_t d = 0; d < feature_dims; ++d) all[d + 2] = kernels_[d].output_extent(extents[d + 2]);
    return all;
  }
  /// The taps of outputs along dimension d, in which x has the extent n.
  taps taps_of(std::size_t d, interval outputs, std::size_t n) const {
    return d < 2 ? taps_of_identity(outputs) : taps_of_window(kernels_[d - 2], outputs, n, includes_padding_);
  }

 private:
  static constexpr std::size_t most = std::size_t{1} << 40U;  // chosen: products of two do not overflow

  const char* name_;                             ///< the call in error messages
  std::array<sliding, feature_dims> kernels_{};  ///< the kernel along each feature dimension
  bool includes_padding_ = true;                 ///< whether the divisor of a mean counts cells in the padding
};
#ifdef PARTITA_CORE
#define PARTITA_POOLING_MOVEMENTS(EXTERN) \
  PARTITA_INSTANTIATE_BOX_MOVEMENT(EXTERN, window_exchange_planner<window_planner<window_geometry<4>, 4>>)
PARTITA_POOLING_MOVEMENTS(extern)
#endif

/// The windows of adaptive pooling: `size` of them along each feature dimension, adjacent or overlapping by one cell.
template <std::size_t Rank>
class adaptive_rule {
  static constexpr std::size_t feature_dims = feature_dims_of_rank<Rank>;  ///< the number of feature dimensions

 public:
  adaptive_rule(const char* name, const adaptive_pooling_options<feature_dims>& options)
      : name_(name), options_(options) {
    for (std::size_t d = 0; d < feature_dims; ++d)
      if (options.size[d] == 0 || options.size[d] > std::size_t{1} << 40U)  // chosen: products of two do not overflow
        throw shape_error(
            text(name) << ": requires at least one output along each dimension of the features, at most 2^40, got "
                       << options.size << "; numbers must not be negative");
  }
  const char* name() const { return name_; }  ///< the call in error messages
  std::uint64_t fingerprint() const {
    std::uint64_t hash = 3;
    for (const std::size_t n : options_.size) hash = mixed(hash, n);
    return hash;
  }
  /// The error message if an x of these extents has no features; empty if it has features.
  text error_message(const std::array<std::size_t, Rank>& extents) const {
    text problem;
    for (std::size_t d = 2; d < Rank; ++d)
      if (extents[d] == 0) problem = text("requires features, got extents ") << extents;
    return problem;
  }
  /// The extents of y for an x of these extents.
  std::array<std::size_t, Rank> outputs(const std::array<std::size_t, Rank>& extents) const {
    auto all = extents;
    std::copy(options_.size.begin(), options_.size.end(), all.begin() + 2);
    return all;
  }
  /// The taps of outputs along dimension d, in which x has the extent n.
  taps taps_of(std::size_t d, interval outputs, std::size_t n) const {
    return d < 2 ? taps_of_identity(outputs) : taps_of_adaptive_window(outputs, n, options_.size[d - 2]);
  }

 private:
  const char* name_;                                ///< the call in error messages
  adaptive_pooling_options<feature_dims> options_;  ///< the number of windows along each dimension
};

}  // namespace detail

/// y = the largest element in each window, as in `max_pooling m(p_x, {.kernel = {2, 2}})`. Of equal elements, the
/// gradient goes to the first in C order.
/// Shapes:   x is batch x channels x features, partitioned over p in any way; y has the same batch and channels and
///           floor((n + 2 padding - dilation (kernel - 1) - 1) / stride) + 1 features along each dimension (with
///           `ceil_mode`, ceil as in PyTorch, not floor), balanced over p. An inactive worker gets a copy of its input.
/// Requires: p of the rank of x, which is at least 3 [compile time]; kernel, stride and dilation of at least 1, padding
///           of at most half the kernel, windows not larger than the padded tensor [shape_error, on all workers].
/// Cost:     a worker receives the cells of its windows that it does not own from their owners, in at most one message
///           per pair of workers, or on one node by shared memory without messages. If every worker owns all cells of
///           its windows, no cell is sent. The adjoint costs the same as the forward call.
/// Adjoint:  adjoint(dy) adds each element of dy to the gradient of the element of x that the last call chose.
template <class Extents>
class max_pooling
    : public detail::windowed_layer<detail::window_geometry<Extents::rank()>, Extents, detail::max_of_taps> {
  static_assert(Extents::rank() >= 3, "partita::max_pooling(p, options): requires p = batch x channels x features");
  using options_type = max_pooling_options<detail::feature_dims_of_rank<Extents::rank()>>;

 public:
  max_pooling(const partition<Extents>& p, const options_type& options)
      : detail::windowed_layer<detail::window_geometry<Extents::rank()>, Extents, detail::max_of_taps>(
            p, {"partita::max_pooling(p, options)", options}) {}
};

/// y = the mean of the elements in each window: `average_pooling a(p_x, {.kernel = {2, 2}})`; shapes, requirements and
/// cost are those of max_pooling. The adjoint divides each element of dy by the divisor of its window, and adds the
/// quotient to the gradients of all elements of the window.
template <class Extents>
class average_pooling
    : public detail::windowed_layer<detail::window_geometry<Extents::rank()>, Extents, detail::weighted_taps> {
  static_assert(Extents::rank() >= 3, "partita::average_pooling(p, options): requires p = batch x channels x features");
  using options_type = average_pooling_options<detail::feature_dims_of_rank<Extents::rank()>>;

 public:
  average_pooling(const partition<Extents>& p, const options_type& options)
      : detail::windowed_layer<detail::window_geometry<Extents::rank()>, Extents, detail::weighted_taps>(
            p, {"partita::average_pooling(p, options)", options}) {}
};

/// Average pooling with a given number of outputs. Output o of m is the mean of the inputs from floor(o n / m) to
/// before ceil((o + 1) n / m), as in `adaptive_average_pooling a(p_x, {.size = {1, 1}})`.
template <class Extents>
class adaptive_average_pooling
    : public detail::windowed_layer<detail::adaptive_rule<Extents::rank()>, Extents, detail::weighted_taps> {
  static_assert(Extents::rank() >= 3,
                "partita::adaptive_average_pooling(p, options): requires p = batch x channels x features");
  using options_type = adaptive_pooling_options<detail::feature_dims_of_rank<Extents::rank()>>;

 public:
  adaptive_average_pooling(const partition<Extents>& p, const options_type& options)
      : detail::windowed_layer<detail::adaptive_rule<Extents::rank()>, Extents, detail::weighted_taps>(
            p, {"partita::adaptive_average_pooling(p, options)", options}) {}
};
/// Max pooling with a given number of outputs, whose windows are those of adaptive_average_pooling.
template <class Extents>
class adaptive_max_pooling
    : public detail::windowed_layer<detail::adaptive_rule<Extents::rank()>, Extents, detail::max_of_taps> {
  static_assert(Extents::rank() >= 3,
                "partita::adaptive_max_pooling(p, options): requires p = batch x channels x features");
  using options_type = adaptive_pooling_options<detail::feature_dims_of_rank<Extents::rank()>>;

 public:
  adaptive_max_pooling(const partition<Extents>& p, const options_type& options)
      : detail::windowed_layer<detail::adaptive_rule<Extents::rank()>, Extents, detail::max_of_taps>(
            p, {"partita::adaptive_max_pooling(p, options)", options}) {}
};

PARTITA_FALLBACK_CLASS(max_pooling, detail::arguments_not_given) {
  static_assert(detail::dependent_false<Given...>,
                "partita::max_pooling(p, options): requires a partition, and options that say their names; write "
                "max_pooling(p, {.kernel = {2, 2}})");
}

PARTITA_FALLBACK_CLASS(average_pooling, detail::arguments_not_given) {
  static_assert(detail::dependent_false<Given...>,
                "partita::average_pooling(p, options): requires a partition, and options that say their names; write "
                "average_pooling(p, {.kernel = {2, 2}})");
}

PARTITA_FALLBACK_CLASS(adaptive_average_pooling, detail::arguments_not_given) {
  static_assert(detail::dependent_false<Given...>,
                "partita::adaptive_average_pooling(p, options): requires a partition, and options that say their "
                "names; write adaptive_average_pooling(p, {.size = {1, 1}})");
}

PARTITA_FALLBACK_CLASS(adaptive_max_pooling, detail::arguments_not_given) {
  static_assert(detail::dependent_false<Given...>,
                "partita::adaptive_max_pooling(p, options): requires a partition, and options that say their names; "
                "write adaptive_max_pooling(p, {.size = {1, 1}})");
}

}  // namespace partita
