// Finite elements that share nodes: the adjoint of a halo exchange sums their contributions, on 4 workers.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;

constexpr std::size_t rows = 9, columns = 7;  // the grid of nodes; an element is a square between four nodes

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;

  // [operator]
  auto p = everyone.partition<2, 2>();
  // every node has one owner; a worker has the elements whose first node it owns, so it reads its neighbours' nodes
  halo_exchange h(p, {.before = {0, 0}, .after = {1, 1}}, boundary::none);
  constexpr double stiffness[4][4] = {{4, -1, -1, -2}, {-1, 4, -2, -1}, {-1, -2, 4, -1}, {-2, -1, -1, 4}};
  const auto apply = [&](const auto& x) {  // multiplies x by the stiffness matrix of the Laplace operator
    const auto u = h(x);                   // this worker's nodes, and the adjacent nodes of its neighbours
    xt::xtensor<double, 2> sums = xt::zeros_like(u);
    for (std::size_t i = 0; i + 1 < u.shape(0); ++i)  // loops over the finite elements of this worker
      for (std::size_t j = 0; j + 1 < u.shape(1); ++j)
        for (std::size_t a = 0; a < 4; ++a)
          for (std::size_t b = 0; b < 4; ++b)
            sums(i + a / 2, j + a % 2) += stiffness[a][b] / 6 * u(i + b / 2, j + b % 2);
    return h.adjoint(sums);  // adds the sum at each ghost node to the same node on its owner
  };
  // [/operator]

  const auto node = [](std::size_t i, std::size_t j) { return 3.0 * double(i) - 2.0 * double(j); };
  const auto x = block_from(p, extents<rows, columns>{}, node);
  const auto y = block_from(p, extents<rows, columns>{}, [](auto i, auto j) { return double(i * i + 5 * j); });
  // [check]
  const auto k_x = apply(x), k_y = apply(y);
  const double y_k_x = sum_over(everyone, xt::sum<double>(y * k_x)());
  const double x_k_y =
      sum_over(everyone, xt::sum<double>(k_y * x)());  // equals y_k_x, because the operator is symmetric
  // [/check]

  // the Laplace operator of a linear function is 0 inside: only nodes on the border have a residual
  const auto cells = decomposition<2>::balanced({rows, columns}, {2, 2}).block(p.index());
  double inner_residual = 0;
  for (std::size_t i = 0; i < k_x.shape(0); ++i)
    for (std::size_t j = 0; j < k_x.shape(1); ++j) {
      const std::size_t r = cells.start[0] + i, c = cells.start[1] + j;
      if (r > 0 && r + 1 < rows && c > 0 && c + 1 < columns)
        inner_residual = std::max(inner_residual, std::abs(k_x(i, j)));
    }
  inner_residual = maximum_over(everyone, inner_residual);
  if (everyone.id() == 0)
    std::cout << "y K x = " << y_k_x << ", x K y = " << x_k_y << "; residual inside " << inner_residual << "\n"
              << "Look at: elements at a border of two workers add to nodes of both, and no node is counted twice.\n";
  return std::abs(y_k_x - x_k_y) < 1e-9 && inner_residual < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}
