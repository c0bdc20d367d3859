// The type of what kernels return: a tensor of xtensor that converts in one direction only.
#pragma once

#include <partita/array/xtensor.hpp>
#include <utility>

namespace partita {

/// A tensor of xtensor that no other expression becomes unasked, while it becomes another where one is asked for: so
/// `p.active() ? b(x) : zero_volume<float, 2>()` has a type. (A class of one parameter that derives from it is what
/// xtensor takes for the same expression.)
template <class Tensor>
class result_tensor : public Tensor {
 public:
  using typename Tensor::shape_type;

  result_tensor() = default;
  explicit result_tensor(const shape_type& shape) : Tensor(shape) {}
  template <class E>
  explicit result_tensor(const xt::xexpression<E>& e) : Tensor(e) {}
  using Tensor::operator=;

  // xt::noalias(y) = …, += … expect what they call to return the tensor itself
  template <class E>
  result_tensor& assign(const xt::xexpression<E>& e) {
    return Tensor::assign(e), *this;
  }
  template <class E>
  result_tensor& plus_assign(const xt::xexpression<E>& e) {
    return Tensor::plus_assign(e), *this;
  }
  template <class E>
  result_tensor& minus_assign(const xt::xexpression<E>& e) {
    return Tensor::minus_assign(e), *this;
  }
  template <class E>
  result_tensor& multiplies_assign(const xt::xexpression<E>& e) {
    return Tensor::multiplies_assign(e), *this;
  }
  template <class E>
  result_tensor& divides_assign(const xt::xexpression<E>& e) {
    return Tensor::divides_assign(e), *this;
  }
  template <class E>
  result_tensor& modulus_assign(const xt::xexpression<E>& e) {
    return Tensor::modulus_assign(e), *this;
  }
  template <class E>
  result_tensor& bit_and_assign(const xt::xexpression<E>& e) {
    return Tensor::bit_and_assign(e), *this;
  }
  template <class E>
  result_tensor& bit_or_assign(const xt::xexpression<E>& e) {
    return Tensor::bit_or_assign(e), *this;
  }
  template <class E>
  result_tensor& bit_xor_assign(const xt::xexpression<E>& e) {
    return Tensor::bit_xor_assign(e), *this;
  }
  template <class E, class F>
  result_tensor& scalar_computed_assign(const E& e, F&& f) {
    return Tensor::scalar_computed_assign(e, std::forward<F>(f)), *this;
  }
};

}  // namespace partita
