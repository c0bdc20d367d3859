// A sum-reduce between partitions that do not match is a compile-time error that states the requirement and a solution.
//
// expect RANKS: partita::sum_reduce\(p_x, p_y\): requires rank\(p_y\) <= rank\(p_x\); use broadcast for the opposite
//   direction
// expect EXTENTS: partita::sum_reduce\(p_x, p_y\): requires every extent of p_y, extended on the left with ones, to be
//   1 or the extent of p_x; pass transpose_src or transpose_dest
// expect TRANSPOSED: requires every extent of p_y, extended on the left with ones, to be 1 or the extent of p_x
// expect POLICY: partita::sum_reduce\(p_x, p_y, policies...\): requires policies among transpose_src, transpose_dest,
//   discard_batch
// expect SUM_OF_BOOLS: partita::sum_reduce\(p_x, p_y\)\(x\): requires elements that can be summed; bool cannot, cast to
//   an integer type
#include <partita/kernel/sum_reduce.hpp>

using namespace partita;

void calls(const world& everyone, const xt::xtensor<double, 2>& x, const xt::xtensor<bool, 2>& flags) {
  sum_reduce s(everyone.partition<3, 2>(), everyone.partition<2>());
  sum_reduce to_column(everyone.partition<3, 2>(), everyone.partition<2, 1>(), transpose_dest);
  s(x);
  s.adjoint(flags);
#if defined(RANKS)
  sum_reduce refused(everyone.partition<3, 2>(), everyone.partition<1, 1, 2>());
#elif defined(EXTENTS)
  sum_reduce refused(everyone.partition<3, 2>(), everyone.partition<3>());
#elif defined(TRANSPOSED)
  sum_reduce refused(everyone.partition<3, 2>(), everyone.partition<2>(), transpose_src);
#elif defined(POLICY)
  sum_reduce refused(everyone.partition<3, 2>(), everyone.partition<2>(), dimensions<0>);
#elif defined(SUM_OF_BOOLS)
  s(flags);
#endif
}
