// The state of a linear layer on one worker, and the errors that it finds in the arguments of a call.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <partita/array/gemm.hpp>
#include <partita/comm/agreement.hpp>
#include <partita/core/product.hpp>
#include <partita/nn/detail/batches.hpp>
#include <partita/nn/detail/linear_movements.hpp>
#include <partita/nn/detail/uniform.hpp>
#include <partita/nn/linear_options.hpp>
#include <partita/nn/parameter.hpp>
#include <partita/plan/cut.hpp>
#include <vector>

namespace partita::detail {

/// What a linear layer keeps on one worker: options, partitions, weights, gradients, and the last x.
template <class T, linear_algorithm Algorithm>
struct linear_state {
  using any_grid_shape = dynamic_extents<2>;  ///< the extents of a partition of any grid shape

  linear_state(const partition<any_grid_shape>& x_partition, const partition<any_grid_shape>& y_partition,
               const partition<any_grid_shape>& w_partition, const linear_options& o)
      : options(require_valid_sizes(o)),
        p_x(x_partition),
        p_y(y_partition),
        p_w(w_partition),
        movements(p_x, p_y, p_w) {
    if (p_w.active()) {
      const auto i = p_w.index();
      rows = balanced_part(o.out_features, p_w.extents()[0], i[0]);
      columns = balanced_part(o.in_features, p_w.extents()[1], i[1]);
      is_first_column = i[1] == 0;
    }
    weight_gradient = xt::zeros<T>(weight_shape());
    bias_gradient = xt::zeros<T>(bias_shape());
    weight = weight_gradient;
    bias = bias_gradient;
    if (o.initial == initial_values::uniform) set_uniform();
  }
  /// Returns the options; throws a shape_error if W has more elements than can be counted.
  static const linear_options& require_valid_sizes(const linear_options& o) {
    require_no_overflow(std::array{o.out_features, o.in_features}, "out_features x in_features",
                        "partita::linear(p_x, p_y, p_w, options)");
    return o;
  }
  std::array<std::size_t, 2> weight_shape() const { return {rows.size(), columns.size()}; }  ///< of this worker's block
  std::array<std::size_t, 1> bias_shape() const { return {has_bias() ? rows.size() : 0}; }   ///< of this worker's block
  /// Element (i, j) of W is random number i * in_features + j of the seed; the elements of the bias use the numbers
  /// after those of W.
  void set_uniform() {
    const std::size_t in = options.in_features;
    const double bound = in == 0 ? 0 : 1 / std::sqrt(static_cast<double>(in));
    const auto at = [&](std::size_t number) { return draw_uniform<T>(bound, options.seed, number); };
    for (std::size_t i = rows.start; i < rows.stop; ++i)
      for (std::size_t j = columns.start; j < columns.stop; ++j)
        weight(i - rows.start, j - columns.start) = at(i * in + j);
    for (std::size_t i = 0; i < bias.size(); ++i) bias(i) = at(options.out_features * in + rows.start + i);
  }
  bool has_bias() const { return options.bias && is_first_column; }  ///< whether this worker keeps a block of the bias
  /// Frees the x of the last call before the x of the next call arrives.
  void forget_forward() {
    x = pooled_storage<T>();
    forward_done = false;
  }
  /// Adds dy^T conj(x) to weight_gradient, and the sum of the rows of dy to bias_gradient if there is a bias.
  void add_gradients(const strided<const T, 2>& dy_block) {
    const auto x_w = dense_block<const T, 2>(x.data(), {row_count, columns.size()});
    multiply_by_conjugate<T>(transposed<const T>(dy_block), x_w, T(1), block_of(weight_gradient));
    if (!has_bias()) return;
    T* const sum = bias_gradient.data();
    const T* row = dy_block.data;
    for (std::size_t i = 0; i < row_count; ++i, row += rows.size())
      for (std::size_t j = 0; j < rows.size(); ++j) sum[j] += row[j];
  }

  /// Makes the workers compare their options in the next agreement, which is part of the first exchange.
  void log_call(const char* call) const {
    p_w.world().state()->log_local_operation(hasher(layer_fingerprint<T>(options)).mix(call).value(),
                                             "partita::linear");
  }
  /// The error message if assigned weights, bias or gradients have wrong shapes; empty if their shapes fit.
  text error_in_blocks(const char* call) const {
    text error_message;
    const auto check_block = [&](const char* name, const auto& block, const auto& expected_shape) {
      if (!error_message.empty() || can_replace_shape(expected_shape, block.shape())) return;
      error_message << "partita::linear" << call << ": requires a " << name << " block of " << expected_shape
                    << " on worker " << p_w.world().id() << ", " << name << "() is now " << block.shape()
                    << "; assign a block of the first shape";
    };
    check_block("weight", weight, weight_shape());
    check_block("bias", bias, bias_shape());
    check_block("weight_gradient", weight_gradient, weight_shape());
    check_block("bias_gradient", bias_gradient, bias_shape());
    return error_message;
  }
  /// The error message if an x of this shape, or the state, does not fit a call of the layer; empty if both fit.
  template <class Shape>
  text error_in(const Shape& x_shape) const {
    if (text t = error_in_blocks("(x)"); !t.empty()) return t;
    if (!p_x.active()) return {};
    const std::size_t expected_features = balanced_part(options.in_features, p_x.size(), p_x.index()[1]).size();
    const std::size_t given = static_cast<std::size_t>(x_shape.back());
    if (given == expected_features) return {};
    return text("partita::linear(x): requires ")
           << expected_features << " features in the last dimension of x on worker " << p_x.world().id() << " ("
           << options.in_features << " input features over " << p_x.size() << " workers, balanced), got " << given
           << "; repartition x, or make the layer with other in_features";
  }
  /// The error message if a dy of this shape, or the state, does not fit a call of the adjoint; empty if both fit.
  template <class Shape>
  text error_in_adjoint(const Shape& dy_shape) const {
    if (!forward_done) return "partita::linear::adjoint(dy): requires a forward call before; call layer(x) first";
    if (text t = error_in_blocks("::adjoint(dy)"); !t.empty()) return t;
    if (!p_y.active()) return {};
    if (std::equal(dy_shape.begin(), dy_shape.end(), y_shape.begin(), y_shape.end())) return {};
    const std::vector<std::size_t> given(dy_shape.begin(), dy_shape.end());
    return text("partita::linear::adjoint(dy): requires dy of the shape of the last result ")
           << y_shape << " on worker " << p_y.world().id() << ", got " << given;
  }

  /// With checks::agree, throws the same error on all workers if batches of several dimensions differ. (column_parallel
  /// and row_parallel move matrices, so different batches with the same number of rows would go unnoticed.)
  /// Cost:     one agreement, for x of more than one batch dimension; a small all-gather if the batch is new.
  template <class Shape>
  void require_same_batch(const Shape& x_shape, const text& error_message) {
    if constexpr (Algorithm != weight_stationary) {
      world_state& everyone = *p_x.world().state();
      if (x_shape.size() <= 2 || everyone.level() != checks::agree) return;
      const bool known =
          std::equal(x_shape.begin(), x_shape.end() - 1, last_batch_extents.begin(), last_batch_extents.end());
      const std::uint64_t all_know = agree_if_checked(
          everyone, mixed(0x6261746368ULL, x_shape.size()), local_error(error_message),
          [&] { return text("partita::linear(x)"); }, !p_x.active() || known ? 1 : 0);
      if (all_know != 0) return;
      if (const text difference = batch_mismatch_text(p_x, x_shape); !difference.empty())
        throw shape_error(batch_error_message(difference));
      last_batch_extents.assign(x_shape.begin(), x_shape.end() - 1);
    }
  }
  static text batch_error_message(const text& difference) {
    return text("partita::linear(x): requires x of one batch on all workers of p_x, got ")
           << difference << "; give every worker the same rows of x";
  }

  /// Returns the blocks that `move()` returns. If `move()` throws on all workers because the blocks of x do not fit,
  /// and the workers have different batches, all workers throw an error that names the user's call.
  template <class Shape, class Move>
  auto run_with_same_batch(const Shape& x_shape, Move move) const {
    try {
      return move();
    } catch (const shape_error& found) {
      if (found.sentence().contains("partita::linear")) throw;
      if (p_x.world().level() != checks::agree)  // at other levels the other workers do not learn of the error
        throw shape_error(text("partita::linear(x): requires x of one batch on all workers of p_x; ")
                          << found.sentence());
      const text difference = batch_mismatch_text(p_x, x_shape);
      if (difference.empty()) throw;
      throw shape_error(batch_error_message(difference));
    }
  }

  linear_options options;                              ///< the options of the whole layer
  partition<any_grid_shape> p_x, p_y, p_w;             ///< the partitions of x, y and W
  linear_movements<T, Algorithm> movements;            ///< the exchanges of x and y and their adjoints
  interval rows, columns;                              ///< the rows and columns of the global W that this worker keeps
  bool is_first_column = false, forward_done = false;  ///< whether these are the first columns; the last call succeeded
  xt::xtensor<T, 2> weight, weight_gradient;           ///< this worker's block of W, and its gradient
  xt::xtensor<T, 1> bias, bias_gradient;               ///< this worker's block of the bias, or empty, and its gradient
  pooled_storage<T> x;               ///< the x of the last call after communication, a matrix of row_count rows
  std::size_t row_count = 0;         ///< the number of rows of the last x as a matrix
  std::vector<std::size_t> y_shape;  ///< the shape of this worker's block of the last y
  std::vector<std::size_t> last_batch_extents;  ///< the batch extents of the last x whose batch the workers compared
};

}  // namespace partita::detail
