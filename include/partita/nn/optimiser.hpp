// Optimisers: each worker changes the blocks it holds, without communication.
#pragma once

#include <cmath>
#include <cstddef>
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
      : parameters_(std::move(parameters)), options_(options), velocity_(parameters_.size()) {}

  /// One step along the gradients as they are. Does not set them to zero.
  void step() {
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const std::size_t n = parameters_[p].size();
      T* const value = parameters_[p].value();
      const T* const gradient = parameters_[p].gradient();
      const T rate = static_cast<T>(options_.learning_rate), momentum = static_cast<T>(options_.momentum);
      if (options_.momentum == 0) {
        for (std::size_t k = 0; k < n; ++k) value[k] -= rate * gradient[k];
        continue;
      }
      velocity_[p].resize(n, T(0));
      for (std::size_t k = 0; k < n; ++k) {
        velocity_[p][k] = momentum * velocity_[p][k] + gradient[k];
        value[k] -= rate * velocity_[p][k];
      }
    }
  }
  sgd_options& options() { return options_; }

 private:
  std::vector<parameter<T>> parameters_;
  sgd_options options_;
  std::vector<std::vector<T>> velocity_;
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
      : parameters_(std::move(parameters)), options_(options), first_(parameters_.size()), second_(parameters_.size()) {}

  /// One step along the gradients as they are. Does not set them to zero.
  void step() {
    ++steps_;
    const double first_bias = 1 - std::pow(options_.beta1, steps_), second_bias = 1 - std::pow(options_.beta2, steps_);
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const std::size_t n = parameters_[p].size();
      T* const value = parameters_[p].value();
      const T* const gradient = parameters_[p].gradient();
      first_[p].resize(n, T(0));
      second_[p].resize(n, T(0));
      for (std::size_t k = 0; k < n; ++k) {
        T& m = first_[p][k];
        T& v = second_[p][k];
        m = static_cast<T>(options_.beta1) * m + static_cast<T>(1 - options_.beta1) * gradient[k];
        v = static_cast<T>(options_.beta2) * v + static_cast<T>(1 - options_.beta2) * gradient[k] * gradient[k];
        const double m_hat = static_cast<double>(m) / first_bias, v_hat = static_cast<double>(v) / second_bias;
        value[k] -= static_cast<T>(options_.learning_rate * m_hat / (std::sqrt(v_hat) + options_.epsilon));
      }
    }
  }
  adam_options& options() { return options_; }

 private:
  std::vector<parameter<T>> parameters_;
  adam_options options_;
  int steps_ = 0;
  std::vector<std::vector<T>> first_, second_;
};

}  // namespace partita
