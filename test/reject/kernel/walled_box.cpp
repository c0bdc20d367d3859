// Fields that an operator in a box with walls does not take are refused with one message.
// first COMPLEX: partita::walled_operator\(p, box\)\(x\): requires an xtensor expression of the rank of the box, of
//   float or double
// lines COMPLEX: 12
// first RANK: partita::walled_operator\(p, box\)\(x\): requires an xtensor expression of the rank of the box
// lines RANK: 12
// first PARTITION: partita: requires a partition of the rank of the box
// lines PARTITION: 12
#include <partita/kernel/walled_box.hpp>

using namespace partita;

void calls(const world& everyone, const xt::xtensor<double, 2>& x,
           [[maybe_unused]] const xt::xtensor<std::complex<double>, 2>& z,
           [[maybe_unused]] const xt::xtensor<double, 3>& deep) {
  const auto solve = poisson_solver(everyone.partition<2, 1>(), walled_box<2>{{8, 8}});
  solve(x);
#if defined(COMPLEX)
  solve(z);
#elif defined(RANK)
  solve.adjoint(deep);
#elif defined(PARTITION)
  poisson_solver(everyone.partition<2>(), walled_box<2>{{8, 8}});
#endif
}
