// How all_gather and reduce_scatter are called, which is the same for both.
#pragma once

#include <cstddef>
#include <partita/kernel/detail/part_movement.hpp>
#include <vector>

namespace partita::detail {

/// A kernel on the groups of a partition. `Kernel` says by `forward(x, target, objection)` which movement its call is.
template <class Kernel, class Extents>
class part_kernel {
 public:
  /// The result on this worker. A worker with an objection (a sentence) makes all workers throw it as a shape_error.
  template <ranked_array X>
  auto operator()(const X& x, const text& objection = {}) const {
    return kernel().forward(x, target<element_of<X>, rank_of<X>>{}, objection);
  }
  /// The same into a caller's array or view, which must have the shape of the result [shape_error, on all workers].
  template <ranked_array X, class View>
  void into(const X& x, View&& view) const {
    kernel().forward(x, target_of<element_of<X>, rank_of<X>>(view));
  }

  /// The memory that results come from; null before the first call.
  arena* memory() const { return movement_.memory(); }
  /// The ids of the workers whose blocks are put together, or summed, with this worker's; none if it is inactive.
  const std::vector<std::size_t>& members() const { return movement_.members(); }
  /// How often block shapes had to be exchanged so far.
  std::size_t structures_made() const { return movement_.structures_made(); }

 protected:
  part_kernel(const partition<Extents>& p, const std::array<bool, Extents::rank()>& kept, const char* name, known_cuts cuts)
      : movement_(p, kept, name, cuts) {}

  mutable part_movement<Extents> movement_;

 private:
  const Kernel& kernel() const { return static_cast<const Kernel&>(*this); }
};

}  // namespace partita::detail
