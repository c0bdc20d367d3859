// Invalid reductions are compile-time errors: the library's message is the first error.
//
// expect RANKS: partita::reduce\(p_x, p_y, reduction\): requires rank\(p_y\) <= rank\(p_x\)
// expect EXTENTS: partita::reduce\(p_x, p_y, reduction\): requires every extent of p_y, extended on the left with ones
// expect POLICY: partita::reduce\(p_x, p_y, reduction, policies...\): requires policies among transpose_src
// expect NO_REDUCTION: partita::reduce\(p_x, p_y, reduction\): requires a reduction: sum, maximum
// expect STATE: partita::reduce\(p_x, p_y, reduction\): requires a reduction: .* an empty type of your own
// expect BOOLS: partita::reduce\(p_x, p_y, reduction\)\(x\): requires elements that the reduction takes
// expect FLOATS: partita::reduce\(p_x, p_y, reduction\)\(x\): requires elements that the reduction takes
// expect ADJOINT: partita::reduce\(p_x, p_y, reduction\).adjoint\(dy\): requires a linear reduction, sum or mean
// expect START_ADJOINT: partita::reduce\(p_x, p_y, reduction\).adjoint\(dy\): requires a linear reduction, sum or mean
// expect ROUNDED_ONCE: partita::reduce\(p_x, p_y, reduction, reproducible\): requires a reduction that can be rounded
//   once
// expect RANK_OF_RUN_TIME: partita::reduce\(p_x, p_y, reduction\)\(x\): requires an xtensor expression whose rank is
//   part of its type; as_rank<2>\(a\) gives it one
// expect STARTED: partita::reduce\(p_x, p_y, reduction\)\(x\): requires an xtensor expression whose rank is part
#include <partita/kernel/reduce.hpp>
#include <vector>

using namespace partita;

struct longest {
  static constexpr float identity() { return 0; }
  constexpr float operator()(float a, float b) const { return a > b ? a : b; }
};
struct counted {
  int calls = 0;
  static constexpr float identity() { return 0; }
  constexpr float operator()(float a, float b) const { return a > b ? a : b; }
};

void calls(const world& everyone, const xt::xtensor<float, 2>& x, [[maybe_unused]] const xt::xtensor<bool, 2>& flags,
           [[maybe_unused]] const std::vector<float>& list, [[maybe_unused]] const xt::xarray<float>& any_rank) {
  const auto p = everyone.partition<3, 2>();
  reduce most(p, everyone.partition<2>(), maximum);
  reduce own(p, everyone.partition<2>(), longest{}, discard_batch);
  reduce average(p, everyone.partition<2>(), mean, reproducible);
  reduce total(p, everyone.partition<2>(), sum);
  most(x);
  own(x);
  average.adjoint(x);
  total.start_adjoint(x);
#if defined(RANKS)
  reduce refused(p, everyone.partition<1, 1, 2>(), sum);
#elif defined(EXTENTS)
  reduce refused(p, everyone.partition<3>(), sum);
#elif defined(POLICY)
  reduce refused(p, everyone.partition<2>(), sum, dimensions<0>);
#elif defined(NO_REDUCTION)
  reduce refused(p, everyone.partition<2>(), 7);
#elif defined(STATE)
  reduce refused(p, everyone.partition<2>(), counted{});
#elif defined(BOOLS)
  total(flags);
#elif defined(FLOATS)
  reduce(p, everyone.partition<2>(), any)(x);
#elif defined(ADJOINT)
  most.adjoint(x);
#elif defined(START_ADJOINT)
  own.start_adjoint(x);
#elif defined(ROUNDED_ONCE)
  reduce refused(p, everyone.partition<2>(), reductions::product, reproducible);
#elif defined(RANK_OF_RUN_TIME)
  most(any_rank);
#elif defined(STARTED)
  most.start(list);
#endif
}
