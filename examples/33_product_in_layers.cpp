// Multiplies matrices by the 2.5-D algorithm, in which each layer of workers does a part of the steps, on 8 workers.
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <partita/partita.hpp>

using namespace partita;

constexpr std::size_t rows = 10, inner = 16, columns = 12;
int a_at(std::size_t i, std::size_t k) { return static_cast<int>(i + 2 * k) % 5 - 2; }
int b_at(std::size_t k, std::size_t j) { return static_cast<int>(3 * k + j) % 7 - 3; }
int c_at(std::size_t i, std::size_t j) {
  int sum = 0;
  for (std::size_t k = 0; k < inner; ++k) sum += a_at(i, k) * b_at(k, j);
  return sum;
}

/// Computes c += a b for three local blocks.
template <class A, class B, class C>
void add_product(const A& a, const B& b, C& c) {
  for (std::size_t i = 0; i < c.shape(0); ++i)
    for (std::size_t k = 0; k < a.shape(1); ++k)
      for (std::size_t j = 0; j < c.shape(1); ++j) c(i, j) += a(i, k) * b(k, j);
}

/// How many elements a worker receives, as a fraction of n^2, when two n x n matrices are multiplied on c layers. Each
/// layer is a square grid of p / c workers.
double received_fraction(double p, double c) {
  const double side = std::sqrt(p / c), copies = c > 1 ? 3 * c / p : 0;  // A, B and C move between layers
  return copies + 2 / (side * c);
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  // [layers]
  constexpr std::size_t layers = 2, side = 2, steps = 2;  // each layer does half of the four panels of the product
  auto all = everyone.partition<layers, side, side>();
  auto layer_0 = everyone.partition<side, side>();  // layer 0, where A and B begin and C ends
  broadcast to_all_layers(layer_0, all);            // copies a matrix to every layer
  const auto a = to_all_layers(block_from<int>(layer_0, extents<rows, inner>{}, a_at));
  const auto b = to_all_layers(block_from<int>(layer_0, extents<inner, columns>{}, b_at));

  xt::xtensor<int, 2> c = xt::zeros<int>({a.shape(0), b.shape(1)});
  const std::size_t layer = all.index()[0];
  for (std::size_t s = 0; s < steps; ++s) {
    // layer l multiplies column l of A's blocks by row l of B's blocks: one broadcast on all workers serves both layers
    auto a_holders = all.subset<layers, side, 1>(workers{0, 2, 5, 7});
    auto b_holders = all.subset<layers, 1, side>(workers{0, 1, 6, 7});
    const auto of_a = balanced_part(a.shape(1), steps, s), of_b = balanced_part(b.shape(0), steps, s);
    const auto received_a = broadcast(a_holders, all)(block_on(
        a_holders, xt::view(a, xt::all(), xt::range(of_a.start, of_a.stop))));  // broadcasts along rows of a layer
    const auto received_b = broadcast(b_holders, all)(block_on(
        b_holders, xt::view(b, xt::range(of_b.start, of_b.stop), xt::all())));  // broadcasts along columns of a layer
    add_product(received_a, received_b, c);
  }
  const auto product = sum_reduce(all, layer_0)(c);  // adds up the products of all layers on layer 0
  // [/layers]

  const bool right = product == block_from<int>(layer_0, extents<rows, columns>{}, c_at);
  const bool right_everywhere = all_reduce(all, all_dimensions_but<>, minimum)(as_rank<1>({right ? 1 : 0}))(0) == 1;
  if (everyone.id() == 0) {
    std::cout << "C = A B with A " << rows << " x " << inner << " and B " << inner << " x " << columns << " on "
              << layers << " layers of " << side << " x " << side << " workers; worker 0 is on layer " << layer << ".\n"
              << "What a worker receives, at most, of n x n matrices, in parts of n^2:\n"
              << "    workers   one layer   the best number of layers\n"
              << std::fixed << std::setprecision(4);
    for (const double p : {8.0, 64.0, 512.0, 4096.0, 32768.0}) {
      double best_layers = 1;
      for (double n = 1; n * n * n <= p; n *= 2)
        best_layers = received_fraction(p, n) < received_fraction(p, best_layers) ? n : best_layers;
      std::cout << std::setw(11) << static_cast<int>(p) << std::setw(12) << received_fraction(p, 1) << std::setw(12)
                << received_fraction(p, best_layers) << " on " << static_cast<int>(best_layers) << "\n";
    }
    std::cout
        << "Look at: layers cost memory, a copy of A and B each, and save messages; on 8 workers they save none.\n"
        << "The result is " << (right_everywhere ? "exactly" : "NOT") << " that of one worker.\n";
  }
  return right_everywhere ? EXIT_SUCCESS : EXIT_FAILURE;
}
