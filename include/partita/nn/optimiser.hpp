// Optimisers: each worker changes the blocks it holds, without communication.
//
// A complex element is two real ones, as in PyTorch: its gradient holds the derivatives by both.
#pragma once

#include <cmath>
#include <cstddef>
#include <partita/nn/detail/optimised.hpp>
#include <partita/nn/parameter.hpp>
#include <utility>
#include <vector>

namespace partita {

struct sgd_options {
  double learning_rate = 0.01;
  double momentum = 0;
};

/// Stochastic gradient descent: v = momentum v + g, w = w - learning_rate v.
template <class T>
class sgd {
 public:
  sgd(std::vector<parameter<T>> parameters, const sgd_options& options)
      : parameters_("partita::sgd::step()", std::move(parameters)), options_(options) {}

  /// One step along the gradients as they are. Does not set them to zero. Requires parameters and gradients of the
  /// sizes they had when this was made [shape_error on this worker, and none is changed].
  void step() {
    const real rate = static_cast<real>(options_.learning_rate), momentum = static_cast<real>(options_.momentum);
    parameters_.for_each([&](const auto& p) {
      real* const velocity = p.state[0];
      if (options_.momentum == 0)
        for (std::size_t k = 0; k < p.n; ++k) p.value[k] -= rate * p.gradient[k];
      else
        for (std::size_t k = 0; k < p.n; ++k) {
          velocity[k] = momentum * velocity[k] + p.gradient[k];
          p.value[k] -= rate * velocity[k];
        }
    });
  }
  sgd_options& options() { return options_; }

 private:
  using real = typename detail::optimised<T, 1>::real;

  detail::optimised<T, 1> parameters_;
  sgd_options options_;
};

struct adam_options {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

/// Adam (Kingma and Ba 2015, algorithm 1).
template <class T>
class adam {
 public:
  adam(std::vector<parameter<T>> parameters, const adam_options& options)
      : parameters_("partita::adam::step()", std::move(parameters)), options_(options) {}

  /// One step along the gradients as they are. Does not set them to zero. Requires parameters and gradients of the
  /// sizes they had when this was made [shape_error on this worker, and none is changed].
  void step() {
    const int now = steps_ + 1;
    const double first_bias = 1 - std::pow(options_.beta1, now), second_bias = 1 - std::pow(options_.beta2, now);
    parameters_.for_each([&](const auto& p) {
      for (std::size_t k = 0; k < p.n; ++k) {
        const real g = p.gradient[k];
        real& m = p.state[0][k];
        real& v = p.state[1][k];
        m = static_cast<real>(options_.beta1) * m + static_cast<real>(1 - options_.beta1) * g;
        v = static_cast<real>(options_.beta2) * v + static_cast<real>(1 - options_.beta2) * g * g;
        const double m_hat = static_cast<double>(m) / first_bias, v_hat = static_cast<double>(v) / second_bias;
        p.value[k] -= static_cast<real>(options_.learning_rate * m_hat / (std::sqrt(v_hat) + options_.epsilon));
      }
    });
    steps_ = now;
  }
  adam_options& options() { return options_; }

 private:
  using real = typename detail::optimised<T, 2>::real;

  detail::optimised<T, 2> parameters_;
  adam_options options_;
  int steps_ = 0;
};

}  // namespace partita
