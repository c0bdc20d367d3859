// Worker broadcast: the blocks of one partition copied to the workers of a larger one.
#pragma once

#include <partita/kernel/detail/make_group_movement.hpp>
#include <partita/rule/policy.hpp>

namespace partita {

/// Copies the block of each worker of p_x to the workers of p_y that pair with it.
/// Shapes:   x is this worker's block on p_x, any shape, also different from worker to worker; the result is its block on
///           p_y. A worker of p_x only gets zero volume (batch extent kept unless discard_batch), one of neither a copy.
/// Requires: rank(p_x) <= rank(p_y) [compile time]; extents of p_x, extended on the left with ones, are 1 or those of p_y
///           [compile time where static, else partition_error on all workers].
/// Cost:     per group of g workers one copy for each that takes the block, all at once through shared memory on one node;
///           one binomial tree of messages between nodes. The first call with new shapes sends one header more.
/// Adjoint:  sum_reduce(p_y, p_x) with the transpositions exchanged.
template <class Src, class Dst, class... Policies>
class broadcast {
  static_assert((broadcast_policy<Policies> && ...),
                "partita::broadcast(p_x, p_y, policies...): requires policies among transpose_src, transpose_dest, discard_batch, reproducible, shared_view");
  static_assert(Src::rank() <= Dst::rank(),
                "partita::broadcast(p_x, p_y): requires rank(p_x) <= rank(p_y); use sum_reduce for the opposite direction");
  static constexpr bool from_transposed = has_policy<transpose_src_t, Policies...>;
  static constexpr bool to_transposed = has_policy<transpose_dest_t, Policies...>;
  static_assert(Src::rank() > Dst::rank() || static_cast<bool>(judge_static_broadcast<Src, Dst>(from_transposed, to_transposed)),
                "partita::broadcast(p_x, p_y): requires every extent of p_x, extended on the left with ones, to be 1 or the extent of p_y; pass transpose_src or transpose_dest to reverse a partition, or reshape() one of them");

 public:
  broadcast(const partition<Src>& p_x, const partition<Dst>& p_y, Policies...)
      : movement_(detail::make_group_movement(p_x, p_y, from_transposed, to_transposed, false,
                                              !has_policy<discard_batch_t, Policies...>)) {}

  /// The result on this worker. A worker with an objection (a sentence) makes all workers throw it as a shape_error.
  template <ranked_array X>
  auto operator()(const X& x, const text& objection = {}) const {
    using T = element_of<X>;
    static_assert(movable_element<T>, "partita::broadcast(p_x, p_y)(x): requires elements that MPI can move: arithmetic, std::complex, or a type declared with BOOST_IS_MPI_DATATYPE");
    const block_argument<X> argument(x);
    if constexpr (has_policy<shared_view_t, Policies...>) {
      static_assert(detail::shareable<T>, "partita::broadcast(p_x, p_y, shared_view): requires elements that can be copied byte by byte; leave shared_view out");
      return movement_.template share<T, rank_of<X>>(argument.block(), detail::complaint(objection));
    } else {
      return movement_.template spread<T, rank_of<X>>(argument.block(), {}, detail::complaint(objection));
    }
  }
  /// The same into a caller's array or view, which must have the shape of the result [shape_error, on all workers].
  template <ranked_array X, class View>
  void into(const X& x, View&& view, const text& objection = {}) const {
    using T = element_of<X>;
    static_assert(movable_element<T>, "partita::broadcast(p_x, p_y)(x): requires elements that MPI can move: arithmetic, std::complex, or a type declared with BOOST_IS_MPI_DATATYPE");
    const block_argument<X> argument(x);
    movement_.template spread<T, rank_of<X>>(argument.block(), detail::target_of<T, rank_of<X>>(view), detail::complaint(objection));
  }
  /// Sums the blocks dy of the workers of p_y into the workers of p_x that they pair with.
  template <ranked_array Y>
  auto adjoint(const Y& dy, const text& objection = {}) const {
    using T = element_of<Y>;
    static_assert(summable_element<T>, "partita::broadcast(p_x, p_y).adjoint(dy): requires elements that can be summed; bool cannot, cast to an integer type");
    const block_argument<Y> argument(dy);
    return movement_.template collect<T, rank_of<Y>, detail::summation_of<Policies...>>(argument.block(), {}, detail::complaint(objection));
  }
  /// Begins and returns what will give the adjoint: `auto later = b.start_adjoint(dy); …; auto dx = later.finish();`. Until then dy
  /// must stay as it is. The next call of a kernel on this world ends it first.
  template <ranked_array Y>
  auto start_adjoint(const Y& dy) const {
    return detail::begun(dy, [&](const auto& block) { return begin_adjoint<Y>(block, {}, {}, [] {}); });
  }
  /// The same of a dy whose elements are there when `fill()` returns, which is called once all workers have agreed: who computes
  /// longer than the others does not keep them waiting.
  template <strided_array Y, class Fill>
  auto start_adjoint(const Y& dy, const text& objection, Fill fill) const {
    return begin_adjoint<Y>(block_argument<Y>(dy).block(), {}, objection, fill);
  }
  /// The same into a caller's array or view, which must have the shape of the result [shape_error, on all workers].
  template <strided_array Y, class View, class Fill>
  auto start_adjoint_into(const Y& dy, View&& view, const text& objection, Fill fill) const {
    return begin_adjoint<Y>(block_argument<Y>(dy).block(), detail::target_of<element_of<Y>, rank_of<Y>>(view), objection, fill);
  }
  /// The adjoint into a caller's array or view, which must have the shape of the result [shape_error, on all workers].
  template <ranked_array Y, class View>
  void adjoint_into(const Y& dy, View&& view, const text& objection = {}) const {
    using T = element_of<Y>;
    static_assert(summable_element<T>, "partita::broadcast(p_x, p_y).adjoint(dy): requires elements that can be summed; bool cannot, cast to an integer type");
    const block_argument<Y> argument(dy);
    movement_.template collect<T, rank_of<Y>, detail::summation_of<Policies...>>(argument.block(), detail::target_of<T, rank_of<Y>>(view), detail::complaint(objection));
  }

  /// The memory that results come from; null before the first call. A block that lies there is read by the others in place.
  arena* memory() const { return movement_.memory(); }
  /// Who copies to whom, as this worker sees it.
  const group_plan& plan() const { return movement_.plan(); }
  /// How often block shapes had to be exchanged so far.
  std::size_t structures_made() const { return movement_.structures_made(); }

 private:
  template <class Y, class T = element_of<Y>, class Fill>
  auto begin_adjoint(const strided<const T, rank_of<Y>>& dy, const detail::target<T, rank_of<Y>>& wanted, const text& objection, Fill fill) const {
    static_assert(summable_element<T>, "partita::broadcast(p_x, p_y).start_adjoint(dy): requires elements that can be summed; bool cannot, cast to an integer type");
    return movement_.template start_collect<T, rank_of<Y>, detail::summation_of<Policies...>>(
        dy, wanted, detail::sum_goes::to_root, detail::complaint(objection), fill);
  }

  mutable detail::group_movement movement_;
};

template <class Src, class Dst, class... Policies>
broadcast(const partition<Src>&, const partition<Dst>&, Policies...) -> broadcast<Src, Dst, Policies...>;

}  // namespace partita
