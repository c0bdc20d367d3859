// All-gather: the blocks along some dimensions of a partition put together, and every worker gets the whole.
#pragma once

#include <partita/kernel/detail/part_kernel.hpp>
#include <partita/rule/policy.hpp>

namespace partita {

/// Puts the blocks of the workers of p that differ only in the given dimensions together, along the same dimensions of the tensor;
/// each of them gets the whole.
/// Shapes:   x is this worker's block; the blocks of a group tile a tensor, cut in any way (uneven, empty). The result has its
///           extents. An inactive worker gets a copy of what it gave.
/// Requires: dimensions below rank(p), each once; rank(x) == rank(p) [compile time]; blocks that fit together [shape_error, on all
///           workers].
/// Cost:     on one node each worker writes its block straight into the g - 1 other results; otherwise one message per pair of
///           workers on different nodes. Extents are exchanged once for each new structure.
/// Adjoint:  reduce_scatter, back to the cut that x had.
template <class Extents>
class all_gather : public detail::part_kernel<all_gather<Extents>, Extents> {
  using base = detail::part_kernel<all_gather, Extents>;
  friend base;

 public:
  /// `all_gather(p, dimensions<1>)`: along dimension 1.
  template <std::size_t... D>
  all_gather(const partition<Extents>& p, dimensions_t<D...> named) : base(p, kept(named), "partita::all_gather", detail::known_cuts::any) {}
  /// `all_gather(p, all_dimensions_but<0>)`: along every dimension but 0.
  template <std::size_t... D>
  all_gather(const partition<Extents>& p, all_dimensions_but_t<D...> named) : base(p, kept(named), "partita::all_gather", detail::known_cuts::any) {}

  /// Sums dy over the workers of each group and leaves each of them the part that its x was (the last such x; the balanced part if
  /// there was none).
  template <ranked_array Y>
  auto adjoint(const Y& dy, const text& objection = {}) const {
    static_assert(rank_of<Y> == Extents::rank(), "partita::all_gather(p, dimensions<...>).adjoint(dy): requires a block of the rank of its partition; reshape() the partition with extents of 1");
    static_assert(summable_element<element_of<Y>> && detail::element_in_place<element_of<Y>>,
                  "partita::all_gather(p, dimensions<...>).adjoint(dy): requires elements that can be summed; bool cannot, cast to an integer type");
    const block_argument<Y> argument(dy);
    return this->movement_.template scatter<element_of<Y>>(argument.block(), {}, ".adjoint(dy)", detail::complaint(objection));
  }
  /// Begins and returns what will give the adjoint: `auto later = g.start_adjoint(dy); …; auto dx = later.finish();`. Until then dy
  /// must stay as it is. The next call of a kernel on this world ends it first.
  template <ranked_array Y>
  auto start_adjoint(const Y& dy) const {
    return detail::begun(dy, [&](const auto& block) { return begin_adjoint<Y>(block, {}, [] {}); });
  }
  /// The same of a dy whose elements are there when `fill()` returns, which is called once all workers have agreed.
  template <strided_array Y, class Fill>
  auto start_adjoint(const Y& dy, const text& objection, Fill fill) const {
    return begin_adjoint<Y>(block_argument<Y>(dy).block(), objection, fill);
  }

 private:
  template <class Y, class Fill>
  auto begin_adjoint(const strided<const element_of<Y>, rank_of<Y>>& dy, const text& objection, Fill fill) const {
    static_assert(rank_of<Y> == Extents::rank(), "partita::all_gather(p, dimensions<...>).start_adjoint(dy): requires a block of the rank of its partition; reshape() the partition with extents of 1");
    static_assert(summable_element<element_of<Y>> && detail::element_in_place<element_of<Y>>,
                  "partita::all_gather(p, dimensions<...>).start_adjoint(dy): requires elements that can be summed; bool cannot, cast to an integer type");
    return this->movement_.template start_scatter<element_of<Y>>(dy, ".start_adjoint(dy)", detail::complaint(objection), fill);
  }
  template <template <std::size_t...> class Named, std::size_t... D>
  static constexpr auto kept(Named<D...> named) {
    static_assert(detail::below<Extents::rank(), D...>, "partita::all_gather(p, dimensions<...>): requires dimensions below rank(p)");
    static_assert(detail::each_once<D...>(), "partita::all_gather(p, dimensions<...>): requires each dimension once");
    return kept_dimensions<Extents::rank()>(named);
  }
  template <class X>
  auto forward(const X& x, const detail::target<element_of<X>, rank_of<X>>& wanted, const text& objection = {}) const {
    static_assert(rank_of<X> == Extents::rank(), "partita::all_gather(p, dimensions<...>)(x): requires a block of the rank of its partition; reshape() the partition with extents of 1");
    static_assert(detail::element_in_place<element_of<X>>, "partita::all_gather(p, dimensions<...>)(x): requires elements that MPI can move and that are trivially copyable: arithmetic, std::complex, or a type declared with BOOST_IS_MPI_DATATYPE");
    const block_argument<X> argument(x);
    return this->movement_.template gather<element_of<X>>(argument.block(), wanted, "(x)", detail::complaint(objection));
  }
};

template <class Extents, class Dimensions>
all_gather(const partition<Extents>&, Dimensions) -> all_gather<Extents>;

}  // namespace partita
