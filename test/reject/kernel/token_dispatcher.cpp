// Compile-time errors of the token dispatcher: blocks without rows or a rank, elements that cannot be summed, weights
// of another type, gradients of another rank.
//
// first NUMBER: partita::token_dispatcher: requires an xtensor expression whose rank is part of its type and 1 or more
// lines NUMBER: 12
// first RANK_OF_RUN_TIME: partita::token_dispatcher: requires an xtensor expression whose rank is part of its type
// lines RANK_OF_RUN_TIME: 12
// first SUM: partita::token_dispatcher: .* of elements that MPI can move and that can be summed
// lines SUM: 12
// first WEIGHTS: partita::token_dispatcher::combine\(y, weights\), combine_adjoint\(y, weights, dz\): requires
//   floating-point elements of one type
// lines WEIGHTS: 12
// first OTHER_RANK: partita::token_dispatcher::combine_adjoint\(y, weights, dz\): requires y and dz of one rank
// lines OTHER_RANK: 12
#include <partita/kernel/token_dispatcher.hpp>

using namespace partita;

void calls(const world& everyone, const xt::xtensor<float, 2>& x, [[maybe_unused]] const xt::xarray<float>& any_rank,
           const xt::xtensor<float, 1>& w, [[maybe_unused]] const xt::xtensor<double, 1>& wide,
           [[maybe_unused]] const xt::xtensor<bool, 1>& flags) {
  const token_dispatcher legal(everyone, 2, {1});
  legal.combine(legal.dispatch(2 * x));
  legal.combine(x, w);
  legal.combine_adjoint(x, w, x);
#if defined(NUMBER)
  legal.dispatch(xt::xtensor<float, 0>());
#elif defined(RANK_OF_RUN_TIME)
  legal.dispatch(any_rank);
#elif defined(SUM)
  legal.combine(flags);
#elif defined(WEIGHTS)
  legal.combine(x, wide);
#elif defined(OTHER_RANK)
  legal.combine_adjoint(x, w, w);
#endif
}
