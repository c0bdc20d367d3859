// Compile-time errors of segments: blocks without rows, elements that cannot be summed, divided or compared, and
// arguments that differ.
//
// first NUMBER: partita::segments: requires an xtensor expression whose rank is part of its type and 1 or more
// lines NUMBER: 12
// first RANK_OF_RUN_TIME: partita::segments: requires an xtensor expression whose rank is part of its type
// lines RANK_OF_RUN_TIME: 12
// first SUM: partita::segments::sum\(x\): requires elements that can be summed
// lines SUM: 12
// first MEAN: partita::segments::mean\(x\), mean_adjoint\(dy\): requires elements that can be divided
// lines MEAN: 12
// first ORDER: partita::segments::maximum\(x\): requires numbers that have an order
// lines ORDER: 12
// first SOFTMAX: partita::segments::softmax\(x\), softmax_adjoint\(y, dy\), maximum_adjoint\(x, y, dy\): requires
//   floating-point elements
// lines SOFTMAX: 12
// first OTHER_RANK: partita::segments::softmax_adjoint\(y, dy\), maximum_adjoint\(x, y, dy\): requires arguments of one
//   rank
// lines OTHER_RANK: 12
// first NO_ROWS: partita::segments\(everyone, owned, segment_of_rows\): requires the world first
// lines NO_ROWS: 12
#include <partita/kernel/segments.hpp>

using namespace partita;

void calls(const world& everyone, const xt::xtensor<float, 2>& x, [[maybe_unused]] const xt::xarray<float>& any_rank,
           [[maybe_unused]] const xt::xtensor<float, 1>& v, [[maybe_unused]] const xt::xtensor<bool, 1>& flags,
           [[maybe_unused]] const xt::xtensor<int, 1>& numbers,
           [[maybe_unused]] const xt::xtensor<std::complex<float>, 1>& z) {
  const segments legal(everyone, interval{0, 2}, {1});
  legal.rows(legal.sum(2 * x));
  legal.mean_adjoint(legal.mean(z));
  legal.maximum_adjoint(x, legal.maximum(x), x);
  legal.softmax_adjoint(legal.softmax(x), x);
#if defined(NUMBER)
  legal.rows(xt::xtensor<float, 0>());
#elif defined(RANK_OF_RUN_TIME)
  legal.sum(any_rank);
#elif defined(SUM)
  legal.sum(flags);
#elif defined(MEAN)
  legal.mean(numbers);
#elif defined(ORDER)
  legal.maximum(z);
#elif defined(SOFTMAX)
  legal.softmax(numbers);
#elif defined(OTHER_RANK)
  legal.softmax_adjoint(x, v);
#elif defined(NO_ROWS)
  segments refused(everyone, interval{0, 2});
#endif
}
