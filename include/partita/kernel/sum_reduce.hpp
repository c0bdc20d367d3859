// Sum-reduce: the blocks of one partition summed into the workers of a smaller one.
#pragma once

#include <partita/kernel/detail/make_group_movement.hpp>
#include <partita/rule/policy.hpp>

namespace partita {

/// Sums the blocks of the workers of p_x that pair with a worker of p_y, and leaves the sum there.
/// Shapes:   x is this worker's block on p_x; the blocks of one sum have one shape [shape_error, on all workers]. The result
///           is its block on p_y; a worker of p_x only gets zero volume (batch extent kept unless discard_batch), one of
///           neither a copy.
/// Requires: rank(p_y) <= rank(p_x) [compile time]; extents of p_y, extended on the left with ones, are 1 or those of p_x
///           [compile time where static, else partition_error on all workers].
/// Cost:     per group of g workers each sums one slice through shared memory on one node; one binomial tree of messages
///           between nodes. The order of summation depends on the partitions and the nodes alone.
/// Adjoint:  broadcast(p_y, p_x) with the transpositions exchanged.
template <class Src, class Dst, class... Policies>
class sum_reduce {
  static_assert((broadcast_policy<Policies> && ...),
                "partita::sum_reduce(p_x, p_y, policies...): requires policies among transpose_src, transpose_dest, discard_batch, reproducible, shared_view");
  static_assert(Dst::rank() <= Src::rank(),
                "partita::sum_reduce(p_x, p_y): requires rank(p_y) <= rank(p_x); use broadcast for the opposite direction");
  static constexpr bool from_transposed = has_policy<transpose_src_t, Policies...>;
  static constexpr bool to_transposed = has_policy<transpose_dest_t, Policies...>;
  static_assert(Dst::rank() > Src::rank() || static_cast<bool>(judge_static_broadcast<Dst, Src>(to_transposed, from_transposed)),
                "partita::sum_reduce(p_x, p_y): requires every extent of p_y, extended on the left with ones, to be 1 or the extent of p_x; pass transpose_src or transpose_dest to reverse a partition, or reshape() one of them");

 public:
  sum_reduce(const partition<Src>& p_x, const partition<Dst>& p_y, Policies...)
      : movement_(detail::make_group_movement(p_y, p_x, to_transposed, from_transposed, true,
                                              !has_policy<discard_batch_t, Policies...>)) {}

  /// The result on this worker. A worker with an objection (a sentence) makes all workers throw it as a shape_error.
  template <ranked_array X>
  auto operator()(const X& x, const text& objection = {}) const {
    using T = element_of<X>;
    static_assert(summable_element<T>, "partita::sum_reduce(p_x, p_y)(x): requires elements that can be summed; bool cannot, cast to an integer type");
    const block_argument<X> argument(x);
    return movement_.template collect<T, rank_of<X>, detail::summation_of<Policies...>>(argument.block(), {}, detail::complaint(objection));
  }
  /// Begins and returns what will give the result: `auto later = s.start(x); …; auto y = later.finish();`. Until then x must stay
  /// as it is. The next call of a kernel on this world ends it first.
  template <ranked_array X>
  auto start(const X& x, const text& objection = {}) const {
    using T = element_of<X>;
    static_assert(summable_element<T>, "partita::sum_reduce(p_x, p_y).start(x): requires elements that can be summed; bool cannot, cast to an integer type");
    return detail::begun(x, [&](const auto& block) {
      return movement_.template start_collect<T, rank_of<X>, detail::summation_of<Policies...>>(
          block, {}, detail::sum_goes::to_root, detail::complaint(objection), [] {});
    });
  }
  /// The same into a caller's array or view, which must have the shape of the result [shape_error, on all workers].
  template <ranked_array X, class View>
  void into(const X& x, View&& view, const text& objection = {}) const {
    using T = element_of<X>;
    static_assert(summable_element<T>, "partita::sum_reduce(p_x, p_y)(x): requires elements that can be summed; bool cannot, cast to an integer type");
    const block_argument<X> argument(x);
    movement_.template collect<T, rank_of<X>, detail::summation_of<Policies...>>(argument.block(), detail::target_of<T, rank_of<X>>(view),
                                                                                 detail::complaint(objection));
  }
  /// Copies the block dy of each worker of p_y to the workers of p_x that pair with it.
  template <ranked_array Y>
  auto adjoint(const Y& dy, const text& objection = {}) const {
    using T = element_of<Y>;
    static_assert(movable_element<T>, "partita::sum_reduce(p_x, p_y).adjoint(dy): requires elements that MPI can move: arithmetic, std::complex, or a type declared with BOOST_IS_MPI_DATATYPE");
    const block_argument<Y> argument(dy);
    if constexpr (has_policy<shared_view_t, Policies...>) {
      static_assert(detail::shareable<T>, "partita::sum_reduce(p_x, p_y, shared_view): requires elements that can be copied byte by byte; leave shared_view out");
      return movement_.template share<T, rank_of<Y>>(argument.block(), detail::complaint(objection));
    } else {
      return movement_.template spread<T, rank_of<Y>>(argument.block(), {}, detail::complaint(objection));
    }
  }
  /// The adjoint into a caller's array or view, which must have the shape of the result [shape_error, on all workers].
  template <ranked_array Y, class View>
  void adjoint_into(const Y& dy, View&& view, const text& objection = {}) const {
    using T = element_of<Y>;
    static_assert(movable_element<T>, "partita::sum_reduce(p_x, p_y).adjoint(dy): requires elements that MPI can move: arithmetic, std::complex, or a type declared with BOOST_IS_MPI_DATATYPE");
    const block_argument<Y> argument(dy);
    movement_.template spread<T, rank_of<Y>>(argument.block(), detail::target_of<T, rank_of<Y>>(view), detail::complaint(objection));
  }

  /// The memory that results come from; null before the first call. A block that lies there is read by the others in place.
  arena* memory() const { return movement_.memory(); }
  /// Who adds up whose blocks, as this worker sees it.
  const group_plan& plan() const { return movement_.plan(); }
  /// How often block shapes had to be exchanged so far.
  std::size_t structures_made() const { return movement_.structures_made(); }

 private:
  mutable detail::group_movement movement_;
};

template <class Src, class Dst, class... Policies>
sum_reduce(const partition<Src>&, const partition<Dst>&, Policies...) -> sum_reduce<Src, Dst, Policies...>;

}  // namespace partita
