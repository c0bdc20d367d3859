// Trains a graph network on a graph whose nodes and edges are distributed over the workers, on 4 workers.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <partita/kernel/index_exchange.hpp>
#include <partita/kernel/segments.hpp>
#include <partita/partita.hpp>
#include <random>
#include <utility>
#include <vector>

using namespace partita;
using rows = xt::xtensor<double, 2>;

constexpr std::size_t nodes = 300, edges = 1200, width = 6, steps = 100;
constexpr double rate = 1;

/// Makes a step of gradient descent. All workers have the weights; the gradient is summed over the nodes of all
/// workers.
void step(const world& everyone, rows& weights, const rows& gradient) {
  std::vector<double> sums(gradient.begin(), gradient.end());
  sums = sum_over(everyone, sums);
  weights -= rate * xt::adapt(sums, gradient.shape());
}

// [layer]
/// A layer: a weighted sum of the features of each node and of the mean features of the nodes with an edge to it.
struct graph_layer {
  const index_exchange& sources;  // gets the features of each edge's source node
  const segments& targets;        // groups the edges by their target nodes
  rows node_weights, neighbour_weights, h{}, mean{}, z{};

  rows operator()(const rows& x) {
    h = x, mean = targets.mean(sources(h));
    z = matmul(h, node_weights) + matmul(mean, neighbour_weights);
    return xt::maximum(z, 0.0);
  }
  rows train(const world& everyone, const rows& dy) {
    const rows dz = xt::where(z > 0.0, dy, 0.0), d_mean = einsum<"nj,ij->ni">(dz, neighbour_weights);
    const rows dh = einsum<"nj,ij->ni">(dz, node_weights) + sources.adjoint(targets.mean_adjoint(d_mean));
    step(everyone, node_weights, einsum<"ni,nj->ij">(h, dz));
    step(everyone, neighbour_weights, einsum<"ni,nj->ij">(mean, dz));
    return dh;
  }
};
// [/layer]

/// A matrix whose numbers, between -0.5 and 0.5, are functions of their index.
rows numbers(std::size_t first, std::size_t count, double salt) {
  rows x = xt::zeros<double>({count, width});
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t c = 0; c < width; ++c)
      x(i, c) = 0.5 * std::sin((static_cast<double>(first + i) + salt) * static_cast<double>(c + 1));
  return x;
}

/// Trains two layers to give the result of two layers with other weights. Returns the loss before and after.
std::pair<double, double> train(const world& everyone) {
  // [graph]
  const interval mine = balanced_part(nodes, everyone.size(), everyone.id()),
                 own_edges = balanced_part(edges, everyone.size(), everyone.id());
  std::vector<std::size_t> from, to;  // this worker's edge k goes from node from[k] to node to[k], on any workers
  std::minstd_rand random(1);
  for (std::size_t e = 0; e < edges; ++e) {
    const std::size_t a = random() % nodes, b = e < nodes ? e : random() % nodes;
    if (e >= own_edges.start && e < own_edges.stop) from.push_back(a), to.push_back(b);
  }
  const index_exchange sources(everyone, mine, from);
  const segments targets(everyone, mine, to);
  // [/graph]
  const auto layer = [&](double salt) {
    return graph_layer{sources, targets, numbers(0, width, salt), numbers(width, width, salt)};
  };
  const rows x = numbers(mine.start, mine.size(), 0.3), wanted = layer(0.2)(layer(0.9)(x));
  graph_layer first = layer(0.7), second = layer(0.5);
  std::pair<double, double> losses;
  for (std::size_t k = 0; k < steps; ++k) {
    const rows difference = second(first(x)) - wanted;
    (k == 0 ? losses.first : losses.second) = sum_over(everyone, xt::sum<double>(difference * difference)()) / nodes;
    first.train(everyone, second.train(everyone, rows(2.0 / nodes * difference)));
  }
  return losses;
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  const auto losses = train(everyone);

  // check: every worker trains on the whole graph alone, by the same function
  const auto alone = train(everyone.part(workers{everyone.id()}));
  const double difference = std::abs(losses.first - alone.first) + std::abs(losses.second - alone.second);
  const double wrong_workers = sum_over(everyone, difference < 1e-9 ? 0.0 : 1.0);
  if (everyone.id() == 0)
    std::cout << "A graph of " << nodes << " nodes and " << edges << " edges on " << everyone.size()
              << " workers: loss " << losses.first << " before, " << losses.second << " after " << steps << " steps\n"
              << (wrong_workers == 0 ? "the same as on one worker\n" : "not what one worker computes\n");
  return wrong_workers == 0 && losses.second < 0.3 * losses.first ? EXIT_SUCCESS : EXIT_FAILURE;
}
