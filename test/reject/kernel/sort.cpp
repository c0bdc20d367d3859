// Compile-time errors of sort, argsort and quantile: blocks of another rank, or of elements that have no order.
//
// first RANK: partita::sort\(everyone, x\), argsort, quantile, .*: requires a block of rank 1
// lines RANK: 12
// first RANK_OF_RUN_TIME: partita::sort\(everyone, x\), argsort, quantile, .*: requires an xtensor expression whose
//   rank is part of its type
// lines RANK_OF_RUN_TIME: 12
// first COMPLEX: partita::sort\(everyone, x\), argsort, quantile, .*: requires integers, float or double
// lines COMPLEX: 12
// first QUANTILE: partita::sort\(everyone, x\), argsort, quantile, .*: requires a block of rank 1
// lines QUANTILE: 12
#include <partita/kernel/sort.hpp>

using namespace partita;

void calls(const world& everyone, const xt::xtensor<float, 1>& x, [[maybe_unused]] const xt::xtensor<float, 2>& matrix,
           [[maybe_unused]] const xt::xarray<float>& any_rank,
           [[maybe_unused]] const xt::xtensor<std::complex<float>, 1>& z) {
  sort(everyone, x, {.descending = true});
  argsort(everyone, 2 * x);
  quantile(everyone, x, {0.5});
#if defined(RANK)
  sort(everyone, matrix);
#elif defined(RANK_OF_RUN_TIME)
  argsort(everyone, any_rank);
#elif defined(COMPLEX)
  sort(everyone, z);
#elif defined(QUANTILE)
  quantile(everyone, matrix, {0.5});
#endif
}
