// An all-sum-reduce along dimensions that do not exist is a compile-time error.
//
// expect NO_SUCH_DIMENSION: partita::all_sum_reduce\(p, dimensions<...>\): requires dimensions below rank\(p\)
// expect NO_SUCH_DIMENSION_KEPT: requires dimensions below rank\(p\)
// expect TWICE: partita::all_sum_reduce\(p, dimensions<...>\): requires each dimension once
// expect SUM_OF_BOOLS: partita::all_sum_reduce\(p\)\(x\): requires elements that can be summed; bool cannot
// expect NONE_NAMED: partita::all_sum_reduce\(p, dimensions\): requires the dimensions to sum along
// expect AN_INT: partita::all_sum_reduce\(p, dimensions\): requires the dimensions to sum along
// expect BOOLS_INTO: partita::all_sum_reduce\(p\)\(x\): requires elements that can be summed; bool cannot
// expect CONST_VIEW: partita: kernel.into\(x, view\): requires a view with memory .* which is not const
// expect RANK_OF_RUN_TIME: partita::all_sum_reduce\(p\)\(x\): requires an xtensor expression whose rank is part of its
//   type; as_rank<2>\(a\) gives it one, as_rank<1>\(v\) to a std::vector, as_rank<1>\({t}\) to a number
// expect STARTED: partita::all_sum_reduce\(p\)\(x\): requires an xtensor expression whose rank is part of its type
// first A_VECTOR: partita::all_sum_reduce\(p\)\(x\): requires an xtensor expression .* as_rank<1>\(v\) to a std::vector
// lines A_VECTOR: 12
// first A_NUMBER: partita::all_sum_reduce\(p\)\(x\): requires an xtensor expression .* as_rank<1>\({t}\) to a number
// lines A_NUMBER: 12
// expect NEGATIVE: narrow
#include <partita/kernel/all_sum_reduce.hpp>

using namespace partita;

void calls(const world& everyone, const xt::xtensor<double, 2>& x, const xt::xtensor<bool, 2>& flags) {
  const auto p = everyone.partition<3, 2>();
  all_sum_reduce a(p, dimensions<0, 1>);
  all_sum_reduce kept(p, all_dimensions_but<1>);
  a(x);
#if defined(NO_SUCH_DIMENSION)
  all_sum_reduce refused(p, dimensions<2>);
#elif defined(NO_SUCH_DIMENSION_KEPT)
  all_sum_reduce refused(p, all_dimensions_but<0, 2>);
#elif defined(TWICE)
  all_sum_reduce refused(p, dimensions<1, 1>);
#elif defined(SUM_OF_BOOLS)
  a(flags);
#elif defined(NONE_NAMED)
  all_sum_reduce refused(p);
#elif defined(AN_INT)
  all_sum_reduce refused(p, 0);
#elif defined(BOOLS_INTO)
  auto sums = flags;
  a.into(flags, sums);
#elif defined(CONST_VIEW)
  a.into(x, x);
#elif defined(RANK_OF_RUN_TIME)
  a(xt::xarray<double>(x));
#elif defined(STARTED)
  a.start(xt::xarray<double>(x));
#elif defined(A_VECTOR)
  const std::vector<double> v(4);
  auto sums = a(v);
#elif defined(A_NUMBER)
  auto sum = a(3.0);
#elif defined(NEGATIVE)
  all_sum_reduce refused(p, dimensions<-1>);
#endif
  static_cast<void>(flags);
}
