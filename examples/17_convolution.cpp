// Convolutions of partitioned images, and then of partitioned channels, forward and adjoint, on 4 workers.
#include <cmath>
#include <cstdlib>
#include <partita/partita.hpp>

using namespace partita;

/// The sum of the elements of all blocks, which every worker gets.
double total(const partition<extents<4>>& all, const xt::xtensor<double, 4>& block) {
  const xt::xtensor<double, 1> own_sum = xt::ones<double>({1}) * xt::sum(block)();
  return all_sum_reduce(all, dimensions<0>)(own_sum)(0);
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const auto all = everyone.partition<4>();
  const auto pixel = [](std::size_t n, std::size_t c, std::size_t i, std::size_t j) {
    return static_cast<double>((n + 2 * c + 3 * i + 5 * j) % 7) - 3;
  };

  // [space]
  auto p = everyone.partition<1, 1, 2, 2>();  // batch x channels x rows x columns
  convolution<double, 2> c(p, {.in_channels = 2, .out_channels = 4, .kernel = {3, 3}, .padding = {1, 1}});
  const xt::xtensor<double, 4> x = block_from(p, extents<3, 2, 10, 9>{}, pixel);
  const auto y = c(x);           // this worker's part of 3 x 4 x 10 x 9
  const auto dx = c.adjoint(y);  // all workers get the same c.weight_gradient()
  // [/space]

  // [channels]
  auto p_x = everyone.partition<1, 1, 1, 2>();
  auto p_y = everyone.partition<1, 2, 1, 2>();
  auto p_w = everyone.partition<2, 1, 1, 2>();  // out channels x in channels x features
  convolution<double, 2> d(p_x, p_y, p_w, {.in_channels = 2, .out_channels = 4, .kernel = {3, 3}, .padding = {1, 1}});
  // [/channels]
  const xt::xtensor<double, 4> x_d = block_from(p_x, extents<3, 2, 10, 9>{}, pixel);
  const auto y_d = d(x_d);  // c and d have the same initial weights, which depend on seed and global index only
  const auto dx_d = d.adjoint(y_d);

  const auto is_close = [](double a, double b) { return std::abs(a - b) < 1e-9; };
  const bool right = is_close(total(all, y), total(all, y_d)) && is_close(total(all, dx), total(all, dx_d)) &&
                     y.shape()[1] == 4 && y_d.shape()[1] == 2;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
