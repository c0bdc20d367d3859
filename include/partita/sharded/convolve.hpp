// Convolution and transposed convolution as functions of tensors; batch, channels and features may be sharded in any
// combination.
#pragma once

#include <array>
#include <cstddef>
#include <partita/sharded/detail/convolve_operations.hpp>
#include <partita/sharded/operations.hpp>

namespace partita {

/// The window geometry of filters over `D` feature dimensions. The zero padding surrounds the whole tensor, not each
/// block.
template <std::size_t D>
struct convolve_options {
  per_dimension<D> stride = 1;    ///< the distance between neighbouring windows, in cells of x
  per_dimension<D> padding{};     ///< the number of zero cells before and after x, along each feature dimension
  per_dimension<D> dilation = 1;  ///< the distance between neighbouring elements of a filter, in cells of x
};
/// The options of a transposed convolution. `output_padding`, a number below the stride, adds cells at the end of the
/// result along each feature dimension.
template <std::size_t D>
struct convolve_transposed_options {
  per_dimension<D> stride = 1;        ///< the distance in y between the filters of neighbouring cells of x
  per_dimension<D> padding{};         ///< the number of cells that are cut off before and after y
  per_dimension<D> output_padding{};  ///< cells that are added at the end of y along each feature; below the stride
  per_dimension<D> dilation = 1;      ///< the distance between neighbouring elements of a filter, in cells of y
};

namespace detail {

template <std::size_t D, class X>
consteval bool has_feature_rank() {  ///< whether X has rank D + 2, or a rank known only at run time
  return static_rank<X>() == D + 2 || static_rank<X>() == dynamic;
}

template <std::size_t D>
void require_features(const char* call, const shape_list& x, const shape_list& w) {  ///< throws unless of rank D + 2
  if (x.size() != D + 2 || w.size() != D + 2)
    throw shape_error(text(call) << ": requires images batch x channels x " << D << " features and filters out x in x "
                                 << D << " features, got " << x << " and " << w);
}
/// The options of the layer `convolution` whose filters have the shape `w`.
template <std::size_t D, std::size_t Groups, class Options>
convolution_options<D> make_options(const char* call, const shape_list& w, const Options& options) {
  convolution_options<D> o;
  o.in_channels = w[1] * Groups, o.out_channels = w[0], o.groups = Groups;
  for (std::size_t f = 0; f < D; ++f) o.kernel[f] = w[2 + f];
  o.stride = options.stride, o.padding = options.padding, o.dilation = options.dilation;
  const text problem = convolution_error(o);
  if (!problem.empty()) throw shape_error(text(call) << ": " << problem);
  return o;
}

}  // namespace detail

/// y[n, o, i] = sum over c, t of w[o, c, t] x[n, c, i * stride - padding + t * dilation]: `convolve<2>(x, w, {.padding
/// = {1, 1}})`; with groups of channels, `convolve<2, 4>(x, w, {…})`.
/// Shapes:   x is batch x in x D features, w out x in / groups x kernel; y is batch x out x features.
/// Requires: 1, 2 or 3 feature dimensions [compile time]; what the layer `convolution` requires [shape_error].
/// Cost:     if features are sharded, each worker receives the cells outside of its block that its outputs read. With
///           one group, y is usually a partial sum if the channels of x are sharded. With several groups, the groups
///           may be sharded, but the channels of one group are not divided.
/// Adjoint:  gradients with respect to x and w, each at the cost of a convolution.
template <std::size_t D, std::size_t Groups = 1, class X, class W>
  requires(detail::any_tensor<X> && detail::any_tensor<W>)
auto convolve(const X& x, const W& w, const convolve_options<D>& options = {}) {
  constexpr bool fits =
      D >= 1 && D <= 3 && Groups >= 1 && detail::has_feature_rank<D, X>() && detail::has_feature_rank<D, W>();
  static_assert(fits,
                "partita::convolve<D>(x, w, options): requires D = 1, 2 or 3 features, x = batch x channels x features "
                "and w = out x in x features");
  if constexpr (fits) {
    constexpr const char* call = "partita::convolve<D>(x, w, options)";
    const shape_list shape = detail::operand_extents(x), filters = detail::operand_extents(w);
    detail::require_features<D>(call, shape, filters);
    detail::convolution_of_blocks<D, Groups> blocks{detail::make_options<D, Groups>(call, filters, options), {}};
    for (std::size_t f = 0; f < D; ++f) blocks.image_extents[f] = shape[2 + f];
    std::array<std::size_t, D + 2> extents{};
    for (std::size_t d = 0; d < D + 2; ++d) extents[d] = shape[d];
    const text problem = convolution_error(blocks.options, extents);
    if (!problem.empty()) throw shape_error(text(call) << ": " << problem);
    return apply_op(detail::convolve_operation<D, Groups>{blocks}, x, w);
  }
}
/// The convolution of x and w, plus b[o] at each element of output channel o.
template <std::size_t D, std::size_t Groups = 1, class X, class W, class B>
  requires(detail::any_tensor<X> && detail::any_tensor<W> && detail::any_tensor<B>)
auto convolve(const X& x, const W& w, const B& b, const convolve_options<D>& options = {}) {
  return add(convolve<D, Groups>(x, w, options), b, broadcast_dimensions<1>);
}

/// The transposed convolution (PyTorch's conv_transpose): the adjoint of a convolution, for example to enlarge images.
/// Shapes:   x is batch x in x D features, w in x out / groups x kernel; y is batch x out x (n - 1) stride - 2 padding
///           + dilation (kernel - 1) + 1 + output_padding features.
/// Requires: an output_padding below the stride, an output of at least one cell [shape_error].
/// Cost:     that of convolve. With one group, y is usually a partial sum if the channels of x are sharded.
/// Adjoint:  a convolution of dy for x; the gradient with respect to w costs as much as that of convolve.
template <std::size_t D, std::size_t Groups = 1, class X, class W>
  requires(detail::any_tensor<X> && detail::any_tensor<W>)
auto convolve_transposed(const X& x, const W& w, const convolve_transposed_options<D>& options = {}) {
  constexpr bool fits =
      D >= 1 && D <= 3 && Groups >= 1 && detail::has_feature_rank<D, X>() && detail::has_feature_rank<D, W>();
  static_assert(fits,
                "partita::convolve_transposed<D>(x, w, options): requires D = 1, 2 or 3 features, x = batch x channels "
                "x features and w = in x out x features");
  if constexpr (fits) {
    constexpr const char* call = "partita::convolve_transposed<D>(x, w, options)";
    const shape_list shape = detail::operand_extents(x), filters = detail::operand_extents(w);
    detail::require_features<D>(call, shape, filters);
    detail::convolution_of_blocks<D, Groups> blocks{detail::make_options<D, Groups>(call, filters, options), {}};
    if (shape[1] != blocks.options.out_channels)
      throw shape_error(text(call) << ": requires as many channels as filters begin with, got " << shape << " and "
                                   << filters);
    for (std::size_t f = 0; f < D; ++f) {
      const sliding along = blocks.options.along(f);
      blocks.image_extents[f] = transposed_extent(along, shape[2 + f], options.output_padding[f]);
      if (blocks.image_extents[f] == 0)
        throw shape_error(text(call) << ": requires an output_padding below the stride and an output of at least one "
                                        "cell, got an output_padding of "
                                     << options.output_padding[f] << ", a stride of " << along.stride
                                     << " and a padding of " << along.padding << " along dimension " << f
                                     << " of the features of extents " << shape);
    }
    return apply_op(detail::convolve_adjoint_operation<D, Groups>{blocks}, x, w);
  }
}

}  // namespace partita
