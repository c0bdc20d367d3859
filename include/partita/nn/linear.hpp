// The distributed linear layer: y = x W^T + b, with x, y and W each on a partition of its own.
#pragma once

#include <algorithm>
#include <memory>
#include <partita/array/gemm.hpp>
#include <partita/core/box.hpp>
#include <partita/nn/detail/linear_movements.hpp>
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

/// y = x W^T + b. The algorithm is part of the type and decides what moves: `linear<float, column_parallel>`.
/// Shapes:   x is batch x … x in, cut over the last dimension of p_x, y is batch x … x out over that of p_y; W is out x in over
///           p_w, b lives on the workers of column 0 of p_w; all cuts balanced. Other workers give and get zero volume.
///             weight_stationary  p_x = 1 x … x f_in, p_y = 1 x … x f_out, p_w = f_out x f_in, on any workers
///             column_parallel    p_x = p_y = 1 x … x f, p_w = f x 1, on the same workers
///             row_parallel       p_x = p_y = 1 x … x f, p_w = 1 x f, on the same workers
/// Requires: the partitions fit [compile time where static, else partition_error]; features and batch fit [shape_error]; on all workers.
/// Cost:     forward one GEMM, adjoint two. weight_stationary: one broadcast of |x| per column, one reduction of |y| per row of p_w;
///           column_parallel: one all_gather of x; row_parallel: one reduce_scatter of y; the adjoint reverses them. Steady calls
///           allocate nothing. Keeps the x that was brought; docs/linear.md counts the memory.
/// Adjoint:  adjoint(dy) returns dx and adds to weight_gradient() and bias_gradient().
template <class T, linear_algorithm Algorithm = weight_stationary>
class linear {
  using anywhere = dynamic_extents<2>;

 public:
  template <class X, class Y, class W>
  linear(const partition<X>& p_x, const partition<Y>& p_y, const partition<W>& p_w, const linear_options& options) {
    static_assert(W::rank() == 2, "partita::linear(p_x, p_y, p_w): requires p_w = f_out x f_in, of rank 2");
    static_assert(X::rank() >= 1 && Y::rank() >= 1,
                  "partita::linear(p_x, p_y, p_w): requires p_x = 1 x ... x f_in and p_y = 1 x ... x f_out, of rank 1 at least");
    constexpr bool suits = static_cast<bool>(judge_linear(static_extents<X>(), static_extents<Y>(), static_extents<W>(), Algorithm));
    static_assert(suits || Algorithm != weight_stationary,
                  "partita::linear(p_x, p_y, p_w): requires p_x = 1 x ... x f_in, p_y = 1 x ... x f_out and p_w = f_out x f_in");
    static_assert(suits || Algorithm != column_parallel,
                  "partita::linear<T, column_parallel>(p_x, p_y, p_w): requires p_x = 1 x ... x f, p_y = 1 x ... x f and p_w = f x 1; use weight_stationary for weights that are cut both ways");
    static_assert(suits || Algorithm != row_parallel,
                  "partita::linear<T, row_parallel>(p_x, p_y, p_w): requires p_x = 1 x ... x f, p_y = 1 x ... x f and p_w = 1 x f; use weight_stationary for weights that are cut both ways");
    const auto verdict = judge_linear(p_x.grid().shape(), p_y.grid().shape(), p_w.grid().shape(), Algorithm);
    if (!verdict)
      throw partition_error(explain_verdict(verdict, p_x.grid().shape(), p_y.grid().shape(), p_w.grid().shape(), Algorithm));
    if constexpr (Algorithm != weight_stationary) {
      if (!(p_x.world() == p_w.world() && p_y.world() == p_w.world()))
        throw partition_error(linear_call(Algorithm) << ": make them from one world");
      if (!(p_x.workers() == p_w.workers() && p_y.workers() == p_w.workers()))
        throw partition_error(linear_call(Algorithm) << ", got p_x on " << ids_of(p_x) << ", p_y on " << ids_of(p_y) << ", p_w on " << ids_of(p_w)
                                                     << "; make the three from the same workers in the same order");
    }
    state_ = std::make_unique<state>(p_x.reshape(extents(1, p_x.size())), p_y.reshape(extents(1, p_y.size())),
                                     partition<anywhere>(p_w), options);
  }

  /// The layer's result on this worker, zero volume where it is not in p_y.
  template <ranked_array X>
  pooled_tensor<T, rank_of<X>> operator()(const X& x) {
    static_assert(std::is_same_v<element_of<X>, T>, "partita::linear<T>(x): requires elements of type T; cast x first");
    static_assert(rank_of<X> >= 1, "partita::linear<T>(x): requires x of rank 1 at least: batch x ... x in_features");
    constexpr std::size_t rank = rank_of<X>;
    state& s = *state_;
    const text objection = s.objection_to(x.shape());
    s.forget();
    auto block = s.movements.bring(x, objection);
    if (s.p_w.active() && objection.empty()) {
      auto shape = detail::as_array<rank>(block.shape());
      shape[rank - 1] = s.rows.size();
      const auto [rows, out] = detail::rows_and_columns(shape);
      auto product = detail::room<T, rank>(s.movements.memory(), shape);
      const auto x_w = dense_block<const T, 2>(block.data(), {rows, s.columns.size()});
      const auto y_w = dense_block<T, 2>(product.data(), {rows, out});
      const auto w = transposed<const T>(block_of(s.weight));
      s.has_bias() ? multiply_and_add_row<T>(x_w, w, s.bias.data(), y_w) : multiply<T>(x_w, w, T(0), y_w);
      s.x = std::move(block.storage());  // what was brought is kept for the adjoint as it is
      s.x_rows = rows;
      block = std::move(product);
    }
    auto y = s.movements.deliver(std::move(block), objection);
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
  pooled_tensor<T, rank_of<Y>> adjoint(const Y& dy) {
    static_assert(std::is_same_v<element_of<Y>, T>, "partita::linear<T>.adjoint(dy): requires elements of type T; cast dy first");
    constexpr std::size_t rank = rank_of<Y>;
    state& s = *state_;
    const text objection = s.objection_to_adjoint(dy.shape());
    const auto block = s.movements.bring_back(dy, objection);
    auto shape = block.shape();
    const bool multiplies = s.p_w.active() && objection.empty();
    const auto dy_w = dense_block<const T, 2>(block.data(), {s.x_rows, s.rows.size()});
    if (multiplies) shape[rank - 1] = s.columns.size();
    auto product = detail::room<T, rank>(s.movements.memory(), shape);
    auto later = s.movements.start_back(std::move(product), objection, [&, dx_w = product.data(), n = product.size()] {
      if (multiplies)
        multiply<T>(dy_w, block_of(std::as_const(s.weight)), T(0), dense_block<T, 2>(dx_w, {s.x_rows, s.columns.size()}));
      else if (!s.p_w.active())
        std::copy_n(block.data(), n, dx_w);  // zero volume, or what a worker in no partition gave
    });
    if (s.p_w.active()) s.add_gradients(dy_w);  // while dx is summed, and after all have agreed: a call that is refused leaves them alone
    return later.finish();
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
    linear_plan plan{.worker = s.p_w.world().id(), .algorithm = Algorithm, .multiplies = s.p_w.active(), .has_bias = s.has_bias(), .weights = weight_box()};
    s.movements.describe(plan);
    return plan;
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
  template <class P>
  static std::vector<std::size_t> ids_of(const P& p) {
    std::vector<std::size_t> ids;
    for (std::size_t k = 0; k < p.size(); ++k) ids.push_back(p.workers()[k]);
    return ids;
  }

  struct state {
    state(const partition<anywhere>& x_on, const partition<anywhere>& y_on, const partition<anywhere>& w_on, const linear_options& o)
        : options(o), p_x(x_on), p_y(y_on), p_w(w_on), movements(p_x, p_y, p_w) {
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
    /// Lets go of the last x before the next one comes.
    void forget() {
      x = detail::pooled_storage<T>();
      forward_done = false;
    }
    void add_gradients(const strided<const T, 2>& dy_w) {
      const auto x_w = dense_block<const T, 2>(x.data(), {x_rows, columns.size()});
      multiply<T>(transposed<const T>(dy_w), x_w, T(1), block_of(weight_gradient));
      if (!has_bias()) return;
      T* const sum = bias_gradient.data();
      const T* row = dy_w.data;
      for (std::size_t i = 0; i < x_rows; ++i, row += rows.size())
        for (std::size_t j = 0; j < rows.size(); ++j) sum[j] += row[j];
    }

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
      if (std::equal(dy_shape.begin(), dy_shape.end(), y_shape.begin(), y_shape.end())) return {};
      const std::vector<std::size_t> given(dy_shape.begin(), dy_shape.end());
      return text("partita::linear::adjoint(dy): requires dy of the shape of the last result ")
             << y_shape << " on worker " << p_y.world().id() << ", got " << given;
    }

    linear_options options;
    partition<anywhere> p_x, p_y, p_w;
    detail::linear_movements<T, Algorithm> movements;
    interval rows, columns;
    bool first_column = false, forward_done = false;
    xt::xtensor<T, 2> weight, weight_gradient;
    xt::xtensor<T, 1> bias, bias_gradient;
    detail::pooled_storage<T> x;  ///< the last x as it was brought, of x_rows rows
    std::size_t x_rows = 0;
    std::vector<std::size_t> y_shape;
  };

  std::unique_ptr<state> state_;
};

}  // namespace partita
