// A linear layer with its adjoint.
#include <partita/comm/partition.hpp>
#include <partita/nn/linear.hpp>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  linear<float> layer(everyone.partition<1, 2>(), everyone.partition<1, 2>(), everyone.partition<2, 2>(),
                      {.in_features = 8, .out_features = 8});
  const auto y = layer(zero_volume<float, 2>());
  return layer.adjoint(y).size() > 0 ? 1 : 0;
}
