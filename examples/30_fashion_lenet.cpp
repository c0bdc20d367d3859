// LeNet in mini-batches, cut by batch, rows and channels, the same on one worker and on many, on 4 workers.
//
// Fashion-MNIST (Debian: dataset-fashion-mnist; idx files packed by gzip) from a folder, else the digits:
// fashion_lenet [FOLDER [EPOCHS]]
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <partita/partita.hpp>
#include <random>
#include <string>
#include <vector>
#if __has_include(<xtensor/io/xnpy.hpp>)
#include <xtensor/io/xnpy.hpp>
#else
#include <xtensor/xnpy.hpp>
#endif

using namespace partita;

namespace {

struct images {
  std::vector<std::uint8_t> pixels, labels;
  std::size_t side = 28;
  float brightest = 255;
};

/// What follows the header of an idx file that gzip has packed: a magic number, and as many extents as its last byte
/// says.
std::vector<std::uint8_t> elements_of(const std::string& file) {
  std::vector<std::uint8_t> all(1 << 26);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(("gzip -dc '" + file + "'").c_str(), "r"), &pclose);
  all.resize(std::fread(all.data(), 1, all.size(), pipe.get()));
  if (all.size() < 4) throw io_error(("there are no images in " + file).c_str());
  all.erase(all.begin(), all.begin() + 4 + 4 * all[3]);
  return all;
}
images idx_of(const std::string& start) {
  return {elements_of(start + "-images-idx3-ubyte.gz"), elements_of(start + "-labels-idx1-ubyte.gz")};
}
images digits(std::size_t first, std::size_t last) {
  const auto pixels = xt::load_npy<std::uint8_t>(DIGITS_DATA "/digits_images_u8.npy");
  const auto labels = xt::load_npy<std::int32_t>(DIGITS_DATA "/digits_labels_i32.npy");
  images all{{}, {}, 8, 16};
  all.pixels.assign(pixels.data() + 64 * first, pixels.data() + 64 * last);
  for (std::size_t k = first; k < last; ++k) all.labels.push_back(static_cast<std::uint8_t>(labels.data()[k]));
  return all;
}

/// Which workers hold what: images cut by batch and rows, then by rows and channels, then vectors by features.
struct places {
  partition<dynamic_extents<4>> images, rows, channels, kernels;
  partition<dynamic_extents<2>> vectors, columns;
  explicit places(const world& all) : places(all, all.size() < 4 ? 1 : 2) {}  // of fewer than 4 workers one does it all
 private:
  places(const world& all, std::size_t n)
      : images(all.partition(dynamic_extents<4>(n, 1, n, 1))),
        rows(all.partition(dynamic_extents<4>(1, 1, n, 1))),
        channels(all.partition(dynamic_extents<4>(1, n, n, 1))),
        kernels(all.partition(dynamic_extents<4>(n, 1, n, 1))),
        vectors(all.partition(dynamic_extents<2>(1, n * n))),
        columns(all.partition(dynamic_extents<2>(n * n, 1))) {}
};

/// The losses of the first steps, and the share of test images that are told right.
struct outcome {
  std::vector<double> losses{};
  double share = 0;
};
outcome train(const world& everyone, const images& given, const images& test, std::size_t epochs, std::size_t most) {
  const places on(everyone);
  const std::size_t side = given.side, last = side / 4, n = given.labels.size(), batch = 100;
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
      return of.pixels[(number(i) * side + r) * side + c] / of.brightest;
    });
  };
  const schedules::cosine rate{.rate = n < 10000 ? 0.008 : 0.002, .steps = epochs * (n / batch)};
  std::mt19937 random(1);  // the same on all workers
  outcome result;
  const auto began = std::chrono::steady_clock::now();
  for (std::size_t epoch = 0, step = 0; epoch < epochs; ++epoch) {
    double sum = 0;
    for (std::size_t k = n; k-- > 1;) std::swap(order[k], order[random() % (k + 1)]);
    for (std::size_t from = 0; from + batch <= n && (most == 0 || step < most); from += batch, ++step) {
      xt::xtensor<std::int32_t, 1> labels(std::array{batch});
      for (std::size_t k = 0; k < batch; ++k) labels(k) = given.labels[order[from + k]];
      const auto number = [&](std::size_t k) { return order[from + k]; };
      const double value = loss(network(block(given, number, batch)), labels);
      network.zero_gradients();
      network.adjoint(loss.adjoint());
      optimiser.options().learning_rate = rate(step);
      optimiser.step();
      sum += value;
      if (step < 8) result.losses.push_back(value);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
    if (everyone.id() == 0 && most == 0)
      std::printf("epoch %2zu: loss %.4f, %.0f s\n", epoch + 1, sum / double(n / batch), seconds.count()),
          std::fflush(stdout);
  }
  network.evaluate();
  softmax_cross_entropy<float> judge(on.vectors);
  double right = 0;
  for (std::size_t from = 0; from < test.labels.size(); from += batch) {
    const std::size_t count = std::min(batch, test.labels.size() - from);
    xt::xtensor<std::int32_t, 1> labels(std::array{count});
    for (std::size_t k = 0; k < count; ++k) labels(k) = test.labels[from + k];
    right += double(judge.correct(network(block(
                                      test, [&](std::size_t k) { return from + k; }, count)),
                                  labels));
  }
  result.share = right / double(test.labels.size());
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  const std::string folder = argc > 1 ? argv[1] : "";
  const std::size_t epochs = argc > 2 ? std::stoul(argv[2]) : folder.empty() ? 20 : 8;
  const images given = folder.empty() ? digits(0, 1440) : idx_of(folder + "/train");
  const images test = folder.empty() ? digits(1440, 1797) : idx_of(folder + "/t10k");
  const outcome many = train(everyone, given, test, epochs, 0);
  const world alone = everyone.part(workers(0, 1));
  const outcome one = alone.active() ? train(alone, given, test, epochs, 8) : outcome();
  double apart = one.losses.size() == 8 || everyone.id() != 0 ? 0 : 1;
  for (std::size_t k = 0; k < one.losses.size() && everyone.id() == 0; ++k)
    apart += std::abs(one.losses[k] - many.losses[k]) / one.losses[k];
  if (everyone.id() == 0)
    std::printf("accuracy %.4f; the first losses are those of one worker to %.1e\n", many.share, apart);
  return everyone.id() != 0 || (apart < 1e-4 && many.share > 0.9) ? EXIT_SUCCESS : EXIT_FAILURE;
}
