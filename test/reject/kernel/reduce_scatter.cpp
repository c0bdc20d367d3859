// A reduce-scatter along dimensions that do not exist, or of elements that cannot be summed or moved in the adjoint, is
// a compile-time error with one message.
//
// first NO_DIMENSIONS: partita::reduce_scatter\(p, dimensions<...>\): requires a partition and the dimensions of it
// lines NO_DIMENSIONS: 12
// expect NO_SUCH_DIMENSION: partita::reduce_scatter\(p, dimensions<...>\): requires dimensions below rank\(p\)
// expect TWICE: partita::reduce_scatter\(p, dimensions<...>\): requires each dimension once
// first BLOCK_OF_ANOTHER_RANK: partita::reduce_scatter\(p, dimensions<...>\)\(x\): requires a block of the rank of its
//   partition
// lines BLOCK_OF_ANOTHER_RANK: 12
// first RANK_OF_RUN_TIME: partita::reduce_scatter\(p, dimensions<...>\)\(x\): requires an xtensor expression whose rank
// lines RANK_OF_RUN_TIME: 12
// first SUM_OF_BOOLS: partita::reduce_scatter\(p, dimensions<...>\)\(x\): requires elements that can be summed
// lines SUM_OF_BOOLS: 12
// first ELEMENTS: partita::reduce_scatter\(p, dimensions<...>\).adjoint\(dy\): requires elements that MPI can move
// lines ELEMENTS: 12
// first CONST_VIEW: partita::reduce_scatter\(p, dimensions<...>\).into\(x, view\): requires a view with memory
// lines CONST_VIEW: 12
// first PLAN: partita::reduce_scatter::plan\(extents\): requires extents of the rank of the partition
// lines PLAN: 12
#include <partita/kernel/reduce_scatter.hpp>

using namespace partita;

struct unknown_to_mpi {
  double* somewhere = nullptr;
};

void calls(const world& everyone, const xt::xtensor<float, 2>& x, [[maybe_unused]] const xt::xarray<float>& any_rank,
           [[maybe_unused]] const xt::xtensor<unknown_to_mpi, 2>& pointers,
           [[maybe_unused]] const xt::xtensor<bool, 2>& flags) {
  const auto p = everyone.partition<2, 1>();
  const reduce_scatter legal(p, dimensions<0>);
  legal(x);
  legal.adjoint(flags);  // the adjoint moves bools without summing
#if defined(NO_DIMENSIONS)
  reduce_scatter refused(p);
#elif defined(NO_SUCH_DIMENSION)
  reduce_scatter refused(p, dimensions<2>);
#elif defined(TWICE)
  reduce_scatter refused(p, dimensions<0, 0>);
#elif defined(BLOCK_OF_ANOTHER_RANK)
  legal(xt::xtensor<float, 3>());
#elif defined(RANK_OF_RUN_TIME)
  legal(any_rank);
#elif defined(SUM_OF_BOOLS)
  legal(flags);
#elif defined(ELEMENTS)
  legal.adjoint(pointers);
#elif defined(CONST_VIEW)
  const xt::xtensor<float, 2> view;
  legal.into(x, view);
#elif defined(PLAN)
  static_cast<void>(legal.plan(extents<48>{}));
#endif
}
