// A network of two layers on sharded tensors, its value and its gradients.
#include <partita/partita.hpp>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  const xt::xtensor<double, 2> ones = xt::ones<double>({8, 8});
  const auto x = shard<m.layout("data", "")>(everyone, ones);
  const auto w1 = shard<m.layout("", "model")>(everyone, ones), w2 = w1;
  const auto loss = [&](const auto& a, const auto& b) { return sum(matmul(relu(matmul(x, a)), b)); };
  return value_and_gradient(loss, w1, w1).value > 0 ? 0 : 1;
}
