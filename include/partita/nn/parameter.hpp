// The view of a parameter that an optimiser updates: values and gradients in flat memory of this worker.
#pragma once

#include <algorithm>
#include <cstddef>
#include <partita/array/xtensor.hpp>
#include <partita/core/error.hpp>

namespace partita {
namespace detail {

/// Whether a block of shape a may replace a block of shape b: the shapes are equal, or neither block has an element. On
/// a worker outside of the partition, zero_volume() and block_from() may give empty blocks of different shapes.
template <class A, class B>
bool can_replace_shape(const A& a, const B& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end()) ||
         (std::find(a.begin(), a.end(), 0u) != a.end() && std::find(b.begin(), b.end(), 0u) != b.end());
}

}  // namespace detail

/// A tensor of weights of a layer, and its gradient. A parameter refers to the tensors of the layer, which must outlive
/// the parameter, so it also refers to values that a program assigns to these tensors later.
template <class T>
class parameter {
 public:
  template <class Tensor>
  parameter(Tensor& value, Tensor& gradient)
      : value_(&value),
        gradient_(&gradient),
        get_data_([](void* tensor) { return static_cast<Tensor*>(tensor)->data(); }),
        get_size_([](const void* tensor) { return static_cast<const Tensor*>(tensor)->size(); }),
        compare_shapes_([](const void* v, const void* g) {
          const auto& of_value = static_cast<const Tensor*>(v)->shape();
          const auto& of_gradient = static_cast<const Tensor*>(g)->shape();
          if (detail::can_replace_shape(of_value, of_gradient)) return text();
          return text("a gradient of the shape of its value ") << of_value << ", got " << of_gradient;
        }) {}

  std::size_t size() const { return get_size_(value_); }  ///< the number of elements of this worker's block
  T* value() const { return get_data_(value_); }          ///< the elements of this worker's block
  T* gradient() const { return get_data_(gradient_); }    ///< the gradient of these elements
  /// The error message if value and gradient differ in shape, because one was assigned; empty if the shapes fit.
  text error_message() const { return compare_shapes_(value_, gradient_); }

 private:
  void* value_;                                       ///< this worker's block, a tensor of the layer
  void* gradient_;                                    ///< its gradient, a tensor of the same type
  T* (*get_data_)(void*);                             ///< data() of a tensor of their type
  std::size_t (*get_size_)(const void*);              ///< size() of a tensor of their type
  text (*compare_shapes_)(const void*, const void*);  ///< returns the error message if the shapes differ
};

}  // namespace partita
