// Element-wise operations on two tensors that are distributed over partitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/array/elementwise.hpp>
#include <partita/kernel/partitioned_broadcast.hpp>
#include <partita/kernel/placed_tensor.hpp>
#include <type_traits>
#include <utility>

namespace partita {

namespace detail {

/// The default partition of the result: the partition of the finer operand, extended to the result's rank.
template <class Lhs, class Rhs>
auto select_finer_partition(const Lhs& lhs, const Rhs& rhs, const resolved_broadcast& resolved) {
  constexpr std::size_t rank = Lhs::rank() > Rhs::rank() ? Lhs::rank() : Rhs::rank();
  const shape_list l = resolved.lhs.lift(shape_list(lhs.partition.extents())),
                   r = resolved.rhs.lift(shape_list(rhs.partition.extents()));
  const bool rhs_has_larger_rank = Rhs::rank() > Lhs::rank();
  const shape_list* finer_extents = rhs_has_larger_rank ? finer_partition(r, l) : finer_partition(l, r);
  if (finer_extents == nullptr)
    throw partition_error(
        text("partita::partitioned_elementwise(f, lhs, rhs): requires one operand that is cut at least as "
             "fine as the other in every dimension of the result; lhs is cut ")
        << l << ", rhs " << r << "; pass the partition of the result");
  const auto extents = to_dynamic_extents<rank>(*finer_extents);
  return finer_extents == &l ? lhs.partition.world().partition(extents, lhs.partition.grid().workers())
                             : lhs.partition.world().partition(extents, rhs.partition.grid().workers());
}

/// How the dimensions of two operands are broadcast, or a shape_error.
template <class F, class Lhs, class Rhs, class Dims>
resolved_broadcast resolve_placed_operands(const Lhs& lhs, const Rhs& rhs, const Dims& dims) {
  using left = decltype(lhs.extents);
  using right = decltype(rhs.extents);
  const shape_list a(lhs.extents), b(rhs.extents);
  if constexpr (is_static_broadcast_dimensions<Dims>) {
    constexpr auto known = judge_array_broadcast(static_shape<left>, static_shape<right>, Dims::list());
    [[maybe_unused]] constexpr require_legal_broadcast<known, left, right, Dims, function_name<F>> judged{};
  }
  if (const auto verdict = judge_array_broadcast(a, b, to_dimension_list(dims)); !verdict)
    throw shape_error(explain_verdict(verdict, function_name<F>::name, a, b, to_dimension_list(dims)));
  return resolve_array_broadcast(a, b, to_dimension_list(dims));
}

}  // namespace detail

/// Applies f to each pair of elements of two distributed tensors, with XLA's broadcasting rules.
/// Shapes:   x and y are this worker's blocks of the operands; the result is this worker's block of z (zero volume on
///           workers outside of the partition of z).
/// Requires: global extents that broadcast [compile time as far as known; shape_error]; one operand is partitioned at
///           least as finely as the other, unless the partition of the result is given [partition_error]; blocks of the
///           balanced decomposition [shape_error].
/// Cost:     what partitioned_broadcast moves for each operand (see plan()), and one pass over the result.
/// Adjoint:  lhs().adjoint(dx) and rhs().adjoint(dy), where dx and dy are the derivatives with respect to the operands
///           as they were repeated to the shape of the result.
template <class F, class Lhs, class Rhs, class Result, class Dims = broadcast_dimensions_t<>>
class partitioned_elementwise {
 public:
  using result_placement =  ///< the partition and the extents of the result
      placed_tensor<Result, dynamic_extents<(Lhs::rank() > Rhs::rank() ? Lhs::rank() : Rhs::rank())>>;

  /// Places the result on the partition of the finer operand; if both are equally fine and of one rank, on that of lhs.
  partitioned_elementwise(F f, const Lhs& lhs, const Rhs& rhs, const Dims& dims = {})
      : partitioned_elementwise(std::move(f), lhs, rhs, dims, detail::resolve_placed_operands<F>(lhs, rhs, dims)) {}
  /// Makes an operation whose result is on the partition `p_z`.
  partitioned_elementwise(F f, const Lhs& lhs, const Rhs& rhs, const Dims& dims, const Result& p_z)
      : partitioned_elementwise(std::move(f), lhs, rhs, dims, detail::resolve_placed_operands<F>(lhs, rhs, dims), p_z) {
  }

  /// The broadcasts of lhs and rhs: linear operators from their partitions to the partition of the result.
  const auto& lhs() const { return lhs_; }
  const auto& rhs() const { return rhs_; }                    ///< The broadcast of rhs, like lhs().
  const result_placement& result() const { return result_; }  ///< The partition and the extents of the result.
  elementwise_plan plan() const {  ///< the extents of the result, and how the operands move to its workers
    return {shape_list(result_.extents), shape_list(result_.partition.extents()), lhs_.plan(), rhs_.plan()};
  }

  template <array_expression X, array_expression Y>
  auto operator()(const X& x, const Y& y) const {
    const text problem = lhs_.from().error_message_for(x, "x");
    detail::agree_on_blocks(result_.partition.world(), "partitioned_elementwise(x, y)", fingerprint(),
                            problem.empty() ? rhs_.from().error_message_for(y, "y") : problem);
    const auto a = lhs_.move_operand(x);
    const auto b = rhs_.move_operand(y);
    using T = std::decay_t<decltype(f_(std::declval<detail::operand_element<X>>(),
                                       std::declval<detail::operand_element<Y>>()))>;
    xt::xtensor<T, result_placement::rank()> z(result_.block_shape());
    if (result_.partition.active()) xt::noalias(z) = elementwise(f_, a.view(), b.view(), broadcast_dimensions_);
    return z;
  }

 private:
  std::uint64_t fingerprint() const {  ///< a hash of the operands and the result, equal on all workers
    return (lhs_.from().fingerprint() * 31 + rhs_.from().fingerprint()) * 31 + result_.fingerprint();
  }

  partitioned_elementwise(F f, const Lhs& lhs, const Rhs& rhs, const Dims& dims, const resolved_broadcast& resolved)
      : partitioned_elementwise(std::move(f), lhs, rhs, dims, resolved,
                                detail::select_finer_partition(lhs, rhs, resolved)) {}
  partitioned_elementwise(F f, const Lhs& lhs, const Rhs& rhs, const Dims& dims, const resolved_broadcast& resolved,
                          const Result& p_z)
      : f_(std::move(f)),
        broadcast_dimensions_(dims),
        result_(on(p_z, detail::to_dynamic_extents<result_placement::rank()>(resolved.result))),
        lhs_(lhs, result_, broadcast_dimensions_list(resolved.lhs.targets())),
        rhs_(rhs, result_, broadcast_dimensions_list(resolved.rhs.targets())) {}

  F f_;                        ///< the function of two elements
  Dims broadcast_dimensions_;  ///< the result's dimension for each dimension of the operand of lower rank
  result_placement result_;    ///< the partition and the extents of the result
  partitioned_broadcast<Lhs, result_placement> lhs_;  ///< moves x to the workers of the result
  partitioned_broadcast<Rhs, result_placement> rhs_;  ///< moves y to the workers of the result
};

template <class F, class Lhs, class Rhs>
partitioned_elementwise(F, const Lhs& lhs, const Rhs& rhs)
    -> partitioned_elementwise<F, Lhs, Rhs, decltype(detail::select_finer_partition(lhs, rhs, resolved_broadcast{}))>;
template <class F, class Lhs, class Rhs, class Dims>
partitioned_elementwise(F, const Lhs& lhs, const Rhs& rhs, const Dims&)
    -> partitioned_elementwise<F, Lhs, Rhs, decltype(detail::select_finer_partition(lhs, rhs, resolved_broadcast{})),
                               Dims>;
template <class F, class Lhs, class Rhs, class Dims, class Result>
partitioned_elementwise(F, const Lhs&, const Rhs&, const Dims&, const Result&)
    -> partitioned_elementwise<F, Lhs, Rhs, Result, Dims>;

}  // namespace partita
