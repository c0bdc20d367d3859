// A repartition and its adjoint.
#include <partita/comm/partition.hpp>
#include <partita/kernel/repartition.hpp>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const repartition r(everyone.partition<4, 1>(), everyone.partition<1, 4>());
  const auto y = r(zero_volume<float, 2>());
  return r.adjoint(y).size() > 0 ? 1 : 0;
}
