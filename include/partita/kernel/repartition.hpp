// Repartition: moves a tensor from one partition to another, by the overlaps of their blocks.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/strided.hpp>
#include <partita/comm/partition.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/box_kernel.hpp>
#include <partita/kernel/detail/make_collective_movement.hpp>
#include <partita/kernel/detail/partition_arguments.hpp>
#include <partita/kernel/detail/repartition_cuts.hpp>
#include <partita/kernel/detail/repartition_movement.hpp>
#include <partita/kernel/detail/requirements.hpp>
#include <partita/kernel/kernel_counts.hpp>
#include <partita/rule/kernel_policy.hpp>
#include <partita/rule/repartition_rule.hpp>

namespace partita {

/// Moves a tensor from p_x to p_y. Scatter and gather are the cases in which p_x or p_y has a single worker. Policies:
/// `result_cuts(...)` gives the result a decomposition that is not balanced; `source_cuts(...)` gives the decomposition
/// of x where the shapes of its blocks do not determine it (block-cyclic); `permute<1, 0>` permutes the dimensions;
/// `discard_batch`. `strategy::message`, `message_form::chunked` and similar policies override the library's choice
/// of the transport of boxes and of the form of messages.
/// Shapes:   x is this worker's block on p_x, in any decomposition that tiles the tensor (uneven, empty, staggered
///           along one dimension) or in the decomposition of `source_cuts`; the result is this worker's block on p_y,
///           in the balanced decomposition or in the one of `result_cuts`. A worker that is only in p_x receives an
///           empty block (the extent that becomes dimension 0 is kept unless discard_batch is passed); a worker in
///           neither partition receives a copy of its own input.
/// Requires: rank(p_x) == rank(p_y) == rank(x) [compile time]; blocks that fit together, and extents equal to the total
///           of the given cuts [shape_error, on all workers].
/// Cost:     on one node usually a single copy: boxes are written directly into the result, which is allocated from a
///           pool of shared memory; into a view of other memory they take two copies. Between nodes one message per
///           pair of workers; small boxes share one message per pair of nodes. Extents are exchanged once for each new
///           plan; blocking calls that repeat a plan exchange no extents and allocate only their results, from that
///           pool.
/// Adjoint:  repartition from p_y back to the decomposition that x had.
template <class Src, class Dst, class... Policies>
class repartition
    : public detail::box_kernel<repartition<Src, Dst, Policies...>, detail::repartition_movement<Src::rank()>> {
  static constexpr std::size_t rank = Src::rank();  ///< the number of dimensions of the partitions and of x
  using base = detail::box_kernel<repartition, detail::repartition_movement<rank>>;  ///< executes the calls
  friend base;
  static_assert(
      Src::rank() == Dst::rank(),
      "partita::repartition(p_x, p_y): requires partitions of equal rank; reshape() one of them with extents of 1");
  static_assert(detail::are_known_policies<rank, Policies...>,
                "partita::repartition(p_x, p_y, policies...): requires policies among discard_batch, permute<...>, "
                "source_cuts(...), result_cuts(...), strategy and messages");
  static_assert(detail::has_no_repeated_policy<rank, Policies...>,
                "partita::repartition(p_x, p_y, policies...): requires at most one permute<...>, one source_cuts(...) "
                "and one result_cuts(...), one strategy and one choice of messages; leave one of them out");
  static_assert(detail::do_permutations_fit<rank, Policies...>,
                "partita::repartition(p_x, p_y, permute<...>): requires one entry for each dimension of the "
                "partitions; name those that stay, too");
  static_assert(detail::are_permutations_valid<rank, Policies...>,
                "partita::repartition(p_x, p_y, permute<...>): requires each of 0, 1, ..., rank - 1 once; permute<1, "
                "0> transposes a matrix");
  static_assert(detail::do_cuts_fit<rank, Policies...>,
                "partita::repartition(p_x, p_y, source_cuts(...), result_cuts(...)): requires one cut for each "
                "dimension of the partitions; cut::balanced(n, 1) leaves one whole");

 public:
  /// Requires: partitions of one world; in source_cuts(...) as many blocks as p_x has workers along each dimension, in
  ///           result_cuts(...) as many as p_y has [partition_error]; if both are given, of one tensor [shape_error].
  repartition(const partition<Src>& p_x, const partition<Dst>& p_y, Policies... policies)
      : base({"partita::repartition(p_x, p_y)", detail::erase_extents<rank>(p_x), detail::erase_extents<rank>(p_y),
              policies...}) {
    detail::expect_one_world(p_x, p_y, "partita::repartition");
  }

  /// What this worker sends, keeps and receives for a tensor x of these extents, in the given decomposition or the
  /// balanced one. Requires: the extents of the tensor that source_cuts(...) and result_cuts(...) cut [shape_error].
  /// Cost: no communication.
  template <std::size_t... E>
  exchange_plan<rank> plan(const extents<E...>& global) const {
    static_assert(sizeof...(E) == rank,
                  "partita::repartition::plan(extents): requires extents of the rank of the partitions");
    if constexpr (sizeof...(E) == rank) return plan(global.array());
    else return {};
  }
  exchange_plan<rank> plan(const std::array<std::size_t, rank>& global) const {
    return detail::make_plan_of_tensor(this->movement_.planner(), global);
  }
  /// The messages from this worker's node to other nodes in a call with a tensor of these extents; small boxes share
  /// joint messages. If no message is joint, the result lists this worker's own messages only. Requires: the extents
  /// that plan() requires. An earlier call must have learned the nodes of the workers; otherwise the result is empty.
  template <std::size_t... E>
    requires(sizeof...(E) == rank)
  node_messages messages_between_nodes(const extents<E...>& global, std::size_t element_bytes) const {
    return messages_between_nodes(global.array(), element_bytes);
  }
  node_messages messages_between_nodes(const std::array<std::size_t, rank>& global, std::size_t element_bytes) const {
    return detail::messages_between_nodes(this->movement_.planner(), this->movement_.shared_transport(), global,
                                          element_bytes);
  }

 private:
  /// Whether the call accepts a block of type X, checked at compile time.
  template <class X>
  static consteval bool takes() {
    static_assert(detail::has_known_rank<X>(), PARTITA_REQUIRES_KNOWN_RANK("partita::repartition(p_x, p_y)(x)"));
    constexpr bool of_one_rank = !ranked_array<X> || detail::has_rank<X, rank>();
    static_assert(of_one_rank, PARTITA_REQUIRES_RANK_OF_PARTITIONS("partita::repartition(p_x, p_y)(x)"));
    static_assert(!ranked_array<X> || detail::has_addressable_elements<X>(),
                  PARTITA_REQUIRES_MOVABLE_IN_PLACE("partita::repartition(p_x, p_y)(x)"));
    return detail::has_rank<X, rank>() && detail::has_addressable_elements<X>();
  }
  /// Whether the adjoint accepts a block of type Y, checked at compile time.
  template <class Y>
  static consteval bool takes_back() {
    static_assert(ranked_array<Y>, PARTITA_REQUIRES_KNOWN_RANK("partita::repartition(p_x, p_y).adjoint(dy)"));
    static_assert(!ranked_array<Y> || detail::has_rank<Y, rank>(),
                  PARTITA_REQUIRES_RANK_OF_PARTITIONS("partita::repartition(p_x, p_y).adjoint(dy)"));
    static_assert(!ranked_array<Y> || detail::has_addressable_elements<Y>(),
                  PARTITA_REQUIRES_MOVABLE_IN_PLACE("partita::repartition(p_x, p_y).adjoint(dy)"));
    return detail::has_rank<Y, rank>() && detail::has_addressable_elements<Y>();
  }
  template <class View, class X>
  static consteval bool accepts_view() {  ///< whether into(x, view) can fill a View for a block X
    static_assert(detail::is_matching_view<View, X>(),
                  PARTITA_REQUIRES_VIEW("partita::repartition(p_x, p_y).into(x, view)"));
    return detail::is_matching_view<View, X>();
  }
};

template <class Src, class Dst, class... Policies>
repartition(const partition<Src>&, const partition<Dst>&, Policies...) -> repartition<Src, Dst, Policies...>;

/// Fallback for arguments that are not two partitions: a compile-time error with one readable message.
PARTITA_FALLBACK_CLASS_IF(!detail::begins_with_partitions<Given...>, repartition, detail::no_partitions,
                          detail::no_partitions) {
  static_assert(detail::dependent_false<Given...>,
                PARTITA_REQUIRES_TWO_PARTITIONS("partita::repartition(p_x, p_y, policies...)"));
}

}  // namespace partita
