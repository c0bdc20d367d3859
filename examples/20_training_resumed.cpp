// Trains with checkpoints, is killed, and resumes with a different number of workers, on 4 workers.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <partita/partita.hpp>
#if __has_include(<xtensor/io/xnpy.hpp>)
#include <xtensor/io/xnpy.hpp>
#else
#include <xtensor/xnpy.hpp>
#endif

using namespace partita;

/// Trains a 64-10 layer up to step `last`; its outputs are partitioned over the first n workers. Starts from the latest
/// checkpoint if one exists. Returns the last loss and the number of test images that are classified correctly.
std::pair<double, std::size_t> train(const world& everyone, std::size_t n, std::uint64_t last, const char* folder) {
  const auto one = everyone.partition<1, 1>();
  const auto p_y = everyone.partition(extents<1, dynamic>(n));
  const auto p_w = everyone.partition(extents<dynamic, 1>(n));
  linear<double> layer(one, p_y, p_w, {.in_features = 64, .out_features = 10, .bias = false});
  initialise(layer, [](auto i, auto j) { return std::sin(1.0 + double(64 * i + j)) / 8; });
  softmax_cross_entropy<double> loss(p_y);
  sgd<double> optimiser(layer.parameters(), {.learning_rate = 0.5});

  const auto pixels = xt::load_npy<std::uint8_t>(DIGITS_DATA "/digits_images_u8.npy");
  const xt::xtensor<std::int32_t, 1> labels = xt::load_npy<std::int32_t>(DIGITS_DATA "/digits_labels_i32.npy");
  const auto images = [&](std::size_t first, std::size_t rows) {
    if (!one.active()) return zero_volume<double, 2>(rows);
    xt::xtensor<double, 2> x({rows, 64});
    for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = pixels.data()[64 * first + k] / 16.0;
    return x;
  };
  const auto x = images(0, 1440), x_test = images(1440, 357);
  const auto of = [&](std::size_t first, std::size_t end) {
    return xt::xtensor<std::int32_t, 1>(xt::view(labels, xt::range(first, end)));
  };

  std::uint64_t step = 0;
  // [resume]
  if (!checkpoint_steps(folder, everyone).empty()) {
    const checkpoint latest = load_checkpoint(folder, everyone);
    layer.weight() = latest.load<double, 2>("weight", p_w);
    step = latest.step();
  }
  // [/resume]
  // [save]
  checkpoint_saver saver(folder, {.keep_last = 2});
  double value = 0;
  while (step < last) {
    layer.zero_gradients();
    value = loss(layer(x), of(0, 1440));
    layer.adjoint(loss.adjoint());
    optimiser.step();
    if (++step % 10 == 0) saver.save(step, named("weight", p_w, extents<10, 64>{}, layer.weight()));
  }
  // [/save]
  return {value, loss.count_correct(layer(x_test), of(1440, 1797))};
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  if (everyone.id() == 0) std::filesystem::remove_all("runs");  // removes the checkpoints of an earlier run
  if (everyone.id() == 0) std::filesystem::create_directory("runs");
  everyone.communicator().barrier();
  const auto uninterrupted = train(everyone, 4, 60, "runs/whole");
  train(everyone, 4, 37, "runs/parted");  // suppose that the job is killed here: the last saved step is 30
  const auto resumed = train(everyone, 3, 60, "runs/parted");
  const bool right = resumed.second == uninterrupted.second && std::abs(resumed.first - uninterrupted.first) < 1e-12;
  everyone.communicator().barrier();
  if (everyone.id() == 0) {
    std::printf("60 steps on 4 workers: loss %.12f, %zu of 357 right.\n", uninterrupted.first, uninterrupted.second);
    std::printf("37 on 4 and, from step 30 on, 30 on 3 workers: loss %.12f, %zu right.\n", resumed.first,
                resumed.second);
    std::filesystem::remove_all("runs");
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
