// A repartition between partitions, or of a tensor, of another rank is refused by the compiler.
//
// expect RANKS: partita::repartition\(p_x, p_y\): requires partitions of equal rank; reshape\(\) one of them with extents of 1
// expect TENSOR_RANK: partita::repartition\(p_x, p_y\)\(x\): requires a block of the rank of its partitions; reshape\(\) the partitions with extents of 1
// expect ADJOINT_RANK: requires a block of the rank of its partitions
// expect POLICY: partita::repartition\(p_x, p_y, policies...\): requires no other policy than discard_batch
// expect ELEMENTS: partita::repartition\(p_x, p_y\)\(x\): requires elements that MPI can move
// expect PLAN: partita::repartition::plan\(extents\): requires extents of the rank of the partitions
#include <partita/kernel/repartition.hpp>

using namespace partita;

struct unknown_to_mpi {
  double* somewhere = nullptr;
};

void calls(const world& everyone, const xt::xtensor<double, 2>& x, const xt::xtensor<double, 3>& higher,
           const xt::xtensor<unknown_to_mpi, 2>& pointers) {
  repartition r(everyone.partition<3, 2>(), everyone.partition<1, 4>());
  r.adjoint(r(x));
  static_cast<void>(r.plan(extents<6, 8>{}));
#if defined(RANKS)
  repartition refused(everyone.partition<3, 2>(), everyone.partition<6>());
#elif defined(TENSOR_RANK)
  r(higher);
#elif defined(ADJOINT_RANK)
  r.adjoint(higher);
#elif defined(POLICY)
  repartition refused(everyone.partition<3, 2>(), everyone.partition<1, 4>(), transpose_src);
#elif defined(ELEMENTS)
  r(pointers);
#elif defined(PLAN)
  static_cast<void>(r.plan(extents<48>{}));
#endif
  static_cast<void>(higher);
  static_cast<void>(pointers);
}
