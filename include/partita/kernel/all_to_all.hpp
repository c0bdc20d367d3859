// All-to-all: moves the partitioning of one dimension of a tensor to another dimension.
#pragma once

#include <cstddef>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/detail/partition_arguments.hpp>
#include <partita/kernel/detail/requirements.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/rule/all_to_all_rule.hpp>
#include <type_traits>
#include <utility>

namespace partita {

/// Moves the partitioning of one dimension to another: within each line of workers, every worker sends a part of its
/// block to every other worker.
/// Shapes:   x is this worker's block on p_from, in any decomposition that tiles the tensor; the result is its block of
///           the balanced decomposition on p_to. A worker in neither partition gets a copy of its own input.
/// Requires: partitions of the rank of x [compile time], of the same workers; one dimension of p_from has k times fewer
///           parts in p_to, one other dimension k times more, and the others equally many [partition_error].
/// Cost:     that of repartition: one copy on one node, one message per pair of workers on different nodes.
/// Adjoint:  all_to_all(p_to, p_from), back to the decomposition that x had.
template <class Src, class Dst>
class all_to_all {
  static constexpr std::size_t rank = Src::rank();
  static_assert(Src::rank() == Dst::rank(),
                "partita::all_to_all(p_from, p_to): requires partitions of equal rank; reshape() one of them with "
                "extents of 1");

 public:
  all_to_all(const partition<Src>& p_from, const partition<Dst>& p_to)
      : moved_(detail::named_call{"partita::all_to_all(p_from, p_to)"}, p_from, p_to) {
    const text problem = all_to_all_error(p_from.grid().shape(), p_to.grid().shape());
    if (!problem.empty()) throw partition_error(text("partita::all_to_all(p_from, p_to): ") << problem);
    if (!p_from.workers().contain(p_to.workers()) || !p_to.workers().contain(p_from.workers()))
      throw partition_error(text("partita::all_to_all(p_from, p_to): requires partitions of the same workers, got ")
                            << detail::named(p_from.workers()) << " and " << detail::named(p_to.workers())
                            << "; take repartition between others");
  }

  template <class X>
  auto operator()(const X& x) const {
    if constexpr (takes<X>()) return moved_(x);
    else return detail::rejected_call{};
  }
  /// Non-blocking: returns a pending operation whose finish() gives the result: `auto later = t.start(x); …; auto y =
  /// later.finish();`.
  template <class X>
  auto start(X&& x) const {
    if constexpr (takes<std::remove_cvref_t<X>>()) return moved_.start(std::forward<X>(x));
    else return detail::rejected_call{};
  }
  /// Writes the result into a caller's array or view of the shape of the result.
  template <class X, class View>
  void into(const X& x, View&& view) const {
    if constexpr (takes<X>() && fills<View, X>()) moved_.into(x, view);
  }
  /// Moves dy back to the decomposition of the last x whose result had the shape of dy.
  template <class Y>
  auto adjoint(const Y& dy) const {
    if constexpr (takes<Y>()) return moved_.adjoint(dy);
    else return detail::rejected_call{};
  }
  template <class Y, class View>
  void adjoint_into(const Y& dy, View&& view) const {
    if constexpr (takes<Y>() && fills<View, Y>()) moved_.adjoint_into(dy, view);
  }
  template <class Y>
  auto start_adjoint(Y&& dy) const {
    if constexpr (takes<std::remove_cvref_t<Y>>()) return moved_.start_adjoint(std::forward<Y>(dy));
    else return detail::rejected_call{};
  }

  /// What this worker sends, keeps and receives for a tensor x of these extents, in the balanced decomposition. Cost:
  /// no communication.
  template <std::size_t... E>
  exchange_plan<rank> plan(const extents<E...>& global) const {
    static_assert(sizeof...(E) == rank,
                  "partita::all_to_all::plan(extents): requires extents of the rank of the partitions");
    if constexpr (sizeof...(E) == rank) return moved_.plan(global.array());
    else return {};
  }
  detail::arena* memory() const { return moved_.memory(); }
  std::size_t plans_made() const { return moved_.plans_made(); }
  kernel_counts counts() const { return moved_.counts(); }

 private:
  template <class X>
  static consteval bool takes() {
    static_assert(detail::has_known_rank<X>(), PARTITA_REQUIRES_KNOWN_RANK("partita::all_to_all(p_from, p_to)(x)"));
    static_assert(!ranked_array<X> || detail::has_rank<X, rank>(),
                  PARTITA_REQUIRES_RANK_OF_PARTITIONS("partita::all_to_all(p_from, p_to)(x)"));
    static_assert(!ranked_array<X> || detail::has_elements_in_place<X>(),
                  PARTITA_REQUIRES_MOVABLE_IN_PLACE("partita::all_to_all(p_from, p_to)(x)"));
    return detail::has_rank<X, rank>() && detail::has_elements_in_place<X>();
  }
  template <class View, class X>
  static consteval bool fills() {
    static_assert(detail::fits_view<View, X>(),
                  PARTITA_REQUIRES_VIEW("partita::all_to_all(p_from, p_to).into(x, view)"));
    return detail::fits_view<View, X>();
  }

  friend struct detail::kernel_access;
  template <class X>
  auto forward_(const X& x, const text& error_message) const {
    return detail::kernel_access::call(moved_, x, error_message);
  }
  template <class X, class View>
  void forward_(const X& x, View& view, const text& error_message) const {
    detail::kernel_access::into(moved_, x, view, error_message);
  }
  template <class Y>
  auto backward_(const Y& dy, const text& error_message) const {
    return detail::kernel_access::adjoint(moved_, dy, error_message);
  }
  template <class Y, class Fill>
  auto begin_backward_(const Y& dy, const text& error_message, Fill fill) const {
    return detail::kernel_access::start_adjoint(moved_, dy, error_message, std::move(fill));
  }
  void object_(const text& error_message) const { detail::kernel_access::object(moved_, error_message); }
  auto identity_() const { return detail::kernel_access::identity(moved_); }

  detail::member_if<Src::rank() == Dst::rank(), repartition<Src, Dst>> moved_;
};

/// Fallback for arguments that are not two partitions: a compile-time error with one readable message.
template <>
class all_to_all<detail::no_partitions, detail::no_partitions> {
 public:
  template <class... A>
  explicit all_to_all(const A&...) {
    static_assert(detail::dependent_false<A...>, PARTITA_REQUIRES_TWO_PARTITIONS("partita::all_to_all(p_from, p_to)"));
  }
};
template <class... A>
  requires(!detail::begins_with_two<A...> || sizeof...(A) > 2)
all_to_all(const A&...) -> all_to_all<detail::no_partitions, detail::no_partitions>;

}  // namespace partita
