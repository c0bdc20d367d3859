// Heat between a cold and a hot wall, computed by a class with a halo exchange as a member, on 6 workers.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>
#include <utility>

using namespace partita;

// [class]
/// Heat in a box of n x m x m cells. The two walls along dimension 0 are kept at 0 and at n + 1; dimensions 1 and 2 are
/// periodic.
class diffusion {
 public:
  diffusion(const world& everyone, std::size_t n, std::size_t m)
      : everyone_(everyone),
        h_(everyone.partition(balanced_extents<3>(everyone.size())),
           {.before = {1, 1, 1}, .after = {1, 1, 1}, .shape = halo_shape::star},
           {{boundary::constant, boundary::periodic, boundary::periodic},
            {boundary::constant, boundary::periodic, boundary::periodic},
            {0.0, 0.0, 0.0},
            {static_cast<double>(n + 1), 0.0, 0.0}}),
        u_(h_.frame<double>(extents(n, m, m))),  // this worker's cells and their ghosts, all 0
        next_(u_),
        cells_(h_.cells()) {}

  /// Computes one step, and returns the largest change of any cell.
  double step() {
    h_.refresh(u_);
    double change = 0;
    for_border(cells_, [&](const auto& i) { change = std::max(change, update(i)); });
    for_interior(cells_, [&](const auto& i) { change = std::max(change, update(i)); });
    std::swap(u_, next_);
    return maximum_over(everyone_, change);
  }
  // [/class]

  /// The largest difference between a cell and the final state, in which heat grows linearly from wall to wall.
  double off() const {
    double largest = 0;
    const auto compare = [&](const auto& i) {
      const auto cell = cells_.at(i[0], i[1], i[2]);
      largest = std::max(largest, std::abs(u_[cell] - static_cast<double>(i[0] + 1)));
    };
    for_border(cells_, compare);
    for_interior(cells_, compare);
    return maximum_over(everyone_, largest);
  }

  // [members]
 private:
  double update(const partita::index<3>& i) {
    const auto [a, b, c] = cells_.at(i[0], i[1], i[2]);
    const double neighbours =
        u_(a - 1, b, c) + u_(a + 1, b, c) + u_(a, b - 1, c) + u_(a, b + 1, c) + u_(a, b, c - 1) + u_(a, b, c + 1);
    next_(a, b, c) = neighbours / 6;
    return std::abs(next_(a, b, c) - u_(a, b, c));
  }

  world everyone_;
  halo_exchange<dynamic_extents<3>> h_;  // the type of any partition of rank 3 whose extents are known at run time
  pooled_tensor<double, 3> u_, next_;    // the type of the result of h_.frame<double>()
  halo_cells<3> cells_;
};
// [/members]

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  diffusion solver(everyone, 8, 6);
  std::size_t steps = 0;
  while (solver.step() > 1e-9 && steps < 5000) ++steps;
  const double off = solver.off();
  if (everyone.id() == 0)
    std::cout
        << "After " << steps << " steps the heat is within " << off << " of a straight line between the walls.\n"
        << "Look at: the blocks are made with their ghosts, and no tensor without ghosts ever exists. The stencil\n"
        << "reads no corners, so none are sent, and each wall has a value of its own.\n";
  return off < 1e-6 && steps > 10 ? EXIT_SUCCESS : EXIT_FAILURE;
}
