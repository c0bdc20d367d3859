// A broadcast between partitions that do not match is a compile-time error that states the requirement and a solution.
//
// expect RANKS: partita::broadcast\(p_x, p_y\): requires rank\(p_x\) <= rank\(p_y\); use sum_reduce for the opposite
//   direction
// expect EXTENTS: partita::broadcast\(p_x, p_y\): requires every extent of p_x, extended on the left with ones, to be 1
//   or the extent of p_y; pass transpose_src or transpose_dest
// expect EXTENDED_ON_THE_LEFT: requires every extent of p_x, extended on the left with ones, to be 1 or the extent of
//   p_y
// expect MIXED: requires every extent of p_x, extended on the left with ones, to be 1 or the extent of p_y
// expect TRANSPOSED: requires every extent of p_x, extended on the left with ones, to be 1 or the extent of p_y
// expect POLICY: partita::broadcast\(p_x, p_y, policies...\): requires policies among transpose_src, transpose_dest,
//   discard_batch
// expect ELEMENTS: partita::broadcast\(p_x, p_y\)\(x\): requires elements that MPI can move
// expect SUM_OF_BOOLS: partita::broadcast\(p_x, p_y\).adjoint\(dy\): requires elements that can be summed; bool cannot
// expect VIEW: partita: kernel.into\(x, view\): requires a view with memory
#include <partita/kernel/broadcast.hpp>

using namespace partita;

struct unknown_to_mpi {
  double* somewhere = nullptr;
};

void calls(const world& everyone, const xt::xtensor<double, 2>& x, const xt::xtensor<bool, 2>& flags,
           const xt::xtensor<unknown_to_mpi, 2>& pointers, xt::xtensor<float, 2>& other) {
  broadcast b(everyone.partition<1, 2>(), everyone.partition<3, 2>());
  broadcast from_column(everyone.partition<2, 1>(), everyone.partition<3, 2>(), transpose_src);
  broadcast known_later(everyone.partition(extents<dynamic, 2>(1)), everyone.partition<3, 2>());
  b(x);
  b(flags);
  b.adjoint(x);
#if defined(RANKS)
  broadcast refused(everyone.partition<1, 1, 2>(), everyone.partition<3, 2>());
#elif defined(EXTENTS)
  broadcast refused(everyone.partition<1, 3>(), everyone.partition<3, 2>());
#elif defined(EXTENDED_ON_THE_LEFT)
  broadcast refused(everyone.partition<3>(), everyone.partition<3, 2>());
#elif defined(MIXED)
  broadcast refused(everyone.partition(extents<dynamic, 3>(1)), everyone.partition(extents<dynamic, 2>(3)));
#elif defined(TRANSPOSED)
  broadcast refused(everyone.partition<1, 2>(), everyone.partition<3, 2>(), transpose_src);
#elif defined(POLICY)
  broadcast refused(everyone.partition<1, 2>(), everyone.partition<3, 2>(), 7);
#elif defined(ELEMENTS)
  b(pointers);
#elif defined(SUM_OF_BOOLS)
  b.adjoint(flags);
#elif defined(VIEW)
  b.into(x, other);
#endif
  static_cast<void>(pointers);
  static_cast<void>(other);
}
