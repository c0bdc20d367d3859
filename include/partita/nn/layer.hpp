// The concept `layer`. All layers model this concept, and `sequential` composes objects that model it.
#pragma once

#include <partita/array/strided.hpp>

namespace partita {

/// Layer L is called with this worker's block, of type X, and returns a block. The adjoint of L, the derivative of the
/// last call, maps a block of the shape of the result back to a block of the rank of X. Every worker of the world must
/// call the layer and its adjoint, because a layer may communicate. Kernels that have an adjoint are layers, too. The
/// members zero_gradients(), parameters(), train() and evaluate() are optional; `sequential` tests for them.
template <class L, class X>
concept layer = ranked_array<X> && requires(L& l, const X& x) {
  requires ranked_array<decltype(l(x))>;
  requires ranked_array<decltype(l.adjoint(l(x)))>;
  requires rank_of<decltype(l.adjoint(l(x)))> == rank_of<X>;
};

}  // namespace partita
