// Elementwise sums of tuples of tensors, for example of the gradients of several batches.
#pragma once

#include <cstddef>
#include <partita/sharded/arithmetic.hpp>
#include <tuple>
#include <utility>

namespace partita {

/// Adds the tensors of two tuples in pairs, as in `gradients = gradients + more.gradients`.
/// Shapes:   tuples of equal length; each pair has shapes that `add` accepts.
/// Requires: what `add` requires of each pair.
/// Cost:     that of `add` for each pair: tensors with equal layouts are added without communication, and partial sums
///           stay partial.
/// Adjoint:  the gradient with respect to each of the two tuples is dy.
template <class... X, class... Y>
  requires(sizeof...(X) > 0 && (detail::any_tensor<X> && ...) && (detail::any_tensor<Y> && ...))
auto add(const std::tuple<X...>& x, const std::tuple<Y...>& y) {
  constexpr bool as_many = sizeof...(X) == sizeof...(Y);
  static_assert(as_many, "partita::add(tuple, tuple): requires tuples of as many tensors");
  const auto sum_of_two = []<class A, class B>(const A& a, const B& b) {
    if constexpr (ranked_array<A> && ranked_array<B>) return xt::xtensor<element_of<A>, rank_of<A>>(a + b);
    else return add(a, b);
  };
  if constexpr (as_many)
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple(sum_of_two(std::get<I>(x), std::get<I>(y))...);
    }(std::make_index_sequence<sizeof...(X)>());
}
template <class... X, class... Y>
  requires(sizeof...(X) > 0 && (detail::any_tensor<X> && ...) && (detail::any_tensor<Y> && ...))
auto operator+(const std::tuple<X...>& x, const std::tuple<Y...>& y) {
  return add(x, y);
}

}  // namespace partita
