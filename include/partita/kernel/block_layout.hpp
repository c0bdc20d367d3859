// The layout of a tensor's blocks: workers exchange shapes when a block has a new shape; known layouts are cached.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/comm/facts.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/comm/one_call.hpp>
#include <partita/comm/partition.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/plan_cache.hpp>
#include <partita/plan/decomposition.hpp>
#include <vector>

namespace partita::detail {

/// Copies a shape of any type to an array.
template <std::size_t Rank, class Shape>
std::array<std::size_t, Rank> shape_array(const Shape& shape) {
  std::array<std::size_t, Rank> all{};
  for (std::size_t d = 0; d < Rank; ++d) all[d] = static_cast<std::size_t>(shape[d]);
  return all;
}

/// Whether X is an expression of rank Rank with elements of type T. Layers test their arguments by this function in a
/// static_assert.
template <class X, class T, std::size_t Rank>
consteval bool block_of_rank() {
  if constexpr (ranked_array<X>) return rank_of<X> == Rank && std::is_same_v<element_of<X>, T>;
  else return false;
}

/// The decomposition of a tensor over a partition. All workers know the sizes of all blocks.
template <std::size_t Rank>
struct tensor_layout {
  std::array<std::size_t, Rank> own_shape{};           ///< the shape of this worker's block; the cache key
  std::array<std::size_t, Rank> extents{};             ///< the extents of the whole tensor
  std::array<std::vector<std::size_t>, Rank> sizes{};  ///< the sizes of the blocks along each dimension
  box<Rank> own_box{};                                 ///< the box of this worker's block; empty if it is inactive

  decomposition<Rank> cuts() const {  ///< the same decomposition as cuts, one for each dimension
    return decomposition<Rank>::make([this](std::size_t d) { return cut::at(sizes[d]); });
  }
};

/// The layouts that a layer has learned from the shapes of its input blocks. A layer accepts any decomposition whose
/// cuts go through the whole tensor, so that blocks with the same index along a dimension have the same extent along
/// it.
template <std::size_t Rank>
class block_layout {
 public:
  using shape_type = std::array<std::size_t, Rank>;  ///< the extents of a block

  /// `call` names the layer, as in "partita::dropout(p)(x)"; the string must outlive this object. `parameters` is a
  /// number for the layer's options and element type, which must be equal on all workers.
  block_layout(partition<dynamic_extents<Rank>> p, const char* call, std::uint64_t parameters)
      : p_(std::move(p)),
        call_(call),
        fingerprint_(hasher(p_.grid().fingerprint()).mix(call).mix(parameters).value()) {}

  const partition<dynamic_extents<Rank>>& p() const { return p_; }
  const char* call() const { return call_; }  ///< the name of the layer in error messages

  /// Collective: each worker passes the shape of its block. If a worker has an error, or the blocks do not fit
  /// together, all workers throw a shape_error. Cost: one agreement; for blocks of a new shape also an all-gather and a
  /// second agreement.
  const tensor_layout<Rank>& find_layout(const shape_type& own_shape, const text& error_message = {}) {
    world_state& state = *p_.world().state();
    const local_error before(error_message);
    return one_call(state, [&]() -> const tensor_layout<Rank>& {
      return agreed_structure(
          state, known_layouts_, {fingerprint_, before, true},
          [&](const tensor_layout<Rank>& known) { return !p_.active() || known.own_shape == own_shape; },
          [&](local_error& found_error) { return gather_layout(own_shape, found_error); },
          [&] { return describe(own_shape); });
    });
  }
  /// Makes the next agreement of the workers also compare this layer, its options and `parameters`. Of use in a call
  /// that makes no agreement itself, or whose result depends on more than the options of the layer.
  void log_call(std::uint64_t parameters = 0) const {
    p_.world().state()->log_local_operation(mixed(fingerprint_, parameters), call_);
  }
  /// Collective: if one worker has an error, all workers throw it; at checks::local only that worker throws.
  void throw_together(const text& error_message, std::uint64_t number = 1) const {
    agree_if_checked(*p_.world().state(), mixed(fingerprint_, number), local_error(error_message),
                     [&] { return describe(); });
  }

 private:
  /// Gathers the shapes of the blocks of all workers, and computes their layout. Collective.
  tensor_layout<Rank> gather_layout(const shape_type& own_shape, local_error& found_error) const {
    const auto all = gather_numbers(*p_.world().state(), extents_and_zero(own_shape));
    std::vector<shape_type> shapes(p_.size());
    for (std::size_t k = 0; k < shapes.size(); ++k)
      for (std::size_t d = 0; d < Rank; ++d) shapes[k][d] = all[p_.workers()[k]][d];
    const auto side_by_side = lay_out(shapes, p_.grid().shape());
    tensor_layout<Rank> found;
    found.own_shape = own_shape;
    found.extents = side_by_side.extents;
    if (!side_by_side.error_message.empty()) {
      found_error = local_error(text(call_) << " with p = " << p_.grid().shape() << ": " << side_by_side.error_message);
      return found;
    }
    if (!side_by_side.cartesian) {
      found_error =
          local_error(text(call_) << " with p = " << p_.grid().shape()
                                  << ": requires blocks whose cuts go through the whole tensor, got staggered "
                                     "ones; repartition the tensor first");
      return found;
    }
    for (std::size_t d = 0; d < Rank; ++d) {
      found.sizes[d] = side_by_side.sizes[d];
      if (!p_.active()) continue;
      for (std::size_t k = 0; k < p_.index()[d]; ++k) found.own_box.start[d] += found.sizes[d][k];
      found.own_box.stop[d] = found.own_box.start[d] + own_shape[d];
    }
    return found;
  }
  text describe() const { return text(call_) << " with p = " << p_.grid().shape(); }  ///< the call, for error messages
  text describe(const shape_type& own_shape) const { return describe() << " and a block of shape " << own_shape; }

  partition<dynamic_extents<Rank>> p_;  ///< over which the layer's tensors are distributed
  const char* call_;                    ///< the name of the layer in error messages
  std::uint64_t fingerprint_;           ///< a hash of the grid, the layer and its parameters; equal on all workers
  plan_cache<tensor_layout<Rank>> known_layouts_;  ///< found before, by the shape of this worker's block
};

}  // namespace partita::detail
