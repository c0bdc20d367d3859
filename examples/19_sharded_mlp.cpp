// A network trained with Adam: only its layouts choose between data and tensor parallelism, on 4 workers.
#include <cmath>
#include <cstdio>
#include <partita/partita.hpp>
#if __has_include(<xtensor/io/xnpy.hpp>)
#include <xtensor/io/xnpy.hpp>
#else
#include <xtensor/xnpy.hpp>
#endif

using namespace partita;

// [program]
const auto network = [](const auto& x, const auto& w1, const auto& b1, const auto& w2) {
  return matmul(relu(add(matmul(x, w1), b1, broadcast_dimensions<1>)), w2);
};
// [/program]

constexpr std::size_t train = 1440, batch = 96, pixels = 64, hidden = 48, classes = 10;

/// The loss of the last mini-batch and the share of test images that are classified correctly.
std::pair<double, double> train_on_mesh(const world& everyone, const mesh& m, const xt::xtensor<double, 2>& images,
                                        const xt::xtensor<int, 1>& labels) {
  const auto rows = [&](std::size_t first, std::size_t last) {
    return shard<double>(everyone, m.layout("data", ""), {last - first, pixels},
                         [&](const auto& i) { return images(first + i[0], i[1]); });
  };
  const auto noise = [](double salt, double scale) {
    return [=](const auto& i) { return std::sin(salt + double(48 * i[0] + i[1])) * std::sqrt(scale); };
  };
  // [layouts]
  auto w1 = shard<double>(everyone, m.layout("", "model"), {pixels, hidden}, noise(1, 2.0 / 64));
  auto b1 = shard<double>(everyone, m.layout("model"), {hidden}, [](const auto&) { return 0.0; });
  auto w2 = shard<double>(everyone, m.layout("model", ""), {hidden, classes}, noise(2, 2.0 / 48));
  // [/layouts]
  // [step]
  auto dw1 = w1, db1 = b1, dw2 = w2;
  adam<double> optimiser({{w1, dw1}, {b1, db1}, {w2, dw2}}, {.learning_rate = 0.01});
  double last = 0;
  const auto step = [&](const auto& x, const auto& y) {
    const auto loss = [&](const auto&... w) { return cross_entropy(network(x, w...), y); };
    const auto [value, gradients] = value_and_gradient(loss, w1, b1, w2);
    std::tie(dw1, db1, dw2) = gradients;
    optimiser.step();
    last = value;
  };
  // [/step]
  for (int epoch = 0; epoch < 25; ++epoch)
    for (std::size_t first = 0; first < train; first += batch)
      step(rows(first, first + batch), xt::xtensor<int, 1>(xt::view(labels, xt::range(first, first + batch))));
  const auto scores = reshard(network(rows(train, labels.size()), w1, b1, w2), m.layout("", "")).whole<2>();
  std::size_t right = 0;
  for (std::size_t i = 0; i < scores.shape()[0]; ++i) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < classes; ++c) best = scores(i, c) > scores(i, best) ? c : best;
    right += best == std::size_t(labels(train + i)) ? 1 : 0;
  }
  return {last, double(right) / double(labels.size() - train)};
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const std::string data = argc > 1 ? argv[1] : DIGITS_DATA;
  world everyone;
  const xt::xtensor<std::uint8_t, 3> bytes = xt::load_npy<std::uint8_t>(data + "/digits_images_u8.npy");
  const xt::xtensor<int, 1> labels = xt::load_npy<std::int32_t>(data + "/digits_labels_i32.npy");
  xt::xtensor<double, 2> images({labels.size(), pixels});
  for (std::size_t k = 0; k < images.size(); ++k) images.data()[k] = bytes.data()[k] / 16.0;
  double loss = 0;
  bool runs_agree = true;
  for (const auto& [d, t] : {std::pair(1, 1), {1, 2}, {2, 1}, {2, 2}}) {
    const auto [last, accuracy] =
        train_on_mesh(everyone, mesh{axis{"data", std::size_t(d)}, axis{"model", std::size_t(t)}}, images, labels);
    if (d * t == 1) loss = last;
    runs_agree = runs_agree && (everyone.id() != 0 || (std::abs(last - loss) < 1e-9 && accuracy >= 0.88));
    if (everyone.id() == 0) std::printf("data %d x model %d: loss %.10f, test accuracy %.4f\n", d, t, last, accuracy);
  }
  return runs_agree ? 0 : 1;
}
