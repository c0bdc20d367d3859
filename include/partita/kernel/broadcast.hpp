// Broadcast: copies the blocks of one partition to the workers of a larger partition.
#pragma once

#include <partita/kernel/detail/collective_kernel.hpp>
#include <partita/kernel/detail/make_collective_movement.hpp>
#include <partita/kernel/detail/partition_arguments.hpp>
#include <partita/kernel/detail/requirements.hpp>
#include <partita/rule/kernel_policy.hpp>

namespace partita {

namespace detail {

/// The members of a broadcast that the base class collective_kernel needs: directions, policies and argument checks.
template <class... Policies>
struct broadcast_checks {
  /// The directions in which blocks move in the groups, in a call and in its adjoint.
  static constexpr auto there = detail::group_direction::spread, back = detail::group_direction::to_root;
  static constexpr bool shares = has_policy<shared_view_t, Policies...>;  ///< whether workers of a node share results
  static constexpr bool exact = has_policy<reproducible_t, Policies...>;  ///< whether sums of the adjoint round once
  using reduction = sum_t;  ///< how the adjoint combines the blocks of a group

  /// Whether the call accepts a block of type X, checked at compile time.
  template <class X>
  static consteval bool takes() {
    constexpr bool is_expression = ranked_array<X>;
    static_assert(is_expression, PARTITA_REQUIRES_KNOWN_RANK("partita::broadcast(p_x, p_y)(x)"));
    if constexpr (detail::is_block<X>()) {
      using T = element_of<X>;
      constexpr bool can_be_moved = movable_element<T>;
      static_assert(can_be_moved, PARTITA_REQUIRES_MOVABLE("partita::broadcast(p_x, p_y)(x)"));
      static_assert(!shares || detail::is_shareable<T>,
                    PARTITA_REQUIRES_BYTES("partita::broadcast(p_x, p_y, shared_view)"));
      return can_be_moved && (!shares || detail::is_shareable<T>);
    } else {
      return false;
    }
  }
  /// Whether the adjoint accepts a block of type Y, checked at compile time.
  template <class Y>
  static consteval bool takes_back() {
    constexpr bool is_expression = ranked_array<Y>;
    static_assert(is_expression, PARTITA_REQUIRES_KNOWN_RANK("partita::broadcast(p_x, p_y).adjoint(dy)"));
    if constexpr (detail::is_block<Y>()) {
      constexpr bool can_be_summed = summable_element<element_of<Y>>;
      static_assert(can_be_summed, PARTITA_REQUIRES_SUMMABLE("partita::broadcast(p_x, p_y).adjoint(dy)"));
      return can_be_summed;
    } else {
      return false;
    }
  }
};

}  // namespace detail

/// Copies the block of each worker of p_x to those workers of p_y that NumPy's broadcasting rule, applied to the
/// extents of p_x and p_y, pairs with it.
/// Shapes:   x is this worker's block on p_x, of any shape; shapes may differ between workers. The result is this
///           worker's block on p_y. A worker that is only in p_x receives an empty block (dimension 0, the batch, keeps
///           its extent unless discard_batch is passed; for rank 0 the worker receives the value 0). A worker in
///           neither partition receives a copy of its own input.
/// Requires: rank(p_x) <= rank(p_y) [compile time]; each extent of p_x, extended on the left with ones, is 1 or equal
///           to the extent of p_y [compile time where static, else partition_error on all workers].
/// Cost:     one copy of a block for each worker that receives the block. On one node all receivers copy at the same
///           time through shared memory; between nodes the block is sent in messages as block_routes describes. A call
///           with blocks of new shapes also broadcasts their shapes, and takes a second agreement.
/// Adjoint:  sum_reduce(p_y, p_x) with the transpositions exchanged.
template <class Src, class Dst, class... Policies>
class broadcast : public detail::broadcast_checks<Policies...>,
                  public detail::collective_kernel<broadcast<Src, Dst, Policies...>> {
  static_assert(detail::are_broadcast_policies<Policies...>,
                "partita::broadcast(p_x, p_y, policies...): requires policies among transpose_src, transpose_dest, "
                "discard_batch, reproducible, shared_view");
  static_assert(
      Src::rank() <= Dst::rank(),
      "partita::broadcast(p_x, p_y): requires rank(p_x) <= rank(p_y); use sum_reduce for the opposite direction");
  static constexpr bool from_transposed = has_policy<transpose_src_t, Policies...>;  ///< reverses the extents of p_x
  static constexpr bool to_transposed = has_policy<transpose_dest_t, Policies...>;   ///< reverses the extents of p_y
  static_assert(
      Src::rank() > Dst::rank() || static_cast<bool>(judge_static_broadcast<Src, Dst>(from_transposed, to_transposed)),
      "partita::broadcast(p_x, p_y): requires every extent of p_x, extended on the left with ones, to be 1 or the "
      "extent of p_y; pass transpose_src or transpose_dest to reverse a partition, or reshape() one of them");

 public:
  /// Makes the kernel; only calls move data.
  broadcast(const partition<Src>& p_x, const partition<Dst>& p_y, Policies...)
      : detail::collective_kernel<broadcast>(
            detail::make_collective_movement(p_x, p_y,
                                             {.name = "partita::broadcast",
                                              .transpose_small = from_transposed,
                                              .transpose_large = to_transposed,
                                              .keep_batch = !has_policy<discard_batch_t, Policies...>})) {}
};

/// Broadcast in groups that were made at run time: `broadcast(everyone, groups)` copies the block of the root of each
/// group, its first member, to all members of the group. A worker in no group gets a copy of its own input. The adjoint
/// leaves a group's sum at its root. Shapes, requirements and cost are those of broadcast(p_x, p_y).
template <class... Policies>
class broadcast<worker_groups, worker_groups, Policies...>
    : public detail::broadcast_checks<Policies...>,
      public detail::collective_kernel<broadcast<worker_groups, worker_groups, Policies...>> {
  static_assert(
      (detail::is_group_policy<Policies> && ...),
      "partita::broadcast(everyone, groups, policies...): requires policies among discard_batch, reproducible, "
      "shared_view");

 public:
  broadcast(const world& everyone, const worker_groups& groups, Policies...)
      : detail::collective_kernel<broadcast>(detail::make_movement_in_groups(
            everyone, groups, {.name = "partita::broadcast", .keep_batch = !has_policy<discard_batch_t, Policies...>},
            group_plan::kind::broadcast)) {}
};

template <class Src, class Dst, class... Policies>
broadcast(const partition<Src>&, const partition<Dst>&, Policies...) -> broadcast<Src, Dst, Policies...>;
template <class... Policies>
broadcast(const world&, const worker_groups&, Policies...) -> broadcast<worker_groups, worker_groups, Policies...>;

/// Fallback for arguments that are not two partitions: a compile-time error with one readable message.
PARTITA_FALLBACK_CLASS_IF(!detail::begins_with_partitions<Given...>, broadcast, detail::no_partitions,
                          detail::no_partitions) {
  static_assert(detail::dependent_false<Given...>,
                PARTITA_REQUIRES_TWO_PARTITIONS("partita::broadcast(p_x, p_y, policies...)"));
}

}  // namespace partita
