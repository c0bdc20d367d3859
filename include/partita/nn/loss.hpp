// Losses that are sums over elements. Each worker sums over its own block, and one small reduction sums over the
// workers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <partita/comm/fingerprint.hpp>
#include <partita/core/config.hpp>
#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/block_layout.hpp>
#include <partita/nn/detail/last_loss.hpp>
#include <string_view>

namespace partita {

/// How the losses of all elements are combined: their mean, their sum, or their sum divided by the extent of the batch
/// (`kl_loss` only). The member function `each` returns the loss of each element.
enum class loss_reduction { mean, sum, batch_mean };

/// The options of mse_loss, l1_loss, bce_loss and bce_with_logits_loss.
struct loss_options {
  loss_reduction reduction = loss_reduction::mean;  ///< how the losses of all elements become one number

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<1>(*this); }  ///< a hash of all members
};
struct smooth_l1_options {
  loss_reduction reduction = loss_reduction::mean;  ///< how the losses of all elements become one number
  double beta = 1;  ///< the loss is quadratic where |x - target| < beta, elsewhere linear

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<2>(*this); }  ///< a hash of all members
};
struct kl_options {
  loss_reduction reduction = loss_reduction::mean;  ///< how the losses of all elements become one number
  bool log_target = false;                          ///< whether the target holds logarithms of probabilities

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<2>(*this); }  ///< a hash of all members
};
struct poisson_nll_options {
  loss_reduction reduction = loss_reduction::mean;  ///< how the losses of all elements become one number
  bool log_input = true;                            ///< whether x is the logarithm of the rate; if false, x is the rate
  double epsilon = 1e-8;                            ///< keeps log(x + epsilon) finite when x is the rate

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<3>(*this); }  ///< a hash of all members
};

namespace detail {

/// Sums numbers over all workers of the world; all workers get the sums. Inactive workers contribute zeros.
class sums_over_world {
 public:
  explicit sums_over_world(const world& everyone) : sum_(everyone, group_of_all(everyone), partita::sum) {}

  template <std::size_t N, class Sum = double>  // this is a template, so only its callers instantiate the reduction
  std::array<double, N> operator()(const std::array<double, N>& own_sums, const text& error_message) const {
    auto given = uninitialised<Sum, 1>({N});
    std::copy(own_sums.begin(), own_sums.end(), given.begin());
    const auto all = kernel_access::call(sum_, given, error_message);
    std::array<double, N> sums{};
    std::copy(all.begin(), all.end(), sums.begin());
    return sums;
  }

 private:
  PARTITA_DECL static worker_groups group_of_all(const world& everyone);  ///< one group of all workers
  all_reduce<worker_groups, sum_t> sum_;                                  ///< sums over this group
};

/// The number by which a reduction divides the sum of the losses.
inline double divisor(loss_reduction reduction, double elements, double batch) {
  return reduction == loss_reduction::sum ? 1 : reduction == loss_reduction::mean ? elements : batch;
}

}  // namespace detail

/// A loss that is the mean, or the sum, of f(x, target) over elements. elementwise_loss is the class of mse_loss,
/// l1_loss, smooth_l1_loss, bce_loss, bce_with_logits_loss, kl_loss and poisson_nll_loss: `mse_loss<double, 2>
/// loss(p_x)`.
/// Shapes: x and target are this worker's blocks on p, partitioned in any way, but both in the same way; on workers
/// outside of p they have zero volume.
/// Requires: an x and a target of the same shape, and for bce_loss an x in [0, 1] [shape_error, on all workers].
/// Cost: one all_reduce of three numbers over the world; `each` and its adjoint: an agreement; other adjoints: nothing.
/// Adjoint: adjoint(dy) is dy times the gradient of the last loss with respect to x; there is no gradient of the
/// target.
template <class T, std::size_t Rank, class Function>
class elementwise_loss {
  static_assert(std::is_floating_point_v<T>, "partita::elementwise_loss<T, Rank>: requires floating-point elements");
  static_assert(Rank >= 1, "partita::elementwise_loss<T, Rank>: requires tensors of rank 1 at least");

 public:
  using options_type = typename Function::options;  ///< the options of this loss

  template <class Extents>
  explicit elementwise_loss(const partition<Extents>& p, const options_type& options = {})
      : layout_(detail::erase_extents<Rank>(p), Function::name, detail::layer_fingerprint<T>(options)),
        sums_(p.world()),
        options_(options) {
    static_assert(Extents::rank() == Rank,
                  "partita::elementwise_loss<T, Rank>(p): requires a partition of that rank, the rank of x and target");
    if (options.reduction == loss_reduction::batch_mean && Function::name != kl_name)
      throw shape_error(text(Function::name)
                        << ": requires loss_reduction::mean or ::sum; batch_mean is for kl_loss alone");
  }

  /// Returns the loss, which is the same on every worker of the world.
  template <class X, class Target>
  T operator()(const X& x, const Target& target) {
    const text error_message = evaluate<X, Target>(x, target);
    layout_.log_call();
    const auto i = layout_.p().active() ? layout_.p().index() : index<Rank>{};
    bool counts_batch = layout_.p().active();
    for (std::size_t d = 1; d < Rank; ++d) counts_batch = counts_batch && i[d] == 0;
    double own = 0;
    for (const double value : loss_values_) own += value;
    const double batch = counts_batch ? static_cast<double>(derivatives_.shape()[0]) : 0;
    const double elements = layout_.p().active() ? static_cast<double>(derivatives_.size()) : 0;
    const auto all = sums_(std::array<double, 3>{layout_.p().active() ? own : 0, elements, batch}, error_message);
    const double by = detail::divisor(options_.reduction, all[1], all[2]);
    scale_ = 1 / by;
    kind_of_last_loss_ = detail::last_loss_kind::number;
    return static_cast<T>(all[0] / by);
  }
  /// Returns the loss of each element of this worker's block.
  template <class X, class Target>
  xt::xtensor<T, Rank> each(const X& x, const Target& target) {
    layout_.throw_together(evaluate<X, Target>(x, target));
    kind_of_last_loss_ = detail::last_loss_kind::each;
    auto y = uninitialised<T, Rank>(detail::shape_array<Rank>(derivatives_.shape()));
    for (std::size_t k = 0; k < y.size(); ++k) y.data()[k] = static_cast<T>(loss_values_[k]);
    return y;
  }

  /// Returns the gradient of dy times the last loss with respect to x. Requires an earlier loss [shape_error].
  xt::xtensor<T, Rank> adjoint(T dy = T(1)) const {
    detail::require_reduced_loss(kind_of_last_loss_, Function::name);
    auto dx = uninitialised<T, Rank>(detail::shape_array<Rank>(derivatives_.shape()));
    for (std::size_t k = 0; k < dx.size(); ++k)
      dx.data()[k] = static_cast<T>(derivatives_.data()[k] * scale_ * static_cast<double>(dy));
    return dx;
  }
  /// Returns dx if dy is the gradient with respect to the last result of `each`. Requires dy of the shape of this
  /// result [shape_error, on all workers].
  template <ranked_array Y>
  xt::xtensor<T, Rank> adjoint(const Y& dy) const {
    static_assert(
        rank_of<Y> == Rank && std::is_same_v<element_of<Y>, T>,
        "partita::elementwise_loss<T, Rank>::adjoint(dy): requires dy of the shape that each(x, target) gave");
    xt::xtensor<T, Rank> dx = dy;
    text error_message;
    if (kind_of_last_loss_ != detail::last_loss_kind::each ||
        (layout_.p().active() && dx.shape() != derivatives_.shape()))
      error_message << Function::name
                    << ".adjoint(dy): requires a dy of the shape of the last result of each(x, target)"
                    << (kind_of_last_loss_ == detail::last_loss_kind::number
                            ? ", and the loss called last gave one number; give adjoint() a number, or call each first"
                            : "");
    layout_.throw_together(error_message, 2);
    if (layout_.p().active())
      for (std::size_t k = 0; k < dx.size(); ++k)
        dx.data()[k] = static_cast<T>(derivatives_.data()[k] * static_cast<double>(dx.data()[k]));
    return dx;
  }
  const options_type& options() const { return options_; }

 private:
  static constexpr std::string_view kl_name = "partita::kl_loss";  ///< the only loss with batch_mean

  /// Computes this worker's losses and derivatives. Returns an error message if the blocks do not fit, else empty.
  template <class X, class Target>
  text evaluate(const X& x, const Target& target) {
    static_assert(ranked_array<X> && ranked_array<Target>,
                  "partita::elementwise_loss<T, Rank>(x, target): requires blocks whose rank is part of their type, as "
                  "xt::xtensor");
    static_assert(rank_of<X> == Rank && rank_of<Target> == Rank && std::is_same_v<element_of<X>, T> &&
                      std::is_same_v<element_of<Target>, T>,
                  "partita::elementwise_loss<T, Rank>(x, target): requires blocks of elements T and of that rank");
    text error_message;
    kind_of_last_loss_ = detail::last_loss_kind::none;  // if this call fails, adjoint() has no loss to differentiate
    const xt::xtensor<T, Rank> given = x, wanted = target;
    derivatives_.resize(given.shape());
    loss_values_.assign(given.size(), 0);
    if (given.shape() != wanted.shape()) {
      if (layout_.p().active())
        error_message << Function::name << ": requires x and target of one shape, got blocks of " << given.shape()
                      << " and " << wanted.shape() << " on worker " << layout_.p().world().id()
                      << "; arrays are not broadcast here, use broadcast_in_dim";
      return error_message;
    }
    const Function f(options_);
    for (std::size_t k = 0; k < given.size(); ++k) {
      const auto a = static_cast<double>(given.data()[k]), t = static_cast<double>(wanted.data()[k]);
      if constexpr (requires { Function::is_valid_x(a); }) {
        if (!Function::is_valid_x(a) && error_message.empty())
          error_message << Function::name << ": requires x in [0, 1], got an element outside on worker "
                        << layout_.p().world().id() << "; give scores to bce_with_logits_loss";
      }
      loss_values_[k] = f.value(a, t);
      derivatives_.data()[k] = f.derivative(a, t);
    }
    return error_message;
  }

  detail::block_layout<Rank> layout_;  ///< finds the extents of x and the splits of its dimensions
  detail::sums_over_world sums_;       ///< sums the losses and counts of all workers
  options_type options_;
  std::vector<double> loss_values_;        ///< the losses of this worker's elements in the last call
  xt::xtensor<double, Rank> derivatives_;  ///< the derivatives of these losses by the elements of x
  double scale_ = 1;                       ///< the factor of the sum of all losses in the last loss
  detail::last_loss_kind kind_of_last_loss_ = detail::last_loss_kind::none;  ///< what the last call returned
};

namespace detail {

/// Of l1_loss: value(x, t) is the loss of one element x for the target t, derivative(x, t) its derivative with respect
/// to x. The types for the other losses have the same members.
struct l1_function {
  using options = loss_options;                            ///< the options of the loss
  static constexpr const char* name = "partita::l1_loss";  ///< the loss in error messages
  explicit l1_function(const options&) {}
  double value(double x, double t) const { return std::abs(x - t); }                  ///< the loss of one element
  double derivative(double x, double t) const { return x > t ? 1 : x < t ? -1 : 0; }  ///< with respect to x
};
struct smooth_l1_function {
  using options = smooth_l1_options;
  static constexpr const char* name = "partita::smooth_l1_loss";
  explicit smooth_l1_function(const options& o) : beta(o.beta) {}
  PARTITA_DECL double value(double x, double t) const;
  PARTITA_DECL double derivative(double x, double t) const;
  double beta;  ///< the |x - target| from which on the loss is linear

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<1>(*this); }  ///< a hash of all members
};
struct mse_function {
  using options = loss_options;
  static constexpr const char* name = "partita::mse_loss";
  explicit mse_function(const options&) {}
  double value(double x, double t) const { return (x - t) * (x - t); }
  double derivative(double x, double t) const { return 2 * (x - t); }
};
/// Binary cross entropy of one element. The logarithms are clamped to at least -100, as in PyTorch.
struct bce_function {
  using options = loss_options;
  static constexpr const char* name = "partita::bce_loss";
  explicit bce_function(const options&) {}
  static bool is_valid_x(double x) { return x >= 0 && x <= 1; }  ///< whether x is a probability
  double value(double x, double t) const {
    return -(t * std::max(std::log(x), -100.0) + (1 - t) * std::max(std::log(1 - x), -100.0));
  }
  double derivative(double x, double t) const { return (x - t) / std::max(x * (1 - x), 1e-12); }
};
struct bce_with_logits_function {
  using options = loss_options;
  static constexpr const char* name = "partita::bce_with_logits_loss";
  explicit bce_with_logits_function(const options&) {}
  double value(double x, double t) const { return std::max(x, 0.0) - x * t + std::log1p(std::exp(-std::abs(x))); }
  PARTITA_DECL double derivative(double x, double t) const;
};
struct kl_function {
  using options = kl_options;
  static constexpr const char* name = "partita::kl_loss";
  explicit kl_function(const options& o) : log_target(o.log_target) {}
  PARTITA_DECL double value(double x, double t) const;
  double derivative(double, double t) const { return log_target ? -std::exp(t) : -t; }
  bool log_target;  ///< whether t is the logarithm of a probability

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<1>(*this); }  ///< a hash of all members
};
struct poisson_nll_function {
  using options = poisson_nll_options;
  static constexpr const char* name = "partita::poisson_nll_loss";
  explicit poisson_nll_function(const options& o) : log_input(o.log_input), epsilon(o.epsilon) {}
  double value(double x, double t) const { return log_input ? std::exp(x) - t * x : x - t * std::log(x + epsilon); }
  double derivative(double x, double t) const { return log_input ? std::exp(x) - t : 1 - t / (x + epsilon); }
  bool log_input;  ///< whether x is the logarithm of the rate
  double epsilon;  ///< added to a rate x before its logarithm is taken

  std::uint64_t fingerprint() const { return detail::fingerprint_of_members<2>(*this); }  ///< a hash of all members
};

}  // namespace detail

/// The mean (or sum) of |x - target|. The gradient is 0 where x and target are equal.
template <class T, std::size_t Rank>
using l1_loss = elementwise_loss<T, Rank, detail::l1_function>;
/// The mean (or sum) of d^2 / (2 beta) where d = |x - target| < beta, and d - beta / 2 elsewhere (Girshick 2015).
template <class T, std::size_t Rank>
using smooth_l1_loss = elementwise_loss<T, Rank, detail::smooth_l1_function>;
/// The mean of (x - target)^2 over all elements, or their sum if the options say so.
template <class T, std::size_t Rank>
using mse_loss = elementwise_loss<T, Rank, detail::mse_function>;
/// The mean (or sum) of -target log x - (1 - target) log(1 - x), for probabilities x.
template <class T, std::size_t Rank>
using bce_loss = elementwise_loss<T, Rank, detail::bce_function>;
/// The bce_loss of sigmoid(x), computed from the scores x in a way that is finite for all finite scores.
template <class T, std::size_t Rank>
using bce_with_logits_loss = elementwise_loss<T, Rank, detail::bce_with_logits_function>;
/// The mean (or sum) of the Kullback-Leibler divergence target (log target - x), for log-probabilities x; with
/// `log_target`, exp(target) (target - x).
template <class T, std::size_t Rank>
using kl_loss = elementwise_loss<T, Rank, detail::kl_function>;
/// The mean (or sum) of the negative log likelihood of a Poisson distribution, without Stirling's term: exp(x) - target
/// x or, without `log_input`, x - target log(x + epsilon).
template <class T, std::size_t Rank>
using poisson_nll_loss = elementwise_loss<T, Rank, detail::poisson_nll_function>;

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/nn/impl/loss.ipp>
#endif
