// Solves linear equations by conjugate gradients, with the matrix in 2 x 2 blocks, on 4 workers.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;

constexpr std::size_t n = 40;  // the number of unknowns

/// The stiffness matrix of a chain of springs whose links are also tied to the ground: symmetric, positive definite.
double a_at(std::size_t i, std::size_t j) { return i == j ? 2.1 : i + 1 == j || j + 1 == i ? -1.0 : 0.0; }
double load_at(std::size_t, std::size_t j) { return j == n / 3 ? 1.0 : 0.0; }

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  // [solver]
  auto p_a = everyone.partition<2, 2>();  // four workers hold a block of the matrix each
  auto p_u = everyone.partition<1, 2>();  // vectors are on workers 0 and 1
  linear<double> a(p_u, p_u, p_a, {.in_features = n, .out_features = n, .bias = false});
  initialise(a, a_at);
  const auto dot = [&](const auto& x, const auto& y) {  // every worker gets the product, so that all stop together
    return sum_over(everyone, xt::sum<double>(x * y)());
  };

  xt::xtensor<double, 2> r = block_from(p_u, extents<1, n>{}, load_at);  // the residual, at first the load
  xt::xtensor<double, 2> u = 0.0 * r, direction = r;
  double residual_square = dot(r, r);
  const double tolerance = 1e-24 * residual_square;
  std::size_t steps = 0;
  for (; residual_square > tolerance && steps < 2 * n; ++steps) {
    const auto a_direction = a(direction);
    const double length = residual_square / dot(direction, a_direction);
    u += length * direction;
    r -= length * a_direction;
    const double before = residual_square;
    residual_square = dot(r, r);
    direction = r + (residual_square / before) * direction;
  }
  // [/solver]

  // check: the residual A u - b, computed again, must be nearly zero for every unknown
  const xt::xtensor<double, 2> last_residual = a(u) - block_from(p_u, extents<1, n>{}, load_at);
  const double residual_length = std::sqrt(dot(last_residual, last_residual));
  if (everyone.id() == 0)
    std::cout << "A chain of " << n << " links is pulled at one of them; its shape is the solution of A u = b.\n"
              << "Conjugate gradients took " << steps << " steps; A u misses b by " << residual_length << ".\n"
              << "Look at: the matrix is nowhere whole. Each step is one linear layer (a broadcast, a product, a sum)\n"
              << "and two sums of one number, which all four workers get, so all of them stop at the same step.\n";
  return residual_length < 1e-10 && steps <= n ? EXIT_SUCCESS : EXIT_FAILURE;
}
