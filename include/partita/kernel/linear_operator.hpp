// The concept linear_operator: the interface of every kernel, a linear operator between the blocks of workers.
#pragma once

#include <concepts>
#include <partita/array/strided.hpp>
#include <partita/kernel/kernel_counts.hpp>
#include <utility>

namespace partita {

/// The type of the result if an operator K is applied to a block of type X.
template <class K, class X>
using result_of = decltype(std::declval<const K&>()(std::declval<const X&>()));

namespace detail {

/// The operator K does not declare `is_linear` as false. This concept must be tested before `k.adjoint(y)`, because the
/// adjoint of an operator that is not linear does not compile.
template <class K>
concept may_be_linear = !requires { K::is_linear; } || K::is_linear;

/// The operator K can be applied forward and adjoint, as compose, add and the adjoint test require.
template <class K, class X, class Y>
concept applies = may_be_linear<K> && requires(const K& k, const X& x, const Y& y) {
  { k(x) } -> ranked_array;
  { k.adjoint(y) } -> ranked_array;
};

}  // namespace detail

/// K is a linear operator from blocks X to blocks Y with the complete interface of a kernel: forward and adjoint calls
/// (blocking, into a caller's view, and non-blocking), its plan and its counts.
template <class K, class X, class Y>
concept linear_operator =
    detail::applies<K, X, Y> &&
    requires(const K& k, const X& x, const Y& y, X& dx, Y& view) {
      k.into(x, view);  ///< writes the result into a view
      { k.start(x).finish() } -> ranked_array;
      k.adjoint_into(y, dx);  ///< writes the result of the adjoint into a view
      { k.start_adjoint(y).finish() } -> ranked_array;
      k.memory();  ///< the memory pool of the results
      { k.counts() } -> std::same_as<kernel_counts>;
    } &&
    (
        requires(const K& k) { k.plan(); } ||
        requires(const K& k, const std::array<std::size_t, rank_of<X>>& whole) { k.plan(whole); });

}  // namespace partita
