// Combining invalid types over workers is a compile-time error that states the requirement and a solution.
//
// first SUM_OF_BOOLS: partita::sum_over\(everyone, x\) and its kind: requires elements that the reduction takes: no
//   bool in a sum
// lines SUM_OF_BOOLS: 12
// first COMPLEX_MAXIMUM: partita::sum_over\(everyone, x\) and its kind: requires elements that the reduction takes
// lines COMPLEX_MAXIMUM: 12
// first CONDITION_OF_FRACTIONS: partita::sum_over\(everyone, x\) and its kind: requires elements that the reduction
//   takes
// lines CONDITION_OF_FRACTIONS: 12
// first NO_NUMBER: partita::sum_over\(everyone, x\) and its kind: requires a number
// lines NO_NUMBER: 12
// first NO_WORLD: partita::sum_over\(everyone, x\): requires the world first
// lines NO_WORLD: 12
#include <complex>
#include <partita/comm/over_workers.hpp>

using namespace partita;

struct of_a_program {
  double x = 0;
};

void calls(const world& everyone, const xt::xarray<double>& x) {
  static_cast<void>(sum_over(everyone, 1));
  static_cast<void>(sum_over(everyone, std::complex<double>(0, 1)));
  static_cast<void>(sum_over(everyone, x));
  static_cast<void>(all_of(everyone, x.dimension() == 2));
#if defined(SUM_OF_BOOLS)
  static_cast<void>(sum_over(everyone, true));
#elif defined(COMPLEX_MAXIMUM)
  static_cast<void>(maximum_over(everyone, std::complex<double>(0, 1)));
#elif defined(CONDITION_OF_FRACTIONS)
  static_cast<void>(any_of(everyone, 0.5));
#elif defined(NO_NUMBER)
  static_cast<void>(sum_over(everyone, of_a_program{}));
#elif defined(NO_WORLD)
  static_cast<void>(sum_over(1.0));
#endif
}
