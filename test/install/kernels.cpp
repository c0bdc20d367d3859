// A program outside the repository: a broadcast and its adjoint, which take no BLAS.
#include <boost/mpi/environment.hpp>
#include <iostream>
#include <partita/comm/partition.hpp>
#include <partita/core/version.hpp>
#include <partita/kernel/broadcast.hpp>

#if PARTITA_VERSION < 200
#error "this is an older partita"
#endif

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  auto one = everyone.partition<1>();
  auto all = everyone.partition(extents(everyone.size()));
  broadcast b(one, all);

  xt::xtensor<double, 2> x = zero_volume<double, 2>();
  if (one.active()) x = xt::ones<double>({4, 4});
  auto y = b(x);
  auto dx = b.adjoint(4.0 * y);
  const double expected = one.active() ? 64.0 * static_cast<double>(everyone.size()) : 0.0;
  if (xt::sum(dx)() != expected) return 1;
  if (one.active()) std::cout << "the kernels ran" << std::endl;
}
