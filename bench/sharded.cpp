// What sharded tensors cost: an add of 256 elements against its loop, matmul against linear, and a train step of
// examples/26_fashion_mnist.cpp against the same by hand on MPI and CBLAS, in one run and in turn; data x model
// workers, all data where nothing is said:
//   mpirun -n 2 bench/sharded [--json] [--mesh data model] [--steps n] [--batch n]
#include "machine.hpp"
#include "trained_by_hand.hpp"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <partita/partita.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;

bool json = false;

struct variant {
  const char* name;
  std::function<void()> run;
  std::vector<double> samples{};
};

/// Runs the variants in turn, `calls` of each at a time, and reports them beside the first.
void compare(const char* what, std::vector<variant> variants, int rounds, int calls) {
  for (int round = -2; round < rounds; ++round)
    for (variant& v : variants) {
      const double took = bench::timed([&] {
        for (int k = 0; k < calls; ++k) v.run();
      });
      if (round >= 0) v.samples.push_back(took / calls);
    }
  const double first = bench::median(variants[0].samples);
  for (const variant& v : variants) {
    if (bench::worker() != 0) return;
    const double median = bench::median(v.samples), least = bench::least(v.samples);
    if (json)
      std::printf(
          "{\"bench\": \"sharded\", \"case\": \"%s\", \"workers\": %d, \"peer\": \"%s\", \"seconds_median\": %.9f, "
          "\"seconds_min\": %.9f, \"ratio\": %.4f, \"samples\": %zu}\n",
          what, bench::workers(), v.name, median, least, median / first, v.samples.size());
    else
      std::printf("%-34s %-12s %11.3f us  min %11.3f  %7.3f x %s, %+.3f us\n", what, v.name, median * 1e6, least * 1e6,
                  median / first, variants[0].name, (median - first) * 1e6);
  }
  std::fflush(stdout);
}

/// Every worker by itself: what an operation takes beside its loop.
void dispatch(const world& everyone) {
  constexpr mesh m{axis{"data", 1}};
  const xt::xtensor<float, 1> ones = xt::ones<float>({std::size_t{256}});
  const auto x = shard<m.layout("data")>(everyone, ones), y = shard<m.layout("data")>(everyone, ones);
  const auto &u = x.at_run_time(), &v = y.at_run_time();
  std::vector<float> a(256, 1.F), b(256, 1.F), c(256);
  const auto typed = [&] { asm volatile("" : : "r"(add(x, y).data()) : "memory"); };
  compare("add of 256 floats",
          {{"loop",
            [&] {
              for (std::size_t k = 0; k < c.size(); ++k) c[k] = a[k] + b[k];
              asm volatile("" : : "r"(c.data()) : "memory");
            }},
           {"new array",
            [&] {
              const xt::xtensor<float, 1> z = ones + ones;
              asm volatile("" : : "r"(z.data()) : "memory");
            }},
           {"typed", typed},
           {"run time", [&] { asm volatile(""
                                           :
                                           : "r"(add(u, v).data())
                                           : "memory"); }}},
          31, 20000);
}

void products(const world& everyone, std::size_t batch, std::size_t features) {
  constexpr mesh m{axis{"data", 1}};
  const auto one = everyone.partition<1, 1>();
  linear<float> layer(one, one, one, {.in_features = features, .out_features = features, .bias = false});
  const xt::xtensor<float, 2> x =
      one.active() ? xt::xtensor<float, 2>(xt::ones<float>({batch, features})) : zero_volume<float, 2>(batch);
  if (one.active()) layer.weight().fill(1.F);
  const auto all = [](const auto&) { return 1.F; };
  const auto X = shard<m.layout("data", ""), float>(everyone, {batch, features}, all);
  const auto W = shard<m.layout("", ""), float>(everyone, {features, features}, all);
  const auto T = shard<m.layout("", ""), float>(everyone, {features, features}, all);
  text name;
  name << "product of " << batch << " x " << features;
  compare(name.c_str(),
          {{"linear", [&] { layer(x); }},
           {"matmul", [&] { matmul(X, W); }},
           {"einsum x w^T", [&] { einsum<"bi,oi->bo">(X, T); }}},
          21, features < 512 ? 20 : 1);
}

/// Example (a): 784-256-10, AdamW, weights cut over model, state over data.
int training(const world& everyone, std::size_t d, std::size_t t, std::size_t batch, int steps) {
  constexpr std::size_t pixels = 784, hidden = 256, classes = 10;
  const mesh m{axis{"data", d}, axis{"model", t}};
  const auto pixel = [](std::size_t row, std::size_t k) { return double((row * 7 + k * 13 + row * k) % 17) / 16; };
  const auto weight = [](double salt, std::size_t inputs) {
    return [=](std::size_t i, std::size_t j) {
      return std::sin(salt + 12.9898 * double(i) + 78.233 * double(j)) * std::sqrt(6.0 / double(inputs));
    };
  };
  const auto label = [](std::size_t row) { return int((row * 5 + row / 7) % classes); };
  bench::trained_by_hand raw({d, t, batch, pixels, hidden, classes}, pixel, weight(1, pixels), weight(2, hidden),
                             label);

  const auto two = [](auto f) { return [=](const auto& i) { return f(i[0], i[1]); }; };
  const auto zero = [](const auto&) { return 0.0; };
  const auto network = [](const auto& x, const auto& w1, const auto& b1, const auto& w2, const auto& b2) {
    const auto h = relu(add(matmul(x, w1), b1, broadcast_dimensions<1>));
    return add(matmul(h, w2), b2, broadcast_dimensions<1>);
  };
  auto w1 = shard<double>(everyone, m.layout("", "model").reduced("data"), {pixels, hidden}, two(weight(1, pixels)));
  auto b1 = shard<double>(everyone, m.layout("model").reduced("data"), {hidden}, zero);
  auto w2 = shard<double>(everyone, m.layout("model", "").reduced("data"), {hidden, classes}, two(weight(2, hidden)));
  auto b2 = shard<double>(everyone, m.layout("").reduced("data"), {classes}, zero);
  sharded_adamw<double> optimiser({w1, b1, w2, b2}, {.weight_decay = 0.01}, state_over{"data"});
  const auto x = shard<double>(everyone, m.layout("data", ""), {batch, pixels}, two(pixel));
  xt::xtensor<int, 1> labels(std::array{batch});
  for (std::size_t k = 0; k < batch; ++k) labels(k) = label(k);
  double theirs = 0, ours = 0, apart = 0;
  const auto step = [&] {
    const auto loss = [&](const auto&... w) { return cross_entropy(network(x, w...), labels); };
    const auto [value, gradients] = value_and_gradient(loss, w1, b1, w2, b2);
    optimiser.step(gradients, clip_norm{5});
    ours = value;
    apart = std::max(apart, std::abs(ours - theirs));
  };
  text name;
  name << "step on " << d << " x " << t << ", batch " << batch;
  compare(name.c_str(), {{"by hand", [&] { theirs = raw.step(); }}, {"partita", step}}, steps, 1);
  if (apart < 1e-9) return 0;
  if (everyone.id() == 0) std::fprintf(stderr, "sharded: the losses differ by %.1e\n", apart);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  std::size_t d = everyone.size(), t = 1, batch = 0;
  int steps = 200;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const auto number = [&] { return k + 1 < argc ? static_cast<std::size_t>(std::atoi(argv[++k])) : 0; };
    if (word == "--json") json = true;
    if (word == "--mesh") d = number(), t = number();
    if (word == "--steps") steps = static_cast<int>(number());
    if (word == "--batch") batch = number();
  }
  const bool divides = d * t > 0 && (batch == 0 ? 200 : batch) % d == 0 && 256 % (d * t) == 0;
  if (d * t != everyone.size() || !divides) {
    if (everyone.id() == 0)
      std::fprintf(stderr, "sharded: data x model must be the number of workers, and divide 256 and the batch\n");
    return 1;
  }
  if (everyone.size() == 1) {
    dispatch(everyone);
    for (const std::size_t features : {256U, 1024U})
      for (const std::size_t rows : {64U, 256U}) products(everyone, rows, features);
  }
  return training(everyone, d, t, batch == 0 ? 200 : batch, steps);
}
