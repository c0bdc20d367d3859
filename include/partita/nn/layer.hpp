// What a layer is: the concept that all of them model, and that sequential composes.
#pragma once

#include <concepts>
#include <cstddef>
#include <partita/array/strided.hpp>

namespace partita {

/// L maps a block X of this worker to a block, and has an adjoint that maps a block of the shape of the result back to
/// one of the rank of X: the derivative of the last call. Every worker of the world calls both. Kernels are layers.
/// What else a layer may have, sequential asks for one by one: zero_gradients(), parameters(), train(), evaluate().
template <class L, class X>
concept layer = ranked_array<X> && requires(L& l, const X& x) {
  requires ranked_array<decltype(l(x))>;
  requires ranked_array<decltype(l.adjoint(l(x)))>;
  requires rank_of<decltype(l.adjoint(l(x)))> == rank_of<X>;
};

}  // namespace partita
