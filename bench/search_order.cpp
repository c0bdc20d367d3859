// Whether search orders annotations as they run: the ten best estimates for the network of
// examples/26_fashion_mnist.cpp on 2 x 2, each trained for some steps, in turn: mpirun -n 4 bench/search_order [--json]
// [--steps n] [--batch n]
#include "machine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <partita/partita.hpp>
#include <partita/rule/sharding/rules.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;

constexpr std::size_t pixels = 784, hidden = 256, classes = 10;
constexpr mesh m{axis{"a", 2}, axis{"b", 2}};

/// The network as search sees it: a step with its gradients and AdamW.
struct program {
  graph g{m};
  value x, w1, b1, w2, b2;
  explicit program(std::size_t batch)
      : x(g.input({batch, pixels}, "x")),
        w1(g.parameter({pixels, hidden}, "w1")),
        b1(g.parameter({hidden}, "b1")),
        w2(g.parameter({hidden, classes}, "w2")),
        b2(g.parameter({classes}, "b2")) {
    operation bias = rules::add;
    bias.with.axes = {1};
    const value h = g.apply(rules::relu, {g.apply(bias, {g.apply(rules::matmul, {x, w1}), b1})});
    g.apply(bias, {g.apply(rules::matmul, {h, w2}), b2});
  }
};
std::vector<sharding> all_layouts() {
  std::vector<sharding> all;
  for (const char* rows : {"", "a", "b", "a+b"})
    for (const char* columns : {"", "a", "b", "a+b"}) {
      const std::string both = std::string(rows) + columns;
      if (std::count(both.begin(), both.end(), 'a') < 2 && std::count(both.begin(), both.end(), 'b') < 2)
        all.push_back(m.layout(rows, columns));
    }
  return all;
}

struct candidate {
  sharding x, w1, w2;
  double estimated = 0;
  std::function<void()> step{};
  std::vector<double> samples{};
};
/// The best by estimate; of those that are estimated alike, one.
std::vector<candidate> best(std::size_t batch, const step_model& model, std::size_t n) {
  std::vector<candidate> all;
  const program p(batch);
  for (const sharding& x : all_layouts())
    for (const sharding& w1 : all_layouts())
      for (const sharding& w2 : all_layouts()) {
        graph g = p.g;
        g.constrain(p.x, x);
        g.constrain(p.w1, w1);
        g.constrain(p.w2, w2);
        all.push_back({x, w1, w2, plan_step(complete(g), model).seconds()});
      }
  std::stable_sort(all.begin(), all.end(),
                   [](const candidate& a, const candidate& b) { return a.estimated < b.estimated; });
  const auto alike = [](const candidate& a, const candidate& b) { return b.estimated < a.estimated * 1.001; };
  all.erase(std::unique(all.begin(), all.end(), alike), all.end());
  if (all.size() > n) all.resize(n);
  return all;
}

/// A step of what was found, executed.
std::function<void()> made(const world& everyone, const candidate& c, std::size_t batch) {
  struct state {
    traced_function run;
    sharded_tensor<double> x, w1, b1, w2, b2;
    sharded_adamw<double> optimiser;
    xt::xtensor<int, 1> labels;
  };
  const auto network = [](const auto& x, const auto& w1, const auto& b1, const auto& w2, const auto& b2) {
    const auto h = relu(add(matmul(x, w1), b1, broadcast_dimensions<1>));
    return add(matmul(h, w2), b2, broadcast_dimensions<1>);
  };
  auto run = trace(network, spec(c.x, {batch, pixels}), spec(c.w1, {pixels, hidden}), spec({hidden}),
                   spec(c.w2, {hidden, classes}), spec({classes}));
  const completion& done = run.complete();
  const auto tensor = [&](std::size_t input, double scale) {
    sharding s = done[run.input(input)];
    s.open = 0;
    return shard<double>(everyone, s, run.operations()[run.input(input)].shape, [=](const auto& i) {
      double salt = double(input);
      for (const std::size_t one : i) salt = 17 * salt + double(one);
      return scale * std::sin(salt);
    });
  };
  auto all = std::make_shared<state>(
      state{run, tensor(0, 1), tensor(1, 0.05), tensor(2, 0), tensor(3, 0.1), tensor(4, 0), {{}, {}}, {}});
  all->optimiser = sharded_adamw<double>({all->w1, all->b1, all->w2, all->b2}, {});
  all->labels = xt::zeros<int>({batch});
  for (std::size_t k = 0; k < batch; ++k) all->labels(k) = int(k % classes);
  return [all] {
    const auto loss = [&](const auto&... w) { return cross_entropy(all->run(all->x, w...), all->labels); };
    all->optimiser.step(value_and_gradient(loss, all->w1, all->b1, all->w2, all->b2).gradients);
  };
}

std::vector<double> ranks(const std::vector<double>& of) {
  std::vector<std::size_t> order(of.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return of[a] < of[b]; });
  std::vector<double> all(of.size());
  for (std::size_t k = 0; k < order.size(); ++k) all[order[k]] = double(k);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  bool json = false;
  std::size_t batch = 200;
  int steps = 40;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word == "--json") json = true;
    if (word == "--steps" && k + 1 < argc) steps = std::atoi(argv[++k]);
    if (word == "--batch" && k + 1 < argc) batch = static_cast<std::size_t>(std::atoi(argv[++k]));
  }
  if (everyone.size() != m.size()) {
    if (everyone.id() == 0) std::fprintf(stderr, "search_order: requires 4 workers\n");
    return 1;
  }
  // about what four workers reach on two cores: of a core half, and messages through shared memory
  const step_model model{{{2e-5, 5e-10}, {2e-5, 5e-10}}, 5e9, 3e9, sizeof(double), 2};
  std::vector<candidate> found = best(batch, model, 10);
  for (candidate& c : found) c.step = made(everyone, c, batch);
  for (int round = -3; round < steps; ++round)
    for (candidate& c : found) {
      const double took = bench::timed(c.step);
      if (round >= 0) c.samples.push_back(took);
    }
  std::vector<double> estimated, measured;
  for (const candidate& c : found) estimated.push_back(c.estimated), measured.push_back(bench::median(c.samples));
  const auto a = ranks(estimated), b = ranks(measured);
  double squares = 0;
  for (std::size_t k = 0; k < a.size(); ++k) squares += (a[k] - b[k]) * (a[k] - b[k]);
  const auto n = double(a.size());
  const double correlation = 1 - 6 * squares / (n * (n * n - 1));
  if (everyone.id() != 0) return 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const candidate& c = found[k];
    text layouts;
    layouts << "x " << c.x << " w1 " << c.w1 << " w2 " << c.w2;
    if (json)
      std::printf(
          "{\"bench\": \"search_order\", \"case\": \"%s\", \"workers\": 4, \"peer\": \"partita\", "
          "\"seconds_median\": %.9f, \"seconds_estimated\": %.9f}\n",
          layouts.c_str(), measured[k], estimated[k]);
    else
      std::printf("%-44s estimated %9.1f us, measured %9.1f us\n", layouts.c_str(), estimated[k] * 1e6,
                  measured[k] * 1e6);
  }
  if (json)
    std::printf("{\"bench\": \"search_order\", \"case\": \"rank correlation\", \"value\": %.3f}\n", correlation);
  else std::printf("rank correlation of the %zu best: %.3f\n", found.size(), correlation);
}
