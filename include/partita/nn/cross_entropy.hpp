// Cross entropy of scores whose classes, batch and features may be partitioned in any way. A worker stores only its
// block of the scores.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <partita/comm/fingerprint.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/nn/detail/last_loss.hpp>
#include <partita/nn/loss.hpp>

namespace partita {

struct cross_entropy_options {
  loss_reduction reduction = loss_reduction::mean;  ///< the mean or the sum over all rows
  std::optional<std::int64_t> ignore_index{};       ///< rows with this target have loss 0 and do not count in the mean

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<2>(*this); }  ///< a hash of all members
};

/// The mean or the sum over all rows of -log softmax(x) at the class of the target; dimension 1 of x holds the classes:
/// `cross_entropy_loss<double, 2> loss(p_x)`.
/// Shapes: x is batch x classes x features on p, partitioned in any way; target holds class numbers, has the
/// dimensions of x without dimension 1, and is partitioned as x. Workers outside of p pass zero volume.
/// Requires: targets that are below the number of classes or equal to ignore_index, and blocks that fit [shape_error,
/// on all workers].
/// Cost: two all_reduces along the classes, of one and of two numbers per row, and (not for `each`) one over the world,
/// of two numbers.
/// Adjoint: adjoint(dy) is dy times the gradient of the last loss with respect to x.
template <class T, std::size_t Rank = detail::rank_not_given>
class cross_entropy_loss {
  static_assert(std::is_floating_point_v<T>, "partita::cross_entropy_loss<T, Rank>: requires floating-point elements");
  static_assert(Rank >= 2, "partita::cross_entropy_loss<T, Rank>: requires x of batch x classes x features, rank >= 2");
  using any_grid_shape = dynamic_extents<Rank>;  ///< the extents of a partition of any grid shape

 public:
  template <class Extents>
  explicit cross_entropy_loss(const partition<Extents>& p, const cross_entropy_options& options = {})
      : layout_(detail::erase_extents<Rank>(p), "partita::cross_entropy_loss(p)(x, target)",
                detail::layer_fingerprint<T>(options)),
        row_maximum_(detail::erase_extents<Rank>(p), dimensions<1>, maximum),
        row_sum_(detail::erase_extents<Rank>(p), dimensions<1>, partita::sum),
        loss_sums_(p.world()),
        options_(options) {
    static_assert(Extents::rank() == Rank,
                  "partita::cross_entropy_loss<T, Rank>(p): requires a partition of the rank of x");
    if (options.reduction == loss_reduction::batch_mean)
      throw shape_error(
          "partita::cross_entropy_loss(p, options): requires loss_reduction::mean or ::sum; batch_mean is for kl_loss "
          "alone");
  }

  /// Returns the loss, which is the same on every worker of the world.
  template <class X, class Target>
  T operator()(const X& x, const Target& target) {
    evaluate<X, Target>(x, target);
    double own = 0, counted = 0;
    // of the workers that share a row, only the worker with index 0 along the classes counts the loss of the row
    if (layout_.p().active() && layout_.p().index()[1] == 0)
      for (std::size_t r = 0; r < losses_.size(); ++r) {
        own += losses_.data()[r];
        counted += row_weights_[r];
      }
    const auto all = loss_sums_(std::array<double, 2>{own, counted}, text());
    loss_scale_ = options_.reduction == loss_reduction::mean ? 1 / all[1] : 1;
    last_loss_ = detail::last_loss_kind::number;
    return static_cast<T>(options_.reduction == loss_reduction::mean ? all[0] / all[1] : all[0]);
  }
  /// Returns the losses of the rows of this worker's block, in the shape of target.
  template <class X, class Target>
  xt::xtensor<T, Rank - 1> each(const X& x, const Target& target) {
    evaluate<X, Target>(x, target);
    last_loss_ = detail::last_loss_kind::each;
    return losses_;
  }

  /// Returns the gradient of dy times the last loss with respect to x. Requires an earlier loss [shape_error].
  xt::xtensor<T, Rank> adjoint(T dy = T(1)) const {
    detail::require_reduced_loss(last_loss_, "partita::cross_entropy_loss");
    return gradient([&](std::size_t) { return loss_scale_ * static_cast<double>(dy); });
  }
  /// Returns dx if dy is the gradient with respect to the last result of `each`. Requires dy of the shape of this
  /// result [shape_error, on all workers].
  template <ranked_array Y>
  xt::xtensor<T, Rank> adjoint(const Y& dy) const {
    static_assert(rank_of<Y> == Rank - 1 && std::is_same_v<element_of<Y>, T>,
                  "partita::cross_entropy_loss<T, Rank>::adjoint(dy): requires dy of the shape that each(x, target) "
                  "gave");
    const xt::xtensor<T, Rank - 1> given = dy;
    text error_message;
    if (last_loss_ != detail::last_loss_kind::each || (layout_.p().active() && given.shape() != losses_.shape()))
      error_message << "partita::cross_entropy_loss::adjoint(dy): requires a dy of the shape of the last result of "
                       "each(x, target)";
    layout_.throw_together(error_message, 2);
    return gradient([&](std::size_t row) { return static_cast<double>(given.data()[row]); });
  }
  const cross_entropy_options& options() const { return options_; }

 private:
  /// Computes the losses of this worker's rows, and what adjoint() needs. Collective.
  template <class X, class Target>
  void evaluate(const X& x, const Target& target) {
    static_assert(
        ranked_array<X> && ranked_array<Target>,
        "partita::cross_entropy_loss<T, Rank>(x, target): requires blocks whose rank is part of their type, as "
        "xt::xtensor");
    static_assert(rank_of<X> == Rank && rank_of<Target> == Rank - 1 && std::is_same_v<element_of<X>, T> &&
                      std::is_integral_v<element_of<Target>>,
                  "partita::cross_entropy_loss<T, Rank>(x, target): requires x of elements T and of that rank, and "
                  "targets of integers, of one dimension fewer: class numbers");
    last_loss_ = detail::last_loss_kind::none;  // if this call fails, adjoint() has no loss to differentiate
    const xt::xtensor<T, Rank> given = x;
    const xt::xtensor<element_of<Target>, Rank - 1> classes = target;
    const bool active = layout_.p().active();
    const auto& tensor = layout_.find_layout(detail::shape_array<Rank>(given.shape()), error_in_shapes(given, classes));
    softmax_ = given;
    std::array<std::size_t, Rank - 1> rows_shape{};
    for (std::size_t d = 0; d + 1 < Rank; ++d) rows_shape[d] = given.shape()[d == 0 ? 0 : d + 1];
    losses_ = active ? uninitialised<T, Rank - 1>(rows_shape) : zero_volume<T, Rank - 1>(rows_shape[0]);
    const std::size_t rows = active ? losses_.size() : 0, n = given.shape()[1];
    classes_ = n;
    features_ = 1;
    for (std::size_t d = 2; d < Rank; ++d) features_ *= given.shape()[d];
    row_weights_.assign(rows, 1);
    target_columns_.assign(rows, n);

    // 1. For each row, check the target, find its class in this block, and take the largest score of this block.
    text error_message;
    auto block_maxima = uninitialised<double, 1>({rows});
    for (std::size_t r = 0; r < rows; ++r) {
      const auto target_class = static_cast<std::int64_t>(classes.data()[r]);
      if (options_.ignore_index && target_class == *options_.ignore_index) {
        row_weights_[r] = 0;
      } else if (target_class < 0 || static_cast<std::uint64_t>(target_class) >= tensor.extents[1]) {
        if (error_message.empty())
          error_message << "partita::cross_entropy_loss: requires targets below the number of classes, "
                        << tensor.extents[1] << ", got " << target_class << " on worker " << layout_.p().world().id()
                        << "; say {.ignore_index = ...} for rows that do not count";
      } else if (const auto c = static_cast<std::size_t>(target_class);
                 c >= tensor.own_box.start[1] && c < tensor.own_box.stop[1]) {
        target_columns_[r] = c - tensor.own_box.start[1];
      }
      block_maxima(r) = -std::numeric_limits<double>::infinity();
      for (std::size_t c = 0; c < n; ++c)
        block_maxima(r) = std::max(block_maxima(r), static_cast<double>(given.data()[score_offset(r, c)]));
    }
    // 2. Compute the largest score of each whole row, over all its classes.
    const xt::xtensor<double, 1> row_maxima = detail::kernel_access::call(row_maximum_, block_maxima, error_message);
    // 3. Compute two sums over each whole row: of exp(x - largest), and of (x - largest) at the target.
    auto shares = uninitialised<double, 2>({2, rows});
    for (std::size_t r = 0; r < rows; ++r) {
      shares(0, r) = 0;
      shares(1, r) = target_columns_[r] < n
                         ? static_cast<double>(given.data()[score_offset(r, target_columns_[r])]) - row_maxima(r)
                         : 0;
      for (std::size_t c = 0; c < n; ++c)
        shares(0, r) += std::exp(static_cast<double>(given.data()[score_offset(r, c)]) - row_maxima(r));
    }
    const xt::xtensor<double, 2> sums = row_sum_(shares);
    for (std::size_t r = 0; r < rows; ++r) {
      // 4. The loss is the logarithm of the first sum minus the second sum; the softmax is kept for the adjoint.
      losses_.data()[r] = static_cast<T>(row_weights_[r] * (std::log(sums(0, r)) - sums(1, r)));
      for (std::size_t c = 0; c < n; ++c) {
        T& element = softmax_.data()[score_offset(r, c)];
        element = static_cast<T>(std::exp(static_cast<double>(element) - row_maxima(r)) / sums(0, r));
      }
    }
  }

  /// The error message if the blocks x and target do not fit together; empty if they do.
  template <class Given, class Classes>
  text error_in_shapes(const Given& x, const Classes& target) const {
    text error_message;
    bool fits = true;
    for (std::size_t d = 0; d + 1 < Rank; ++d) fits = fits && target.shape()[d] == x.shape()[d == 0 ? 0 : d + 1];
    if (layout_.p().active() && !fits)
      error_message
          << "partita::cross_entropy_loss: requires a target of the shape of x without dimension 1, got blocks of "
          << x.shape() << " and " << target.shape() << " on worker " << layout_.p().world().id()
          << "; cut the target like x";
    return error_message;
  }
  /// The offset of a score (row, class) in the block. A row is one position in the batch and the features.
  std::size_t score_offset(std::size_t row, std::size_t c) const {
    return ((row / features_) * classes_ + c) * features_ + row % features_;
  }
  /// The gradient with respect to x if dy(row) is the gradient with respect to the loss of a row.
  template <class Upstream>
  xt::xtensor<T, Rank> gradient(Upstream dy) const {
    xt::xtensor<T, Rank> dx = softmax_;
    for (std::size_t r = 0; r < row_weights_.size(); ++r)
      for (std::size_t c = 0; c < classes_; ++c) {
        const double p = static_cast<double>(softmax_.data()[score_offset(r, c)]) - (c == target_columns_[r] ? 1 : 0);
        dx.data()[score_offset(r, c)] = static_cast<T>(row_weights_[r] * dy(r) * p);
      }
    return dx;
  }

  detail::block_layout<Rank> layout_;                  ///< finds the extents of x and the splits of its dimensions
  all_reduce<any_grid_shape, maximum_t> row_maximum_;  ///< the maximum over the workers that share a row
  all_reduce<any_grid_shape, sum_t> row_sum_;          ///< the sums over the workers that share a row
  detail::sums_over_world loss_sums_;                  ///< sums the losses and the weights of all rows
  cross_entropy_options options_;
  xt::xtensor<T, Rank> softmax_;             ///< the softmax of this worker's block of the last x
  xt::xtensor<T, Rank - 1> losses_;          ///< the losses of this worker's rows in the last call
  std::vector<double> row_weights_;          ///< one weight per row: 1, or 0 where the target is ignored
  std::vector<std::size_t> target_columns_;  ///< for each row, the target's column in this block, or past the end
  std::size_t classes_ = 0, features_ = 1;   ///< of the last block: its classes, the product of its feature extents
  double loss_scale_ = 1;                    ///< the factor of the sum of the losses in the last loss
  detail::last_loss_kind last_loss_ = detail::last_loss_kind::none;  ///< what the last call returned, for adjoint()
};

PARTITA_FALLBACK_LAYER(cross_entropy_loss, cross_entropy_options) {
  static_assert(detail::dependent_false<Given...>,
                "partita::cross_entropy_loss<T, Rank>(p, options): requires an element type and the rank of x; write "
                "cross_entropy_loss<float, 2>(p)");
}

}  // namespace partita
