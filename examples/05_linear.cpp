// Runs a linear layer whose weights are partitioned over a 3 x 4 grid, forward and backward, on 12 workers.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;

double weight_at(std::size_t i, std::size_t j) { return std::sin(static_cast<double>(1 + 16 * i + j)); }
double x_at(std::size_t n, std::size_t j) { return std::cos(static_cast<double>(n + 2 * j)); }

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  // [layer]
  world everyone;
  auto p_x = everyone.partition<1, 4>();               // x is on workers 0 to 3
  auto p_y = everyone.partition<1, 3>(workers(4, 7));  // y is on workers 4 to 6
  auto p_w = everyone.partition<3, 4>();               // the weights are on all twelve workers
  linear<double> layer(p_x, p_y, p_w, {.in_features = 16, .out_features = 12});
  initialise(layer, weight_at);                            // weights by global index, equal on any partition
  const auto x = block_from(p_x, extents<5, 16>{}, x_at);  // 5 samples; each worker of p_x has 4 features
  const auto y = layer(x);
  const auto dx = layer.adjoint(y);  // adds to layer.weight_gradient() and layer.bias_gradient()
  // [/layer]
  // [plan]
  if (everyone.id() == 4) std::cout << layer.plan();
  // [/plan]

  // check: computes this worker's outputs again, from whole rows of the weights and of x
  double own_error = 0;
  for (std::size_t n = 0; n < y.shape(0) && p_y.active(); ++n)
    for (std::size_t k = 0; k < y.shape(1); ++k) {
      double expected = 0;
      for (std::size_t j = 0; j < 16; ++j) expected += weight_at(4 * p_y.index()[1] + k, j) * x_at(n, j);
      own_error = std::max(own_error, std::abs(y(n, k) - expected));
    }
  const all_reduce largest(everyone.partition<12>(), dimensions<0>, maximum);
  const double largest_error = largest(xt::xtensor<double, 1>{own_error})(0);
  if (everyone.id() == 0)
    std::cout << "Workers 4, 5 and 6 hold 4 of the 12 outputs each, off by " << largest_error << " at most.\n"
              << "Look at: the weights are divided into 3 x 4 blocks and never move. x is copied down the columns of "
                 "workers, the\n"
              << "products are summed along the rows; the numbers are those of one worker.\n";
  const bool right = own_error < 1e-12 && dx.shape(1) == (p_x.active() ? 4U : 0U);
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
