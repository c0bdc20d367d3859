// All-to-all: moves the partitioning of one dimension of a tensor to another dimension.
#pragma once

#include <cstddef>
#include <partita/comm/partition.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/box_kernel.hpp>
#include <partita/kernel/detail/make_collective_movement.hpp>
#include <partita/kernel/detail/partition_arguments.hpp>
#include <partita/kernel/detail/repartition_movement.hpp>
#include <partita/kernel/detail/requirements.hpp>
#include <partita/rule/all_to_all_rule.hpp>

namespace partita {

/// Moves the partitioning of one dimension to another: every worker sends parts of its block to the workers whose
/// blocks of the result contain them. From 4 x 1 to 1 x 4 workers, for example, these are all workers.
/// Shapes:   x is this worker's block on p_from, in any decomposition that tiles the tensor; the result is its balanced
///           block on p_to. A worker in neither partition gets a copy of its own input.
/// Requires: partitions of the rank of x [compile time], of the same workers; one dimension has k times fewer workers
///           in p_to than in p_from, one other dimension k times more, and all other dimensions equally many
///           [partition_error].
/// Cost:     as repartition: one copy on one node, one message per pair of workers on different nodes.
/// Adjoint:  all_to_all(p_to, p_from), back to the decomposition that x had.
template <class Src, class Dst>
class all_to_all : public detail::box_kernel<all_to_all<Src, Dst>, detail::repartition_movement<Src::rank()>> {
  static constexpr std::size_t rank = Src::rank();  ///< the number of dimensions of the partitions and of x
  using base = detail::box_kernel<all_to_all, detail::repartition_movement<rank>>;  ///< executes the calls
  friend base;
  static_assert(Src::rank() == Dst::rank(),
                "partita::all_to_all(p_from, p_to): requires partitions of equal rank; reshape() one of them with "
                "extents of 1");

 public:
  /// Makes the kernel; only calls move data.
  all_to_all(const partition<Src>& p_from, const partition<Dst>& p_to)
      : base({"partita::all_to_all(p_from, p_to)", detail::erase_extents<rank>(p_from),
              detail::erase_extents<rank>(p_to)}) {
    detail::expect_one_world(p_from, p_to, "partita::all_to_all");
    const text problem = all_to_all_error(p_from.grid().shape(), p_to.grid().shape());
    if (!problem.empty()) throw partition_error(text("partita::all_to_all(p_from, p_to): ") << problem);
    if (!p_from.workers().contain(p_to.workers()) || !p_to.workers().contain(p_from.workers()))
      throw partition_error(text("partita::all_to_all(p_from, p_to): requires partitions of the same workers, got ")
                            << detail::workers_text(p_from.workers()) << " and " << detail::workers_text(p_to.workers())
                            << "; take repartition between others");
  }

  /// What this worker sends, keeps and receives for a tensor x of these extents in the balanced decomposition. Cost: no
  /// communication.
  template <std::size_t... E>
  exchange_plan<rank> plan(const extents<E...>& global) const {
    static_assert(sizeof...(E) == rank,
                  "partita::all_to_all::plan(extents): requires extents of the rank of the partitions");
    if constexpr (sizeof...(E) == rank) return detail::make_plan_of_tensor(this->movement_.planner(), global.array());
    else return {};
  }

 private:
  /// Whether the call accepts a block of type X, checked at compile time.
  template <class X>
  static consteval bool takes() {
    static_assert(detail::has_known_rank<X>(), PARTITA_REQUIRES_KNOWN_RANK("partita::all_to_all(p_from, p_to)(x)"));
    static_assert(!ranked_array<X> || detail::has_rank<X, rank>(),
                  PARTITA_REQUIRES_RANK_OF_PARTITIONS("partita::all_to_all(p_from, p_to)(x)"));
    static_assert(!ranked_array<X> || detail::has_addressable_elements<X>(),
                  PARTITA_REQUIRES_MOVABLE_IN_PLACE("partita::all_to_all(p_from, p_to)(x)"));
    return detail::has_rank<X, rank>() && detail::has_addressable_elements<X>();
  }
  /// Whether the adjoint accepts a block of type Y, checked at compile time.
  template <class Y>
  static consteval bool takes_back() {
    return takes<Y>();
  }
  template <class View, class X>
  static consteval bool accepts_view() {  ///< whether into(x, view) can fill a View for a block X
    static_assert(detail::is_matching_view<View, X>(),
                  PARTITA_REQUIRES_VIEW("partita::all_to_all(p_from, p_to).into(x, view)"));
    return detail::is_matching_view<View, X>();
  }
};

/// Fallback for arguments that are not two partitions: a compile-time error with one readable message.
PARTITA_FALLBACK_CLASS_IF(!detail::begins_with_partitions<Given...> || sizeof...(Given) > 2, all_to_all,
                          detail::no_partitions, detail::no_partitions) {
  static_assert(detail::dependent_false<Given...>,
                PARTITA_REQUIRES_TWO_PARTITIONS("partita::all_to_all(p_from, p_to)"));
}

}  // namespace partita
