// Compile-time errors of sparse matrices: elements that cannot be summed, blocks of another rank or of other elements.
//
// expect ELEMENTS: partita::csr_matrix<T>: requires numbers that can be summed
// first RANK: partita::csr_matrix<T>\(...\)\(x\), .adjoint\(dy\): requires an xtensor expression of rank 1, or of
//   rank 2
// lines RANK: 12
// first OTHER_ELEMENTS: partita::csr_matrix<T>\(...\)\(x\), .adjoint\(dy\): requires elements of type T
// lines OTHER_ELEMENTS: 12
// first VALUES: partita::csr_matrix<T>\(...\)\(x\), .adjoint\(dy\): requires elements of type T
// lines VALUES: 12
// first NUMBERS: partita::csr_matrix<T>\(everyone, rows, columns, entries\): requires the world, the rows and columns
// lines NUMBERS: 12
// first NO_WORLD: partita::csr_matrix<T>\(everyone, rows, columns, entries\): requires the world, the rows and columns
// lines NO_WORLD: 12
#include <partita/kernel/csr_matrix.hpp>

using namespace partita;

void calls(const world& everyone, const xt::xtensor<double, 1>& x, [[maybe_unused]] const xt::xtensor<double, 3>& cube,
           [[maybe_unused]] const xt::xtensor<float, 1>& z) {
  const csr_matrix<double> legal(everyone, {0, 2}, {0, 2}, {{0, 1, 1.0}});
  legal.adjoint(legal(x));
  legal.values_adjoint(x, legal(x));
#if defined(ELEMENTS)
  csr_matrix<bool> refused(everyone, {0, 2}, {0, 2}, {});
#elif defined(RANK)
  legal(cube);
#elif defined(OTHER_ELEMENTS)
  legal.adjoint(z);
#elif defined(VALUES)
  legal.values_adjoint(x, z);
#elif defined(NUMBERS)
  csr_matrix<double> refused(everyone, 2, 2, {{0, 1, 1.0}});
#elif defined(NO_WORLD)
  csr_matrix<double> refused({0, 2}, {0, 2}, {{0, 1, 1.0}});
#endif
}
