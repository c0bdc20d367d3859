// The cost of sharded tensors: compares an add of 256 elements with a loop, matmul with linear, and a training step of
// examples/26_fashion_mnist.cpp with the same step by hand on MPI and CBLAS, alternating in one run.
#include "machine.hpp"
#include "trained_by_hand.hpp"

#include <cmath>
#include <functional>
#include <partita/partita.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;

struct variant {
  const char* name;
  std::function<void()> run;
  std::vector<double> samples{};
};

/// Runs the variants in turn, `calls` calls of each at a time, and reports each with its ratio to the first.
void compare(bench::rows& out, const char* what, std::vector<variant> variants, int rounds, int calls) {
  for (int round = -2; round < rounds; ++round)
    for (variant& v : variants) {
      const double took = bench::timed([&] {
        for (int k = 0; k < calls; ++k) v.run();
      });
      if (round >= 0) v.samples.push_back(took / calls);
    }
  const double first = bench::median(variants[0].samples);
  for (const variant& v : variants)
    out.add_peer(what, v.name, v.samples, {{"ratio", bench::median(v.samples) / first}});
}

/// The overhead of an operation over a plain loop, on every worker without communication.
void dispatch(const world& everyone, bench::rows& out, bool quick) {
  constexpr mesh m{axis{"data", 1}};
  const xt::xtensor<float, 1> ones = xt::ones<float>({std::size_t{256}});
  const auto x = shard<m.layout("data")>(everyone, ones), y = shard<m.layout("data")>(everyone, ones);
  const auto &u = x.run_time_tensor(), &v = y.run_time_tensor();
  std::vector<float> a(256, 1.F), b(256, 1.F), c(256);
  const auto typed = [&] { asm volatile("" : : "r"(add(x, y).data()) : "memory"); };
  compare(out, "add of 256 floats",
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
          quick ? 2 : 31, quick ? 100 : 20000);
}

/// A product whose first operand is resharded at each call. The product is small, so that the times of planning and
/// agreement are visible.
void resharded_product(const world& everyone, bench::rows& out, bool quick) {
  const mesh m{axis{"data", everyone.size()}};
  const auto element = [](const auto& i) { return static_cast<float>(i[0] + 2 * i[1]); };
  const auto x = shard<float>(everyone, m.layout("", "data"), {64, 64}, element);
  const auto rows = shard<float>(everyone, m.layout("data", ""), {64, 64}, element);
  const auto w = shard<float>(everyone, m.layout("", ""), {64, 64}, element);
  compare(out, "matmul of 64 x 64",
          {{"reshard", [&] { reshard(x, m.layout("data", "")); }},
           {"nothing moves", [&] { matmul(rows, w); }},
           {"resharded and multiplied", [&] { matmul(reshard(x, m.layout("data", "")), w); }}},
          quick ? 2 : 31, quick ? 10 : 1000);
}

void products(const world& everyone, bench::rows& out, int rounds, std::size_t batch, std::size_t features) {
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
  compare(out, name.c_str(),
          {{"linear", [&] { layer(x); }},
           {"matmul", [&] { matmul(X, W); }},
           {"einsum x w^T", [&] { einsum<"bi,oi->bo">(X, T); }}},
          rounds, features < 512 ? 20 : 1);
}

/// The example's network, 784-256-10 with AdamW: weights are sharded over model, the optimiser's state over data.
bool training(const world& everyone, bench::rows& out, std::size_t d, std::size_t t, std::size_t batch, int steps) {
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
  sharded_adamw<double> optimiser({w1, b1, w2, b2}, {.weight_decay = 0.01}, optimiser_state_axes{"data"});
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
  compare(out, name.c_str(), {{"by hand", [&] { theirs = raw.step(); }}, {"partita", step}}, steps, 1);
  return apart < 1e-9;
}

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  std::size_t d = everyone.size(), t = 1;
  if (line.has("mesh")) d = line.counts("mesh")[0], t = line.counts("mesh")[1];
  const std::size_t batch = line.count("batch");
  if (d * t != everyone.size() || batch % d != 0 || 256 % (d * t) != 0)
    throw bench::usage_error(
        "requires --mesh data model whose product is the number of workers and divides 256, and a "
        "--batch that data divides");
  if (everyone.size() == 1) {
    dispatch(everyone, out, line.quick());
    for (const std::size_t features : {256U, 1024U})
      for (const std::size_t rows : {64U, 256U})
        if (!line.quick() || features * rows == 256 * 64)
          products(everyone, out, line.quick() ? 2 : 21, rows, features);
  }
  if (everyone.size() > 1) resharded_product(everyone, out, line.quick());
  return training(everyone, out, d, t, batch, line.rounds("steps"));
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "sharded", "sharded tensors against a loop, linear, and a train step by hand on MPI and CBLAS", {1},
      {{"mesh", bench::argument::pair, "workers along data and along model; without it all along data"},
       {"steps", bench::argument::count, "samples of the train step", "200", "2"},
       {"batch", bench::argument::count, "rows of a step", "200", "24"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
