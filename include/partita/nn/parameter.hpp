// What an optimiser changes: values and their gradients, both as flat memory of this worker.
#pragma once

#include <cstddef>
#include <partita/array/xtensor.hpp>
#include <vector>

namespace partita {

/// A tensor of weights and its gradient. Refers to a layer, which must live as long; follows assignments to it.
template <class T>
class parameter {
 public:
  template <class Tensor>
  parameter(Tensor& value, Tensor& gradient)
      : value_(&value),
        gradient_(&gradient),
        data_([](void* tensor) { return static_cast<Tensor*>(tensor)->data(); }),
        size_([](void* tensor) { return static_cast<Tensor*>(tensor)->size(); }) {}

  std::size_t size() const { return size_(value_); }
  T* value() const { return data_(value_); }
  T* gradient() const { return data_(gradient_); }

 private:
  void* value_;
  void* gradient_;
  T* (*data_)(void*);
  std::size_t (*size_)(void*);
};

}  // namespace partita
