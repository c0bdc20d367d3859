// The distributed linear layer: y = x W^T + b, where x, y and W each have their own partition.
#pragma once

#include <algorithm>
#include <memory>
#include <partita/array/gemm.hpp>
#include <partita/core/box.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/nn/detail/linear_state.hpp>
#include <partita/nn/linear_options.hpp>
#include <partita/nn/parameter.hpp>
#include <partita/plan/linear_plan.hpp>
#include <partita/rule/linear_rule.hpp>
#include <vector>

namespace partita {
namespace detail {

/// X is a valid input of a layer with elements T: batch x … x features.
template <class X, class T>
concept features_of = ranked_array<X> && std::is_same_v<element_of<X>, T> && rank_of<X> >= 1;

}  // namespace detail

/// y = x W^T + b; the initial weights are uniform. The algorithm is part of the type and decides which of x, y and the
/// products are communicated: `linear<float, column_parallel>`.
/// Shapes:   x is batch x … x in, split over the last dimension of p_x; y is batch x … x out, split over the last
///           dimension of p_y; W is out x in over p_w; b is kept by the workers of column 0 of p_w. All splits are
///           balanced. Workers outside of a partition pass or get zero volume.
///             weight_stationary  p_x = 1 x … x f_in, p_y = 1 x … x f_out, p_w = f_out x f_in, on any workers
///             column_parallel    p_x = p_y = 1 x … x f, p_w = f x 1, on the same workers
///             row_parallel       p_x = p_y = 1 x … x f, p_w = 1 x f, on the same workers
/// Requires: partitions that fit [compile time where static, else partition_error]; at every call, features and batch
///           that fit, and assigned blocks that have the shape of the block that they replace [shape_error]; all errors
///           on all workers.
/// Cost:     on a worker of p_w the forward call makes one GEMM, the adjoint two. weight_stationary: one broadcast of
///           |x| per column, one reduction of |y| per row of p_w; column_parallel: one all_gather of x; row_parallel:
///           one reduce_scatter of y. The adjoint makes the adjoint collectives. A call with the shapes of an earlier
///           call usually allocates nothing. The layer keeps the communicated x; docs/linear.md counts the memory.
/// Adjoint:  adjoint(dy) returns dx = dy conj(W), and adds dy^T conj(x) to weight_gradient() and the sum of the rows of
///           dy to bias_gradient(). For complex elements, too, W -= rate * weight_gradient() is a step of steepest
///           descent.
template <class T, linear_algorithm Algorithm = weight_stationary>
class linear {
  using any_grid_shape = dynamic_extents<2>;  ///< the extents of a partition of any grid shape

 public:
  template <class X, class Y, class W>
  linear(const partition<X>& p_x, const partition<Y>& p_y, const partition<W>& p_w, const linear_options& options) {
    static_assert(W::rank() == 2, "partita::linear(p_x, p_y, p_w): requires p_w = f_out x f_in, of rank 2");
    static_assert(
        X::rank() >= 1 && Y::rank() >= 1,
        "partita::linear(p_x, p_y, p_w): requires p_x = 1 x ... x f_in and p_y = 1 x ... x f_out, of rank 1 at least");
    constexpr bool suits =  // the static_asserts above reject other ranks
        W::rank() != 2 || X::rank() == 0 || Y::rank() == 0 ||
        static_cast<bool>(judge_linear(static_extents<X>(), static_extents<Y>(), static_extents<W>(), Algorithm));
    static_assert(
        suits || Algorithm != weight_stationary,
        "partita::linear(p_x, p_y, p_w): requires p_x = 1 x ... x f_in, p_y = 1 x ... x f_out and p_w = f_out x f_in");
    static_assert(suits || Algorithm != column_parallel,
                  "partita::linear<T, column_parallel>(p_x, p_y, p_w): requires p_x = 1 x ... x f, p_y = 1 x ... x f "
                  "and p_w = f x 1; use weight_stationary for weights that are cut both ways");
    static_assert(suits || Algorithm != row_parallel,
                  "partita::linear<T, row_parallel>(p_x, p_y, p_w): requires p_x = 1 x ... x f, p_y = 1 x ... x f and "
                  "p_w = 1 x f; use weight_stationary for weights that are cut both ways");
    const auto judgement = judge_linear(p_x.grid().shape(), p_y.grid().shape(), p_w.grid().shape(), Algorithm);
    if (!judgement)
      throw partition_error(
          explain_verdict(judgement, p_x.grid().shape(), p_y.grid().shape(), p_w.grid().shape(), Algorithm));
    if constexpr (Algorithm != weight_stationary) {
      if (!(p_x.world() == p_w.world() && p_y.world() == p_w.world()))
        throw partition_error(linear_call(Algorithm) << ": make them from one world");
      if (!(p_x.workers() == p_w.workers() && p_y.workers() == p_w.workers()))
        throw partition_error(linear_call(Algorithm) << ", got p_x on " << list_worker_ids(p_x) << ", p_y on "
                                                     << list_worker_ids(p_y) << ", p_w on " << list_worker_ids(p_w)
                                                     << "; make the three from the same workers in the same order");
    }
    state_ = std::make_unique<state>(p_x.reshape(extents(1, p_x.size())), p_y.reshape(extents(1, p_y.size())),
                                     detail::erase_extents<2>(p_w), options);
  }

  PARTITA_FALLBACK_CONSTRUCTOR(linear) {
    static_assert(detail::dependent_false<T, Given...>,
                  "partita::linear<T>(p_x, p_y, p_w, options): requires three partitions, then options that say their "
                  "names; write linear<T>(p_x, p_y, p_w, {.in_features = ..., .out_features = ...})");
  }
  template <class... Given>
  linear(detail::any_argument, const linear_options&) : linear(0, Given()...) {}
  template <class... Given>
  linear(detail::any_argument, detail::any_argument, const linear_options&) : linear(0, Given()...) {}
  template <class... Given>
  linear(detail::any_argument, detail::any_argument, detail::any_argument, const linear_options&)
      : linear(0, Given()...) {}
  template <class... Given>
  linear(const linear_options&, detail::any_argument, detail::any_argument = {}, detail::any_argument = {})
      : linear(0, Given()...) {}  ///< options before partitions: always a compile-time error

  /// Returns this worker's block of y, with zero volume on a worker outside of p_y.
  template <detail::features_of<T> X>
  pooled_tensor<T, rank_of<X>> operator()(const X& x) {
    constexpr std::size_t rank = rank_of<X>;
    state& s = valid_state();
    // 1. Check the arguments on this worker; in the first exchange all workers agree on the errors.
    const text error_message = s.error_in(x.shape());
    s.log_call("(x)");
    s.forget_forward();
    s.require_same_batch(x.shape(), error_message);
    // 2. Communicate x to the workers that keep weights.
    auto block = s.run_with_same_batch(x.shape(), [&] { return s.movements.receive_x(x, error_message); });
    // 3. Multiply x by this worker's block of W. Workers that keep a bias add the product to the bias.
    if (s.p_w.active() && error_message.empty()) {
      auto shape = detail::shape_array<rank>(block.shape());
      shape[rank - 1] = s.rows.size();
      const auto [rows, out] = detail::matrix_shape(shape);
      auto product = detail::uninitialised_tensor<T, rank>(s.movements.memory(), shape);
      const auto x_w = dense_block<const T, 2>(block.data(), {rows, s.columns.size()});
      const auto y_w = dense_block<T, 2>(product.data(), {rows, out});
      const auto w = transposed<const T>(block_of(s.weight));
      s.has_bias() ? multiply_and_add_row<T>(x_w, w, s.bias.data(), y_w) : multiply<T>(x_w, w, T(0), y_w);
      s.x = std::move(block.storage());  // the communicated x is kept for the adjoint, without a copy
      s.row_count = rows;
      block = std::move(product);
    }
    // 4. Sum the products over the workers, and communicate the sums to the blocks of y.
    auto y = s.run_with_same_batch(x.shape(), [&] { return s.movements.send_y(std::move(block), error_message); });
    s.forward_done = true;
    s.y_shape.assign(y.shape().begin(), y.shape().end());
    return y;
  }
  template <class X>
  auto forward(const X& x) {  ///< the same as operator()
    return (*this)(x);
  }
  template <class X>
  auto operator()(const X&) {
    constexpr bool has_a_rank = ranked_array<X>;
    if constexpr (!has_a_rank)
      static_assert(has_a_rank,
                    "partita::linear<T>(x): requires an x whose rank is part of its type, as an xt::xtensor; give "
                    "as_rank<2>(x)");
    else if constexpr (rank_of<X> == 0)
      static_assert(rank_of<X> >= 1, "partita::linear<T>(x): requires x of rank 1 at least: batch x ... x in_features");
    else
      static_assert(std::is_same_v<element_of<X>, T>,
                    "partita::linear<T>(x): requires elements of type T; cast x first");
    return detail::rejected_call{};
  }

  /// Returns the gradient with respect to the last x, from a dy of the shape of the last result. Adds the gradients of
  /// the weights and the bias to weight_gradient() and bias_gradient(). A call that throws changes no gradient.
  template <detail::features_of<T> Y>
  pooled_tensor<T, rank_of<Y>> adjoint(const Y& dy) {
    constexpr std::size_t rank = rank_of<Y>;
    state& s = valid_state();
    const text error_message = s.error_in_adjoint(dy.shape());
    s.log_call(".adjoint(dy)");
    // 1. Communicate dy to the workers that keep weights.
    const auto block = s.movements.receive_dy(dy, error_message);
    auto shape = block.shape();
    const bool multiplies = s.p_w.active() && error_message.empty();
    const auto dy_w = dense_block<const T, 2>(block.data(), {s.row_count, s.rows.size()});
    if (multiplies) shape[rank - 1] = s.columns.size();
    auto product = detail::uninitialised_tensor<T, rank>(s.movements.memory(), shape);
    // 2. Compute dx = dy conj(W), and start the sum of the products over the workers.
    auto later =
        s.movements.start_send_dx(std::move(product), error_message, [&, dx_w = product.data(), n = product.size()] {
          if (multiplies)
            multiply_by_conjugate<T>(dy_w, block_of(std::as_const(s.weight)), T(0),
                                     dense_block<T, 2>(dx_w, {s.row_count, s.columns.size()}));
          else if (!s.p_w.active())
            std::copy_n(block.data(), n, dx_w);  // dx is empty, or is dy of a worker in no partition
        });
    // 3. Add dW and db to the gradients while the sum of dx is pending. The addition comes after the agreement, so a
    // call that throws an error leaves the gradients unchanged.
    if (s.p_w.active()) s.add_gradients(dy_w);
    return later.finish();
  }

  template <class Y>
  void adjoint(const Y&) {
    constexpr bool has_a_rank = ranked_array<Y>;
    if constexpr (!has_a_rank)
      static_assert(has_a_rank,
                    "partita::linear<T>.adjoint(dy): requires a dy whose rank is part of its type, as an xt::xtensor; "
                    "give as_rank<2>(dy)");
    else if constexpr (rank_of<Y> == 0)
      static_assert(rank_of<Y> >= 1,
                    "partita::linear<T>.adjoint(dy): requires dy of rank 1 at least: batch x ... x out_features");
    else
      static_assert(std::is_same_v<element_of<Y>, T>,
                    "partita::linear<T>.adjoint(dy): requires elements of type T; cast dy first");
  }

  /// This worker's block of W and of the bias, and their gradients. A program may assign other blocks of the same
  /// shape. Weight and bias are empty on a worker that keeps no block.
  xt::xtensor<T, 2>& weight() { return valid_state().weight; }
  xt::xtensor<T, 1>& bias() { return valid_state().bias; }
  xt::xtensor<T, 2>& weight_gradient() { return valid_state().weight_gradient; }
  xt::xtensor<T, 1>& bias_gradient() { return valid_state().bias_gradient; }
  const xt::xtensor<T, 2>& weight() const { return valid_state().weight; }  ///< this worker's block of W
  const xt::xtensor<T, 1>& bias() const { return valid_state().bias; }      ///< this worker's block of the bias
  const xt::xtensor<T, 2>& weight_gradient() const { return valid_state().weight_gradient; }  ///< adjoint() adds to it
  const xt::xtensor<T, 1>& bias_gradient() const { return valid_state().bias_gradient; }      ///< adjoint() adds to it

  /// The box of indices of this worker's block in the global W.
  box<2> weight_box() const {
    return {{valid_state().rows.start, valid_state().columns.start},
            {valid_state().rows.stop, valid_state().columns.stop}};
  }
  /// The plan of this worker: the block of W that it keeps, how it receives x, and where its product is sent.
  linear_plan plan() const {
    const state& s = valid_state();
    linear_plan plan{.worker = s.p_w.world().id(),
                     .algorithm = Algorithm,
                     .holds_weights = s.p_w.active(),
                     .has_bias = s.has_bias(),
                     .weights = weight_box()};
    s.movements.describe(plan);
    return plan;
  }
  const linear_options& options() const { return valid_state().options; }
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
  using state = detail::linear_state<T, Algorithm>;  ///< what the layer keeps on one worker
  /// The weights, gradients and exchanges of this layer. Requires a layer that was not moved from [partition_error].
  state& valid_state() const {
    if (!state_)
      throw partition_error(
          "partita::linear: requires a layer that is there, this one was moved from; call the layer "
          "that it was moved to");
    return *state_;
  }
  /// The ids in the world of the workers of p.
  template <class P>
  static std::vector<std::size_t> list_worker_ids(const P& p) {
    std::vector<std::size_t> ids;
    for (std::size_t k = 0; k < p.size(); ++k) ids.push_back(p.workers()[k]);
    return ids;
  }

  std::unique_ptr<state> state_;  ///< null after the layer is moved from
};

/// Fallback for `linear layer(p_x, p_y, p_w, options)` without an element type: a readable compile-time error.
template <linear_algorithm Algorithm>
class linear<detail::element_type_not_given, Algorithm> {
 public:
  template <class X, class Y, class W, class... A>
  linear(const partition<X>&, const partition<Y>&, const partition<W>&, const A&...) {
    static_assert(detail::dependent_false<W, A...>,
                  "partita::linear(p_x, p_y, p_w, options): requires an element type and options that say their names; "
                  "write linear<float>(p_x, p_y, p_w, {.in_features = ..., .out_features = ...})");
  }
  template <class X, class Y, class W>
  linear(const partition<X>& p_x, const partition<Y>& p_y, const partition<W>& p_w, const linear_options&)
      : linear(p_x, p_y, p_w) {}
};
template <class X, class Y, class W>
linear(const partition<X>&, const partition<Y>&, const partition<W>&, const linear_options& = {})
    -> linear<detail::element_type_not_given>;
template <class X, class Y, class W, class... A>
linear(const partition<X>&, const partition<Y>&, const partition<W>&, const A&...)
    -> linear<detail::element_type_not_given>;

}  // namespace partita
