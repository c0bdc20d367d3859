// The operations of convolutions of sharded tensors: the convolution of images with filters, its adjoint with respect
// to the images, and its gradient with respect to the filters. The adjoint of each of the three operations is composed
// of the other two, and all three are declared in the same form as a user-defined operation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/nn/convolution_options.hpp>
#include <partita/nn/local_convolution.hpp>
#include <partita/plan/window.hpp>
#include <partita/sharded/parts.hpp>
#include <vector>

namespace partita::detail {

/// Tensors of a convolution in g groups: images [n, (g c), ...], filters [(g m), c, ...], results [n, (g m), ...].
enum class convolution_role { images, filters, results };
/// The rule of an operation with two of images, filters and results as operands, in the given order, and the third as
/// result. The rule does not shard features (dimensions from 2 on); with several groups, it may shard the groups, but
/// no channels in them.
template <std::size_t Groups>
constexpr partita::rule rule_of_convolution(const char* name, std::array<convolution_role, 3> order, std::size_t rank) {
  partita::rule r;
  constexpr bool grouped = Groups > 1;
  const factor_kind inner = grouped ? factor_kind::replicate : factor_kind::pass_through;
  const std::size_t n = r.add_factor(dynamic, 'n'), g = grouped ? r.add_factor(Groups, 'g') : 0,
                    c = r.add_factor(dynamic, 'c', inner), m = r.add_factor(dynamic, 'm', inner);
  if (grouped) r.factors[g].merged_group = r.factors[c].merged_group = r.factors[m].merged_group = 1;
  const auto channels = [&](std::size_t of) {
    r.add_dimension();
    if (grouped) r.add_term(g);
    r.add_term(of);
  };
  for (std::size_t t = 0; t < 3; ++t) {
    t < 2 ? r.begin_operand() : r.begin_result();
    if (order[t] == convolution_role::filters) channels(m), r.add_dimension(c);
    else r.add_dimension(n), channels(order[t] == convolution_role::images ? c : m);
    for (std::size_t d = 2; d < rank; ++d) r.add_whole_dimension();
  }
  return r.complete().named(name);
}

/// The sizes that the three operations of a convolution have in common, and their local computation by nn/.
template <std::size_t D, std::size_t Groups>
struct convolution_of_blocks {
  convolution_options<D> options;              ///< the options of the convolution of whole tensors
  std::array<std::size_t, D> image_extents{};  ///< the feature extents of the images

  std::uint64_t fingerprint() const { return hasher(options.fingerprint()).mix(image_extents).value(); }  ///< a hash

  /// The extent of the results along feature f, which is dimension f + 2.
  std::size_t output_extent(std::size_t f) const { return options.along(f).output_extent(image_extents[f]); }
  /// The interval of image indices along feature f that the results of the interval `range` read.
  interval input_interval(std::size_t f, interval range) const {
    const window w = input_window(options.along(f), range);
    const auto inside = cells_from_tensor(w, image_extents[f], boundary::zero, boundary::zero);
    if (inside.size() == 0) return {};
    const auto from = static_cast<std::size_t>(w.start + static_cast<std::ptrdiff_t>(inside.start));
    return {from, from + inside.size()};
  }
  /// The interval of results whose windows overlap the interval `range` of image indices along feature f. With
  /// dilation, a window may overlap cells that it does not read.
  interval output_interval(std::size_t f, interval range) const {
    const sliding s = options.along(f);
    if (range.size() == 0) return {};
    const std::size_t end = range.stop + s.padding, begin = range.start + s.padding + 1, all = output_extent(f);
    const std::size_t from = begin > s.reach() ? (begin - s.reach() + s.stride - 1) / s.stride : 0,
                      to = (end - 1) / s.stride + 1;
    return from < (to < all ? to : all) ? interval{from, to < all ? to : all} : interval{};
  }

  /// The local convolution that computes the results in box `y` from the channels of the images in box `x`, and its
  /// window.
  struct window_convolution {
    local_convolution<D> sizes;     ///< the sizes of the local convolution
    shape_list window_shape{};      ///< the shape of the window: batch, channels and cells including padding
    std::array<window, D> windows;  ///< the range of cells of the window along each feature
  };
  window_convolution find_window_convolution(const short_list<interval>& x, const short_list<interval>& y,
                                             std::size_t group_in_channels) const {  ///< from images x to results y
    window_convolution p{};
    p.sizes.batch = y[0].size(), p.sizes.in_channels = x[1].size(), p.sizes.out_channels = y[1].size();
    p.sizes.group_in_channels = x[1].size() == 0 ? 0 : group_in_channels;
    p.sizes.first_out_channel = y[1].start, p.sizes.group_out_channels = options.out_channels / Groups;
    p.sizes.kernel = options.kernel, p.sizes.stride = options.stride, p.sizes.dilation = options.dilation;
    p.window_shape = {p.sizes.batch, p.sizes.in_channels};
    for (std::size_t f = 0; f < D; ++f) {
      p.windows[f] = input_window(options.along(f), y[2 + f]);
      p.sizes.window[f] = p.windows[f].size(), p.sizes.outputs[f] = y[2 + f].size();
      p.window_shape.push_back(p.windows[f].size());
    }
    return p;
  }
  /// The overlap of a block of images with a window: its first index in the block and in the window, and its shape.
  struct window_overlap {
    shape_list start_in_block, start_in_window, shape;  ///< along all dimensions, from the batch on
  };
  /// The overlap of the box `block` of images with the window of `p`.
  static window_overlap find_overlap(const window_convolution& p, const short_list<interval>& block) {
    window_overlap h{{0, 0}, {0, 0}, {p.window_shape[0], p.window_shape[1]}};
    for (std::size_t f = 0; f < D; ++f) {
      const auto start = static_cast<std::ptrdiff_t>(block[2 + f].start),
                 stop = static_cast<std::ptrdiff_t>(block[2 + f].stop);
      const auto from = start > p.windows[f].start ? start : p.windows[f].start,
                 to = stop < p.windows[f].stop ? stop : p.windows[f].stop;
      h.start_in_block.push_back(static_cast<std::size_t>(from < to ? from - start : 0));
      h.start_in_window.push_back(static_cast<std::size_t>(from < to ? from - p.windows[f].start : 0));
      h.shape.push_back(static_cast<std::size_t>(from < to ? to - from : 0));
    }
    return h;
  }
  /// Returns the window of images of a local convolution, with zeros outside of the block x. The window is copied to
  /// `buffer` unless it equals the block; then the result is the block's memory.
  template <class T>
  static const T* fill_window(const window_convolution& p, const tensor_part<const T>& x, std::vector<T>& buffer) {
    if (x.shape == p.window_shape && find_overlap(p, x.box).shape == p.window_shape) return x.memory;
    buffer.assign(shape_size(p.window_shape), T(0));
    const window_overlap h = find_overlap(p, x.box);
    if (shape_size(h.shape) > 0)
      copy_elements(x, h.start_in_block, tensor_part<T>{buffer.data(), p.window_shape, {}, {}}, h.start_in_window,
                    h.shape);
    return buffer.data();
  }
};

template <std::size_t D, std::size_t Groups>
struct convolve_filters_operation;
template <std::size_t D, std::size_t Groups>
struct convolve_adjoint_operation;

/// The operation convolution, which computes results from images and filters.
template <std::size_t D, std::size_t Groups>
struct convolve_operation {
  static constexpr bool on_complex = false;                        ///< whether complex elements are accepted
  static constexpr std::uint32_t windowed = 1, adjoint_reads = 3;  ///< operand masks: read in windows, read by adjoint
  static constexpr std::size_t anchor = 2;       ///< tensor 2, the result, whose blocks determine the windows
  static constexpr std::size_t parameters = 1;   ///< the number of data members, which the workers compare
  convolution_of_blocks<D, Groups> convolution;  ///< the options and the extents of the images

  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of extents x
    using part = convolution_role;
    return rule_of_convolution<Groups>("convolve", {part::images, part::filters, part::results}, x[0].size());
  }
  shape_list result_extents(const shape_span& x) const {  ///< the extents of the whole result
    shape_list y{x[0][0], convolution.options.out_channels};
    for (std::size_t f = 0; f < D; ++f) y.push_back(convolution.output_extent(f));
    return y;
  }
  /// The intervals of the images along the features that box y of the results reads.
  short_list<interval> window(std::size_t, const short_list<interval>& y, const shape_span&) const {
    short_list<interval> all;
    for (std::size_t f = 0; f < D; ++f) all.push_back(convolution.input_interval(f, y[2 + f]));
    return all;
  }
  /// Returns a function that computes the block y of results from the memory of blocks x and w.
  template <class T>
  auto prepared(const tensor_part<const T>& x, const tensor_part<const T>& w, const tensor_part<T>& y) const {
    const auto p = convolution.find_window_convolution(x.box, y.box, w.shape[1]);
    return [p, by = convolver<T, D>(p.sizes), part = x, buffer = std::vector<T>()](const T* images, const T* filters,
                                                                                   T* to) mutable {
      part.memory = images;
      by.forward(convolution_of_blocks<D, Groups>::fill_window(p, part, buffer), filters, nullptr, to);
    };
  }
  template <class X>
  X adjoint(std::size_t i, const X& dy, const X& x, const X& w, const X&) const {  ///< the cotangent of x or w
    if (i == 0) return apply_op(convolve_adjoint_operation<D, Groups>{convolution}, dy, w);
    return apply_op(convolve_filters_operation<D, Groups>{convolution}, x, dy);
  }
};

/// The adjoint of the convolution with respect to the images (transposed convolution): (results, filters) -> images.
template <std::size_t D, std::size_t Groups>
struct convolve_adjoint_operation {
  static constexpr std::uint32_t windowed = 1, adjoint_reads = 3;  ///< operand masks: read in windows, read by adjoint
  static constexpr std::size_t anchor = 2;       ///< tensor 2, the result, whose blocks determine the windows
  static constexpr std::size_t parameters = 1;   ///< the number of data members, which the workers compare
  convolution_of_blocks<D, Groups> convolution;  ///< the options and the extents of the images

  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of extents x
    using part = convolution_role;
    return rule_of_convolution<Groups>("convolve_transposed", {part::results, part::filters, part::images},
                                       x[0].size());
  }
  shape_list result_extents(const shape_span& x) const {  ///< the extents of the whole images
    shape_list y{x[0][0], convolution.options.in_channels};
    for (std::size_t f = 0; f < D; ++f) y.push_back(convolution.image_extents[f]);
    return y;
  }
  /// The intervals of the results along the features that box x of the images reads.
  short_list<interval> window(std::size_t, const short_list<interval>& x, const shape_span&) const {
    short_list<interval> all;
    for (std::size_t f = 0; f < D; ++f) all.push_back(convolution.output_interval(f, x[2 + f]));
    return all;
  }
  /// Returns a function that computes the block x of images from the memory of blocks y and w.
  template <class T>
  auto prepared(const tensor_part<const T>& y, const tensor_part<const T>& w, const tensor_part<T>& x) const {
    const auto p = convolution.find_window_convolution(x.box, y.box, w.shape[1]);
    return [p, h = convolution.find_overlap(p, x.box), by = convolver<T, D>(p.sizes), part = x,
            buffer = std::vector<T>(shape_size(p.window_shape))](const T* results, const T* filters, T* to) mutable {
      part.memory = to;
      by.adjoint(results, filters, buffer.data());
      for (T& element : part) element = T(0);
      if (shape_size(h.shape) > 0)
        copy_elements(tensor_part<const T>{buffer.data(), p.window_shape, {}, {}}, h.start_in_window, part,
                      h.start_in_block, h.shape);
    };
  }
  template <class X>
  X adjoint(std::size_t i, const X& dx, const X& y, const X& w, const X&) const {  ///< the cotangent of y or w
    if (i == 0) return apply_op(convolve_operation<D, Groups>{convolution}, dx, w);
    return apply_op(convolve_filters_operation<D, Groups>{convolution}, dx, y);
  }
};

/// The gradient of the convolution with respect to the filters: (images, results) -> filters.
template <std::size_t D, std::size_t Groups>
struct convolve_filters_operation {
  static constexpr std::uint32_t windowed = 1, adjoint_reads = 3;  ///< operand masks: read in windows, read by adjoint
  static constexpr std::size_t anchor = 1;                         ///< operand 1, whose blocks determine the windows
  static constexpr std::size_t parameters = 1;   ///< the number of data members, which the workers compare
  convolution_of_blocks<D, Groups> convolution;  ///< the options and the extents of the images

  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of extents x
    using part = convolution_role;
    return rule_of_convolution<Groups>("gradient of filters", {part::images, part::results, part::filters},
                                       x[0].size());
  }
  shape_list result_extents(const shape_span&) const {  ///< the extents of the whole filters
    shape_list w{convolution.options.out_channels, convolution.options.in_channels / Groups};
    for (const std::size_t k : convolution.options.kernel) w.push_back(k);
    return w;
  }
  /// The intervals of the images along the features that box y of the results reads.
  short_list<interval> window(std::size_t, const short_list<interval>& y, const shape_span&) const {
    return convolve_operation<D, Groups>{convolution}.window(0, y, {});
  }
  /// Returns a function that computes the block w of filters from the memory of blocks x and y.
  template <class T>
  auto prepared(const tensor_part<const T>& x, const tensor_part<const T>& y, const tensor_part<T>& w) const {
    const auto p = convolution.find_window_convolution(x.box, y.box, w.shape[1]);
    return [p, by = convolver<T, D>(p.sizes), part = x, n = w.size(), buffer = std::vector<T>()](
               const T* images, const T* results, T* to) mutable {
      part.memory = images;
      for (std::size_t k = 0; k < n; ++k) to[k] = T(0);
      by.gradients(convolution_of_blocks<D, Groups>::fill_window(p, part, buffer), results, to, nullptr);
    };
  }
  template <class X>
  X adjoint(std::size_t i, const X& dw, const X& x, const X& y, const X&) const {  ///< the cotangent of x or y
    if (i == 0) return apply_op(convolve_adjoint_operation<D, Groups>{convolution}, y, dw);
    return apply_op(convolve_operation<D, Groups>{convolution}, x, dw);
  }
};

}  // namespace partita::detail
