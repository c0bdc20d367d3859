// The log of movements: recorded while they are made, or predicted in a dry run.
#pragma once

#include <cstddef>
#include <partita/plan/plan_reshard.hpp>
#include <partita/sharded/detail/tensor_block.hpp>
#include <vector>

namespace partita {

/// One movement of a tensor, as one worker sees it.
struct movement {
  text operation{};       ///< the operation that needs it
  bool backward = false;  ///< made in the backward pass
  sharding from{}, to{};
  shape_list extents{};
  std::size_t bytes = 0;  ///< received by this worker
  /// Of a window, or of sums along a sharded dimension, where the layouts are equal: received by the busiest worker.
  std::size_t most_bytes = 0;

  friend bool operator==(const movement& a, const movement& b) {
    return std::string_view(a.operation.c_str()) == b.operation.c_str() && a.backward == b.backward &&
           a.from == b.from && a.to == b.to && a.extents == b.extents && a.bytes == b.bytes;
  }
};

namespace detail {

/// The log of movements. In a dry run no movement is made and no element is touched.
struct movement_log {
  std::vector<movement> all{};
  bool is_dry = false;
};
inline thread_local movement_log* log_in_use = nullptr;
/// True during a backward pass. Its movements follow from the forward pass, so no_implicit_reshard does not reject
/// them.
inline thread_local bool going_back = false;
inline thread_local const char* operation_in_use = nullptr;

inline bool is_dry_run() { return log_in_use != nullptr && log_in_use->is_dry; }
inline void log_movement(const char* call, const sharding& from, const sharding& to, const shape_list& extents,
                         std::size_t bytes, std::size_t most_bytes = 0) {
  if (log_in_use == nullptr) return;
  log_in_use->all.push_back(
      {text(operation_in_use != nullptr ? operation_in_use : call), going_back, from, to, extents, bytes, most_bytes});
}

/// While an object of this class lives, movements are logged under this operation's name.
class naming_operation {
 public:
  explicit naming_operation(const char* name) : before_(operation_in_use) { operation_in_use = name; }
  ~naming_operation() { operation_in_use = before_; }
  naming_operation(const naming_operation&) = delete;
  naming_operation& operator=(const naming_operation&) = delete;

 private:
  const char* before_;
};

/// A block of this shape without memory.
template <class T>
tensor_block<T> shape_alone(const shape_list& shape) {
  tensor_block<T> none;
  none.shape = shape;
  return none;
}

}  // namespace detail
}  // namespace partita
