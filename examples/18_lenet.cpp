// LeNet on images of digits: convolutions partitioned by batch and rows, linear layers by features, on 4 workers.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <partita/partita.hpp>
#include <string>
#if __has_include(<xtensor/io/xnpy.hpp>)
#include <xtensor/io/xnpy.hpp>
#else
#include <xtensor/xnpy.hpp>
#endif

using namespace partita;

namespace {
/// The images [first, last) as batch x channel x rows x columns on worker 0; zero volume on all other workers.
xt::xtensor<double, 4> images_of(const world& everyone, const std::string& data, std::size_t first, std::size_t last) {
  if (everyone.id() != 0) return zero_volume<double, 4>(last - first);
  const auto pixels = xt::load_npy<std::uint8_t>(data + "/digits_images_u8.npy");
  xt::xtensor<double, 4> images({last - first, 1, 8, 8});
  for (std::size_t k = 0; k < images.size(); ++k) images.data()[k] = pixels.data()[first * 64 + k];
  return images;
}
}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const std::string data = argc > 1 ? argv[1] : DIGITS_DATA;
  constexpr std::size_t train = 1440, all = 1797;
  // [network]
  world everyone;
  auto p = everyone.partition<2, 1, 2, 1>();  // images: batch x channels x rows x columns
  auto row = everyone.partition<1, 4>();      // vectors: batch x features
  convolution<double, 2> first(p, {.in_channels = 1, .out_channels = 6, .kernel = {3, 3}, .padding = {1, 1}});
  convolution<double, 2> second(p, {.in_channels = 6, .out_channels = 16, .kernel = {3, 3}, .padding = {1, 1}});
  linear<double, column_parallel> hidden(row, row, everyone.partition<4, 1>(),
                                         {.in_features = 64, .out_features = 48, .seed = 1});
  linear<double, row_parallel> scores(row, row, row, {.in_features = 48, .out_features = 10, .seed = 2});
  kaiming_uniform(first, 3), kaiming_uniform(second, 4);  // equal weights on any partition
  sequential network(batch_norm<double, 4>(p, {.channels = 1}), std::move(first), relu<double>(),
                     max_pooling(p, {.kernel = {2, 2}}), std::move(second), relu<double>(),
                     max_pooling(p, {.kernel = {2, 2}}), flatten(p, row), std::move(hidden), relu<double>(),
                     dropout(row, {.probability = 0.1}), std::move(scores));
  cross_entropy_loss<double, 2> loss(row);  // the classes are partitioned, too
  // [/network]

  repartition scatter(everyone.partition<1, 1, 1, 1>(), p);
  const auto x = scatter(images_of(everyone, data, 0, train)), x_test = scatter(images_of(everyone, data, train, all));
  const xt::xtensor<std::int32_t, 1> labels = xt::load_npy<std::int32_t>(data + "/digits_labels_i32.npy");
  const xt::xtensor<std::int32_t, 1> of_train = xt::view(labels, xt::range(0, train));
  const xt::xtensor<std::int32_t, 1> of_test = xt::view(labels, xt::range(train, all));
  // [training]
  adam<double> optimiser(network.parameters(), {.learning_rate = 0.01});
  for (int epoch = 0; epoch < 40; ++epoch) {
    const double value = loss(network(x), of_train);
    network.zero_gradients();
    network.adjoint(loss.adjoint());
    optimiser.step();
    if (everyone.id() == 0 && epoch % 10 == 9) std::printf("epoch %2d: loss %.4f\n", epoch + 1, value);
  }
  network.evaluate();  // from now on, batch_norm uses running statistics and dropout does nothing
  // [/training]
  const double right = double(softmax_cross_entropy<double>(row).count_correct(network(x_test), of_test));
  if (everyone.id() == 0) std::printf("accuracy on %zu other images: %.3f\n", all - train, right / double(all - train));
  return right >= 0.9 * double(all - train) ? EXIT_SUCCESS : EXIT_FAILURE;
}
