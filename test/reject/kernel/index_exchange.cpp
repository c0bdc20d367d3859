// Compile-time errors of the index exchange: blocks without a dimension of indices or a rank, elements that cannot be
// moved or summed, ghosts in memory that is only read, a reduction of other elements, and indices that are no integers.
//
// first NUMBER: partita::index_exchange\(everyone, owned, wanted\)\(x\): requires a block of rank 1 or more
// lines NUMBER: 12
// first RANK_OF_RUN_TIME: partita::index_exchange\(everyone, owned, wanted\)\(x\): requires an xtensor expression whose
//   rank is part of its type; as_rank<2>\(a\) gives it one
// lines RANK_OF_RUN_TIME: 12
// first ELEMENTS: partita::index_exchange\(everyone, owned, wanted\)\(x\): requires elements that MPI can move
// lines ELEMENTS: 12
// first SUMS: partita::index_exchange\(everyone, owned, wanted\).adjoint\(dy\): requires elements that can be summed
// lines SUMS: 12
// first CONST_GHOSTS: partita::index_exchange\(everyone, owned, wanted\).into\(x, view\), .refresh\(ghosted...\):
//   requires views with memory
// lines CONST_GHOSTS: 12
// first ORDER: partita::index_exchange\(everyone, owned, wanted\).reduce\(dy, reduction\): requires a reduction of the
//   elements of dy
// lines ORDER: 12
// first INDICES: partita: a list of indices, of receivers or of choices requires integers
// lines INDICES: 12
// first MEAN: partita::index_exchange\(everyone, owned, wanted\).reduce\(dy, reduction\): requires a reduction of the
//   elements of dy
// lines MEAN: 12
// first NO_WORLD: partita::index_exchange\(everyone, owned, wanted\): requires the world first
// lines NO_WORLD: 12
#include <partita/kernel/index_exchange.hpp>

using namespace partita;

struct unknown_to_mpi {
  double* somewhere = nullptr;
};

void calls(const world& everyone, xt::xtensor<float, 2>& x, [[maybe_unused]] const xt::xarray<float>& any_rank,
           [[maybe_unused]] const xt::xtensor<unknown_to_mpi, 1>& pointers,
           [[maybe_unused]] const xt::xtensor<bool, 1>& flags,
           [[maybe_unused]] const xt::xtensor<std::complex<float>, 1>& z) {
  const index_exchange legal(everyone, interval{0, 2}, {1});
  legal.adjoint(legal(x));
  legal.refresh(x);
  legal.reduce(x, maximum);
  legal(flags);
#if defined(NUMBER)
  legal(xt::xtensor<float, 0>());
#elif defined(RANK_OF_RUN_TIME)
  legal(any_rank);
#elif defined(ELEMENTS)
  legal(pointers);
#elif defined(SUMS)
  legal.adjoint(flags);
#elif defined(CONST_GHOSTS)
  const xt::xtensor<float, 2>& fixed = x;
  legal.refresh(fixed);
#elif defined(ORDER)
  legal.reduce(z, maximum);
#elif defined(INDICES)
  index_exchange(everyone, interval{0, 2}, xt::xtensor<double, 1>{1.0});
#elif defined(MEAN)
  legal.reduce(x, mean);
#elif defined(NO_WORLD)
  index_exchange refused(interval{0, 2}, {1});
#endif
}
