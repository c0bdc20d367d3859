// Compares the order of the estimates of `search` with measured times: the ten best annotations for the network of
// examples/26_fashion_mnist.cpp on 2 x 2 workers, each trained for some steps, in turn. The parameters of the model are
// measured first, on all 4 workers at once.
#include "machine.hpp"

#include <algorithm>
#include <cmath>
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

/// The network as a graph for search: a training step with its gradients and AdamW.
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
    const value scores = g.apply(bias, {g.apply(rules::matmul, {h, w2}), b2});
    // the loss reads all scores of a row twice and produces one number
    const value top = g.apply(rules::reduction(pending_reduction::max, {1}, true), {scores});
    operation subtract = rules::add;
    const value moved = g.apply(subtract, {scores, top});
    g.apply(rules::reduction(pending_reduction::sum, {0, 1}, false), {g.apply(rules::relu, {moved})});
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

/// The speeds of this machine, measured while all workers compute, as they do in a step.
step_model measured(const world& everyone) {
  step_model model{{}, 1, 1, sizeof(double), 2};
  const sharding whole = m.layout("", "");
  const auto made = [&](const sharding& s, std::size_t rows, std::size_t columns) {
    return shard<double>(everyone, s, {rows, columns},
                         [](const auto& i) { return double(i[0] % 7) - double(i[1] % 5); });
  };
  const auto took = [](const auto& f) {
    std::vector<double> samples;
    for (int k = 0; k < 25; ++k)
      if (const double one = bench::timed(f); k >= 5) samples.push_back(one);
    return bench::median(samples);
  };
  const auto x = made(whole, 100, pixels), w = made(whole, pixels, 128), large = made(whole, pixels, hidden);
  const double product = took([&] { matmul(x, w); });
  model.multiply_adds = 100.0 * pixels * 128 / product;
  model.memory_bytes = 3.0 * pixels * hidden * sizeof(double) / took([&] { add(large, large); });
  for (const std::size_t a : {0U, 1U}) {
    const sharding cut = whole.cut(0, axis_list(a));
    // a reshard right after a product, as in a step: the first worker to finish waits until the others get their cores
    const auto gather = [&](std::size_t rows) {
      const auto parts = made(cut, rows, hidden);
      const double bytes = double(plan_reshard(m, cut, whole, {rows, hidden}, {}, sizeof(double)).bytes());
      return std::pair(bytes, took([&] { matmul(x, w), reshard(parts, whole); }) - product);
    };
    const auto [few, soon] = gather(2);
    const auto [many, later] = gather(pixels);
    const double by_byte = std::max((later - soon) / (many - few), 1e-12);
    model.links.along[a] = {std::max(soon - few * by_byte, 1e-9), by_byte};
  }
  return model;
}

struct candidate {
  sharding x, w1, w2;
  double estimated = 0;
  std::function<void()> step{};
  std::vector<double> samples{};
};
/// All candidates, the best estimate first; only one of those with equal estimates.
std::vector<candidate> in_order(std::size_t batch, const step_model& model) {
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
  return all;
}
/// `n` of the candidates, evenly spaced from the first to the last.
std::vector<candidate> spread_over(const std::vector<candidate>& all, std::size_t n) {
  std::vector<candidate> some;
  for (std::size_t k = 0; k < n; ++k) some.push_back(all[k * (all.size() - 1) / (n - 1)]);
  return some;
}

/// An executable training step with the annotations of a candidate.
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

/// The rank of each number in ascending order. Numbers within `tie` of the first of a run count as equal and share the
/// mean of their ranks.
std::vector<double> ranks(const std::vector<double>& of, double tie) {
  std::vector<std::size_t> order(of.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return of[a] < of[b]; });
  std::vector<double> all(of.size());
  for (std::size_t k = 0; k < order.size();) {
    std::size_t end = k;
    while (end < order.size() && of[order[end]] <= of[order[k]] * (1 + tie)) ++end;
    for (std::size_t t = k; t < end; ++t) all[order[t]] = double(k + end - 1) / 2;
    k = end;
  }
  return all;
}
/// Pearson's correlation of two lists of ranks, which is Spearman's correlation, also with ties. 0 if all ranks of a
/// list are equal.
double correlation_of(const std::vector<double>& a, const std::vector<double>& b) {
  const double middle = double(a.size() - 1) / 2;
  double both = 0, of_a = 0, of_b = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double x = a[k] - middle, y = b[k] - middle;
    both += x * y, of_a += x * x, of_b += y * y;
  }
  return of_a * of_b > 0 ? both / std::sqrt(of_a * of_b) : 0;
}

void report(bench::rows& out, const std::vector<candidate>& found, const char* which) {
  std::vector<double> estimated, medians;
  for (const candidate& c : found) estimated.push_back(c.estimated), medians.push_back(bench::median(c.samples));
  constexpr double tie = 0.02;  // chosen: the median of one candidate differs that much from run to run
  const double correlation = correlation_of(ranks(estimated, tie), ranks(medians, tie)),
               strict = correlation_of(ranks(estimated, 0), ranks(medians, 0));
  for (const candidate& c : found) {
    text layouts;
    layouts << "x " << c.x << " w1 " << c.w1 << " w2 " << c.w2;
    out.add_peer(layouts.c_str(), "partita", c.samples, {{"which", which}, {"seconds_estimated", c.estimated}});
  }
  out.add_derived("rank correlation", {{"which", which}, {"value", correlation}, {"without_ties", strict}});
}

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  const std::size_t batch = line.count("batch");
  const int steps = line.rounds("steps");
  if (batch % m.size() != 0) throw bench::usage_error("requires a --batch that 4 divides");
  step_model model = measured(everyone);
  static_assert(std::is_trivially_copyable_v<step_model>);
  MPI_Bcast(&model, sizeof model, MPI_BYTE, 0, MPI_COMM_WORLD);  // so that all workers choose the same ten candidates
  const std::vector<candidate> all = in_order(batch, model);
  std::vector<candidate> best(all.begin(), all.begin() + 10), some = spread_over(all, 10);
  for (std::vector<candidate>* const ones : {&best, &some}) {
    for (candidate& c : *ones) c.step = made(everyone, c, batch);
    for (int round = -3; round < steps; ++round)
      for (candidate& c : *ones) {
        const double took = bench::timed(c.step);
        if (round >= 0) c.samples.push_back(took);
      }
    for (candidate& c : *ones) c.step = nullptr;
    report(out, *ones, ones == &best ? "best" : "spread over all");
  }
  const mesh_link& link = model.links.along[0];
  out.add_derived("model", {{"candidates", all.size()},
                            {"multiply_adds", model.multiply_adds},
                            {"memory_bytes", model.memory_bytes},
                            {"latency", link.latency},
                            {"byte", link.seconds_per_byte}});
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line("search_order",
                                 "whether search orders annotations as they run, by training ten of them", {4, 4},
                                 {{"steps", bench::argument::count, "samples of each annotation", "40", "1"},
                                  {"batch", bench::argument::count, "rows of a step", "200", "40"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
