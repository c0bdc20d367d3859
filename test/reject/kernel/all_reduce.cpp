// An all_reduce along dimensions that do not exist, with an argument that is not a reduction, or of elements that the
// reduction does not support, is a compile-time error with one message.
//
// expect NO_DIMENSIONS: partita::all_reduce\(p, dimensions, reduction\): requires the dimensions to reduce along
// expect NO_REDUCTION: partita::all_reduce\(p, dimensions, reduction\): requires the dimensions to reduce along
// expect AN_INT: partita::all_reduce\(p, dimensions, reduction\): requires the dimensions to reduce along
// expect NO_SUCH_DIMENSION: partita::all_reduce\(p, dimensions<...>, reduction\): requires dimensions below rank\(p\)
// expect TWICE: partita::all_reduce\(p, dimensions<...>, reduction\): requires each dimension once
// first POLICY: partita::all_reduce\(p, dimensions, reduction, policies...\): requires policies among reproducible
// lines POLICY: 12
// expect BOOLS: partita::reduce\(p_x, p_y, reduction\)\(x\): requires elements that the reduction takes
// expect ADJOINT: partita::reduce\(p_x, p_y, reduction\).adjoint\(dy\): requires a linear reduction, sum or mean
#include <partita/kernel/all_reduce.hpp>

using namespace partita;

void calls(const world& everyone, const xt::xtensor<float, 2>& x, [[maybe_unused]] const xt::xtensor<bool, 2>& flags) {
  const auto p = everyone.partition<3, 2>();
  const all_reduce legal(p, dimensions<0, 1>, sum);
  const all_reduce most(p, dimensions<0>, maximum);
  legal(x);
  legal.start_adjoint(x);
  most(x);
#if defined(NO_DIMENSIONS)
  all_reduce refused(p);
#elif defined(NO_REDUCTION)
  all_reduce refused(p, dimensions<0>);
#elif defined(AN_INT)
  all_reduce refused(p, 0, sum);
#elif defined(NO_SUCH_DIMENSION)
  all_reduce refused(p, dimensions<2>, sum);
#elif defined(TWICE)
  all_reduce refused(p, dimensions<1, 1>, sum);
#elif defined(POLICY)
  all_reduce refused(p, dimensions<0>, sum, discard_batch);
#elif defined(BOOLS)
  legal(flags);
#elif defined(ADJOINT)
  most.adjoint(x);
#endif
}
