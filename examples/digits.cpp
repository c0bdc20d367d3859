// Trains a network of two linear layers, both partitioned over a grid, on images of digits, on 4 workers.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <partita/partita.hpp>
#if __has_include(<xtensor/io/xnpy.hpp>)
#include <xtensor/io/xnpy.hpp>
#else
#include <xtensor/xnpy.hpp>
#endif

using namespace partita;

namespace {
constexpr std::size_t train = 1440;  // images 0 to 1439 of the file are for training, all others for testing

/// The images [first, last) as rows of 64 pixels in [0, 1] on worker 0; zero volume on all other workers.
xt::xtensor<double, 2> images_of(const world& everyone, const std::string& data, std::size_t first, std::size_t last) {
  if (everyone.id() != 0) return zero_volume<double, 2>(last - first);
  const auto pixels = xt::load_npy<std::uint8_t>(data + "/digits_images_u8.npy");
  xt::xtensor<double, 2> rows({last - first, 64});
  for (std::size_t k = 0; k < rows.size(); ++k) rows.data()[k] = pixels.data()[first * 64 + k] / 16.0;
  return rows;
}
}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const std::string data = argc > 1 ? argv[1] : DIGITS_DATA;
  world everyone;

  // the weights are on a grid of f_out x f_in workers that is as square as possible: 2 x 2 on four workers
  std::size_t f_out = 1;
  for (std::size_t f = 1; f * f <= everyone.size(); ++f)
    if (everyone.size() % f == 0) f_out = f;
  const std::size_t f_in = everyone.size() / f_out;
  auto one = everyone.partition<1, 1>();
  auto p_x = everyone.partition(extents<1, dynamic>(f_in));   // the partition of the inputs of a layer
  auto p_h = everyone.partition(extents<1, dynamic>(f_out));  // the partition of the outputs of a layer
  auto p_w = everyone.partition(extents<dynamic, dynamic>(f_out, f_in));

  // the loss and its gradient are computed on the workers that hold the scores
  linear<double> hidden(p_x, p_h, p_w, {.in_features = 64, .out_features = 48});
  linear<double> scores(p_x, p_h, p_w, {.in_features = 48, .out_features = 10});
  initialise(hidden, [](auto i, auto j) { return std::sin(1.0 + double(64 * i + j)) * std::sqrt(2.0 / 64); });
  initialise(scores, [](auto i, auto j) { return std::sin(2.0 + double(48 * i + j)) * std::sqrt(2.0 / 48); });
  sequential network(std::move(hidden), relu<double>(), repartition(p_h, p_x), std::move(scores));
  sgd<double> optimiser(network.parameters(), {.learning_rate = 0.5});
  softmax_cross_entropy<double> loss(p_h);

  // the images start on worker 0 and are scattered by a repartition
  const xt::xtensor<std::int32_t, 1> labels = xt::load_npy<std::int32_t>(data + "/digits_labels_i32.npy");
  const xt::xtensor<std::int32_t, 1> train_labels = xt::view(labels, xt::range(0, train));
  const xt::xtensor<std::int32_t, 1> test_labels = xt::view(labels, xt::range(train, labels.size()));
  repartition scatter(one, p_x);
  const auto x = scatter(images_of(everyone, data, 0, train));
  const auto x_test = scatter(images_of(everyone, data, train, labels.size()));

  const auto reference =
      nlohmann::json::parse(std::ifstream(data + "/digits_reference_runs.json")).at("mlp_64_48_10_relu");
  const int epochs = reference.at("epochs");
  const bool prints = everyone.id() == 0;
  if (prints)
    std::printf(
        "A network of two linear layers (64 pixels, 48 hidden, 10 digits) learns %zu images on %zu workers;\n"
        "the weights of each layer are cut over %zu x %zu of them.\n%6s %12s %22s %9s\n",
        train, everyone.size(), f_out, f_in, "epoch", "loss", "off one worker's loss", "time");
  const auto start = std::chrono::steady_clock::now();
  double largest_difference = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const double value = loss(network(x), train_labels);
    network.zero_gradients();
    network.adjoint(loss.adjoint());
    optimiser.step();
    const std::string key = std::to_string(epoch);
    if (reference.at("loss_at_epoch").contains(key)) {
      const double difference = std::abs(value - double(reference.at("loss_at_epoch").at(key)));
      largest_difference = std::max(largest_difference, difference);
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      if (prints) std::printf("%6d %12.8f %22.1e %7.2f s\n", epoch, value, difference, time.count());
    }
  }
  const double accuracy = double(loss.count_correct(network(x_test), test_labels)) / double(test_labels.size());
  const bool right = largest_difference < 1e-8 && accuracy >= 0.91;
  if (prints)
    std::printf(
        "%.2f %% of the test images are classified correctly (by one worker alone: %.2f %%).\n"
        "Look at: no worker holds all weights, and the losses are those of a program on one worker, within %.1e%s.\n"
        "`examples/run digits -n 6` gives the same losses on six workers.\n",
        100 * accuracy, 100 * double(reference.at("test_accuracy")), largest_difference, right ? "" : ": TOO FAR");
  return right ? 0 : 1;
}
