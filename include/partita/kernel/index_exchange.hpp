// Index exchange: each worker owns rows by their global indices, and gets copies of any other rows.
#pragma once

#include <cstddef>
#include <partita/core/rejected_call.hpp>
#include <partita/kernel/detail/accepted.hpp>
#include <partita/kernel/detail/box_kernel.hpp>
#include <partita/kernel/detail/index_movement.hpp>
#include <partita/kernel/index_list.hpp>
#include <partita/rule/reduction.hpp>
#include <type_traits>

namespace partita {

/// Gives each worker copies of the rows that it wants, whichever workers own them: `index_exchange exchange(everyone,
/// interval{first, last}, wanted); auto ghosts = exchange(x);`. One object moves blocks of any rank and type.
/// Shapes:   x has one row (index of dimension 0) for each owned index, in the order of `owned`, and any further
///           dimensions; the result has one row for each wanted index, in the order of `wanted`. An index may be wanted
///           by any number of workers, by its owner, or several times.
/// Requires: the owned indices of all workers are 0, 1, ..., n - 1, each on one worker, and wanted indices are below n
///           [shape_error]; rows of equal shape and type [disagreement_error]; a row for each owned index
///           [shape_error]; each error is thrown on all workers.
/// Cost:     at most one message for each pair of workers on different nodes; a row that several workers of a node want
///           travels to that node once. On one node a received row is copied once if the received rows come first in a
///           new result, in the order of their owners; otherwise twice. The constructor makes six exchanges of lists;
///           on several nodes eight, or eleven if several workers of one node want one row of another node; three fewer
///           if each worker owns a range. During construction each of the p workers stores its indices, and the owners
///           of n / p indices, or of p ranges, but never n owners.
/// Adjoint:  every row of dy is added to the owned row of which it is a copy, in the ascending order of the workers; on
///           several nodes the rows of each node are added first.
class index_exchange : public detail::box_kernel<index_exchange, detail::index_movement> {
  using base = detail::box_kernel<index_exchange, detail::index_movement>;  ///< executes the calls
  friend base;

 public:
  /// Collective. `owned` and `wanted` are this worker's indices: `interval{first, last}`, or a container of integers.
  index_exchange(const world& everyone, const index_list& owned, const index_list& wanted)
      : base(detail::index_planner(everyone, owned, wanted, detail::index_exchange_texts)) {}

  PARTITA_FALLBACK_CONSTRUCTOR(index_exchange) {
    static_assert(detail::dependent_false<Given...>,
                  "partita::index_exchange(everyone, owned, wanted): requires the world first, then the indices of the "
                  "rows that this worker owns and wants: interval{first, last}, or a container of integers");
  }

  /// The number of rows of the argument of a call on this worker: of its owned indices.
  std::size_t rows_of_argument() const { return movement_.pattern().owned_count; }
  std::size_t rows_of_result() const { return movement_.pattern().wanted_count; }  ///< The number of wanted indices.

  /// Combines by a reduction (except `mean`) all rows of dy, on all workers, that are copies of the same owned row:
  /// `exchange.reduce(dy, maximum)`. The result has one row for each owned index; a row that no worker wants is the
  /// identity of the reduction.
  template <class Y, class Reduction>
  auto reduce(const Y& dy, Reduction) const {
    if constexpr (accepts_reduction<Y, named_reduction_type<Reduction>>()) {
      return movement_.combine<named_reduction_type<Reduction>>(5, dy, ".reduce(dy, reduction)");
    } else {
      return detail::rejected_call();
    }
  }
  template <class Y>
  auto reduce(const Y& dy, sum_t (*)(detail::reduction_name)) const {
    return adjoint(dy);
  }
  template <class Y>
  auto reduce(const Y& dy, any_t (*)(detail::reduction_name)) const {
    return reduce(dy, any_t());
  }
  template <class Y>
  auto reduce(const Y& dy, all_t (*)(detail::reduction_name)) const {
    return reduce(dy, all_t());
  }
  template <class Y>
  auto reduce(const Y& dy, mean_t (*)(detail::reduction_name)) const {
    return reduce(dy, mean_t());
  }

  /// Fills the ghosts (copies of wanted rows) of blocks in place: a block has first the owned rows and then a row for
  /// each wanted index. Several blocks, also of different types, travel in one message: `exchange.refresh(u, v)`.
  /// Requires: one row for each owned index and for each wanted index [shape_error, on all workers].
  template <class... View>
  void refresh(View&&... ghosted) const {
    if constexpr ((can_refresh_view<View>() && ...)) start_refresh(ghosted...).finish();
  }
  /// Non-blocking refresh, as in `auto later = exchange.start_refresh(u); …; later.finish();`. Until `finish` the owned
  /// rows may be read, and the blocks must not change.
  template <class... View>
  auto start_refresh(View&&... ghosted) const {
    if constexpr ((can_refresh_view<View>() && ...)) {
      return movement_.one_call([&] {
        auto later = movement_.refresh(".refresh(ghosted...)", block_of(ghosted)...);
        movement_.keep_call_pending();
        return later;
      });
    }
  }
  /// The adjoint of refresh: adds the ghosts to the owned rows of which they are copies, and sets the ghosts to zero.
  template <class... View>
  void adjoint_refresh(View&&... ghosted) const {
    if constexpr ((can_refresh_view<View>() && ...) && (takes_back<std::remove_reference_t<View>>() && ...))
      movement_.one_call(
          [&] { movement_.adjoint_refresh(".adjoint_refresh(ghosted...)", block_of(ghosted)...).finish(); });
  }

  /// The rows that this worker exchanges with each other worker, as ranges in the sender's list of sent rows and in the
  /// receiver's list of received rows. Rows have `row_elements` elements. Cost: no communication.
  exchange_plan<2> plan(std::size_t row_elements = 1) const {
    movement_.state();  // throws if the kernel was moved from
    return movement_.planner().plan(row_elements);
  }

 private:
  friend index_exchange send_to(const world& everyone, const index_list& receivers);
  template <class T>
  friend class csr_matrix;
  using base::base;

  template <class Named>
  using named_reduction_type = typename detail::named_reduction_tag<Named>::type;  ///< such as maximum_t for `maximum`

  /// Whether the call accepts a block of type X, checked at compile time.
  template <class X>
  static consteval bool takes() {
    static_assert(detail::has_known_rank<X>(),
                  "partita::index_exchange(everyone, owned, wanted)(x): requires an xtensor expression whose rank is "
                  "part of its type; as_rank<2>(a) gives it one, as_rank<1>(v) to a std::vector");
    static_assert(!detail::has_rank<X, 0>(),
                  "partita::index_exchange(everyone, owned, wanted)(x): requires a block of rank 1 or more, whose "
                  "dimension 0 numbers the indices; as_rank<1>({t}) makes one of a number");
    static_assert(!ranked_array<X> || detail::has_addressable_elements<X>(),
                  "partita::index_exchange(everyone, owned, wanted)(x): requires elements that MPI can move and that "
                  "are trivially copyable: arithmetic, std::complex, std::byte, or a type declared with moves_as_bytes "
                  "or BOOST_IS_MPI_DATATYPE");
    return detail::has_addressable_elements<X>() && !detail::has_rank<X, 0>();
  }
  /// Whether the adjoint accepts a block of type Y, checked at compile time.
  template <class Y>
  static consteval bool takes_back() {
    if constexpr (takes<Y>()) {
      static_assert(detail::has_summable_elements<Y>(),
                    "partita::index_exchange(everyone, owned, wanted).adjoint(dy): requires elements that can be "
                    "summed; bool cannot, cast to an integer type");
      return detail::has_summable_elements<Y>();
    } else {
      return false;
    }
  }
  template <class View, class X>
  static consteval bool accepts_view() {  ///< whether into(x, view) can fill a View for a block X
    static_assert(detail::is_matching_view<View, std::remove_reference_t<X>>(),
                  "partita::index_exchange(everyone, owned, wanted).into(x, view), .refresh(ghosted...): requires "
                  "views with memory (an xt::xtensor, or an xt::view of ranges of one) of the rank and element type of "
                  "x, which are not const");
    return detail::is_matching_view<View, std::remove_reference_t<X>>();
  }
  template <class View>
  static consteval bool can_refresh_view() {  ///< whether refresh can fill ghosts in a View
    if constexpr (takes<std::remove_reference_t<View>>()) return accepts_view<View, View>();
    else return false;
  }
  template <class Y, class Reduction>
  static consteval bool accepts_reduction() {  ///< whether reduce(dy, reduction) accepts a block Y and this Reduction
    if constexpr (takes<Y>()) {
      constexpr bool fits = reduction_of<Reduction, element_of<Y>> && !std::is_same_v<Reduction, mean_t>;
      static_assert(fits,
                    "partita::index_exchange(everyone, owned, wanted).reduce(dy, reduction): requires a reduction of "
                    "the elements of dy, as maximum, minimum and reductions::product of numbers, and not mean; divide "
                    "the sum by the sum of ones");
      return fits;
    } else {
      return false;
    }
  }
};

}  // namespace partita
