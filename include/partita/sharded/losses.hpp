// Losses as functions of tensors. A loss has one result per element: the mean loss is `mean(losses::mse(x, target))`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/nn/loss.hpp>
#include <partita/sharded/operate.hpp>

namespace partita {
namespace detail {

constexpr partita::rule rule_of_losses(const char* name, const shape_list& x, std::size_t operands) {  ///< elementwise
  partita::rule r;
  const separate_factors f(r, x);
  for (std::size_t t = 0; t <= operands; ++t) {
    t < operands ? r.begin_operand() : r.begin_result();
    f.write(r);
  }
  return r.complete().with(linearity::none).named(name);
}

/// Computes dy times the derivative of a loss with respect to x.
template <class Function>
struct loss_gradient_operation {
  static constexpr std::size_t parameters = 1;  ///< number of data members, each equal on all workers
  Function f;
  static constexpr partita::rule rule(const shape_span& x) { return rule_of_losses("gradient of a loss", x[0], 3); }
  template <class T>
  void local(const tensor_part<const T>& dy, const tensor_part<const T>& x, const tensor_part<const T>& target,
             const tensor_part<T>& dx) const {  ///< computes this worker's block of the result
    for (std::size_t k = 0; k < dx.size(); ++k)
      dx[k] = static_cast<T>(static_cast<double>(dy[k]) *
                             f.derivative(static_cast<double>(x[k]), static_cast<double>(target[k])));
  }
};
/// Computes the loss of each element: the function of an element and its target that a loss layer of nn/ sums.
template <class Function>
struct loss_operation {
  static constexpr bool on_complex = false;          ///< complex elements are a compile-time error
  static constexpr std::uint32_t adjoint_reads = 3;  ///< bit mask: the adjoint reads operands 0 and 1
  static constexpr std::size_t parameters = 1;       ///< number of data members, each equal on all workers
  Function f;
  static constexpr partita::rule rule(const shape_span& x) { return rule_of_losses("loss", x[0], 2); }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<const T>& target, const tensor_part<T>& y) const {
    for (std::size_t k = 0; k < y.size(); ++k)
      y[k] = static_cast<T>(f.value(static_cast<double>(x[k]), static_cast<double>(target[k])));
  }
  template <class X>
  X adjoint(std::size_t i, const X& dy, const X& x, const X& target, const X&) const {  ///< none for the target
    if (i == 1) return {};
    return apply_op(loss_gradient_operation<Function>{f}, dy, x, target);
  }
};

template <class Function, class X, class Target>
auto loss_of(const Function& f, const X& x, const Target& target) {  ///< the loss of each element
  return apply_op(loss_operation<Function>{f}, x, target);
}

}  // namespace detail

/// The losses of the layers in nn/loss.hpp, as functions of a tensor and its target, as in `mean(losses::mse(x,
/// target))`, `sum(losses::kl(x, target, {.log_target = true}))`.
/// Shapes:   x and target have equal extents [shape_error], which are those of the result.
/// Requires: elements that are not complex [compile time]. `bce` is NaN where x is outside of [0, 1].
/// Cost:     one pass; no communication if x and target have the same layout and are not partial.
/// Adjoint:  dy times the derivative with respect to x; the target has no gradient.
namespace losses {

struct smooth_l1_loss_options {  ///< the options of smooth_l1(x, target, options)
  double beta = 1;               ///< the loss is quadratic where |x - target| < beta, and linear elsewhere
};
struct kl_loss_options {    ///< the options of kl(x, target, options)
  bool log_target = false;  ///< whether the target holds logarithms of probabilities
};
struct poisson_nll_loss_options {  ///< the options of poisson_nll(x, target, options)
  bool log_input = true;           ///< whether x is the logarithm of the rate
  double epsilon = 1e-8;           ///< keeps log(x + epsilon) finite if x is the rate
};

template <class X, class Target>
  requires(detail::any_tensor<X> && detail::any_tensor<Target>)
auto l1(const X& x, const Target& target) {  ///< |x - target|
  return detail::loss_of(detail::l1_function({}), x, target);
}
template <class X, class Target>
  requires(detail::any_tensor<X> && detail::any_tensor<Target>)
auto smooth_l1(const X& x, const Target& target, const smooth_l1_loss_options& options = {}) {  ///< quadratic near 0
  return detail::loss_of(detail::smooth_l1_function({.beta = options.beta}), x, target);
}
template <class X, class Target>
  requires(detail::any_tensor<X> && detail::any_tensor<Target>)
auto mse(const X& x, const Target& target) {  ///< (x - target)²
  return detail::loss_of(detail::mse_function({}), x, target);
}
template <class X, class Target>
  requires(detail::any_tensor<X> && detail::any_tensor<Target>)
auto bce(const X& x, const Target& target) {  ///< binary cross entropy of the probability x
  return detail::loss_of(detail::bce_function({}), x, target);
}
template <class X, class Target>
  requires(detail::any_tensor<X> && detail::any_tensor<Target>)
auto bce_with_logits(const X& x, const Target& target) {  ///< bce of the probability sigmoid(x)
  return detail::loss_of(detail::bce_with_logits_function({}), x, target);
}
template <class X, class Target>
  requires(detail::any_tensor<X> && detail::any_tensor<Target>)
auto kl(const X& x, const Target& target, const kl_loss_options& options = {}) {  ///< x is a logarithm of probabilities
  return detail::loss_of(detail::kl_function({.log_target = options.log_target}), x, target);
}
/// The negative log-likelihood of counts `target` in a Poisson distribution of rate x or exp(x), without log(target!).
template <class X, class Target>
  requires(detail::any_tensor<X> && detail::any_tensor<Target>)
auto poisson_nll(const X& x, const Target& target, const poisson_nll_loss_options& options = {}) {
  return detail::loss_of(detail::poisson_nll_function({.log_input = options.log_input, .epsilon = options.epsilon}), x,
                         target);
}

}  // namespace losses
}  // namespace partita
