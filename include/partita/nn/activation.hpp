// Elementwise activations as layers. Each worker applies the activation to its block, without communication.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <partita/array/strided.hpp>
#include <partita/core/rejected_call.hpp>
#include <vector>

namespace partita {

/// Computes y = f(x), element by element. `Function` computes the value from x, and the derivative from x and y.
template <class T, class Function>
class activation {
 public:
  template <ranked_array X>
  xt::xtensor<T, rank_of<X>> operator()(const X& x) {
    static_assert(std::is_same_v<element_of<X>, T>,
                  "partita::activation<T>(x): requires elements of type T; cast x first");
    xt::xtensor<T, rank_of<X>> y = x;
    shape_.assign(y.shape().begin(), y.shape().end());
    x_.assign(y.data(), y.data() + y.size());
    for (T& element : y) element = Function::value(element);
    y_.assign(y.data(), y.data() + y.size());
    return y;
  }
  /// Computes y = f(x), as operator() does.
  template <class X>
  auto forward(const X& x) {
    return (*this)(x);
  }
  template <class X>
    requires(!ranked_array<X>)
  auto operator()(const X&) {
    constexpr bool has_static_rank = ranked_array<X>;
    static_assert(has_static_rank,
                  "partita::activation<T>(x): requires an x whose rank is part of its type, as an xt::xtensor; give "
                  "as_rank<2>(x)");
    return detail::rejected_call{};
  }
  /// Returns dx = dy f'(x) for the last x. Requires dy of the shape of the last result [shape_error, on this worker].
  template <ranked_array Y>
  xt::xtensor<T, rank_of<Y>> adjoint(const Y& dy) {
    xt::xtensor<T, rank_of<Y>> dx = dy;
    const bool is_empty = dx.size() == 0 && x_.empty();  // an empty dy fits an empty x of any batch
    if (!is_empty && !std::equal(shape_.begin(), shape_.end(), dx.shape().begin(), dx.shape().end()))
      throw shape_error(text("partita::activation::adjoint(dy): requires dy of the shape of the last result ")
                        << shape_ << ", got " << dx.shape());
    for (std::size_t k = 0; k < x_.size(); ++k) dx.data()[k] *= Function::derivative(x_[k], y_[k]);
    return dx;
  }

 private:
  std::vector<std::size_t> shape_;  ///< the shape of this worker's block of the last x
  std::vector<T> x_, y_;            ///< the elements of the last x and y, in C order, kept for the adjoint
};

namespace detail {
/// For the class relu: max(x, 0), and its derivative from x and y = value(x). tanh_function and sigmoid_function have
/// the same members.
struct relu_function {
  template <class T>
  static T value(T x) {
    return x < T(0) ? T(0) : x;  // x < 0 is false for NaN, so NaN is passed through
  }
  template <class T>
  static T derivative(T x, T) {
    return x <= T(0) ? T(0) : T(1);
  }
};
struct tanh_function {
  template <class T>
  static T value(T x) {
    return std::tanh(x);
  }
  template <class T>
  static T derivative(T, T y) {
    return T(1) - y * y;
  }
};
struct sigmoid_function {
  template <class T>
  static T value(T x) {
    return T(1) / (T(1) + std::exp(-x));
  }
  template <class T>
  static T derivative(T, T y) {
    return y * (T(1) - y);
  }
};
}  // namespace detail

/// The rectified linear unit, y = max(x, 0).
template <class T>
class relu : public activation<T, detail::relu_function> {};
/// y = tanh(x).
template <class T>
class hyperbolic_tangent : public activation<T, detail::tanh_function> {};
/// y = 1 / (1 + exp(-x)).
template <class T>
class sigmoid : public activation<T, detail::sigmoid_function> {};

}  // namespace partita
