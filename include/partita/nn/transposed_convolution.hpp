// The distributed transposed convolution, a layer that applies the adjoint of a convolution.
#pragma once

#include <cmath>
#include <partita/comm/fingerprint.hpp>
#include <partita/core/hash.hpp>
#include <partita/core/per_dimension.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/nn/convolution.hpp>

namespace partita {

/// The options of a transposed convolution. A convolution maps several sizes to the same size; `output_padding`, which
/// must be less than the stride, selects one of these sizes by adding cells at the end.
template <std::size_t Features>
struct transposed_convolution_options {
  std::size_t in_channels = 0;               ///< the number of channels of x
  std::size_t out_channels = 0;              ///< the number of channels of y
  per_dimension<Features> kernel{};          ///< the number of elements of the kernel along each dimension
  per_dimension<Features> stride = 1;        ///< the distance in cells of y between the kernels of two cells of x
  per_dimension<Features> padding{};         ///< the number of cells removed before and after the result
  per_dimension<Features> output_padding{};  ///< the number of cells added at the end of the result
  per_dimension<Features> dilation = 1;      ///< the distance in cells between two elements of the kernel
  std::size_t groups = 1;                    ///< each group of output channels reads its group of input channels only
  bool bias = true;                          ///< whether the layer has a bias
  std::uint64_t seed = 0;                    ///< the seed of the initial weights

  /// The options of the convolution of which the transposed convolution is the adjoint.
  constexpr convolution_options<Features> convolution() const {
    return {.in_channels = out_channels,
            .out_channels = in_channels,
            .kernel = kernel,
            .stride = stride,
            .padding = padding,
            .dilation = dilation,
            .groups = groups,
            .bias = false,
            .seed = seed};
  }

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<10>(*this); }  ///< a hash of all members
};

/// y = the adjoint of a convolution, applied to x, plus b: PyTorch's ConvTranspose1d, 2d and 3d on p = batch x 1 x
/// features.
/// Shapes:   x is batch x in x features, partitioned in any way along each dimension; y is batch x out x (n - 1) stride
///           - 2 padding + dilation (kernel - 1) + 1 + output_padding, balanced; W is in x out / groups x kernel; every
///           worker of p keeps all of W and b.
/// Requires: T float or double [compile time]; a p that does not split the channels [partition_error]; what a
///           convolution requires, an output_padding below the stride, an output of at least one cell [shape_error];
///           all errors on all workers.
/// Cost:     two exchanges: x is balanced over p, and outputs are summed where windows overlap. The adjoint reverses
///           both exchanges, and sums the gradients in one all_sum_reduce.
/// Adjoint:  adjoint(dy) returns dx, and adds gradients, summed over workers, to weight_gradient() and bias_gradient().
template <class T, std::size_t Features = detail::rank_not_given>
class transposed_convolution {
  static constexpr std::size_t rank = Features + 2;  ///< the number of dimensions of x, y and W
  using any_grid_shape = dynamic_extents<rank>;      ///< the extents of a partition of any grid shape
  using shape_type = std::array<std::size_t, rank>;  ///< of a tensor or of a block
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "partita::transposed_convolution<T, Features>: requires elements of type float or double");

 public:
  template <class X>
    requires(X::rank() == rank)
  transposed_convolution(const partition<X>& p, const transposed_convolution_options<Features>& options)
      : options_(require_output_padding(options)),
        p_(p),
        split_(detail::convolution_split_by_output(p_.grid(), options.convolution())),
        y_movement_({p_, split_}),
        x_movement_({p_, split_}),
        sum_gradients_(p_, all_dimensions_but<>) {
    const shape_type global_shape = options.convolution().weight_shape();
    weight_ = xt::zeros<T>(p_.active() ? global_shape : shape_type{});
    bias_ = xt::zeros<T>(std::array<std::size_t, 1>{p_.active() && options.bias ? options.out_channels : 0});
    weight_gradient_ = weight_, bias_gradient_ = bias_;
    const std::size_t fan_in = global_shape[1] * options.convolution().taps();
    const double bound = fan_in == 0 ? 0 : 1 / std::sqrt(static_cast<double>(fan_in));
    for (std::size_t k = 0; k < weight_.size(); ++k)
      weight_.data()[k] = detail::draw_uniform<T>(bound, options.seed, k);
    for (std::size_t k = 0; k < bias_.size(); ++k)
      bias_(k) = detail::draw_uniform<T>(bound, options.seed, volume_of(global_shape) + k);
  }

  template <ranked_array X>
    requires(rank_of<X> == rank && std::is_same_v<element_of<X>, T>)
  pooled_tensor<T, rank> operator()(const X& input) {
    forward_done_ = false;
    log_call("(x)");
    {
      const block_argument<X> argument(input);
      x_ = x_movement_.template forward<T>(argument.block(), {}, "(x)", detail::local_error(weights_error())).finish();
    }
    // Computes the shapes of this worker's block of y, and of the window of y to which its block of x contributes.
    const shape_type of_y = extents_of_y(x_movement_.last_call_cuts().extents());
    const auto cuts = decomposition<rank>::balanced(of_y, p_.grid().shape());
    y_shape_ = p_.active() ? cuts.shape(p_.index()) : shape_type{};
    if (prepared_extents_.add_new_extents(of_y)) y_movement_.template prepare<T>(y_shape_, "(x)", {});
    window_shape_ = {};
    if (p_.active()) {
      const auto part = split_.part_of_x(p_.index());
      const auto windows = split_.windows_of_x(of_y);
      for (std::size_t d = 0; d < rank; ++d) window_shape_[d] = windows[d][part[d]].size();
    }
    // The local adjoint convolution computes the window of y; the exchange adds windows into the blocks of y.
    auto y_window = detail::uninitialised_tensor<T, rank>(y_movement_.memory(), window_shape_);
    if (p_.active()) local_convolver().adjoint(x_.data(), weight_.data(), y_window.data());
    auto y = y_movement_.template backward<T>(block_of(std::as_const(y_window)), {}, "(x)", {}).finish();
    const std::size_t cells = y_shape_[0] * y_shape_[1] == 0 ? 0 : volume_of(y_shape_) / (y_shape_[0] * y_shape_[1]);
    for (std::size_t k = 0; bias_.size() > 0 && k < y.size(); ++k) y.data()[k] += bias_(k / cells % bias_.size());
    forward_done_ = true;
    return y;
  }
  /// Returns dx for the last x, and adds gradients, summed over workers, to weight_gradient() and bias_gradient().
  template <ranked_array Y>
    requires(rank_of<Y> == rank && std::is_same_v<element_of<Y>, T>)
  pooled_tensor<T, rank> adjoint(const Y& dy) {
    text error_message = weights_error();
    if (!forward_done_)
      error_message =
          "partita::transposed_convolution.adjoint(dy): requires a forward call before; call layer(x) first";
    else if (p_.active() && detail::shape_array<rank>(dy.shape()) != y_shape_)
      error_message << "partita::transposed_convolution.adjoint(dy): requires dy of the shape of the last result "
                    << y_shape_ << ", got " << detail::shape_array<rank>(dy.shape());
    log_call(".adjoint(dy)");
    const detail::dense_argument<Y> argument(dy);
    const auto there = y_movement_
                           .template forward<T>(dense_block<const T, rank>(argument.data(), argument.shape()), {},
                                                ".adjoint(dy)", detail::local_error(error_message))
                           .finish();
    auto dx = detail::uninitialised_tensor<T, rank>(x_movement_.memory(), detail::shape_array<rank>(x_.shape()));
    xt::xtensor<T, 1> own = xt::zeros<T>(std::array<std::size_t, 1>{weight_.size() + bias_.size()});
    if (p_.active()) {
      local_convolver().forward(there.data(), weight_.data(), nullptr, dx.data());
      local_convolver().gradients(there.data(), x_.data(), own.data(), nullptr);
      const std::size_t n = argument.shape()[0] * argument.shape()[1], all = volume_of(argument.shape());
      for (std::size_t k = 0; bias_.size() > 0 && k < all; ++k)
        own(weight_.size() + k / (all / n) % bias_.size()) += argument.data()[k];
    }
    auto result = x_movement_.template backward<T>(block_of(std::as_const(dx)), {}, ".adjoint(dy)", {}).finish();
    const auto sum = sum_gradients_(own);
    for (std::size_t k = 0; k < weight_.size(); ++k) weight_gradient_.data()[k] += sum.data()[k];
    for (std::size_t k = 0; k < bias_.size(); ++k) bias_gradient_(k) += sum.data()[weight_.size() + k];
    return result;
  }

  /// The weights, the bias and their gradients. All four are equal on all workers of p and empty on other workers; a
  /// program may assign tensors of the same shapes.
  xt::xtensor<T, rank>& weight() { return weight_; }
  xt::xtensor<T, 1>& bias() { return bias_; }                           ///< one element for each channel of y
  xt::xtensor<T, rank>& weight_gradient() { return weight_gradient_; }  ///< accumulated by adjoint()
  xt::xtensor<T, 1>& bias_gradient() { return bias_gradient_; }         ///< accumulated by adjoint()
  const transposed_convolution_options<Features>& options() const { return options_; }
  void zero_gradients() {
    weight_gradient_.fill(T(0));
    bias_gradient_.fill(T(0));
  }
  std::vector<parameter<T>> parameters() { return {{weight_, weight_gradient_}, {bias_, bias_gradient_}}; }

 private:
  /// Makes the workers compare the layer's options at the next agreement.
  void log_call(const char* call) const {
    p_.world().state()->log_local_operation(hasher(detail::layer_fingerprint<T>(options_)).mix(call).value(),
                                            "transposed_convolution");
  }
  /// Returns the options; throws a shape_error unless each output_padding is less than the stride.
  static const transposed_convolution_options<Features>& require_output_padding(
      const transposed_convolution_options<Features>& options) {
    for (std::size_t f = 0; f < Features; ++f)
      if (options.output_padding[f] >= options.stride[f])
        throw shape_error(text("partita::transposed_convolution(p, options): requires an output_padding below the "
                               "stride, got ")
                          << options.output_padding[f] << " of " << options.stride[f] << " along dimension " << f
                          << " of the features");
    return options;
  }
  /// The extents of the global y for a global x of extents x.
  shape_type extents_of_y(const shape_type& x) const {
    shape_type y{x[0], options_.out_channels};
    for (std::size_t f = 0; f < Features; ++f) {
      const sliding along = split_.options().along(f);
      y[2 + f] = transposed_extent(along, x[2 + f], options_.output_padding[f]);
      if (y[2 + f] == 0)
        throw shape_error(text("partita::transposed_convolution(x): requires an output of at least one cell, and of no "
                               "more than can be counted, got x of extents ")
                          << x << ", a stride of " << along.stride << " and a padding of " << along.padding
                          << " along dimension " << f << " of the features");
    }
    product_of(y, "partita::transposed_convolution(x)");
    return y;
  }
  /// The error message if assigned weights, bias or gradients have wrong shapes; empty if they fit.
  text weights_error() const {
    const shape_type wanted = p_.active() ? options_.convolution().weight_shape() : shape_type{};
    const std::size_t bias_count = p_.active() && options_.bias ? options_.out_channels : 0;
    const auto fits = [&](const auto& block) { return detail::can_replace_shape(block.shape(), wanted); };
    if (fits(weight_) && fits(weight_gradient_) && bias_.size() == bias_count && bias_gradient_.size() == bias_count)
      return {};
    return text("partita::transposed_convolution: requires weights of the shape ")
           << wanted << ", and a bias and gradients that fit; got weights "
           << detail::shape_array<rank>(weight_.shape()) << "; assign blocks of the shapes that they replace";
  }
  detail::convolver<T, Features> local_convolver() const {  ///< for this worker's part of the last x
    return detail::convolver<T, Features>(
        detail::local_convolution_of(split_, p_.index(), window_shape_, detail::shape_array<rank>(x_.shape())));
  }

  transposed_convolution_options<Features> options_;
  partition<any_grid_shape> p_;                ///< the partition of x and y
  detail::convolution_split<Features> split_;  ///< of the convolution whose adjoint this layer applies; its x is our y
  detail::window_movement<detail::convolution_planner<Features, true>> y_movement_;   ///< sums windows to blocks of y
  detail::window_movement<detail::convolution_planner<Features, false>> x_movement_;  ///< gives workers the x they need
  all_sum_reduce<any_grid_shape> sum_gradients_;                                      ///< sums over all workers of p
  detail::prepared_extents<rank> prepared_extents_;  ///< the extents of the last tensors y with a prepared exchange
  bool forward_done_ = false;                        ///< whether the last forward call succeeded
  xt::xtensor<T, rank> weight_, weight_gradient_;    ///< the whole W, and its gradient
  xt::xtensor<T, 1> bias_, bias_gradient_;           ///< the whole bias, and its gradient
  pooled_tensor<T, rank> x_;               ///< what this worker multiplies of the last x, kept for the adjoint
  shape_type window_shape_{}, y_shape_{};  ///< shapes of the window of y that x_ contributes to, and of the block of y
};

PARTITA_FALLBACK_LAYER(convolution, convolution_options<2>) {
  static_assert(
      detail::dependent_false<Given...>,
      "partita::convolution<T, Features>: requires an element type and how many dimensions of features there are; "
      "write convolution<float, 2>(p, {.in_channels = ..., .out_channels = ..., .kernel = {3, 3}})");
}

PARTITA_FALLBACK_LAYER(transposed_convolution, transposed_convolution_options<2>) {
  static_assert(detail::dependent_false<Given...>,
                "partita::transposed_convolution<T, Features>: requires an element type and how many dimensions of "
                "features there are; write transposed_convolution<float, 2>(p, {.in_channels = ..., .out_channels = "
                "..., .kernel = {2, 2}})");
}

}  // namespace partita
