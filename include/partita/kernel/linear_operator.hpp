// The face that every kernel has: what a linear operator between the blocks of workers can be asked.
#pragma once

#include <concepts>
#include <partita/array/strided.hpp>
#include <partita/kernel/kernel_counts.hpp>
#include <type_traits>

namespace partita {

/// What an operator K gives for a block X.
template <class K, class X>
using result_of = decltype(std::declval<const K&>()(std::declval<const X&>()));

namespace detail {

/// K does not say that it is no linear operator. Asked first, because the adjoint of one that is not does not compile.
template <class K>
concept may_be_linear = !requires { K::is_linear; } || K::is_linear;

/// K can be applied, forward and adjoint: what compose and add ask for, and the adjoint test.
template <class K, class X, class Y>
concept applies = may_be_linear<K> && requires(const K& k, const X& x, const Y& y) {
  { k(x) } -> ranked_array;
  { k.adjoint(y) } -> ranked_array;
};

}  // namespace detail

/// K is a linear operator from blocks X to blocks Y with the whole face of a kernel: at once, into a caller's view, or
/// begun and finished later, forward and adjoint, and what it plans and has done.
template <class K, class X, class Y>
concept linear_operator =
    detail::applies<K, X, Y> &&
    requires(const K& k, const X& x, const Y& y, X& dx, Y& view) {
      k.into(x, view);
      { k.start(x).finish() } -> ranked_array;
      k.adjoint_into(y, dx);
      { k.start_adjoint(y).finish() } -> ranked_array;
      k.memory();
      { k.counts() } -> std::same_as<kernel_counts>;
    } &&
    (
        requires(const K& k) { k.plan(); } ||
        requires(const K& k, const std::array<std::size_t, rank_of<X>>& whole) { k.plan(whole); });

}  // namespace partita
