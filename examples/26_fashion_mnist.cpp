// Trains with AdamW on images of clothes, with data and tensor parallelism by layouts, on 4 workers.
//
// Usage: fashion_mnist [FOLDER [DATA MODEL [EPOCHS]]]
//
// Reads the images in FOLDER. Without FOLDER reads Fashion-MNIST (Debian: dataset-fashion-mnist; four files in idx
// format, packed by gzip or not) if it is installed, or else the images of digits.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <partita/partita.hpp>
#include <random>
#include <string>

#include "images.hpp"

using namespace partita;

namespace {

// [program]
const auto network = [](const auto& x, const auto& w1, const auto& b1, const auto& w2, const auto& b2) {
  const auto hidden = relu(add(matmul(x, w1), b1, broadcast_dimensions<1>));
  return add(matmul(hidden, w2), b2, broadcast_dimensions<1>);
};
// [/program]

struct data_set : image_set {
  std::size_t hidden = 256, batch = 200, epochs = 10;
  double rate = 0.002, wanted = 0.88;
};
data_set found(const std::string& folder) {
  const image_set all = images_in(folder);
  if (all.small) return {all, 48, 180, 8, 0.03, 0.87};
  return {all};
}

/// The loss of the last mini-batch, and the share of test images that are classified correctly.
std::pair<double, double> train_on_mesh(const world& everyone, const mesh& m, const data_set& data) {
  const std::size_t pixels = data.train.pixels.size() / data.train.size(), classes = 10, train = data.train.size();
  const auto rows = [&](const images& of, const auto& number, std::size_t n) {
    return shard<double>(everyone, m.layout("data", ""), {n, pixels},
                         [&](const auto& i) { return of.pixels[number(i[0]) * pixels + i[1]] / data.brightest; });
  };
  const auto noise = [](double salt, std::size_t inputs) {
    return [=](const auto& i) {
      const double v = std::sin(salt + 12.9898 * double(i[0]) + 78.233 * double(i[1])) * 43758.5453;
      return (2 * (v - std::floor(v)) - 1) * std::sqrt(6.0 / double(inputs));
    };
  };
  const auto zero = [](const auto&) { return 0.0; };
  // [layouts]
  const sharding columns = m.layout("", "model").reduced("data"), cut_rows = m.layout("model", "").reduced("data");
  auto w1 = shard<double>(everyone, columns, {pixels, data.hidden}, noise(1, pixels));
  auto b1 = shard<double>(everyone, m.layout("model").reduced("data"), {data.hidden}, zero);
  auto w2 = shard<double>(everyone, cut_rows, {data.hidden, classes}, noise(2, data.hidden));
  auto b2 = shard<double>(everyone, m.layout("").reduced("data"), {classes}, zero);
  // [/layouts]
  // [optimiser]
  sharded_adamw<double> optimiser({w1, b1, w2, b2}, {.weight_decay = 0.01}, optimiser_state_axes{"data"});
  const std::size_t steps = data.epochs * (train / data.batch);
  const schedules::warm_up rate(steps / 20, schedules::cosine{.rate = data.rate, .steps = steps});
  const auto step = [&](const auto& x, const auto& labels) {
    const auto loss = [&](const auto&... w) { return cross_entropy(network(x, w...), labels); };
    const auto [value, gradients] = value_and_gradient(loss, w1, b1, w2, b2);
    optimiser.options().learning_rate = rate(optimiser.steps());
    optimiser.step(gradients, clip_norm{5});
    return value;
  };
  // [/optimiser]
  using clock = std::chrono::steady_clock;
  const auto seconds = [](clock::time_point since) {
    return std::chrono::duration<double>(clock::now() - since).count();
  };
  const auto start = clock::now();
  auto last_print = start;
  std::vector<std::size_t> order(train);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(1);  // draws the same numbers on all workers
  double last = 0;
  for (std::size_t epoch = 0; epoch < data.epochs; ++epoch) {
    for (std::size_t k = train; k-- > 1;) std::swap(order[k], order[random() % (k + 1)]);
    for (std::size_t first = 0; first + data.batch <= train; first += data.batch) {
      xt::xtensor<int, 1> labels(std::array{data.batch});
      for (std::size_t k = 0; k < data.batch; ++k) labels(k) = data.train.labels[order[first + k]];
      last = step(rows(
                      data.train, [&](std::size_t k) { return order[first + k]; }, data.batch),
                  labels);
      const bool is_last_step = optimiser.steps() == steps;
      if (everyone.id() != 0 || (seconds(last_print) < 2 && !is_last_step)) continue;
      last_print = clock::now();
      const double steps_per_second = double(optimiser.steps()) / seconds(start);
      std::printf("  epoch %2zu of %zu, step %5zu of %zu, loss %.4f, %7.0f images/s, %.0f s left\n", epoch + 1,
                  data.epochs, optimiser.steps(), steps, last, steps_per_second * double(data.batch),
                  double(steps - optimiser.steps()) / steps_per_second);
      std::fflush(stdout);
    }
  }
  const auto identity = [](std::size_t k) { return k; };
  const auto scores = network(rows(data.test, identity, data.test.size()), w1, b1, w2, b2);
  const xt::xtensor<double, 2> all = reshard(scores, m.layout("", "")).whole<2>();
  std::size_t right = 0;
  for (std::size_t i = 0; i < all.shape()[0]; ++i) {
    const auto row = all.data() + i * classes;
    right += std::max_element(row, row + classes) - row == data.test.labels[i] ? 1 : 0;
  }
  return {last, double(right) / double(data.test.size())};
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  data_set data = found(argc > 1 ? argv[1] : "");
  if (argc > 4) data.epochs = std::stoul(argv[4]);
  if (everyone.id() == 0)
    std::printf("%s: %zu images to train, %zu to test\n", data.name, data.train.size(), data.test.size());
  std::vector<std::pair<std::size_t, std::size_t>> meshes{{1, 1}, {1, 2}, {2, 1}, {2, 2}};
  if (argc > 3) meshes = {{std::stoul(argv[2]), std::stoul(argv[3])}};
  else if (!data.small) meshes = {everyone.size() < 4 ? std::pair(everyone.size(), std::size_t{1}) : meshes[3]};
  double loss = 0;
  bool right_everywhere = true;
  for (std::size_t k = 0; k < meshes.size(); ++k) {
    const auto [d, t] = meshes[k];
    if (d * t > everyone.size()) continue;
    const auto [last, accuracy] = train_on_mesh(everyone, mesh{axis{"data", d}, axis{"model", t}}, data);
    if (k == 0) loss = last;
    right_everywhere = right_everywhere &&
                       (everyone.id() != 0 || (std::abs(last - loss) < 1e-9 && (accuracy >= data.wanted || argc > 4)));
    if (everyone.id() == 0) std::printf("data %zu x model %zu: loss %.10f, test accuracy %.4f\n", d, t, last, accuracy);
  }
  return right_everywhere ? 0 : 1;
}
