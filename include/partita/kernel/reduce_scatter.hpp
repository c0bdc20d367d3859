// Reduce-scatter: the blocks along some dimensions of a partition summed, and every worker gets its part of the sum.
#pragma once

#include <partita/kernel/detail/part_kernel.hpp>
#include <partita/rule/policy.hpp>

namespace partita {

/// Sums the blocks of the workers of p that differ only in the given dimensions of their index, and leaves each of them its part of
/// the sum, cut balanced along the same dimensions of the tensor.
/// Shapes:   x is this worker's block; the blocks of one sum have one shape [shape_error, on all workers]. The result is this
///           worker's part of that shape. An inactive worker gets a copy of what it gave.
/// Requires: dimensions below rank(p), each once; rank(x) == rank(p) [compile time].
/// Cost:     each worker receives g - 1 pieces of |x| / g, written in place on one node, and adds them in the order of the group's
///           members: the sum depends on the partition alone. Extents are exchanged once for each new structure.
/// Adjoint:  all_gather of parts that are cut balanced.
template <class Extents>
class reduce_scatter : public detail::part_kernel<reduce_scatter<Extents>, Extents> {
  using base = detail::part_kernel<reduce_scatter, Extents>;
  friend base;

 public:
  /// `reduce_scatter(p, dimensions<1>)`: along dimension 1.
  template <std::size_t... D>
  reduce_scatter(const partition<Extents>& p, dimensions_t<D...> named)
      : base(p, kept(named), "partita::reduce_scatter", detail::known_cuts::balanced) {}
  /// `reduce_scatter(p, all_dimensions_but<0>)`: along every dimension but 0.
  template <std::size_t... D>
  reduce_scatter(const partition<Extents>& p, all_dimensions_but_t<D...> named)
      : base(p, kept(named), "partita::reduce_scatter", detail::known_cuts::balanced) {}

  /// Begins and returns what will give the result: `auto later = r.start(x); …; auto y = later.finish();`. Until then x must stay
  /// as it is. The next call of a kernel on this world ends it first.
  template <ranked_array X>
  auto start(const X& x, const text& objection = {}) const {
    static_assert(rank_of<X> == Extents::rank(), "partita::reduce_scatter(p, dimensions<...>).start(x): requires a block of the rank of its partition; reshape() the partition with extents of 1");
    static_assert(summable_element<element_of<X>> && detail::element_in_place<element_of<X>>,
                  "partita::reduce_scatter(p, dimensions<...>).start(x): requires elements that can be summed; bool cannot, cast to an integer type");
    return detail::begun(x, [&](const auto& block) {
      return this->movement_.template start_scatter<element_of<X>>(block, ".start(x)", detail::complaint(objection), [] {});
    });
  }
  /// Puts the parts dy of each group together; each of its workers gets the whole.
  template <ranked_array Y>
  auto adjoint(const Y& dy, const text& objection = {}) const {
    static_assert(rank_of<Y> == Extents::rank(), "partita::reduce_scatter(p, dimensions<...>).adjoint(dy): requires a block of the rank of its partition; reshape() the partition with extents of 1");
    static_assert(detail::element_in_place<element_of<Y>>, "partita::reduce_scatter(p, dimensions<...>).adjoint(dy): requires elements that MPI can move and that are trivially copyable: arithmetic, std::complex, or a type declared with BOOST_IS_MPI_DATATYPE");
    const block_argument<Y> argument(dy);
    return this->movement_.template gather<element_of<Y>>(argument.block(), {}, ".adjoint(dy)", detail::complaint(objection));
  }

 private:
  template <template <std::size_t...> class Named, std::size_t... D>
  static constexpr auto kept(Named<D...> named) {
    static_assert(detail::below<Extents::rank(), D...>, "partita::reduce_scatter(p, dimensions<...>): requires dimensions below rank(p)");
    static_assert(detail::each_once<D...>(), "partita::reduce_scatter(p, dimensions<...>): requires each dimension once");
    return kept_dimensions<Extents::rank()>(named);
  }
  template <class X>
  auto forward(const X& x, const detail::target<element_of<X>, rank_of<X>>& wanted, const text& objection = {}) const {
    static_assert(rank_of<X> == Extents::rank(), "partita::reduce_scatter(p, dimensions<...>)(x): requires a block of the rank of its partition; reshape() the partition with extents of 1");
    static_assert(summable_element<element_of<X>> && detail::element_in_place<element_of<X>>,
                  "partita::reduce_scatter(p, dimensions<...>)(x): requires elements that can be summed; bool cannot, cast to an integer type");
    const block_argument<X> argument(x);
    return this->movement_.template scatter<element_of<X>>(argument.block(), wanted, "(x)", detail::complaint(objection));
  }
};

template <class Extents, class Dimensions>
reduce_scatter(const partition<Extents>&, Dimensions) -> reduce_scatter<Extents>;

}  // namespace partita
