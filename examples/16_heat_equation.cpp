// Heat in a plate that is periodic in one dimension: computes while ghost cells are exchanged, on 4 workers.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numbers>
#include <partita/partita.hpp>
#include <utility>

using namespace partita;
using field = xt::xtensor<double, 2>;

constexpr std::size_t rows = 40, columns = 30, steps = 200;
constexpr double rate = 0.2, pi = std::numbers::pi;

double initial_heat(std::size_t i, std::size_t j) {
  return std::sin(2 * pi * static_cast<double>(i) / rows) * std::sin(pi * static_cast<double>(j + 1) / (columns + 1));
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;

  // [halo]
  auto p = everyone.partition<2, 2>();
  halo_exchange h(p, {.before = {1, 1}, .after = {1, 1}}, {boundary::periodic, boundary::zero});
  const field x = block_from(p, extents<rows, columns>{}, initial_heat);
  auto u = h(x), next = u;  // u holds this worker's cells, with one ghost cell on every side
  const auto cells = h.cells();
  // [/halo]

  // [step]
  const auto update = [&](const auto& i) {
    const auto [a, b] = cells.at(i[0], i[1]);
    next(a, b) = u(a, b) + rate * (u(a - 1, b) + u(a + 1, b) + u(a, b - 1) + u(a, b + 1) - 4 * u(a, b));
  };
  for (std::size_t step = 0; step < steps; ++step) {
    auto later = h.start_refresh(u);
    for_interior(cells, update);  // updates the cells that need no ghost cell
    later.finish();
    for_border(cells, update);
    std::swap(u, next);
  }
  // [/step]

  const double decay = std::pow(2 * pi / rows, 2) + std::pow(pi / (columns + 1), 2);
  const double remaining = std::exp(-decay * rate * steps);  // the factor by which the amplitude must have decayed
  bool right = cells.own.volume() == x.size();
  const auto check = [&](const auto& i) {
    right = right && std::abs(u[cells.at(i[0], i[1])] - remaining * initial_heat(i[0], i[1])) < 0.005 * remaining;
  };
  for_interior(cells, check);
  for_border(cells, check);
  if (everyone.id() == 0) std::cout << "after " << steps << " steps " << remaining << " of the heat is left\n";
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
