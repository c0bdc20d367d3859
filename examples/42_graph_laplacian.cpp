// Conjugate gradients on an irregular graph whose nodes are distributed over the workers, on 4 workers.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <partita/explain/plan_svg.hpp>
#include <partita/kernel/index_exchange.hpp>
#include <partita/partita.hpp>
#include <random>
#include <utility>
#include <vector>

using namespace partita;
using values = xt::xtensor<double, 1>;

constexpr std::size_t n = 500, edges = 1500;

/// Calls f(a, b) for each edge of the graph, a ring with random chords. Two nodes may have several edges, and a node
/// may have an edge to itself.
template <class F>
void for_each_edge(F f) {
  std::minstd_rand random(1);
  for (std::size_t e = 0; e < edges; ++e) {
    const std::size_t a = e < n ? e : random() % n;
    f(a, e < n ? (e + 1) % n : random() % n);
  }
}

/// Solves (L + 0.1) u = b, where L is the Laplacian of the graph, and b is 1 at node 0 and 0 elsewhere. Returns u at
/// the nodes of this worker, and the number of steps. Draws the exchange of worker 1 into a file if the file has a
/// name.
std::pair<values, std::size_t> solve(const world& everyone, const char* picture = nullptr) {
  // [laplacian]
  const interval mine = balanced_part(n, everyone.size(), everyone.id());
  std::vector<std::size_t> from, to;  // the nodes of each edge: `from`, on this worker, by its local index, and `to`
  const auto add_edge = [&](std::size_t a, std::size_t b) {
    if (a >= mine.start && a < mine.stop) from.push_back(a - mine.start), to.push_back(b);
  };
  for_each_edge([&](std::size_t a, std::size_t b) { add_edge(a, b), add_edge(b, a); });
  const index_exchange neighbours(everyone, mine, to);  // gets the values of the nodes `to`

  const auto laplacian = [&](const values& x) -> values {
    values y = 0.1 * x;
    const auto other_nodes = neighbours(x);
    for (std::size_t e = 0; e < from.size(); ++e) y(from[e]) += x(from[e]) - other_nodes(e);
    return y;
  };
  // [/laplacian]
  if (picture != nullptr && everyone.id() == 1) std::ofstream(picture) << to_svg(neighbours.plan(), sizeof(double));
  const auto dot = [&](const values& x, const values& y) { return sum_over(everyone, xt::sum<double>(x * y)()); };
  values u = xt::zeros<double>({mine.size()}), r = u;
  if (mine.start == 0) r(0) = 1;
  values direction = r;
  std::size_t steps = 0;
  for (double residual_square = dot(r, r); residual_square > 1e-24 && steps < n; ++steps) {
    const values l_direction = laplacian(direction);
    const double length = residual_square / dot(direction, l_direction), before = residual_square;
    u += length * direction;
    r -= length * l_direction;
    residual_square = dot(r, r);
    direction = r + (residual_square / before) * direction;
  }
  return {u, steps};
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  const auto [u, steps] = solve(everyone, argc > 1 ? argv[1] : nullptr);

  // check: every worker solves the whole system alone, by the same function
  const auto sequential = solve(everyone.part(workers{everyone.id()})).first;
  const std::size_t first = balanced_part(n, everyone.size(), everyone.id()).start;
  const values own = xt::view(sequential, xt::range(first, first + u.size()));
  const double difference = std::sqrt(sum_over(everyone, xt::sum<double>((u - own) * (u - own))()));
  const double sum =
      sum_over(everyone, xt::sum<double>(u)());  // the sum is 1 / 0.1, because the columns of L add up to 0
  if (everyone.id() == 0)
    std::cout << "A graph of " << n << " nodes and " << edges << " edges on " << everyone.size() << " workers took "
              << steps << " steps; the solution differs by " << difference << " from that of one process.\n"
              << "Look at: no list of ghosts and no map of indices. A worker asks for the other end of each of its\n"
              << "edges; a node that several edges need travels once.\n";
  return difference < 1e-10 && std::abs(sum - 10) < 1e-9 && steps < 200 ? EXIT_SUCCESS : EXIT_FAILURE;
}
