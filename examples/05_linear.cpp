// Runs a linear layer whose weights are cut over a 3 x 4 grid of workers, forward and back, on 12 workers.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;

double weight_at(std::size_t i, std::size_t j) { return std::sin(static_cast<double>(1 + 16 * i + j)); }
double x_at(std::size_t n, std::size_t j) { return std::cos(static_cast<double>(n + 2 * j)); }

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;

  // [layer]
  auto p_x = everyone.partition<1, 4>();
  auto p_y = everyone.partition<1, 3>(workers(4, 7));
  auto p_w = everyone.partition<3, 4>();
  linear<double> layer(p_x, p_y, p_w, {.in_features = 16, .out_features = 12, .bias = true});
  // [/layer]
  initialise(layer, weight_at);  // by global index: the same layer on any partition

  constexpr std::size_t batch = 5;
  xt::xtensor<double, 2> x = zero_volume<double, 2>(batch);
  if (p_x.active()) {
    x.resize({batch, 4});
    for (std::size_t n = 0; n < batch; ++n)
      for (std::size_t j = 0; j < 4; ++j) x(n, j) = x_at(n, 4 * p_x.index()[1] + j);
  }
  // [call]
  const auto y = layer(x);           // batch x 4 of the 12 outputs on each worker of p_y
  const auto dx = layer.adjoint(y);  // and adds to layer.weight_gradient() and layer.bias_gradient()
  // [/call]

  // the same product, computed by one worker alone
  double farthest = 0;
  for (std::size_t n = 0; n < y.shape(0) && p_y.active(); ++n)
    for (std::size_t k = 0; k < y.shape(1); ++k) {
      double expected = 0;
      for (std::size_t j = 0; j < 16; ++j) expected += weight_at(4 * p_y.index()[1] + k, j) * x_at(n, j);
      farthest = std::max(farthest, std::abs(y(n, k) - expected));
    }
  if (p_y.active())
    std::cout << "worker " << everyone.id() << " holds outputs " << 4 * p_y.index()[1] << " to " << 4 * p_y.index()[1] + 3
              << " of 12, off by " << farthest << " at most\n";
  return farthest < 1e-12 && dx.size() == x.size() ? EXIT_SUCCESS : EXIT_FAILURE;
}
