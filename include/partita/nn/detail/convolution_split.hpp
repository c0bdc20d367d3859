// The part of a convolution that each worker computes: its outputs, the inputs that they need, and its weights.
#pragma once

#include <array>
#include <cstddef>
#include <partita/nn/convolution_options.hpp>
#include <partita/nn/local_convolution.hpp>
#include <partita/plan/grid.hpp>
#include <partita/plan/halo_plan.hpp>

namespace partita::detail {

/// How the part of a convolution that a worker computes depends on the worker's index in the partition.
enum class convolution_form {
  by_output,   ///< p = batch x 1 x features: each worker computes its block of y with all weights
  by_weights,  ///< p = out x in x features: each worker has a block of W and sums over its in channels
  by_groups    ///< p as for by_weights, but out and in together split the channels of y: no sum is partial
};

/// The parts of x, y and W of each worker, along batch, output channels, input channels within a group, and features.
template <std::size_t Features>
class convolution_split {
 public:
  static constexpr std::size_t rank = Features + 2;  ///< the number of dimensions of x, y and W
  using position = index<rank>;                      ///< the index of a worker in the grid, or of a part of x or y
  using shape_type = std::array<std::size_t, rank>;  ///< extents, or numbers of parts, along each dimension

  convolution_split(const grid<dynamic_extents<rank>>& workers, convolution_form form,
                    const convolution_options<Features>& options)
      : grid_(workers), convolution_form_(form), options_(options) {}

  const grid<dynamic_extents<rank>>& worker_grid() const { return grid_; }  ///< the workers that compute
  convolution_form form() const { return convolution_form_; }  ///< how a worker's index determines its part
  const convolution_options<Features>& options() const { return options_; }  ///< the options of the whole convolution

  /// The number of parts into which y is split along each dimension.
  shape_type parts_of_y() const {
    shape_type parts = grid_.shape();
    if (convolution_form_ == convolution_form::by_groups) parts[1] *= parts[0], parts[0] = 1;
    if (convolution_form_ == convolution_form::by_weights) parts[1] = parts[0], parts[0] = 1;
    return parts;
  }
  /// The number of parts into which x is split along each dimension.
  shape_type parts_of_x() const {
    shape_type parts = grid_.shape();
    if (convolution_form_ == convolution_form::by_groups) parts[1] *= parts[0], parts[0] = 1;
    if (convolution_form_ == convolution_form::by_weights) parts[0] = 1;
    return parts;
  }
  /// The index of the part of y that the worker of index i computes.
  position part_of_y(const position& i) const {
    position part = i;
    if (convolution_form_ == convolution_form::by_groups) part[1] = i[0] * grid_.shape()[1] + i[1], part[0] = 0;
    if (convolution_form_ == convolution_form::by_weights) part[1] = i[0], part[0] = 0;
    return part;
  }
  /// The index of the part of x that the worker of index i needs.
  position part_of_x(const position& i) const {
    position part = i;
    if (convolution_form_ == convolution_form::by_groups) return part_of_y(i);
    if (convolution_form_ == convolution_form::by_weights) part[0] = 0;
    return part;
  }
  /// Calls f(worker) for each worker that needs this part of x (`is_input`), or that computes this part of y.
  template <class F>
  void for_each_worker_at(bool is_input, const position& part, F f) const {
    position i = part;
    if (convolution_form_ == convolution_form::by_output) return f(grid_.worker(i));
    if (convolution_form_ == convolution_form::by_groups) {
      i[0] = part[1] / grid_.shape()[1], i[1] = part[1] % grid_.shape()[1];
      return f(grid_.worker(i));
    }
    const std::size_t free = is_input ? 0 : 1;
    i[1 - free] = part[1];
    for (i[free] = 0; i[free] < grid_.shape()[free]; ++i[free]) f(grid_.worker(i));
  }

  /// The channels of y that a part of y holds.
  interval out_channels(std::size_t part) const { return balanced_part(options_.out_channels, parts_of_y()[1], part); }
  /// The channels of x that a part of x holds.
  interval in_channels(std::size_t part_of_x) const {
    if (convolution_form_ == convolution_form::by_weights)
      return balanced_part(options_.in_channels, grid_.shape()[1], part_of_x);
    const interval out = out_channels(convolution_form_ == convolution_form::by_output ? 0 : part_of_x);
    if (out.size() == 0) return {};
    const std::size_t of_y = options_.out_channels / options_.groups, of_x = options_.in_channels / options_.groups;
    return {out.start / of_y * of_x, ((out.stop - 1) / of_y + 1) * of_x};
  }
  /// The indices of the block of W on the worker of index i. If partial results are summed over workers (by_weights),
  /// only the workers with index 0 along the input channels add the bias; otherwise all workers add it.
  box<rank> weights(const position& i) const {
    box<rank> w{{}, options_.weight_shape()};
    const interval out = out_channels(part_of_y(i)[1]);
    w.start[0] = out.start, w.stop[0] = out.stop;
    if (convolution_form_ != convolution_form::by_weights) return w;
    const interval in = in_channels(i[1]);
    w.start[1] = in.start, w.stop[1] = in.stop;
    return w;
  }
  /// Whether the worker of index i adds the bias to its products.
  bool adds_bias(const position& i) const {
    return options_.bias && (convolution_form_ != convolution_form::by_weights || i[1] == 0);
  }

  /// The extents of the global y for a global x of extents x.
  shape_type extents_of_y(const shape_type& x) const {
    shape_type y{x[0], options_.out_channels};
    for (std::size_t f = 0; f < Features; ++f) y[2 + f] = options_.along(f).output_extent(x[2 + f]);
    return y;
  }
  /// The range of indices of x that each part of x needs along each dimension, with padding, for an x of these extents.
  windows_of_parts<rank> windows_of_x(const shape_type& x) const {
    const shape_type y = extents_of_y(x), parts = parts_of_x();
    windows_of_parts<rank> windows;
    for (std::size_t part = 0; part < parts[0]; ++part)
      windows[0].push_back(to_window(balanced_part(x[0], parts[0], part)));
    for (std::size_t part = 0; part < parts[1]; ++part) windows[1].push_back(to_window(in_channels(part)));
    for (std::size_t d = 2; d < rank; ++d)
      for (std::size_t part = 0; part < parts[d]; ++part)
        windows[d].push_back(input_window(options_.along(d - 2), balanced_part(y[d], parts[d], part)));
    return windows;
  }
  /// The range of indices of y that each part of y holds along each dimension, for a y of these extents.
  windows_of_parts<rank> windows_of_y(const shape_type& y) const {
    const shape_type parts = parts_of_y();
    windows_of_parts<rank> windows;
    for (std::size_t d = 0; d < rank; ++d)
      for (std::size_t part = 0; part < parts[d]; ++part)
        windows[d].push_back(to_window(balanced_part(y[d], parts[d], part)));
    return windows;
  }

 private:
  static window to_window(interval i) {  ///< the same range of indices as a window
    return {static_cast<std::ptrdiff_t>(i.start), static_cast<std::ptrdiff_t>(i.stop)};
  }

  grid<dynamic_extents<rank>> grid_;       ///< the workers that compute: p_w, or p_x if the layer has no p_w
  convolution_form convolution_form_;      ///< how index i of a worker determines its part
  convolution_options<Features> options_;  ///< the options of the whole convolution
};

/// Lists the workers that need each window of x (`is_input`), or that compute each window of y.
template <std::size_t Features>
struct window_workers {
  const convolution_split<Features>* split;  ///< what each worker computes; not owned
  bool is_input;                             ///< whether the windows are those of x
  /// Whether a worker has a window, because it computes.
  bool needs_window(std::size_t worker) const { return split->worker_grid().contains(worker); }
  /// The index of the part of x or y whose window a worker has.
  index<Features + 2> parts(std::size_t worker) const {
    const auto i = split->worker_grid().index(split->worker_grid().place(worker));
    return is_input ? split->part_of_x(i) : split->part_of_y(i);
  }
  /// Calls f(worker) for each worker whose window is that of this part of x or y.
  template <class F>
  void for_each_worker_at(const index<Features + 2>& part, F f) const {
    split->for_each_worker_at(is_input, part, f);
  }
};

/// Plans the exchange from the blocks of x on `p` to the windows of x that the workers need.
template <std::size_t Features, class P>
halo_plan<Features + 2> plan_convolution_input(const convolution_split<Features>& split, const grid<P>& p,
                                               const decomposition<Features + 2>& x, std::size_t worker) {
  return plan_windows(p, x, split.windows_of_x(x.extents()), padding_of(split.options()),
                      window_workers<Features>{&split, true}, worker);
}
/// Plans the exchange between the blocks of y on `p` and the parts of y that the workers compute.
template <std::size_t Features, class P>
halo_plan<Features + 2> plan_convolution_output(const convolution_split<Features>& split, const grid<P>& p,
                                                const decomposition<Features + 2>& y, std::size_t worker) {
  return plan_windows(p, y, split.windows_of_y(y.extents()), halo_boundaries<Features + 2>(boundary::none),
                      window_workers<Features>{&split, false}, worker);
}

/// The sizes of the local convolution of the worker of index i, for a window of x and a block of y of these shapes.
template <std::size_t Features>
local_convolution<Features> local_convolution_of(const convolution_split<Features>& split, const index<Features + 2>& i,
                                                 const std::array<std::size_t, Features + 2>& window,
                                                 const std::array<std::size_t, Features + 2>& y) {
  const auto& o = split.options();
  const box<Features + 2> w = split.weights(i);
  local_convolution<Features> s;
  s.batch = y[0], s.in_channels = window[1], s.out_channels = y[1];
  s.group_in_channels = w.stop[1] - w.start[1];
  s.first_out_channel = w.start[0], s.group_out_channels = o.out_channels / o.groups;
  for (std::size_t f = 0; f < Features; ++f) s.window[f] = window[2 + f], s.outputs[f] = y[2 + f];
  s.kernel = o.kernel, s.stride = o.stride, s.dilation = o.dilation;
  if (window[1] == 0) s.group_in_channels = 0;
  return s;
}

/// The parts of the workers when x and y have the same partition. Throws an error if partition or options are invalid.
template <std::size_t Features, class P>
convolution_split<Features> convolution_split_by_output(const grid<P>& p_x,
                                                        const convolution_options<Features>& options) {
  const text problem = convolution_error(options);
  if (!problem.empty()) throw shape_error(text("partita::convolution(p_x, options): ") << problem);
  if (p_x.shape()[1] != 1)
    throw partition_error(text("partita::convolution(p_x, options): requires p_x = batch x 1 x features..., whose "
                               "channels are not cut, got p_x = ")
                          << p_x.shape() << "; give p_y and p_w, too: convolution(p_x, p_y, p_w, options)");
  return {grid<dynamic_extents<Features + 2>>(dynamic_extents<Features + 2>(p_x.shape()), p_x.workers()),
          convolution_form::by_output, options};
}
/// The parts of the workers when each worker keeps a block of W. Throws an error if partitions or options are invalid.
template <std::size_t Features, class X, class Y, class W>
convolution_split<Features> convolution_split_by_weights(const grid<X>& p_x, const grid<Y>& p_y, const grid<W>& p_w,
                                                         const convolution_options<Features>& options) {
  const text problem = convolution_error(options);
  if (!problem.empty()) throw shape_error(text("partita::convolution(p_x, p_y, p_w, options): ") << problem);
  const auto x = p_x.shape(), y = p_y.shape(), w = p_w.shape();
  bool fits = options.groups > 1 || (x[1] == w[1] && y[1] == w[0]);
  for (std::size_t d = 2; d < Features + 2; ++d) fits = fits && x[d] == w[d] && y[d] == w[d];
  if (!fits)
    throw partition_error(text("partita::convolution(p_x, p_y, p_w, options): requires p_x = batch x in x features, "
                               "p_y = batch x out x features and p_w = out x in x features with equal features (of "
                               "several groups the channels may be cut in any way), got p_x = ")
                          << x << ", p_y = " << y << " and p_w = " << w << "; choose partitions that match");
  return {grid<dynamic_extents<Features + 2>>(dynamic_extents<Features + 2>(w), p_w.workers()),
          options.groups > 1 ? convolution_form::by_groups : convolution_form::by_weights, options};
}

}  // namespace partita::detail
