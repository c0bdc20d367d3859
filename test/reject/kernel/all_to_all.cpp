// An all-to-all between partitions of different ranks, of elements that cannot be moved, or into read-only memory is a
// compile-time error with one message.
//
// first RANKS: partita::all_to_all\(p_from, p_to\): requires partitions of equal rank; reshape\(\) one of them
// lines RANKS: 12
// first BLOCK_OF_ANOTHER_RANK: partita::all_to_all\(p_from, p_to\)\(x\): requires a block of the rank of its
//   partitions
// lines BLOCK_OF_ANOTHER_RANK: 12
// first RANK_OF_RUN_TIME: partita::all_to_all\(p_from, p_to\)\(x\): requires an xtensor expression whose rank is part
//   of its type; as_rank<2>\(a\) gives it one
// lines RANK_OF_RUN_TIME: 12
// first ELEMENTS: partita::all_to_all\(p_from, p_to\)\(x\): requires elements that MPI can move
// lines ELEMENTS: 12
// first CONST_VIEW: partita::all_to_all\(p_from, p_to\).into\(x, view\): requires a view with memory
// lines CONST_VIEW: 12
// first PLAN: partita::all_to_all::plan\(extents\): requires extents of the rank of the partitions
// lines PLAN: 12
// first THREE: partita::all_to_all\(p_from, p_to\): requires two partitions
// lines THREE: 12
// first INTO_A_TEMPORARY: partita: kernel.into\(x, view\): requires a tensor that outlives the call, or a view of one
// lines INTO_A_TEMPORARY: 14
#include <partita/kernel/all_to_all.hpp>

using namespace partita;

struct unknown_to_mpi {
  double* somewhere = nullptr;
};

void calls(const world& everyone, const xt::xtensor<float, 2>& x, [[maybe_unused]] const xt::xarray<float>& any_rank,
           [[maybe_unused]] const xt::xtensor<unknown_to_mpi, 2>& pointers) {
  const all_to_all legal(everyone.partition<2, 1>(), everyone.partition<1, 2>());
  legal(x);
#if defined(RANKS)
  all_to_all refused(everyone.partition<2>(), everyone.partition<1, 2>());
#elif defined(BLOCK_OF_ANOTHER_RANK)
  legal(xt::xtensor<float, 3>());
#elif defined(RANK_OF_RUN_TIME)
  legal(any_rank);
#elif defined(ELEMENTS)
  legal(pointers);
#elif defined(CONST_VIEW)
  const xt::xtensor<float, 2> view;
  legal.into(x, view);
#elif defined(PLAN)
  static_cast<void>(legal.plan(extents<48>{}));
#elif defined(THREE)
  all_to_all refused(everyone.partition<2, 1>(), everyone.partition<1, 2>(), everyone.partition<1, 2>());
#elif defined(INTO_A_TEMPORARY)
  legal.into(x, xt::xtensor<float, 2>());
#endif
}
