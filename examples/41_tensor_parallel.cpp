// Tensor parallelism: a weight sharded by columns is followed by a weight sharded by rows, on 4 workers.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const auto number = [](const auto& i) { return std::sin(double(7 * i[0] + 3 * i[1])); };

  // [layouts]
  const mesh m{axis{"data", 2}, axis{"model", 2}};
  const auto x = shard<double>(everyone, m.layout("data", ""), {8, 6}, number);       // Shard(0), Replicate()
  const auto up = shard<double>(everyone, m.layout("", "model"), {6, 12}, number);    // Replicate(), Shard(1)
  const auto down = shard<double>(everyone, m.layout("model", ""), {12, 6}, number);  // Replicate(), Shard(0)
  // [/layouts]
  // [block]
  const auto hidden = relu(matmul(x, up));              // ("data", "model"): no communication
  const auto y = matmul(hidden, down);                  // ("data", ""), partial over "model": each worker has a summand
  const auto whole = reshard(y, m.layout("data", ""));  // an all-reduce, which the next operation would also make
  // [/block]
  // [gradient]
  const auto loss = [&](const auto& a, const auto& b) { return mean(square(matmul(relu(matmul(x, a)), b))); };
  const auto [value, gradients] = value_and_gradient(loss, up, down);
  const auto& [d_up, d_down] = gradients;  // gradients are summed over "data", in the layouts of up and down
  // [/gradient]

  // the same product on plain arrays, computed by every worker alone
  const auto at = [&](std::size_t n, std::size_t k) {
    xt::xtensor<double, 2> a({n, k});
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < k; ++j) a(i, j) = number(std::array{i, j});
    return a;
  };
  const auto sequential = [x = at(8, 6)](const auto& a, const auto& b) { return matmul(relu(matmul(x, a)), b); };
  const xt::xtensor<double, 2> expected = sequential(at(6, 12), at(12, 6));
  const double difference = xt::amax(xt::abs(whole.whole<2>() - expected))();
  const bool right = difference < 1e-12 && hidden.layout() == m.layout("data", "model") &&
                     y.layout() == m.layout("data", "").partial("model") && d_up.layout() == m.layout("", "model") &&
                     d_down.layout() == m.layout("model", "") && value > 0;
  if (everyone.id() == 0)
    std::cout << "hidden is " << hidden.layout() << ", its product with the rows is " << y.layout() << "\n"
              << "Look at: the layouts of two weights are all that was chosen; one sum follows from them.\n";
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
