// Sharded tensors whose layout is part of their type, as a thin wrapper of sharded_tensor.
#pragma once

#include <cstddef>
#include <partita/core/rejected_call.hpp>
#include <partita/sharded/layout_name.hpp>
#include <partita/sharded/reshard.hpp>
#include <utility>
#include <vector>

namespace partita {
namespace detail {

template <auto Layout>
consteval bool is_readable() {  ///< a compile-time error if the layout is partial
  constexpr bool is_finished = !layout_of_name<Layout>.is_partial();
  static_assert(is_finished,
                "partita::sharded: requires a value whose sums are taken, but this one is partial; "
                "reshard<m.layout(...)>(x) takes them");
  return is_finished;
}

}  // namespace detail

/// A tensor over the workers of a mesh whose layout is part of its type. A program writes the type as `sharded<float,
/// m.layout("data", "")>`. The layout decides which members may be called: for a partial tensor local, whole, get, put
/// and for_each_local are compile-time errors.
template <class T, auto Layout>
class typed_sharded {
 public:
  using value_type = T;                                                         ///< the element type
  static constexpr const sharding& layout() { return layout_of_name<Layout>; }  ///< of the whole tensor on its mesh
  static constexpr std::size_t rank() { return layout().rank(); }               ///< the number of dimensions
  static constexpr auto name = Layout;                                          ///< the name of the layout

  typed_sharded() = default;
  /// Converts a tensor whose layout is known at run time. The layouts must be equal [partition_error].
  explicit typed_sharded(sharded_tensor<T> value) : value_(std::move(value)) {
    if (!value_.layout().same_layout(layout()))
      throw partition_error(text("partita::sharded: requires a tensor in the layout of the type, ")
                            << "" << layout() << ", but it has the layout " << value_.layout() << "; reshard it first");
  }

  const shape_list& extents() const { return value_.extents(); }  ///< of the whole tensor
  short_list<interval> box() const { return value_.box(); }       ///< global indices of this worker's block

  /// This worker's block of the tensor, as a view of the block's memory.
  auto local() const {
    if constexpr (detail::is_readable<Layout>()) return value_.template local<rank()>();
  }
  auto local() {
    if constexpr (detail::is_readable<Layout>()) return value_.template local<rank()>();
  }
  /// Gathers the whole tensor on every worker of the mesh. Collective.
  auto whole() const {
    if constexpr (detail::is_readable<Layout>()) return value_.template whole<rank()>();
  }
  /// The element of a tensor with exactly one element, on every worker of the world; see sharded_tensor::number.
  T number() const { return value_.number(); }
  /// Reads (get) or sets (put) elements at global indices, on any workers; see sharded_tensor::get and put. Collective.
  std::vector<T> get(const std::vector<shape_list>& indices) const {
    if constexpr (detail::is_readable<Layout>()) return value_.get(indices);
  }
  void put(const std::vector<shape_list>& indices, const std::vector<T>& values) {  ///< sets elements; see get
    if constexpr (detail::is_readable<Layout>()) value_.put(indices, values);
  }
  /// Calls f(index, element&) for each element of this worker's block, with its index in the global tensor.
  template <class F>
  void for_each_local(F f) {
    if constexpr (detail::is_readable<Layout>()) value_.for_each_local(f);
  }
  template <class F>
  void for_each_local(F f) const {  ///< with elements that f may only read
    if constexpr (detail::is_readable<Layout>()) value_.for_each_local(f);
  }

  // --- this worker's block, as an optimiser sees a parameter ---
  T* data() { return value_.data(); }  ///< this worker's elements; a block that others share is copied first
  const T* data() const { return value_.data(); }
  std::size_t size() const { return value_.size(); }          ///< the number of elements of this worker's block
  const shape_list& shape() const { return value_.shape(); }  ///< the shape of this worker's block

  /// The tensor as a sharded_tensor, whose layout is known only at run time.
  const sharded_tensor<T>& run_time_tensor() const { return value_; }

 private:
  sharded_tensor<T> value_;  ///< without the layout in its type
};

/// A tensor of elements T with layout S.
template <class T, sharding S>
using sharded = typed_sharded<T, name_of_layout<S>>;

/// Shards a whole array that every worker has: each worker keeps its block. The layout is part of the type of the
/// result. The call needs no communication.
template <sharding S, ranked_array X>
auto shard(const world& everyone, const X& x) {
  static_assert(S.rank() == rank_of<X>,
                "partita::shard<layout>(everyone, x): requires one entry of the layout for each dimension of x; write "
                "\"\" for a dimension that is not cut");
  constexpr bool of_bytes = std::is_trivially_copyable_v<element_of<X>>;
  static_assert(of_bytes,
                "partita::shard<layout>(everyone, x): requires elements that are trivially copyable, as numbers are");
  if constexpr (S.rank() == rank_of<X> && of_bytes) return sharded<element_of<X>, S>(shard(everyone, S, x));
  else return detail::rejected_call{};
}
/// Makes a sharded tensor whose element at each global index is f(index), where the index is a list of numbers. Each
/// worker calls f for the indices of its block only.
template <sharding S, class T, class F>
sharded<T, S> shard(const world& everyone, const shape_list& extents, F f) {
  return sharded<T, S>(shard<T>(everyone, S, extents, f));
}
/// Makes a tensor from the blocks that the workers already hold.
template <sharding S, ranked_array X>
auto shard_blocks(const world& everyone, const shape_list& extents, const X& x) {
  return sharded<element_of<X>, S>(shard_blocks(everyone, S, extents, x));
}

/// Changes the layout of a tensor on its mesh; see reshard(x, layout).
template <sharding S, class T, auto From>
sharded<T, S> reshard(const typed_sharded<T, From>& x) {
  static_assert(S.on == layout_of_name<From>.on,
                "partita::reshard<layout>(x): requires a layout of the mesh that x is on");
  static_assert(S.rank() == layout_of_name<From>.rank(),
                "partita::reshard<layout>(x): requires one entry of the layout for each dimension of x; write \"\" for "
                "a dimension that is not cut");
  return sharded<T, S>(reshard(x.run_time_tensor(), S));
}
template <sharding S, class T>
sharded<T, S> reshard(const sharded_tensor<T>& x) {
  return sharded<T, S>(reshard(x, S));
}

/// Moves a tensor to another mesh of its world; see reshard(x, mesh, layout).
template <sharding S, class T, auto From>
sharded<T, S> reshard(const typed_sharded<T, From>& x, const placed_mesh& where) {
  static_assert(S.rank() == layout_of_name<From>.rank(),
                "partita::reshard<layout>(x, mesh): requires one entry of the layout for each dimension of x; write "
                "\"\" for a dimension that is not cut");
  return sharded<T, S>(reshard(x.run_time_tensor(), where, S));
}
template <sharding S, class T>
sharded<T, S> reshard(const sharded_tensor<T>& x, const placed_mesh& where) {
  return sharded<T, S>(reshard(x, where, S));
}

}  // namespace partita
