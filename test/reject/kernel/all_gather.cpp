// An all-gather along dimensions that do not exist, or of elements that cannot be moved or summed in the adjoint, is a
// compile-time error with one message.
//
// first NO_DIMENSIONS: partita::all_gather\(p, dimensions<...>\): requires a partition and the dimensions of it
// lines NO_DIMENSIONS: 12
// expect NO_SUCH_DIMENSION: partita::all_gather\(p, dimensions<...>\): requires dimensions below rank\(p\)
// expect TWICE: partita::all_gather\(p, dimensions<...>\): requires each dimension once
// first BLOCK_OF_ANOTHER_RANK: partita::all_gather\(p, dimensions<...>\)\(x\): requires a block of the rank of its
//   partition
// lines BLOCK_OF_ANOTHER_RANK: 12
// first RANK_OF_RUN_TIME: partita::all_gather\(p, dimensions<...>\)\(x\): requires an xtensor expression whose rank is
// lines RANK_OF_RUN_TIME: 12
// first ELEMENTS: partita::all_gather\(p, dimensions<...>\)\(x\): requires elements that MPI can move
// lines ELEMENTS: 12
// first SUM_OF_BOOLS: partita::all_gather\(p, dimensions<...>\).adjoint\(dy\): requires elements that can be summed
// lines SUM_OF_BOOLS: 12
// first CONST_VIEW: partita::all_gather\(p, dimensions<...>\).into\(x, view\): requires a view with memory
// lines CONST_VIEW: 12
// first PLAN: partita::all_gather::plan\(extents\): requires extents of the rank of the partition
// lines PLAN: 12
#include <partita/kernel/all_gather.hpp>

using namespace partita;

struct unknown_to_mpi {
  double* somewhere = nullptr;
};

void calls(const world& everyone, const xt::xtensor<float, 2>& x, [[maybe_unused]] const xt::xarray<float>& any_rank,
           [[maybe_unused]] const xt::xtensor<unknown_to_mpi, 2>& pointers,
           [[maybe_unused]] const xt::xtensor<bool, 2>& flags) {
  const auto p = everyone.partition<2, 1>();
  const all_gather legal(p, dimensions<0>);
  legal(x);
#if defined(NO_DIMENSIONS)
  all_gather refused(p);
#elif defined(NO_SUCH_DIMENSION)
  all_gather refused(p, dimensions<2>);
#elif defined(TWICE)
  all_gather refused(p, dimensions<0, 0>);
#elif defined(BLOCK_OF_ANOTHER_RANK)
  legal(xt::xtensor<float, 3>());
#elif defined(RANK_OF_RUN_TIME)
  legal(any_rank);
#elif defined(ELEMENTS)
  legal(pointers);
#elif defined(SUM_OF_BOOLS)
  legal.adjoint(flags);
#elif defined(CONST_VIEW)
  const xt::xtensor<float, 2> view;
  legal.into(x, view);
#elif defined(PLAN)
  static_cast<void>(legal.plan(extents<48>{}));
#endif
}
