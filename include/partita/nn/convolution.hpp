// The distributed convolution over 1 to 3 feature dimensions, with batch, channels and features partitioned in any way.
#pragma once

#include <cmath>
#include <memory>
#include <partita/core/box.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/nn/convolution_options.hpp>
#include <partita/nn/detail/convolution_movements.hpp>
#include <partita/nn/detail/linear_movements.hpp>
#include <partita/nn/detail/uniform.hpp>
#include <partita/nn/parameter.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// y[n, o, i] = b[o] + sum over c, t of W[o, c, t] x[n, c, i * stride - padding + t * dilation], as PyTorch's Conv1d,
/// Conv2d and Conv3d, as in `convolution<float, 2> c(p_x, p_y, p_w, {.in_channels = 8, .out_channels = 16, .kernel =
/// {3, 3}})`.
/// Shapes:   x is batch x in x features, partitioned in any way along each dimension; y is batch x out x features,
///           balanced; the padding surrounds the whole tensor. Constructed with (p_x, options): p_x = batch x 1 x
///           features, y is on p_x, and every worker keeps all of W and b. Constructed with (p_x, p_y, p_w, options):
///           p_x = batch x in x features, p_y = batch x out x features, p_w = out x in x features on any workers. W is
///           split over out x in (over out only if there are several groups), balanced, and replicated on the workers
///           that differ only along the features.
/// Requires: T float or double, ranks [compile time]; partitions that fit [partition_error]; positive kernel, stride
///           and dilation, channels that are multiples of groups, a kernel that fits into the padded x, an x with
///           enough cells for the padding mode [shape_error]; all errors on all workers.
/// Cost:     the forward call makes one exchange, in which each worker receives the part of x that it needs, and with
///           p_w a second exchange, which sums the products. The weights are not communicated. The adjoint reverses
///           these exchanges and, if several workers keep a block of W, sums its gradients in one all_sum_reduce.
/// Adjoint:  adjoint(dy) returns dx and adds to weight_gradient() and bias_gradient(). Every worker that keeps a block
///           of W gets the complete gradient of this block.
template <class T, std::size_t Features = detail::rank_not_given>
class convolution {
  static constexpr std::size_t rank = Features + 2;  ///< the number of dimensions of x, y and W
  using any_grid_shape = dynamic_extents<rank>;      ///< the extents of a partition of any grid shape
  using shape_type = std::array<std::size_t, rank>;  ///< of a tensor or of a block
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "partita::convolution<T, Features>: requires elements of type float or double");
  static_assert(Features >= 1 && Features <= 3,
                "partita::convolution<T, Features>: requires 1, 2 or 3 feature dimensions");

 public:
  template <class X>
  convolution(const partition<X>& p_x, const convolution_options<Features>& options) {
    static_assert(X::rank() == rank,
                  "partita::convolution(p_x, options): requires p_x = batch x 1 x features..., of rank Features + 2");
    if constexpr (X::rank() == rank) {
      const auto split = detail::convolution_split_by_output(p_x.grid(), options);
      state_ = std::make_unique<state>(partition<any_grid_shape>(p_x), partition<any_grid_shape>(p_x),
                                       partition<any_grid_shape>(p_x), split);
    }
  }
  template <class X, class... A>
  explicit convolution(const partition<X>&, const A&...) {
    static_assert(detail::dependent_false<A...>,
                  "partita::convolution<T, Features>: requires one or three partitions and convolution_options");
  }
  template <class X, class Y, class W>
  convolution(const partition<X>& p_x, const partition<Y>& p_y, const partition<W>& p_w,
              const convolution_options<Features>& options) {
    static_assert(
        X::rank() == rank && Y::rank() == rank && W::rank() == rank,
        "partita::convolution(p_x, p_y, p_w, options): requires p_x = batch x in x features..., p_y = batch x "
        "out x features... and p_w = out x in x features..., of rank Features + 2");
    if constexpr (X::rank() == rank && Y::rank() == rank && W::rank() == rank) {
      const auto split = detail::convolution_split_by_weights(p_x.grid(), p_y.grid(), p_w.grid(), options);
      if (!(p_x.world() == p_w.world() && p_y.world() == p_w.world()))
        throw partition_error("partita::convolution(p_x, p_y, p_w, options): requires partitions of one world");
      state_ = std::make_unique<state>(partition<any_grid_shape>(p_x), partition<any_grid_shape>(p_y),
                                       partition<any_grid_shape>(p_w), split);
    }
  }

  /// Returns this worker's block of y, with zero volume on a worker outside of p_y.
  template <class X>
  auto operator()(const X& x) {
    if constexpr (is_valid_operand<X>()) return valid_state().forward(x);
  }
  template <class X>
  auto forward(const X& x) {  ///< the same as operator()
    return (*this)(x);
  }
  /// Returns the gradient with respect to the last x, from a dy of the shape of the last result. Adds the gradients of
  /// the weights and the bias to weight_gradient() and bias_gradient(). A call that throws changes no gradient.
  template <class Y>
  auto adjoint(const Y& dy) {
    if constexpr (is_valid_operand<Y>()) return valid_state().adjoint(dy);
  }

  /// This worker's block of W (out x in / groups x kernel) and of the bias. A program may assign blocks of the same
  /// shape; all workers that keep the same block must assign the same values. Weights and bias are empty on a worker
  /// without a block.
  xt::xtensor<T, rank>& weight() { return valid_state().weight; }
  xt::xtensor<T, 1>& bias() { return valid_state().bias; }
  xt::xtensor<T, rank>& weight_gradient() { return valid_state().weight_gradient; }
  xt::xtensor<T, 1>& bias_gradient() { return valid_state().bias_gradient; }
  const xt::xtensor<T, rank>& weight() const { return valid_state().weight; }  ///< this worker's block of W
  const xt::xtensor<T, 1>& bias() const { return valid_state().bias; }         ///< this worker's block of the bias
  const xt::xtensor<T, rank>& weight_gradient() const { return valid_state().weight_gradient; }  ///< accumulated
  const xt::xtensor<T, 1>& bias_gradient() const { return valid_state().bias_gradient; }         ///< accumulated
  /// The indices of this worker's block in the global W. Dimension 0 of the box holds the indices of the bias, too.
  box<rank> weight_box() const { return valid_state().w; }
  const convolution_options<Features>& options() const { return valid_state().split.options(); }
  /// Sets this worker's gradients of the weights and the bias to zero.
  void zero_gradients() {
    valid_state().weight_gradient.fill(T(0));
    valid_state().bias_gradient.fill(T(0));
  }
  /// The weights and gradients for an optimiser. The list is valid while the layer lives, even after a move.
  std::vector<parameter<T>> parameters() {
    return {{valid_state().weight, valid_state().weight_gradient}, {valid_state().bias, valid_state().bias_gradient}};
  }

 private:
  /// What the layer keeps: weights, gradients and exchanges. The state has an address of its own, which a move of the
  /// layer does not change.
  struct state {
    state(const partition<any_grid_shape>& x_partition, const partition<any_grid_shape>& y_partition,
          const partition<any_grid_shape>& w_partition, const detail::convolution_split<Features>& work_split)
        : p_y(y_partition),
          weight_partition(w_partition),
          split(work_split),
          input({x_partition, split}),
          output({y_partition, split}),
          sum_gradients(has_all_weights()
                            ? all_sum_reduce<any_grid_shape>(weight_partition, all_dimensions_but<>)
                            : all_sum_reduce<any_grid_shape>(weight_partition, all_dimensions_but<0, 1>)) {
      if (weight_partition.active()) w = split.weights(weight_partition.index());
      weight_gradient = xt::zeros<T>(w.shape());
      bias_gradient = xt::zeros<T>(std::array<std::size_t, 1>{bias_count()});
      weight = weight_gradient;
      bias = bias_gradient;
      if (split.options().initial == initial_values::uniform) set_uniform();
      for (std::size_t d = has_all_weights() ? 0 : 2; d < rank; ++d) workers_per_block *= w_partition.grid().shape()[d];
    }
    /// Whether each worker of p_x keeps all of W, because the layer has no p_w.
    bool has_all_weights() const { return split.form() == detail::convolution_form::by_output; }

    /// The number of elements of this worker's bias.
    std::size_t bias_count() const {
      return weight_partition.active() && split.adds_bias(weight_partition.index()) ? w.shape()[0] : 0;
    }
    /// Element k of the global W is random number k of the seed; the elements of the bias use the numbers after those
    /// of W.
    void set_uniform() {
      const auto& o = split.options();
      const shape_type global_shape = o.weight_shape(), own = w.shape();
      const std::size_t fan_in = global_shape[1] * o.taps();
      const double bound = fan_in == 0 ? 0 : 1 / std::sqrt(static_cast<double>(fan_in));
      for (std::size_t k = 0; k < weight.size(); ++k) {
        auto i = index_of(k, own);
        for (std::size_t d = 0; d < rank; ++d) i[d] += w.start[d];
        weight.data()[k] = detail::draw_uniform<T>(bound, o.seed, flat_index(i, global_shape));
      }
      for (std::size_t k = 0; k < bias.size(); ++k)
        bias(k) = detail::draw_uniform<T>(bound, o.seed, volume_of(global_shape) + w.start[0] + k);
    }
    /// The error message if assigned weights, bias or gradients have wrong shapes; empty if they fit.
    text weights_error(const char* call) const {
      if (detail::can_replace_shape(weight.shape(), w.shape()) &&
          detail::can_replace_shape(weight_gradient.shape(), w.shape()) && bias.size() == bias_count() &&
          bias_gradient.size() == bias_count())
        return {};
      return text("partita::convolution")
             << call << ": requires weights of the shape " << w.shape() << " on worker "
             << weight_partition.world().id() << ", and a bias and gradients that fit; got weights "
             << detail::shape_array<rank>(weight.shape()) << "; assign blocks of the shapes that they replace";
    }
    detail::convolver<T, Features> local_convolver() const {  ///< for this worker's part of the last x
      return detail::convolver<T, Features>(
          detail::local_convolution_of(split, weight_partition.index(), x_shape, part_shape));
    }
    /// Returns this worker's block of y. Collective.
    template <class X>
    pooled_tensor<T, rank> forward(const X& input_block) {
      const text error_message = weights_error("(x)");
      forward_done = false;
      x = pooled_tensor<T, rank>();
      const block_argument<X> argument(input_block);
      // 1. Start the exchange in which this worker receives the window of x that it needs.
      auto later = input.template forward<T>(argument.block(), {}, "(x)", detail::local_error(error_message));
      const shape_type extents = input.last_call_cuts().extents(), all = split.extents_of_y(extents);
      x_shape = detail::shape_array<rank>(later.incomplete_result().shape());
      // 2. Compute the shape of the part of y that this worker computes; on an inactive worker the part is empty and
      // has only the batch extent.
      part_shape = {};
      if (weight_partition.active()) {
        const auto part = split.part_of_y(weight_partition.index());
        for (std::size_t d = 0; d < rank; ++d)
          part_shape[d] = balanced_part(all[d], split.parts_of_y()[d], part[d]).size();
      } else {
        part_shape[0] = x_shape[0];
      }
      // 3. Compute y. Without oneDNN, outputs that need no cell of other workers are computed during the exchange.
      auto y = detail::uninitialised_tensor<T, rank>(input.memory(), part_shape);
      if (weight_partition.active())
        local_convolver().forward(later.incomplete_result().data(), weight.data(),
                                  bias.size() > 0 ? bias.data() : nullptr, y.data(), available_features(),
                                  [&] { x = later.finish(); });
      else x = later.finish();
      // 4. If the layer has a p_w, sum the products of the workers, and send the sums to the blocks of y.
      if (!has_all_weights()) {
        if (prepared_extents_of_y.add_new_extents(all)) {
          const auto own =
              p_y.active() ? decomposition<rank>::balanced(all, p_y.grid().shape()).shape(p_y.index()) : shape_type{};
          output.template prepare<T>(own, "(x)", {});
        }
        y = output.template backward<T>(block_of(std::as_const(y)), {}, "(x)", {}).finish();
      }
      y_shape = detail::shape_array<rank>(y.shape());
      forward_done = true;
      return y;
    }

    /// The ranges of feature indices in the window whose cells this worker has before any message arrives. The ranges
    /// are empty unless the worker has these cells for all samples and all channels.
    std::array<interval, Features> available_features() const {
      std::array<interval, Features> available{};
      const box<rank> cells = input.last_window_plan()->box_available_at_start();
      for (std::size_t d = 0; d < 2; ++d)
        if (cells.stop[d] - cells.start[d] != x_shape[d]) return available;
      for (std::size_t f = 0; f < Features; ++f) available[f] = {cells.start[2 + f], cells.stop[2 + f]};
      return available;
    }
    /// Returns this worker's block of dx, and adds to its gradients. Collective.
    template <class Y>
    pooled_tensor<T, rank> adjoint(const Y& dy) {
      const text error_message = adjoint_error(detail::shape_array<rank>(dy.shape()));
      if (has_all_weights()) {
        const detail::dense_argument<Y> argument(dy);
        return adjoint_of_part(argument.data(), error_message);
      }
      const block_argument<Y> argument(dy);
      const auto dy_part =
          output.template forward<T>(argument.block(), {}, ".adjoint(dy)", detail::local_error(error_message)).finish();
      return adjoint_of_part(dy_part.data(), {});
    }
    /// Completes the adjoint, given dy of the part of y that this worker computed.
    pooled_tensor<T, rank> adjoint_of_part(const T* dy, const text& error_message) {
      const bool computes = weight_partition.active() && error_message.empty();
      // 1. Compute dx on this worker's window, and start to add the windows into the blocks of x.
      auto dx = detail::uninitialised_tensor<T, rank>(input.memory(), x_shape);
      auto later = input.template backward<T>(block_of(std::as_const(dx)), {}, ".adjoint(dy)",
                                              detail::local_error(error_message), [&] {
                                                if (computes) local_convolver().adjoint(dy, weight.data(), dx.data());
                                              });
      // 2. Compute dW and db while the exchange of dx runs.
      xt::xtensor<T, 1> own = xt::zeros<T>(std::array<std::size_t, 1>{weight.size() + bias.size()});
      T* const db = bias.size() > 0 ? own.data() + weight.size() : nullptr;
      if (computes) local_convolver().gradients(x.data(), dy, own.data(), db);
      // 3. Finish dx, then sum dW and db over the workers that keep the same block of W.
      auto result = later.finish();
      const auto add = [&](const T* sum) {
        for (std::size_t k = 0; k < weight.size(); ++k) weight_gradient.data()[k] += sum[k];
        for (std::size_t k = 0; k < bias.size(); ++k) bias_gradient.data()[k] += sum[weight.size() + k];
      };
      if (workers_per_block == 1) add(own.data());
      else add(sum_gradients(own).data());
      return result;
    }
    /// The error message if the adjoint cannot be computed from a dy of this shape; empty if it can.
    text adjoint_error(const shape_type& dy) const {
      if (!forward_done) return "partita::convolution.adjoint(dy): requires a forward call before; call layer(x) first";
      if (text t = weights_error(".adjoint(dy)"); !t.empty()) return t;
      if (!p_y.active() || dy == y_shape) return {};
      return text("partita::convolution.adjoint(dy): requires dy of the shape of the last result ")
             << y_shape << " on worker " << p_y.world().id() << ", got " << dy;
    }

    partition<any_grid_shape> p_y, weight_partition;  ///< weight_partition: p_w, or p_x if the layer has no p_w
    detail::convolution_split<Features> split;        ///< the part that each worker computes, and its block of W
    detail::window_movement<detail::convolution_planner<Features, true>> input;  ///< gives each worker its window of x
    detail::window_movement<detail::convolution_planner<Features, false>> output;  ///< sums products to the blocks of y
    all_sum_reduce<any_grid_shape> sum_gradients;          ///< sums over the workers that keep the same block of W
    detail::prepared_extents<rank> prepared_extents_of_y;  ///< the extents of y that `output` is prepared for
    std::size_t workers_per_block = 1;                     ///< the number of workers that keep the same block of W
    bool forward_done = false;                             ///< whether the last forward call succeeded
    box<rank> w{};                                         ///< the indices of this worker's block in the global W
    xt::xtensor<T, rank> weight, weight_gradient;          ///< this worker's block of W, and its gradient
    xt::xtensor<T, 1> bias, bias_gradient;          ///< this worker's block of the bias, or empty, and its gradient
    pooled_tensor<T, rank> x;                       ///< the last window of x, kept for the adjoint
    shape_type x_shape{}, part_shape{}, y_shape{};  ///< shapes of the last window of x, computed part and block of y
  };
  /// Whether X is an array of this rank and element type; if not, a compile-time error says what is required.
  template <class X>
  static consteval bool is_valid_operand() {
    static_assert(ranked_array<X>,
                  "partita::convolution<T, Features>(x): requires an x whose rank is part of its type, as an "
                  "xt::xtensor; give as_rank<4>(x)");
    static_assert(!ranked_array<X> || rank_of<X> == rank,
                  "partita::convolution<T, Features>(x): requires x of rank Features + 2: batch x channels x features");
    if constexpr (ranked_array<X>) {
      static_assert(std::is_same_v<element_of<X>, T>,
                    "partita::convolution<T, Features>(x): requires elements of type T; cast x first");
      return rank_of<X> == rank && std::is_same_v<element_of<X>, T>;
    } else {
      return false;
    }
  }
  /// The weights, gradients and exchanges of this layer. Requires a layer that was not moved from [partition_error].
  state& valid_state() const {
    if (!state_)
      throw partition_error(
          "partita::convolution: requires a layer that is there, this one was moved from; call the layer that it was "
          "moved to");
    return *state_;
  }

  std::unique_ptr<state> state_;  ///< null after the layer is moved from
};

}  // namespace partita
