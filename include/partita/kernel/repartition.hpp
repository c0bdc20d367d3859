// Repartition: moves a tensor from one partition to another, by the overlaps of their blocks.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/strided.hpp>
#include <partita/comm/partition.hpp>
#include <partita/core/left_out.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/make_collective_movement.hpp>
#include <partita/kernel/detail/misnamed.hpp>
#include <partita/kernel/detail/pending.hpp>
#include <partita/kernel/detail/repartition_cuts.hpp>
#include <partita/kernel/detail/repartition_movement.hpp>
#include <partita/kernel/detail/target.hpp>
#include <partita/kernel/kernel_access.hpp>
#include <partita/kernel/kernel_counts.hpp>
#include <partita/rule/kernel_policy.hpp>
#include <partita/rule/repartition_rule.hpp>

namespace partita {

/// Moves a tensor from p_x to p_y. Scatter and gather are the cases in which p_x or p_y has a single worker. Policies:
/// `to_cuts(...)` gives the result a decomposition that is not balanced; `from_cuts(...)` gives the decomposition of x
/// where the shapes of its blocks do not determine it (block-cyclic); `permute<1, 0>` permutes the dimensions;
/// `discard_batch`. `strategy::message`, `messages::chunked` and similar policies override the library's choice of the
/// transport of boxes and of the form of messages.
/// Shapes:   x is this worker's block on p_x, in any decomposition that tiles the tensor (uneven, empty, staggered
///           along one dimension) or in that of `from_cuts`; the result is its block on p_y, in the balanced
///           decomposition or in that of `to_cuts`. A worker that is only in p_x receives an empty block (the extent of
///           what becomes dimension 0 is kept unless discard_batch is passed); a worker in neither partition receives a
///           copy of its own input.
/// Requires: rank(p_x) == rank(p_y) == rank(x) [compile time]; blocks that fit together, and extents equal to the total
///           of the given cuts [shape_error, on all workers].
/// Cost:     on one node a single copy: boxes are written directly into the result, which is allocated from a pool of
///           shared memory. Between nodes one message per pair of workers; small boxes share one message per pair of
///           nodes. Extents are exchanged once for each new plan; calls that repeat a plan exchange no extents and
///           allocate nothing.
/// Adjoint:  repartition from p_y back to the decomposition that x had.
template <class Src, class Dst, class... Policies>
class repartition {
  static constexpr std::size_t rank = Src::rank();
  static_assert(
      Src::rank() == Dst::rank(),
      "partita::repartition(p_x, p_y): requires partitions of equal rank; reshape() one of them with extents of 1");
  static_assert(detail::are_known<rank, Policies...>,
                "partita::repartition(p_x, p_y, policies...): requires policies among discard_batch, permute<...>, "
                "from_cuts(...), to_cuts(...), strategy and messages");
  static_assert(detail::are_single<rank, Policies...>,
                "partita::repartition(p_x, p_y, policies...): requires at most one permute<...>, one from_cuts(...) "
                "and one to_cuts(...), one strategy and one choice of messages; leave one of them out");
  static_assert(detail::permute_all<rank, Policies...>,
                "partita::repartition(p_x, p_y, permute<...>): requires one entry for each dimension of the "
                "partitions; name those that stay, too");
  static_assert(detail::permute_once<rank, Policies...>,
                "partita::repartition(p_x, p_y, permute<...>): requires each of 0, 1, ..., rank - 1 once; permute<1, "
                "0> transposes a matrix");
  static_assert(detail::cut_all<rank, Policies...>,
                "partita::repartition(p_x, p_y, from_cuts(...), to_cuts(...)): requires one cut for each dimension of "
                "the partitions; cut::balanced(n, 1) leaves one whole");

 public:
  /// Requires: decompositions with as many parts as the partition has workers along each dimension [partition_error];
  ///           if both sides have one, both of the same tensor [shape_error].
  repartition(const partition<Src>& p_x, const partition<Dst>& p_y, Policies... policies)
      : repartition(detail::named_call{"partita::repartition(p_x, p_y)"}, p_x, p_y, policies...) {}

  template <class X>
  auto operator()(const X& x) const {
    if constexpr (takes<X>()) return forward_(x, text());
    else return detail::rejected_call{};
  }
  /// Non-blocking: returns a pending operation whose finish() gives the result: `auto later = r.start(x); …; auto y =
  /// later.finish();`. Until then x must not change. The next call of a kernel on this world completes it first.
  template <class X>
  auto start(const X& x) const {
    if constexpr (takes<X>()) return begin_forward_(x, text());
    else return detail::rejected_call{};
  }
  /// Writes the result into a caller's array or view, which must have the shape of the result and share no memory with
  /// x [shape_error, on all workers].
  template <class X, class View>
  void into(const X& x, View&& view) const {
    if constexpr (takes<X>() && fills<View, X>()) forward_(x, view, text());
  }
  /// Moves dy, which has the decomposition of the result over p_y, back to the decomposition of the last x that gave
  /// such a result. Without such an x, the decomposition of from_cuts or the balanced one is used. If x had a different
  /// decomposition and its plan was evicted by 32 newer plans, a shape_error is thrown.
  template <class Y>
  auto adjoint(const Y& dy) const {
    if constexpr (takes_back<Y>()) return backward_(dy, text());
    else return detail::rejected_call{};
  }
  template <class Y, class View>
  void adjoint_into(const Y& dy, View&& view) const {
    if constexpr (takes_back<Y>() && fills<View, Y>()) backward_(dy, view, text());
  }
  template <class Y>
  auto start_adjoint(const Y& dy) const {
    if constexpr (takes_back<Y>()) return begin_backward_(dy, text(), [] {});
    else return detail::rejected_call{};
  }

  /// What this worker sends, keeps and receives for a tensor x of these extents, in the given decomposition or the
  /// balanced one. Requires: the extents that from_cuts(...) and to_cuts(...) add up to [shape_error]. Cost: no
  /// communication.
  template <std::size_t... E>
  exchange_plan<rank> plan(const extents<E...>& global) const {
    static_assert(sizeof...(E) == rank,
                  "partita::repartition::plan(extents): requires extents of the rank of the partitions");
    if constexpr (sizeof...(E) == rank) return plan(global.array());
    else return {};
  }
  exchange_plan<rank> plan(const std::array<std::size_t, rank>& global) const {
    return movement_.planner().checked_plan(global);
  }
  /// The messages from this worker's node to other nodes in a call with such a tensor; small boxes share joint
  /// messages. Where no message is joint, only this worker's own messages. Requires: the same, and an earlier call, in
  /// which the kernel learns the nodes of the workers; without one the result is empty.
  template <std::size_t... E>
    requires(sizeof...(E) == rank)
  node_messages messages_between_nodes(const extents<E...>& global, std::size_t element_bytes) const {
    return messages_between_nodes(global.array(), element_bytes);
  }
  node_messages messages_between_nodes(const std::array<std::size_t, rank>& global, std::size_t element_bytes) const {
    return movement_.messages_between_nodes(global, element_bytes);
  }
  /// How many calls so far had to make a plan.
  std::size_t plans_made() const { return movement_.structures_made(); }
  std::size_t structures_made() const { return movement_.structures_made(); }
  /// The memory pool that results are allocated from; null before the first call.
  detail::arena* memory() const { return movement_.memory(); }
  /// The number of plans made so far, and what this worker sends in a call with the plan used last.
  kernel_counts counts() const { return movement_.counts(); }

 private:
  template <class, class>
  friend class all_to_all;
  friend struct detail::kernel_access;

  repartition(detail::named_call call, const partition<Src>& p_x, const partition<Dst>& p_y, Policies... policies)
      : movement_(call.name, p_x, p_y, policies...) {
    detail::expect_one_world(p_x, p_y, "partita::repartition");
  }

  template <class X>
  static consteval bool takes() {
    static_assert(detail::has_known_rank<X>(),
                  "partita::repartition(p_x, p_y)(x): requires an xtensor expression whose rank is part of its type; "
                  "as_rank<2>(a) gives it one, as_rank<1>(v) to a std::vector, as_rank<1>({t}) to a number");
    constexpr bool of_one_rank = !ranked_array<X> || detail::has_rank<X, rank>();
    static_assert(of_one_rank,
                  "partita::repartition(p_x, p_y)(x): requires a block of the rank of its partitions; reshape() the "
                  "partitions with extents of 1");
    static_assert(!ranked_array<X> || detail::has_elements_in_place<X>(),
                  "partita::repartition(p_x, p_y)(x): requires elements that MPI can move and that are trivially "
                  "copyable: arithmetic, std::complex, std::byte, or a type declared with moves_as_bytes or "
                  "BOOST_IS_MPI_DATATYPE");
    return detail::has_rank<X, rank>() && detail::has_elements_in_place<X>();
  }
  template <class Y>
  static consteval bool takes_back() {
    static_assert(
        ranked_array<Y>,
        "partita::repartition(p_x, p_y).adjoint(dy): requires an xtensor expression whose rank is part of its "
        "type; as_rank<2>(a) gives it one, as_rank<1>(v) to a std::vector, as_rank<1>({t}) to a number");
    static_assert(!ranked_array<Y> || detail::has_rank<Y, rank>(),
                  "partita::repartition(p_x, p_y).adjoint(dy): requires a block of the rank of its partitions; "
                  "reshape() the partitions with extents of 1");
    static_assert(!ranked_array<Y> || detail::has_elements_in_place<Y>(),
                  "partita::repartition(p_x, p_y).adjoint(dy): requires elements that MPI can move and that are "
                  "trivially copyable: arithmetic, std::complex, std::byte, or a type declared with moves_as_bytes or "
                  "BOOST_IS_MPI_DATATYPE");
    return detail::has_rank<Y, rank>() && detail::has_elements_in_place<Y>();
  }
  template <class View, class X>
  static consteval bool fills() {
    static_assert(detail::fits_view<View, X>(),
                  "partita::repartition(p_x, p_y).into(x, view): requires a view with memory (an xt::xtensor, or an "
                  "xt::view of ranges of one) of the rank and element type of x, which is not const");
    return detail::fits_view<View, X>();
  }

  template <class X>
  auto forward_(const X& x, const text& objection) const {
    return movement_.one_call([&] {
      const block_argument<X> argument(x);
      return movement_.forward(argument.block(), {}, detail::complaint(objection), [] {}).finish();
    });
  }
  template <class X, class View>
  void forward_(const X& x, View& view, const text& objection) const {
    using T = element_of<X>;
    return movement_.one_call([&] {
      const block_argument<X> argument(x);
      movement_.forward(argument.block(), detail::target_of<T, rank>(view), detail::complaint(objection), [] {})
          .finish();
    });
  }
  template <class X>
  auto begin_forward_(const X& x, const text& objection) const {
    return detail::begun(x, [&](const auto& block) {
      return movement_.one_call([&] {
        auto later = movement_.forward(block, {}, detail::complaint(objection), [] {});
        movement_.leave_under_way();
        return later;
      });
    });
  }
  template <class Y>
  auto backward_(const Y& dy, const text& objection) const {
    return movement_.one_call([&] {
      const block_argument<Y> argument(dy);
      return movement_.backward(argument.block(), {}, detail::complaint(objection), [] {}).finish();
    });
  }
  template <class Y, class View>
  void backward_(const Y& dy, View& view, const text& objection) const {
    using T = element_of<Y>;
    return movement_.one_call([&] {
      const block_argument<Y> argument(dy);
      movement_.backward(argument.block(), detail::target_of<T, rank>(view), detail::complaint(objection), [] {})
          .finish();
    });
  }
  template <class Y, class Fill>
  auto begin_backward_(const Y& dy, const text& objection, Fill fill) const {
    return detail::begun(dy, [&](const auto& block) {
      return movement_.one_call([&] {
        auto later = movement_.backward(block, {}, detail::complaint(objection), fill);
        movement_.leave_under_way();
        return later;
      });
    });
  }

  /// Collective: throws on all workers if one of them has an objection.
  void object_(const text& objection) const { movement_.object(objection); }
  detail::kernel_identity identity_() const { return movement_.identity(); }

  /// Mutable because a call caches plans, which changes no result.
  mutable detail::repartition_movement<Src, Dst, Policies...> movement_;
};

template <class Src, class Dst, class... Policies>
repartition(const partition<Src>&, const partition<Dst>&, Policies...) -> repartition<Src, Dst, Policies...>;

/// Fallback for arguments that are not two partitions: a compile-time error with one readable message.
template <class... Policies>
class repartition<detail::no_partitions, detail::no_partitions, Policies...> {
 public:
  template <class... A>
  explicit repartition(const A&...) {
    static_assert(detail::dependent_false<A...>,
                  "partita::repartition(p_x, p_y, policies...): requires two partitions, as everyone.partition<2, 3>() "
                  "or everyone.partition(extents(2, 3)) makes them");
  }
};
template <class... A>
  requires(!detail::begins_with_two<A...>)
repartition(const A&...) -> repartition<detail::no_partitions, detail::no_partitions>;

}  // namespace partita
