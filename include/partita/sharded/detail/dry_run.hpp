// Dry runs of functions of tensors: nothing is computed or sent, and movements are recorded.
#pragma once

#include <partita/sharded/detail/movement_log.hpp>
#include <partita/sharded/detail/run_backward.hpp>

namespace partita::detail {

class logging {
 public:
  explicit logging(movement_log& log) : before_(log_in_use) { log_in_use = &log; }
  ~logging() { log_in_use = before_; }
  logging(const logging&) = delete;
  logging& operator=(const logging&) = delete;

 private:
  movement_log* before_;
};

/// The cotangent of a value, with its layout but without elements.
template <class T>
sharded_tensor<T> cotangent_of(const sharded_tensor<T>& y) {
  const auto& s = *y.state();
  const sharding lies = s.on ? place_of_cotangent(s.layout) : s.layout;
  return tensor_of(s.on, lies, s.extents, shape_alone<T>(s.on ? shape_of_box(s.on->box(lies, s.extents)) : s.extents));
}

}  // namespace partita::detail
