// The parameters of a norm: its weight (gamma), which scales the result, and its bias (beta), which is added.
#pragma once

#include <array>
#include <cstddef>
#include <partita/nn/parameter.hpp>
#include <vector>

namespace partita::detail {

/// Pointers to the parameters of a norm. `has_scale` is the same on all workers; if it is false, gamma and its gradient
/// are not used.
template <class T>
struct norm_weights {
  bool has_scale = false;       ///< whether the norm has a weight
  const T* gamma = nullptr;     ///< this worker's block of the weight
  const T* beta = nullptr;      ///< this worker's block of the bias, or null
  T* gamma_gradient = nullptr;  ///< the adjoint adds to it
  T* beta_gradient = nullptr;   ///< the adjoint adds to it; null without a bias
};

/// This worker's blocks of a norm's weight (initially 1) and bias (initially 0); empty if the norm lacks them.
template <class T, std::size_t Rank>
class scale_and_shift {
 public:
  xt::xtensor<T, Rank>& weight() { return weight_; }
  xt::xtensor<T, Rank>& bias() { return bias_; }
  xt::xtensor<T, Rank>& weight_gradient() { return weight_gradient_; }  ///< accumulated by adjoint()
  xt::xtensor<T, Rank>& bias_gradient() { return bias_gradient_; }      ///< accumulated by adjoint()
  const xt::xtensor<T, Rank>& weight() const { return weight_; }        ///< gamma, this worker's block
  const xt::xtensor<T, Rank>& bias() const { return bias_; }            ///< beta, this worker's block
  /// Sets this worker's gradients of weight and bias to zero.
  void zero_gradients() {
    weight_gradient_.fill(T(0));
    bias_gradient_.fill(T(0));
  }
  /// The weights and gradients, for an optimiser. The result stays valid as long as the layer lives.
  std::vector<parameter<T>> parameters() { return {{weight_, weight_gradient_}, {bias_, bias_gradient_}}; }

 protected:
  scale_and_shift(const std::array<std::size_t, Rank>& shape, bool has_scale, bool has_shift)
      : has_scale_(has_scale), has_shift_(has_shift) {
    const std::array<std::size_t, Rank> none{};
    weight_ = weight_gradient_ = xt::xtensor<T, Rank>(xt::zeros<T>(has_scale ? shape : none));
    bias_ = bias_gradient_ = xt::xtensor<T, Rank>(xt::zeros<T>(has_shift ? shape : none));
    weight_.fill(T(1));
    shapes_ = {weight_.shape(), bias_.shape()};
  }

  /// The error message if a weight, bias or gradient has a wrong shape because the program assigned it; else empty.
  text error_in_parameters(const char* name) const {
    text error_message;
    if (!can_replace_shape(weight_.shape(), shapes_[0]) || !can_replace_shape(weight_gradient_.shape(), shapes_[0]))
      error_message << name << ": requires a weight and its gradient of shape " << shapes_[0] << ", got "
                    << weight_.shape() << " and " << weight_gradient_.shape()
                    << "; assign blocks of the shape they had";
    else if (!can_replace_shape(bias_.shape(), shapes_[1]) || !can_replace_shape(bias_gradient_.shape(), shapes_[1]))
      error_message << name << ": requires a bias and its gradient of shape " << shapes_[1] << ", got " << bias_.shape()
                    << " and " << bias_gradient_.shape() << "; assign blocks of the shape they had";
    return error_message;
  }
  /// Pointers to the parameters, valid until one of them is assigned.
  norm_weights<T> weight_pointers() {
    return {has_scale_, weight_.data(), has_shift_ ? bias_.data() : nullptr, weight_gradient_.data(),
            has_shift_ ? bias_gradient_.data() : nullptr};
  }

 private:
  bool has_scale_, has_shift_;                                            ///< whether the norm has a weight, and a bias
  xt::xtensor<T, Rank> weight_, bias_, weight_gradient_, bias_gradient_;  ///< this worker's blocks
  std::array<typename xt::xtensor<T, Rank>::shape_type, 2> shapes_;  ///< of weight and bias; these shapes do not change
};

}  // namespace partita::detail
