// A global tensor over the workers of a mesh whose sharding is known at run time; typed tensors wrap such a tensor.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/array/expression.hpp>
#include <partita/array/strided.hpp>
#include <partita/core/config.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/sharded/detail/element_access.hpp>
#include <partita/sharded/detail/fingerprint_of.hpp>
#include <partita/sharded/detail/reshard_block.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {
namespace detail {

template <class T>
struct tape_node;

/// The layout of a tensor, and this worker's block of the tensor. A tensor without a mesh is a whole plain array.
template <class T>
struct tensor_state {
  std::shared_ptr<bound_mesh> on{};      ///< null for a plain array
  sharding layout{};                     ///< of the whole tensor over the mesh
  shape_list extents{};                  ///< of the whole tensor
  tensor_block<T> block{};               ///< this worker's part of the tensor
  std::shared_ptr<tape_node<T>> node{};  ///< not null if a gradient may be requested
  std::uint64_t number = 0;              ///< a hash of the operation that made the tensor, equal on all workers; or 0

  short_list<interval> box() const {  ///< global indices of this worker's block
    if (on) return on->box(layout, extents);
    short_list<interval> all;
    for (const std::size_t extent : extents) all.push_back({0, extent});
    return all;
  }
  bool active() const { return !on || on->active(); }  ///< whether this worker is on the mesh
};

PARTITA_DECL void require_no_pending_reduction(const sharding& s, const char* call);  ///< throws if s is partial

}  // namespace detail

/// A tensor that the workers of a mesh hold together; each worker holds its block. The class has value semantics:
/// copies share their blocks until one of them is changed. Every worker of the world must call all operations on the
/// tensor. Except at checks::local, an operation that moves elements first checks that all workers make the same call;
/// a call that needs no message is compared at the next such agreement.
template <class T>
class sharded_tensor {
 public:
  using value_type = T;                        ///< the element type
  using state_type = detail::tensor_state<T>;  ///< what copies of a tensor share

  sharded_tensor() = default;
  explicit sharded_tensor(std::shared_ptr<state_type> state) : state_(std::move(state)) {}  ///< shares state

  const sharding& layout() const { return state_->layout; }      ///< of the whole tensor over its mesh
  const shape_list& extents() const { return state_->extents; }  ///< of the whole tensor
  std::size_t rank() const { return state_->extents.size(); }    ///< the number of dimensions
  /// The box of global indices that this worker holds; empty if the worker is not on the mesh.
  short_list<interval> box() const { return state_->box(); }

  /// This worker's block as a view of the block's memory, of rank N, as in `x.local<2>()`. Requires a value that is not
  /// partial [partition_error].
  template <std::size_t N>
  auto local() const {
    require_readable("local()");
    return view<const T, N>(state_->block.data());
  }
  PARTITA_FALLBACK_OVERLOAD(local) const {
    static_assert(
        detail::dependent_false<T, Given...>,
        "partita::sharded_tensor: requires the rank of an array of its elements, which its type does not say; "
        "write x.local<2>(), x.whole<2>()");
    return detail::rejected_call{};
  }
  template <std::size_t N>
  auto local() {
    require_readable("local()");
    make_exclusive();
    return view<T, N>(state_->block.data());
  }

  /// Gathers the whole tensor on every worker of the mesh; other workers of the world get no elements. A tensor of rank
  /// 0 is returned on all workers of the world. Collective.
  template <std::size_t N>
  xt::xtensor<T, N> whole() const {
    require_readable("whole()");
    const detail::tensor_block<T> all =
        rank() == 0 ? detail::broadcast_element(state_->on.get(), gathered(), state_->number) : gathered();
    xt::xtensor<T, N> y(shape_of_rank<N>(all.shape));
    for (std::size_t k = 0; k < y.size(); ++k) y.data()[k] = all.data()[k];
    return y;
  }
  /// The element of a tensor with exactly one element, on every worker of the world. Collective if the tensor is
  /// partial or sharded, or if the mesh is smaller than the world; then all workers outside of it receive the element.
  T number() const {
    if (detail::shape_size(extents()) != 1)
      throw shape_error(text("partita::sharded_tensor::number(): requires a tensor of one element, not of extents ")
                        << extents() << "; reduce it before");
    return *detail::broadcast_element(state_->on.get(), gathered(), state_->number).data();
  }

  /// Returns the elements at global indices, whichever workers hold them; each worker passes its own list. Collective
  /// over the world. All indices must be inside of the tensor [shape_error, on all workers]. Cost: the workers find the
  /// longest of their lists, then make two exchanges.
  std::vector<T> get(const std::vector<shape_list>& indices) const {
    require_readable("get()");
    return detail::elements_at<T>(state_->on.get(), state_->layout, state_->extents, state_->block, state_->number,
                                  indices);
  }
  /// Sets the elements at global indices, on all workers that hold a copy of them. If two workers set the same element,
  /// the worker with the higher id wins; within one worker's list the last value wins. Collective. Each worker passes
  /// as many values as indices [shape_error, on all workers].
  void put(const std::vector<shape_list>& indices, const std::vector<T>& values) {
    require_readable("put()");
    make_exclusive();
    detail::set_elements<T>(state_->on.get(), state_->layout, state_->extents, state_->block, state_->number, indices,
                            values);
  }

  /// Calls f(index, element&) for each element of this worker's block, with its index in the global tensor.
  template <class F>
  void for_each_local(F f) {
    require_readable("for_each_local()");
    make_exclusive();
    for_each_element(state_->block.data(), f);
  }
  template <class F>
  void for_each_local(F f) const {  ///< with elements that f may only read
    require_readable("for_each_local()");
    for_each_element(static_cast<const T*>(state_->block.data()), f);
  }

  // --- this worker's block, as an optimiser sees a parameter ---
  T* data() {  ///< this worker's elements; a block that others share is copied first
    make_exclusive();
    return state_->block.data();
  }
  const T* data() const { return state_->block.data(); }
  std::size_t size() const { return state_->block.size(); }        ///< the number of elements of this worker's block
  const shape_list& shape() const { return state_->block.shape; }  ///< the shape of this worker's block

  const std::shared_ptr<state_type>& state() const { return state_; }  ///< shared by copies; for library functions

 private:
  void require_readable(const char* call) const { detail::require_no_pending_reduction(state_->layout, call); }
  /// Makes the block exclusive to this value, and detaches it from the tape.
  void make_exclusive() {
    if (state_.use_count() > 1) state_ = std::make_shared<state_type>(*state_);
    state_->node = nullptr;
    if (!state_->block.is_unique()) state_->block = state_->block.copy();
  }
  template <std::size_t N>
  static std::array<std::size_t, N> shape_of_rank(const shape_list& shape) {  ///< throws if N is not the rank
    if (shape.size() != N)
      throw shape_error(text("partita::sharded_tensor: requires the rank of the tensor, which is ")
                        << shape.size() << ", not " << N << "; name that");
    std::array<std::size_t, N> all{};
    for (std::size_t d = 0; d < N; ++d) all[d] = shape[d];
    return all;
  }
  template <class U, std::size_t N>
  auto view(U* memory) const {  ///< this worker's block as an array of rank N
    return xt::adapt(memory, state_->block.size(), xt::no_ownership(), shape_of_rank<N>(state_->block.shape));
  }
  /// The elements of the whole tensor, on all workers of the mesh.
  detail::tensor_block<T> gathered() const {
    if (detail::run_state.is_dry_run)
      throw error("partita::movements_of: requires a function that does not read elements; return the tensor instead");
    if (!state_->on) return state_->block;
    return detail::resharded(*state_->on, state_->block, state_->layout, sharding(state_->layout.on, rank()),
                             state_->extents);
  }
  template <class U, class F>
  void for_each_element(U* memory, F& f) const {  ///< of this worker's block; see for_each_local
    if (!state_->active()) return;                // a tensor of rank 0 has a block also on workers outside of the mesh
    const auto here = box();
    const std::array steps{detail::strides_of(state_->block.shape)};
    short_list<std::size_t> index;
    for (const interval& one : here) index.push_back(one.start);
    std::size_t k = 0;
    detail::for_each_row(state_->block.shape, steps, [&](const std::ptrdiff_t*, std::size_t n) {
      std::size_t remaining = k;
      for (std::size_t d = index.size(); d-- > 0;) {
        index[d] = here[d].start + remaining % state_->block.shape[d];
        remaining /= state_->block.shape[d];
      }
      for (std::size_t j = 0; j < n; ++j, ++k) {
        f(static_cast<const short_list<std::size_t>&>(index), memory[k]);
        if (!index.empty()) ++index[index.size() - 1];
      }
    });
  }

  std::shared_ptr<state_type> state_;  ///< shared by copies until one of them is changed
};

namespace detail {

/// Throws an error unless the layout s has one entry for each dimension of the extents.
PARTITA_DECL void require_layout(const sharding& s, const shape_list& extents, const char* call = "partita::shard");

/// Makes a tensor from this worker's block, as the result of the operation whose number is `number`.
template <class T>
sharded_tensor<T> tensor_of(const std::shared_ptr<bound_mesh>& on, const sharding& layout, const shape_list& extents,
                            tensor_block<T> block, std::uint64_t number = 0) {
  auto state = std::make_shared<tensor_state<T>>();
  state->on = on;
  state->layout = layout;
  state->extents = extents;
  state->block = std::move(block);
  state->number = number;
  return sharded_tensor<T>(std::move(state));
}
/// Records that a tensor is made, so that the next agreement checks that all workers of the world made it; see
/// bound_mesh::log_operation.
template <class T>
std::uint64_t record_tensor(const std::shared_ptr<bound_mesh>& on, const char* call, const sharding& layout,
                            const shape_list& extents) {
  return on->log_operation(hasher(type_number<T>()).mix(call).mix(fingerprint_of(layout)).mix(extents).value(), call,
                           extents);
}

/// Makes a new tensor from a function of the global index. If the layout has a pending sum or product, one block has
/// the values of f, and the other blocks that are combined with it have the neutral element.
template <class T, class F>
sharded_tensor<T> make_tensor(const std::shared_ptr<bound_mesh>& on, const sharding& layout, const shape_list& extents,
                              F f) {
  constexpr bool suits = std::is_invocable_v<F&, const short_list<std::size_t>&>;
  static_assert(suits,
                "partita::shard<T>(everyone, layout, extents, f): requires an f that is called with a global index, a "
                "list of numbers; write [](const auto& i) { return 10.0 * i[0] + i[1]; }");
  require_layout(layout, extents);
  const std::uint64_t number = record_tensor<T>(on, "shard", layout, extents);
  const sharding finished = layout_of(layout.without_partials());
  sharded_tensor<T> x = tensor_of<T>(on, finished, extents, tensor_block<T>(shape_of_box(on->box(finished, extents))));
  if constexpr (suits)
    x.for_each_local([&](const short_list<std::size_t>& index, T& element) { element = static_cast<T>(f(index)); });
  x.state()->block = resharded(*on, x.state()->block, finished, layout_of(layout), extents);
  x.state()->layout = layout;
  x.state()->number = number;
  return x;
}

/// Copies the elements of an array or expression to a dense block.
template <class X>
tensor_block<element_of<X>> block_of_array(const X& x) {
  using T = element_of<X>;
  tensor_block<T> y(shape_of(x));
  if constexpr (strided_array<const X>) {
    copy<T, rank_of<X>>(dense_block<T, rank_of<X>>(y.data(), block_of(x).shape), block_of(x));
  } else {
    const xt::xtensor<T, rank_of<X>> evaluated = x;
    for (std::size_t k = 0; k < evaluated.size(); ++k) y.data()[k] = evaluated.data()[k];
  }
  return y;
}

}  // namespace detail

/// Shards a whole array that every worker has: each worker keeps its block of the layout. The call needs no
/// communication.
/// Shapes:   those of x; the layout has one entry for each dimension [shape_error].
/// Requires: a world with at least as many workers as the mesh has positions [partition_error].
template <ranked_array X>
auto shard(const world& everyone, const sharding& layout, const X& x) {
  const auto on = detail::bound_mesh::of(everyone, placed_mesh(layout.on));
  const shape_list extents = detail::shape_of(x);
  detail::require_layout(layout, extents);
  const std::uint64_t number = detail::record_tensor<element_of<X>>(on, "shard", layout, extents);
  const sharding finished = detail::layout_of(layout.without_partials());
  detail::tensor_block<element_of<X>> block(detail::shape_of_box(on->box(finished, extents)));
  if (on->active()) {
    short_list<interval> all;
    for (const std::size_t extent : extents) all.push_back({0, extent});
    block = detail::crop(detail::block_of_array(x), all, on->box(finished, extents));
  }
  return detail::tensor_of(on, layout, extents,
                           detail::resharded(*on, block, finished, detail::layout_of(layout), extents), number);
}
/// Makes a sharded tensor from a function of the global index. `f(index)`, where index is a list of numbers, is called
/// for the indices of this worker's block only.
template <class T, class F>
sharded_tensor<T> shard(const world& everyone, const sharding& layout, const shape_list& extents, F f) {
  return detail::make_tensor<T>(detail::bound_mesh::of(everyone, placed_mesh(layout.on)), layout, extents, f);
}
/// Makes a tensor from the blocks that the workers already hold. Requires: on every worker of the mesh, a block of the
/// shape that the layout gives this worker [shape_error, on all workers].
template <ranked_array X>
auto shard_blocks(const world& everyone, const sharding& layout, const shape_list& extents, const X& x) {
  const auto on = detail::bound_mesh::of(everyone, placed_mesh(layout.on));
  detail::require_layout(layout, extents);
  const shape_list expected = detail::shape_of_box(on->box(layout, extents)), given = detail::shape_of(x);
  detail::local_error wrong;
  if (on->active() && !(given == expected))
    wrong = detail::local_error(text("partita::shard_blocks: requires blocks as the layout ")
                                << "" << layout << " cuts extents " << extents << ", here of shape " << expected
                                << ", got " << given << "; repartition the tensor first");
  const std::uint64_t number = detail::record_tensor<element_of<X>>(on, "shard_blocks", layout, extents);
  detail::agree_if_checked(*everyone.state(), number, wrong, [] { return text("partita::shard_blocks"); });
  return detail::tensor_of(on, layout, extents,
                           on->active() ? detail::block_of_array(x) : detail::tensor_block<element_of<X>>(expected),
                           number);
}

#define PARTITA_INSTANTIATE_SHARDED_TENSOR(EXTERN, T)                                                                 \
  EXTERN template class sharded_tensor<T>;                                                                            \
  EXTERN template sharded_tensor<T> detail::tensor_of<T>(const std::shared_ptr<detail::bound_mesh>&, const sharding&, \
                                                         const shape_list&, detail::tensor_block<T>, std::uint64_t);  \
  EXTERN template std::uint64_t detail::record_tensor<T>(const std::shared_ptr<detail::bound_mesh>&, const char*,     \
                                                         const sharding&, const shape_list&);
PARTITA_FOR_EACH_USUAL_ELEMENT(PARTITA_INSTANTIATE_SHARDED_TENSOR, extern)

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/sharded/impl/sharded_tensor.ipp>
#endif
