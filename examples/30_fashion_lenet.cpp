// LeNet partitioned by batch, rows and channels, with the same results as on one worker, on 4 workers.
//
// Usage: fashion_lenet [FOLDER [EPOCHS]]
//
// Reads the images in FOLDER. Without FOLDER reads Fashion-MNIST (Debian: dataset-fashion-mnist; four files in idx
// format, packed by gzip or not) if it is installed, or else the images of digits.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <partita/partita.hpp>
#include <random>
#include <string>
#include <vector>

#include "images.hpp"

using namespace partita;

namespace {

/// The partitions of the network: images by batch and rows, later by rows and channels, and vectors by features.
struct places {
  partition<dynamic_extents<4>> images, rows, channels, kernels;
  partition<dynamic_extents<2>> vectors, columns;
  explicit places(const world& all) : places(all, all.size() < 4 ? 1 : 2) {}  // if fewer than 4, only worker 0 computes
 private:
  places(const world& all, std::size_t n)
      : images(all.partition(dynamic_extents<4>(n, 1, n, 1))),
        rows(all.partition(dynamic_extents<4>(1, 1, n, 1))),
        channels(all.partition(dynamic_extents<4>(1, n, n, 1))),
        kernels(all.partition(dynamic_extents<4>(n, 1, n, 1))),
        vectors(all.partition(dynamic_extents<2>(1, n * n))),
        columns(all.partition(dynamic_extents<2>(n * n, 1))) {}
};

/// The losses of the first steps, and the fraction of test images that are classified correctly.
struct outcome {
  std::vector<double> losses{};
  double accuracy = 0;
};
/// Trains for all epochs, but makes at most `most` steps (0: no limit).
outcome train(const world& everyone, const image_set& data, std::size_t epochs, std::size_t most) {
  const places on(everyone);
  const std::size_t side = data.side, last = side / 4, n = data.train.size(), batch = 100;
  const float brightest = static_cast<float>(data.brightest);
  // [network]
  convolution<float, 2> first(on.images, {.in_channels = 1, .out_channels = 8, .kernel = {5, 5}, .padding = {2, 2}});
  convolution<float, 2> second(on.rows, on.channels, on.kernels,
                               {.in_channels = 8, .out_channels = 16, .kernel = {5, 5}, .padding = {2, 2}});
  linear<float, column_parallel> hidden(on.vectors, on.vectors, on.columns,
                                        {.in_features = 16 * last * last, .out_features = 120, .seed = 1});
  linear<float, row_parallel> scores(on.vectors, on.vectors, on.vectors,
                                     {.in_features = 120, .out_features = 10, .seed = 2});
  kaiming_uniform(first, 3), kaiming_uniform(second, 4);
  sequential network(std::move(first), relu<float>(), max_pooling(on.images, {.kernel = {2, 2}}),
                     repartition(on.images, on.rows), std::move(second), relu<float>(),
                     max_pooling(on.channels, {.kernel = {2, 2}}), flatten(on.channels, on.vectors), std::move(hidden),
                     relu<float>(), std::move(scores));
  cross_entropy_loss<float, 2> loss(on.vectors);
  adam<float> optimiser(network.parameters(), {});
  // [/network]
  std::vector<std::size_t> order(n);
  for (std::size_t k = 0; k < n; ++k) order[k] = k;
  const auto block = [&](const images& of, const auto& number, std::size_t count) {
    return block_from(on.images, dynamic_extents<4>(count, 1, side, side), [&](auto i, auto, auto r, auto c) {
      return of.pixels[(number(i) * side + r) * side + c] / brightest;
    });
  };
  const schedules::cosine rate{.rate = data.small ? 0.008 : 0.002, .steps = epochs * (n / batch)};
  std::mt19937 random(1);  // draws the same numbers on all workers
  outcome result;
  const auto start_time = std::chrono::steady_clock::now();
  for (std::size_t epoch = 0, step = 0; epoch < epochs; ++epoch) {
    double sum = 0;
    for (std::size_t k = n; k-- > 1;) std::swap(order[k], order[random() % (k + 1)]);
    for (std::size_t from = 0; from + batch <= n && (most == 0 || step < most); from += batch, ++step) {
      xt::xtensor<std::int32_t, 1> labels(std::array{batch});
      for (std::size_t k = 0; k < batch; ++k) labels(k) = data.train.labels[order[from + k]];
      const auto number = [&](std::size_t k) { return order[from + k]; };
      const double value = loss(network(block(data.train, number, batch)), labels);
      network.zero_gradients();
      network.adjoint(loss.adjoint());
      optimiser.options().learning_rate = rate(step);
      optimiser.step();
      sum += value;
      if (step < 8) result.losses.push_back(value);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_time;
    if (everyone.id() == 0 && most == 0)
      std::printf("epoch %2zu: loss %.4f, %.0f s\n", epoch + 1, sum / double(n / batch), seconds.count()),
          std::fflush(stdout);
  }
  network.evaluate();
  softmax_cross_entropy<float> score(on.vectors);
  double right = 0;
  for (std::size_t from = 0; from < data.test.size(); from += batch) {
    const std::size_t count = std::min(batch, data.test.size() - from);
    xt::xtensor<std::int32_t, 1> labels(std::array{count});
    for (std::size_t k = 0; k < count; ++k) labels(k) = data.test.labels[from + k];
    right += double(score.count_correct(network(block(
                                            data.test, [&](std::size_t k) { return from + k; }, count)),
                                        labels));
  }
  result.accuracy = right / double(data.test.size());
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  const image_set data = images_in(argc > 1 ? argv[1] : "");
  const std::size_t epochs = argc > 2 ? std::stoul(argv[2]) : data.small ? 20 : 8;
  if (everyone.id() == 0)
    std::printf("%s: %zu images to train, %zu to test\n", data.name, data.train.size(), data.test.size());
  const outcome distributed = train(everyone, data, epochs, 0);
  const world alone = everyone.part(workers(0, 1));
  const outcome on_one_worker = alone.active() ? train(alone, data, epochs, 8) : outcome();
  double difference = on_one_worker.losses.size() == 8 || everyone.id() != 0 ? 0 : 1;
  for (std::size_t k = 0; k < on_one_worker.losses.size() && everyone.id() == 0; ++k)
    difference += std::abs(on_one_worker.losses[k] - distributed.losses[k]) / on_one_worker.losses[k];
  if (everyone.id() == 0)
    std::printf("accuracy %.4f; the first losses are those of one worker to %.1e\n", distributed.accuracy, difference);
  return everyone.id() != 0 || (difference < 1e-4 && distributed.accuracy > 0.9) ? EXIT_SUCCESS : EXIT_FAILURE;
}
