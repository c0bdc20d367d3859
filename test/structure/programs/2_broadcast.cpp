// A broadcast.
#include <partita/comm/partition.hpp>
#include <partita/kernel/broadcast.hpp>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const broadcast b(everyone.partition<1, 2>(), everyone.partition<2, 2>());
  const auto y = b(zero_volume<float, 2>());
  return y.size() > 0 ? 1 : 0;
}
