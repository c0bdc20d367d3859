// Compile-time errors of unique, searchsorted and top_k: blocks of another rank, elements without an order, and numbers
// of two types.
//
// first RANK: partita::sort\(everyone, x\), argsort, quantile, unique, searchsorted, top_k: requires a block of rank 1
// lines RANK: 12
// first COMPLEX: partita::sort\(everyone, x\), .* top_k: requires integers, float or double
// lines COMPLEX: 12
// first TWO_TYPES: partita::searchsorted\(everyone, sorted, x\): requires numbers of one type
// lines TWO_TYPES: 12
#include <partita/kernel/sorted_numbers.hpp>

using namespace partita;

void calls(const world& everyone, const xt::xtensor<float, 1>& x, [[maybe_unused]] const xt::xtensor<float, 2>& matrix,
           [[maybe_unused]] const xt::xtensor<double, 1>& y,
           [[maybe_unused]] const xt::xtensor<std::complex<float>, 1>& z) {
  searchsorted(everyone, unique(everyone, x), 2 * x, {.right = true});
  top_k(everyone, x, 3);
#if defined(RANK)
  top_k(everyone, matrix, 3);
#elif defined(COMPLEX)
  unique(everyone, z);
#elif defined(TWO_TYPES)
  searchsorted(everyone, x, y);
#endif
}
