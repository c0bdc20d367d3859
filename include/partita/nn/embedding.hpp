// The embedding layer, which looks up rows of a table by their numbers. The table is partitioned by columns or by rows.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <partita/comm/fingerprint.hpp>
#include <partita/core/product.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/block_layout.hpp>
#include <partita/nn/detail/uniform.hpp>
#include <partita/nn/parameter.hpp>
#include <vector>

namespace partita {

/// The dimension of the table that is split over the last dimension of the embedding's partition.
enum class embedding_cut {
  columns,  ///< each worker keeps some columns of all rows and returns these columns, without sending elements
  rows      ///< each worker keeps some rows, and one all_reduce gives each worker whole rows
};

struct embedding_options {
  std::size_t rows = 0;                        ///< the number of rows of the table; the numbers in x must be smaller
  std::size_t columns = 0;                     ///< the number of columns of the table, which is the last extent of y
  embedding_cut cut = embedding_cut::columns;  ///< which dimension of the table is split over the workers
  std::uint64_t seed = 0;                      ///< the seed of the initial elements

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<4>(*this); }  ///< a hash of all members
};

/// Looks up in W the rows whose numbers x holds. The initial elements of W are normally distributed (0, 1), and depend
/// on the seed and the global index only, as in `embedding<float, 3> e(p, {.rows = 50000, .columns = 512})`.
/// Shapes:   p = b x ... x f has the rank of y. x is partitioned over p without its last dimension, in any way, and is
///           the same on the f workers that differ in the last index only. y has one row of W for each element of x's
///           block: the columns of this worker, or all columns where W is split by rows. W is rows x columns; its rows
///           or its columns are split over f, balanced, and workers with the same last index keep the same block.
/// Requires: integers in x that are at least 0 and below `rows` [shape_error, on all workers].
/// Cost:     the forward call needs only an agreement if W is split by columns, and one all_reduce of |y| along f if W
///           is split by rows. The adjoint needs one all_reduce of each block of W along the other dimensions of p.
/// Adjoint:  adjoint(dy) adds to weight_gradient() the gradient of this worker's block of W, summed over all workers
///           that keep the block. adjoint(dy) returns zeros of the shape of x, because row numbers have no derivative.
template <class T, std::size_t Rank = detail::rank_not_given>
class embedding {
  static_assert(std::is_floating_point_v<T>, "partita::embedding<T, Rank>: requires floating-point elements");
  static_assert(Rank >= 2, "partita::embedding<T, Rank>: requires a result of batch x columns, of rank 2 at least");
  using any_grid_shape = dynamic_extents<Rank>;  ///< the extents of a partition of any grid shape

 public:
  template <class Extents>
  embedding(const partition<Extents>& p, const embedding_options& options)
      : layout_(detail::erase_extents<Rank>(p), "partita::embedding(p, options)",
                detail::layer_fingerprint<T>(options)),
        sum_blocks_along_last_dimension_(detail::erase_extents<Rank>(p), dimensions<Rank - 1>, sum),
        sum_blocks_along_other_dimensions_(detail::erase_extents<Rank>(p), all_dimensions_but<Rank - 1>, sum),
        options_(options) {
    static_assert(Extents::rank() == Rank,
                  "partita::embedding<T, Rank>(p, options): requires p of the rank of the result, one more than that "
                  "of x");
    require_no_overflow(std::array{options.rows, options.columns}, "rows x columns", "partita::embedding(p, options)");
    if (p.active()) {
      const interval part = balanced_part(has_row_cut() ? options.rows : options.columns, p.grid().shape()[Rank - 1],
                                          p.index()[Rank - 1]);
      weight_box_ = has_row_cut() ? box<2>{{part.start, 0}, {part.stop, options.columns}}
                                  : box<2>{{0, part.start}, {options.rows, part.stop}};
    }
    weight_ = uninitialised<T, 2>(weight_box_.shape());
    weight_gradient_ = uninitialised<T, 2>(weight_box_.shape());
    weight_gradient_.fill(T(0));
    for (std::size_t k = 0; k < weight_.size(); ++k) {
      const auto i = index_of(k, weight_box_.shape());
      weight_.data()[k] = normal_number((weight_box_.start[0] + i[0]) * options.columns + weight_box_.start[1] + i[1]);
    }
  }

  template <class X>
  xt::xtensor<T, Rank> operator()(const X& x) {
    static_assert(detail::has_rank<X, Rank - 1>() && std::is_integral_v<element_of<X>>,
                  "partita::embedding<T, Rank>(x): requires integers, of one dimension fewer than the result");
    const xt::xtensor<element_of<X>, Rank - 1> numbers = x;
    const bool active = layout_.p().active();
    std::array<std::size_t, Rank> shape{};
    for (std::size_t d = 0; d + 1 < Rank; ++d) shape[d] = numbers.shape()[d];
    shape[Rank - 1] = active ? weight_.shape()[1] : 0;
    text error_message = error_in_weight();
    ids_.assign(active ? numbers.size() : 0, 0);
    for (std::size_t k = 0; k < ids_.size(); ++k) {
      // A negative number becomes a very large number, which is rejected because the table has fewer rows.
      ids_[k] = static_cast<std::size_t>(numbers.data()[k]);
      if (ids_[k] >= options_.rows && error_message.empty())
        error_message << "partita::embedding(p, options)(x): requires numbers below rows, " << options_.rows
                      << ", got another on worker " << layout_.p().world().id();
    }
    x_shape_ = detail::shape_array<Rank - 1>(numbers.shape());
    y_shape_ = shape;
    was_called_ = error_message.empty();
    auto y = uninitialised<T, Rank>(shape);
    y.fill(T(0));
    if (error_message.empty())
      for (std::size_t k = 0; k < ids_.size(); ++k)
        if (ids_[k] >= weight_box_.start[0] && ids_[k] < weight_box_.stop[0])
          std::copy_n(weight_.data() + (ids_[k] - weight_box_.start[0]) * shape[Rank - 1], shape[Rank - 1],
                      y.data() + k * shape[Rank - 1]);
    if (!has_row_cut()) {
      layout_.throw_together(error_message);
      return y;
    }
    return detail::kernel_access::call(sum_blocks_along_last_dimension_, y, error_message);
  }
  template <class X>
  auto forward(const X& x) {  ///< the same as operator()
    return (*this)(x);
  }
  /// Returns zeros for x; adds the gradient of W, summed over the workers with this block of W, to weight_gradient().
  template <class Y>
  xt::xtensor<T, Rank - 1> adjoint(const Y& dy) {
    static_assert(detail::block_of_rank<Y, T, Rank>(),
                  "partita::embedding<T, Rank>.adjoint(dy): requires an xt::xtensor of elements T and of that rank");
    const xt::xtensor<T, Rank> block = dy;
    text error_message = error_in_weight();
    const bool active = layout_.p().active();
    if (!was_called_ || (active && detail::shape_array<Rank>(block.shape()) != y_shape_))
      error_message << "partita::embedding(p, options).adjoint(dy): requires a dy of the shape of the last result, "
                    << y_shape_ << ", got " << block.shape() << "; call the layer first";
    auto added = uninitialised<T, 2>(weight_box_.shape());
    added.fill(T(0));
    const std::size_t n = weight_box_.shape()[1];
    for (std::size_t k = 0; k < ids_.size() && error_message.empty(); ++k)
      if (ids_[k] >= weight_box_.start[0] && ids_[k] < weight_box_.stop[0])
        for (std::size_t j = 0; j < n; ++j)
          added.data()[(ids_[k] - weight_box_.start[0]) * n + j] += block.data()[k * n + j];
    const auto all = detail::kernel_access::call(sum_blocks_along_other_dimensions_, added, error_message);
    if (active)
      for (std::size_t k = 0; k < weight_gradient_.size(); ++k) weight_gradient_.data()[k] += all.data()[k];
    auto none = uninitialised<T, Rank - 1>(x_shape_);
    none.fill(T(0));
    return none;
  }

  /// This worker's block of W, and the box of its indices in W (weight_box); both are empty on a worker outside of p.
  xt::xtensor<T, 2>& weight() { return weight_; }
  xt::xtensor<T, 2>& weight_gradient() { return weight_gradient_; }  ///< of this worker's block; adjoint() adds to it
  box<2> weight_box() const { return weight_box_; }                  ///< the indices of this worker's block in W
  const embedding_options& options() const { return options_; }
  void zero_gradients() { weight_gradient_.fill(T(0)); }  ///< sets this worker's gradient to zero
  std::vector<parameter<T>> parameters() { return {{weight_, weight_gradient_}}; }  ///< for an optimiser

 private:
  /// Whether the rows of W, not its columns, are split over the workers.
  bool has_row_cut() const { return options_.cut == embedding_cut::rows; }
  /// The normally distributed random number of index `number` for the seed, by the method of Box and Muller.
  T normal_number(std::uint64_t number) const {
    const double u = 1 - detail::draw_uniform(options_.seed, 2 * number),
                 v = detail::draw_uniform(options_.seed, 2 * number + 1);
    return static_cast<T>(std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v));
  }
  /// The error message if an assigned weight or gradient has a wrong shape; empty if both fit.
  text error_in_weight() const {
    text error_message;
    if (detail::shape_array<2>(weight_.shape()) != weight_box_.shape() ||
        detail::shape_array<2>(weight_gradient_.shape()) != weight_box_.shape())
      error_message << "partita::embedding(p, options): requires a weight and its gradient of shape "
                    << weight_box_.shape() << ", got " << weight_.shape() << " and " << weight_gradient_.shape()
                    << "; assign blocks of the shape they had";
    return error_message;
  }

  detail::block_layout<Rank> layout_;  ///< has the partition p of y, and throws an error of one worker on all workers
  /// The all_reduces of y, if W is split by rows, and of the gradient of a block of W.
  all_reduce<any_grid_shape, sum_t> sum_blocks_along_last_dimension_, sum_blocks_along_other_dimensions_;
  embedding_options options_;
  box<2> weight_box_{};                          ///< the indices of this worker's block in W
  xt::xtensor<T, 2> weight_, weight_gradient_;   ///< this worker's block of W, and its gradient
  std::vector<std::size_t> ids_;                 ///< the elements of the last x: row numbers of W
  std::array<std::size_t, Rank - 1> x_shape_{};  ///< the shape of this worker's block of the last x
  std::array<std::size_t, Rank> y_shape_{};      ///< the shape of this worker's block of the last y
  bool was_called_ = false;                      ///< whether the last call found no error here, as adjoint() requires
};

/// Fallback for `embedding layer(p, options)` without an element type: a compile-time error with a readable message.
template <std::size_t Rank>
class embedding<detail::element_type_not_given, Rank> {
 public:
  template <class P>
  embedding(const partition<P>&, const embedding_options& = {}) {
    static_assert(
        detail::dependent_false<P>,
        "partita::embedding<T, Rank>(p, options): requires an element type and a rank, which partitions do not "
        "tell; write embedding<float, 3>(p, {.rows = ..., .columns = ...})");
  }
};
template <class P>
embedding(const partition<P>&, const embedding_options& = {}) -> embedding<detail::element_type_not_given, P::rank()>;

PARTITA_FALLBACK_LAYER(embedding, embedding_options) {
  static_assert(detail::dependent_false<Given...>,
                "partita::embedding<T, Rank>(p, options): requires an element type and the rank of the result; write "
                "embedding<float, 3>(p, {.rows = ..., .columns = ...})");
}

}  // namespace partita
