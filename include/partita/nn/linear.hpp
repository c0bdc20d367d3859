// The distributed linear layer: y = x W^T + b, with x, y and W each on a partition of its own.
#pragma once

#include <algorithm>
#include <memory>
#include <partita/array/gemm.hpp>
#include <partita/core/box.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <partita/nn/parameter.hpp>
#include <partita/plan/cut.hpp>
#include <partita/plan/linear_plan.hpp>
#include <partita/rule/linear.hpp>
#include <vector>

namespace partita {

/// What a linear layer maps: feature counts of the whole layer, and whether it adds a bias.
struct linear_options {
  std::size_t in_features = 0;
  std::size_t out_features = 0;
  bool bias = true;
};

/// y = x W^T + b: x is broadcast from p_x to the columns of p_w, multiplied there, and the products are summed into p_y.
/// Shapes:   x is batch x … x in, cut over p_x = 1 x … x f_in; y is batch x … x out over p_y = 1 x … x f_out; W is out x in
///           over p_w = f_out x f_in, b lives on the workers of column 0 of p_w; all cuts balanced. Other workers give and
///           get zero volume.
/// Requires: the partitions fit [compile time where static, else partition_error]; features and batch fit [shape_error]; on all workers.
/// Cost:     forward: one broadcast of |x| per column, one GEMM, one reduction of |y| per row of p_w. Adjoint: the same
///           movements reversed and two GEMMs. Keeps one copy of the broadcast x.
/// Adjoint:  adjoint(dy) returns dx and adds to weight_gradient() and bias_gradient().
template <class T>
class linear {
  using anywhere = dynamic_extents<2>;

 public:
  template <class X, class Y, class W>
  linear(const partition<X>& p_x, const partition<Y>& p_y, const partition<W>& p_w, const linear_options& options) {
    static_assert(W::rank() == 2, "partita::linear(p_x, p_y, p_w): requires p_w = f_out x f_in, of rank 2");
    static_assert(X::rank() >= 1 && Y::rank() >= 1,
                  "partita::linear(p_x, p_y, p_w): requires p_x = 1 x ... x f_in and p_y = 1 x ... x f_out, of rank 1 at least");
    static_assert(static_cast<bool>(judge_linear(static_extents<X>(), static_extents<Y>(), static_extents<W>())),
                  "partita::linear(p_x, p_y, p_w): requires p_x = 1 x ... x f_in, p_y = 1 x ... x f_out and p_w = f_out x f_in");
    const auto verdict = judge_linear(p_x.grid().shape(), p_y.grid().shape(), p_w.grid().shape());
    if (!verdict)
      throw partition_error(explain_verdict(verdict, p_x.grid().shape(), p_y.grid().shape(), p_w.grid().shape()));
    state_ = std::make_unique<state>(p_x.reshape(extents(1, p_x.size())), p_y.reshape(extents(1, p_y.size())),
                                     partition<anywhere>(p_w), options);
  }

  /// The layer's result on this worker, zero volume where it is not in p_y.
  template <ranked_array X>
  xt::xtensor<T, rank_of<X>> operator()(const X& x) {
    static_assert(std::is_same_v<element_of<X>, T>, "partita::linear<T>(x): requires elements of type T; cast x first");
    static_assert(rank_of<X> >= 1, "partita::linear<T>(x): requires x of rank 1 at least: batch x ... x in_features");
    constexpr std::size_t rank = rank_of<X>;
    state& s = *state_;
    auto x_w = s.spread(x, s.objection_to(x.shape()));
    std::array<std::size_t, rank> shape{};
    for (std::size_t d = 0; d < rank; ++d) shape[d] = x_w.shape()[d];
    if (s.p_w.active()) {
      const std::size_t rows = x_w.size() == 0 ? rows_of(shape) : x_w.size() / s.columns.size();
      shape[rank - 1] = s.rows.size();
      auto product = uninitialised<T, rank>(shape);
      const auto y = dense_block<T, 2>(product.data(), {rows, s.rows.size()});
      T beta(0);
      if (s.has_bias()) {  // in place of the zeros that GEMM would begin with
        for (std::size_t i = 0; i < rows; ++i) std::copy_n(s.bias.data(), s.rows.size(), y.data + i * s.rows.size());
        beta = T(1);
      }
      s.x.storage() = std::move(x_w.storage());  // what was received is kept for the adjoint as it is
      s.x.resize({rows, s.columns.size()});
      multiply<T>(block_of(s.x), transposed<const T>(block_of(s.weight)), beta, y);
      x_w = std::move(product);
    }
    auto y = s.collect(x_w);
    s.forward_done = true;
    s.y_shape.assign(y.shape().begin(), y.shape().end());
    return y;
  }
  template <ranked_array X>
  auto forward(const X& x) {
    return (*this)(x);
  }

  /// From dy, shaped as the last result, the gradient with respect to the last x; adds those of the weights and the bias.
  template <ranked_array Y>
  xt::xtensor<T, rank_of<Y>> adjoint(const Y& dy) {
    static_assert(std::is_same_v<element_of<Y>, T>, "partita::linear<T>.adjoint(dy): requires elements of type T; cast dy first");
    constexpr std::size_t rank = rank_of<Y>;
    state& s = *state_;
    auto dy_w = s.collect.adjoint(dy, s.objection_to_adjoint(dy.shape()));
    std::array<std::size_t, rank> shape{};
    for (std::size_t d = 0; d < rank; ++d) shape[d] = dy_w.shape()[d];
    if (s.p_w.active()) {
      const std::size_t rows = s.x.shape()[0], out = s.rows.size();
      const auto d = dense_block<const T, 2>(dy_w.data(), {rows, out});
      multiply<T>(transposed<const T>(d), block_of(std::as_const(s.x)), T(1), block_of(s.weight_gradient));
      if (s.has_bias()) {
        T* const sum = s.bias_gradient.data();
        for (const T* row = d.data; row != d.data + rows * out; row += out)
          for (std::size_t j = 0; j < out; ++j) sum[j] += row[j];
      }
      shape[rank - 1] = s.columns.size();
      auto dx_w = uninitialised<T, rank>(shape);
      multiply<T>(d, block_of(std::as_const(s.weight)), T(0), dense_block<T, 2>(dx_w.data(), {rows, s.columns.size()}));
      dy_w = std::move(dx_w);
    }
    return s.spread.adjoint(dy_w);
  }

  /// This worker's block of W and of the bias, assignable; of no element where the worker holds none.
  xt::xtensor<T, 2>& weight() { return state_->weight; }
  xt::xtensor<T, 1>& bias() { return state_->bias; }
  xt::xtensor<T, 2>& weight_gradient() { return state_->weight_gradient; }
  xt::xtensor<T, 1>& bias_gradient() { return state_->bias_gradient; }
  const xt::xtensor<T, 2>& weight() const { return state_->weight; }
  const xt::xtensor<T, 1>& bias() const { return state_->bias; }
  const xt::xtensor<T, 2>& weight_gradient() const { return state_->weight_gradient; }
  const xt::xtensor<T, 1>& bias_gradient() const { return state_->bias_gradient; }

  /// Where this worker's block stands in the global W.
  box<2> weight_box() const {
    return {{state_->rows.start, state_->columns.start}, {state_->rows.stop, state_->columns.stop}};
  }
  /// What this worker does: its weights, how x comes to it, where its product goes.
  linear_plan plan() const {
    const state& s = *state_;
    return {s.p_w.world().id(), s.p_w.active(), s.has_bias(), weight_box(), s.spread.plan(), s.collect.plan()};
  }
  const linear_options& options() const { return state_->options; }
  const partition<anywhere>& weight_partition() const { return state_->p_w; }

  void zero_gradients() {
    state_->weight_gradient.fill(T(0));
    state_->bias_gradient.fill(T(0));
  }
  /// What an optimiser changes; valid as long as the layer lives, also when it is moved.
  std::vector<parameter<T>> parameters() {
    return {{state_->weight, state_->weight_gradient}, {state_->bias, state_->bias_gradient}};
  }

 private:
  template <std::size_t Rank>
  static std::size_t rows_of(const std::array<std::size_t, Rank>& shape) {
    std::size_t n = 1;
    for (std::size_t d = 0; d + 1 < Rank; ++d) n *= shape[d];
    return n;
  }

  struct state {
    state(const partition<anywhere>& x_on, const partition<anywhere>& y_on, const partition<anywhere>& w_on, const linear_options& o)
        : options(o), p_x(x_on), p_y(y_on), p_w(w_on), spread(p_x, p_w), collect(p_w, p_y, transpose_src) {
      if (p_w.active()) {
        const auto i = p_w.index();
        rows = balanced_part(o.out_features, p_w.extents()[0], i[0]);
        columns = balanced_part(o.in_features, p_w.extents()[1], i[1]);
        first_column = i[1] == 0;
      }
      weight = xt::zeros<T>({rows.size(), columns.size()});
      weight_gradient = weight;
      bias = xt::zeros<T>({has_bias() ? rows.size() : std::size_t{0}});
      bias_gradient = bias;
    }
    bool has_bias() const { return options.bias && first_column; }

    template <class Shape>
    text objection_to(const Shape& x_shape) const {
      if (p_w.active()) {
        const std::array<std::size_t, 2> held{weight.shape()[0], weight.shape()[1]}, wanted{rows.size(), columns.size()};
        if (held != wanted)
          return text("partita::linear(x): requires a weight block of ") << wanted << " on worker " << p_w.world().id() << ", weight() is now "
                                                                         << held << "; assign a block of the first shape";
        if (bias.size() != (has_bias() ? rows.size() : 0))
          return text("partita::linear(x): requires a bias block of ")
                 << (has_bias() ? rows.size() : 0) << " elements on worker " << p_w.world().id() << ", bias() now has " << bias.size();
      }
      if (!p_x.active()) return {};
      const std::size_t wanted = balanced_part(options.in_features, p_x.size(), p_x.index()[1]).size();
      const std::size_t given = static_cast<std::size_t>(x_shape.back());
      if (given == wanted) return {};
      return text("partita::linear(x): requires ")
             << wanted << " features in the last dimension of x on worker " << p_x.world().id() << " (" << options.in_features
             << " input features over " << p_x.size() << " workers, balanced), got " << given
             << "; repartition x, or make the layer with other in_features";
    }
    template <class Shape>
    text objection_to_adjoint(const Shape& dy_shape) const {
      if (!forward_done) return "partita::linear::adjoint(dy): requires a forward call before; call layer(x) first";
      if (!p_y.active()) return {};
      const std::vector<std::size_t> given(dy_shape.begin(), dy_shape.end());
      if (given == y_shape) return {};
      return text("partita::linear::adjoint(dy): requires dy of the shape of the last result ")
             << y_shape << " on worker " << p_y.world().id() << ", got " << given;
    }

    linear_options options;
    partition<anywhere> p_x, p_y, p_w;
    broadcast<anywhere, anywhere> spread;
    sum_reduce<anywhere, anywhere, transpose_src_t> collect;
    interval rows, columns;
    bool first_column = false, forward_done = false;
    xt::xtensor<T, 2> weight, weight_gradient;
    pooled_tensor<T, 2> x;
    xt::xtensor<T, 1> bias, bias_gradient;
    std::vector<std::size_t> y_shape;
  };

  std::unique_ptr<state> state_;
};

}  // namespace partita
