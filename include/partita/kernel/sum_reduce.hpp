// Sum-reduce: sums the blocks of one partition into the workers of a smaller partition.
#pragma once

#include <partita/kernel/detail/collective_kernel.hpp>
#include <partita/kernel/detail/make_collective_movement.hpp>
#include <partita/kernel/detail/partition_arguments.hpp>
#include <partita/kernel/detail/requirements.hpp>
#include <partita/rule/kernel_policy.hpp>

namespace partita {

/// Sums the blocks of the workers of p_x that NumPy's broadcasting rule pairs with a worker of p_y, and leaves the sum
/// on this worker of p_y.
/// Shapes:   x is this worker's block on p_x; the blocks of one sum have equal shapes [shape_error, on all workers].
///           The result is this worker's block on p_y. A worker that is only in p_x receives an empty block (dimension
///           0, the batch, keeps its extent unless discard_batch is passed; for rank 0 the worker receives the value
///           0). A worker in neither partition receives a copy of its own input.
/// Requires: rank(p_y) <= rank(p_x) [compile time]; each extent of p_y, extended on the left with ones, is 1 or equal
///           to the extent of p_x [compile time where static, else partition_error on all workers].
/// Cost:     on one node each of the g workers of a group sums one slice of the block through shared memory (the
///           receiver sums small blocks itself); between nodes messages follow a binomial tree, or go directly to the
///           receiver. The order of summation depends only on the partitions and on the nodes.
/// Adjoint:  broadcast(p_y, p_x) with the transpositions exchanged.
template <class Src, class Dst, class... Policies>
class sum_reduce : public detail::collective_kernel<sum_reduce<Src, Dst, Policies...>> {
  static_assert(detail::are_broadcast_policies<Policies...>,
                "partita::sum_reduce(p_x, p_y, policies...): requires policies among transpose_src, transpose_dest, "
                "discard_batch, reproducible, shared_view");
  static_assert(
      Dst::rank() <= Src::rank(),
      "partita::sum_reduce(p_x, p_y): requires rank(p_y) <= rank(p_x); use broadcast for the opposite direction");
  static constexpr bool from_transposed = has_policy<transpose_src_t, Policies...>;  ///< reverses the extents of p_x
  static constexpr bool to_transposed = has_policy<transpose_dest_t, Policies...>;   ///< reverses the extents of p_y
  static_assert(
      Dst::rank() > Src::rank() || static_cast<bool>(judge_static_broadcast<Dst, Src>(to_transposed, from_transposed)),
      "partita::sum_reduce(p_x, p_y): requires every extent of p_y, extended on the left with ones, to be 1 or the "
      "extent of p_x; pass transpose_src or transpose_dest to reverse a partition, or reshape() one of them");

 public:
  // [movement]
  sum_reduce(const partition<Src>& p_x, const partition<Dst>& p_y, Policies...)
      : detail::collective_kernel<sum_reduce>(
            detail::make_collective_movement(p_y, p_x,
                                             {.name = "partita::sum_reduce",
                                              .transpose_small = to_transposed,
                                              .transpose_large = from_transposed,
                                              .to_root = true,
                                              .keep_batch = !has_policy<discard_batch_t, Policies...>})) {}
  // [/movement]

 private:
  friend detail::collective_kernel<sum_reduce>;
  /// The directions in which blocks move in the groups, in a call and in its adjoint.
  // [members]
  static constexpr auto there = detail::group_direction::to_root, back = detail::group_direction::spread;
  static constexpr bool shares = has_policy<shared_view_t, Policies...>;  ///< workers of a node share one result
  static constexpr bool exact = has_policy<reproducible_t, Policies...>;  ///< each sum is rounded once
  using reduction = sum_t;
  // [/members]

  /// Whether the call accepts a block of type X, checked at compile time.
  template <class X>
  static consteval bool takes() {
    constexpr bool is_expression = ranked_array<X>;
    static_assert(is_expression, PARTITA_REQUIRES_KNOWN_RANK("partita::sum_reduce(p_x, p_y)(x)"));
    if constexpr (detail::is_block<X>()) {
      constexpr bool can_be_summed = summable_element<element_of<X>>;
      static_assert(can_be_summed, PARTITA_REQUIRES_SUMMABLE("partita::sum_reduce(p_x, p_y)(x)"));
      return can_be_summed;
    } else {
      return false;
    }
  }
  /// Whether the adjoint accepts a block of type Y, checked at compile time.
  template <class Y>
  static consteval bool takes_back() {
    constexpr bool is_expression = ranked_array<Y>;
    static_assert(is_expression, PARTITA_REQUIRES_KNOWN_RANK("partita::sum_reduce(p_x, p_y).adjoint(dy)"));
    if constexpr (detail::is_block<Y>()) {
      using T = element_of<Y>;
      constexpr bool can_be_moved = movable_element<T>;
      static_assert(can_be_moved, PARTITA_REQUIRES_MOVABLE("partita::sum_reduce(p_x, p_y).adjoint(dy)"));
      static_assert(!shares || detail::is_shareable<T>,
                    PARTITA_REQUIRES_BYTES("partita::sum_reduce(p_x, p_y, shared_view)"));
      return can_be_moved && (!shares || detail::is_shareable<T>);
    } else {
      return false;
    }
  }
};

template <class Src, class Dst, class... Policies>
sum_reduce(const partition<Src>&, const partition<Dst>&, Policies...) -> sum_reduce<Src, Dst, Policies...>;

/// Fallback for arguments that are not two partitions: a compile-time error with one readable message.
PARTITA_FALLBACK_CLASS_IF(!detail::begins_with_partitions<Given...>, sum_reduce, detail::no_partitions,
                          detail::no_partitions) {
  static_assert(detail::dependent_false<Given...>,
                PARTITA_REQUIRES_TWO_PARTITIONS("partita::sum_reduce(p_x, p_y, policies...)"));
}

}  // namespace partita
