// Array broadcasting between partitions: moves a tensor to the workers of a larger result and repeats it on them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <partita/array/broadcast_in_dim.hpp>
#include <partita/comm/agreement.hpp>
#include <partita/comm/fingerprint.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/kernel_access.hpp>
#include <partita/kernel/placed_tensor.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/plan/elementwise_plan.hpp>
#include <utility>

namespace partita {

namespace detail {

/// A readable block in C order: a reference to the caller's memory, or a copy that the object owns. All operands of one
/// element type and rank have this type.
template <class T, std::size_t Rank>
class readable_block {
 public:
  /// Refers to the memory of x if x is in C order, otherwise owns an evaluated copy.
  template <array_expression X>
  static readable_block of(const X& x) {
    if constexpr (strided_expression<X>)
      if (has_c_order(x)) return readable_block(x);
    return make_owning_block(xt::xtensor<T, Rank>(x));
  }
  template <class Container>
  static readable_block make_owning_block(Container&& own) {  ///< a block in the memory of `own`, which it keeps
    auto kept = std::make_shared<const std::remove_cvref_t<Container>>(std::forward<Container>(own));
    readable_block block(*kept);
    block.kept_tensor_ = std::move(kept);
    return block;
  }

  const std::array<std::size_t, Rank>& shape() const { return shape_; }
  /// An xtensor expression of the block, which is valid as long as this object exists.
  auto view() const { return xt::adapt(first_element_, volume_of(shape_), xt::no_ownership(), shape_); }

 private:
  template <class X>
  explicit readable_block(const X& x) : first_element_(x.data() + static_cast<std::ptrdiff_t>(x.data_offset())) {
    for (std::size_t d = 0; d < Rank; ++d) shape_[d] = x.shape()[d];
  }
  template <class X>
  static bool has_c_order(const X& x) {  ///< whether the elements of x are contiguous in C order
    std::ptrdiff_t step = 1;
    for (std::size_t d = Rank; d-- > 0; step *= static_cast<std::ptrdiff_t>(x.shape()[d]))
      if (x.shape()[d] != 1 && x.strides()[d] != step) return false;
    return true;
  }

  const T* first_element_;                   ///< the first element of the block, which is contiguous
  std::array<std::size_t, Rank> shape_{};    ///< the extents of the block
  std::shared_ptr<const void> kept_tensor_;  ///< the copy, if this object owns one
};

/// Replaces the repartition for tensors of rank 0, which have only one decomposition.
struct identity_repartition {
  template <class From, class To>
  identity_repartition(const From&, const To&) {}  ///< between any two partitions
  template <class X>
  const X& operator()(const X& x) const {
    return x;
  }
  template <class X>
  const X& adjoint(const X& x) const {  ///< returns x itself
    return x;
  }
};
/// Makes a repartition between two partitions.
template <class From, class To>
auto make_repartition(const From& from, const To& to) {
  if constexpr (From::rank() == 0) return identity_repartition(from, to);
  else return repartition(from, to);
}

/// Copies the extents from a list of Rank extents.
template <std::size_t Rank>
dynamic_extents<Rank> to_dynamic_extents(const shape_list& list) {
  std::array<std::size_t, Rank> all{};
  for (std::size_t d = 0; d < Rank; ++d) all[d] = list[d];
  return dynamic_extents<Rank>(all);
}

}  // namespace detail

/// Moves a tensor to the workers of a larger result, and repeats it on each of them as broadcast_in_dim does.
/// Shapes:   x is this worker's block on `from`, the result is its block on `to` (zero volume on other workers).
/// Requires: global extents that broadcast_in_dim accepts [compile time as far as known; shape_error]; blocks of the
///           balanced decomposition [shape_error].
/// Cost:     a repartition of x if the result requires another decomposition, a worker broadcast if more workers need a
///           block than have it, no message if neither is needed; one pass over the result.
/// Adjoint:  the sum over repeated dimensions on each worker, then sum_reduce, then the repartition back.
template <class From, class To>
class partitioned_broadcast {
 public:
  static constexpr std::size_t operand_rank = From::rank();  ///< the number of dimensions of x
  static constexpr std::size_t result_rank = To::rank();     ///< the number of dimensions of the result

  template <broadcast_dimensions_choice Dims = broadcast_dimensions_t<>>
  partitioned_broadcast(const From& from, const To& to, const Dims& dims = {}) : operand_(from), result_placement_(to) {
    using operand = decltype(from.extents);
    using result = decltype(to.extents);
    const shape_list small(from.extents), large(to.extents);
    if (!(from.partition.world() == to.partition.world()))
      throw partition_error("partita::partitioned_broadcast(from, to): requires partitions of one world");
    detail::require_broadcast_in_dim<operand, result, strictness::xla_builder>(small, large, dims);
    const dimension_map map(short_list<std::size_t>(detail::to_dimension_list(dims)), result_rank);
    route_ = plan_operand(from.partition.grid(), small, map, to.partition.grid(), large);
    prepare();
  }

  const From& from() const { return operand_; }       ///< The partition and the extents of the operand.
  const To& to() const { return result_placement_; }  ///< The partition and the extents of the result.
  /// The movements that bring the operand to the workers of the result.
  const operand_route& plan() const { return route_; }

  /// Returns the part of x that this worker's block of the result needs; the part has the rank of x and is not yet
  /// repeated. The caller must have checked the shape of x.
  template <array_expression X>
  auto move_operand(const X& x) const {
    using block = detail::readable_block<detail::operand_element<X>, operand_rank>;
    auto here = block::of(x);
    if (repartition_) here = block::make_owning_block((*repartition_)(here.view()));
    if (broadcast_) here = block::make_owning_block((*broadcast_)(here.view()));
    return here;
  }

  template <array_expression X>
  auto operator()(const X& x) const {
    detail::agree_on_blocks(operand_.partition.world(), "partitioned_broadcast(x)", fingerprint(),
                            operand_.error_message_for(x, "x"));
    const auto here = move_operand(x);
    xt::xtensor<detail::operand_element<X>, result_rank> y(result_placement_.block_shape());
    if (result_placement_.partition.active())
      xt::noalias(y) =
          detail::expand<result_rank>(here.view(), route_.map, shape_list(result_placement_.block_shape()));
    return y;
  }

  template <array_expression Dy>
  auto adjoint(const Dy& dy) const {  ///< dy is this worker's block on `to`, the result its block on `from`
    using T = detail::operand_element<Dy>;
    using array = xt::xtensor<T, operand_rank>;  ///< a block of the operand
    detail::agree_on_blocks(operand_.partition.world(), "partitioned_broadcast.adjoint(dy)", ~fingerprint(),
                            result_placement_.error_message_for(dy, "dy"));
    array dx(std::array<std::size_t, operand_rank>{});
    if (result_placement_.partition.active())
      dx = detail::sum_to_operand<operand_rank>(dy, operand_block_shape(), route_.map);
    if (broadcast_) dx = broadcast_->adjoint(dx);
    if (repartition_) dx = repartition_->adjoint(dx);
    return dx;
  }

 private:
  friend struct detail::kernel_access;
  /// Collective: throws on all workers if one of them has an error; at checks::local only on that worker.
  void throw_together_(const text& error_message) const {
    detail::agree_if_checked(*operand_.partition.world().state(), detail::mixed(fingerprint(), 3),
                             detail::local_error(error_message),
                             [] { return text("partita::partitioned_broadcast(from, to)"); });
  }

  /// Makes the kernels of the route.
  void prepare() {
    const auto& world = operand_.partition.world();
    if (route_.repartitions)
      repartition_.emplace(operand_.partition, world.partition(detail::to_dynamic_extents<operand_rank>(route_.needed),
                                                               workers(route_.roots)));
    if (route_.broadcasts)
      broadcast_.emplace(
          world.partition(detail::to_dynamic_extents<result_rank>(route_.map.lift(route_.needed)),
                          route_.repartitions ? workers(route_.roots) : operand_.partition.grid().workers()),
          result_placement_.partition);
  }

  std::uint64_t fingerprint() const { return operand_.fingerprint() * 31 + result_placement_.fingerprint(); }

  /// The shape of this worker's part of the operand: extents of its block of the result, and 1 in repeated dimensions.
  shape_list operand_block_shape() const {
    const auto block = result_placement_.block_shape();
    shape_list part;
    for (std::size_t j = 0; j < operand_rank; ++j) {
      const std::size_t d = route_.map.target(j);
      part.push_back(route_.map.equals_result(d, route_.extents, shape_list(result_placement_.extents)) ? block[d] : 1);
    }
    return part;
  }

  From operand_;         ///< the partition and the extents of the operand
  To result_placement_;  ///< the partition and the extents of the result
  operand_route route_;  ///< which movements are needed, and between which workers
  /// The type of repartition_; for rank 0, a replacement that moves nothing.
  using repartition_type = decltype(detail::make_repartition(std::declval<const decltype(From::partition)&>(),
                                                             std::declval<dynamic_partition<operand_rank>>()));
  using broadcast_type = decltype(broadcast(std::declval<const dynamic_partition<result_rank>&>(),
                                            std::declval<const decltype(To::partition)&>()));  ///< type of broadcast_
  std::optional<repartition_type> repartition_;  ///< moves each block to one worker that needs it
  std::optional<broadcast_type> broadcast_;      ///< copies each block to all workers that need it
};

}  // namespace partita
