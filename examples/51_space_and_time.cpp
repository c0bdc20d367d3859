// A Fourier neural operator that predicts a field over time from its initial state, in any layout, on 4 workers.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <numbers>
#include <partita/partita.hpp>
#include <partita/sharded/fourier.hpp>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

using namespace partita;
using fields = xt::xtensor<double, 6>;  // the dimensions are sample, channel, x, y, z, t
using tensor = sharded_tensor<double>;

constexpr std::size_t n = 6, moments = 5, samples = 2, channels = 3, modes = 3, steps = 18;
constexpr double two_pi = 2 * std::numbers::pi;

// [layer]
/// A layer: the spectrum along x, y, z and t is truncated to its longest waves. Complex weights, one matrix for each
/// wave, mix the channels of these waves; real weights mix the channels of the field point by point.
const auto fourier_layer = [](const auto& v, const auto& weights, const auto& local) {
  constexpr auto all = dimensions<2, 3, 4, 5>;
  const auto waves = resize_half_spectrum(rfft(v, all), all, moments, modes, modes, modes, modes);
  const auto mixed = einsum<"bixyzt,ioxyzt->boxyzt">(waves, weights);
  return add(irfft(resize_half_spectrum(mixed, all, modes, n, n, n, moments), all, moments),
             einsum<"bixyzt,io->boxyzt">(v, local));
};
// [/layer]

const auto network = [](const auto& u, const auto& lift, const auto& waves_1, const auto& local_1, const auto& waves_2,
                        const auto& local_2, const auto& project) {
  const auto v = gelu(fourier_layer(einsum<"bixyzt,io->boxyzt">(u, lift), waves_1, local_1));
  return einsum<"bixyzt,io->boxyzt">(fourier_layer(v, waves_2, local_2), project);
};

/// Waves of random amplitudes, the same on all workers, that travel with the velocity (1, 0.5, 0.25) and decay, at all
/// time points. The input of the network is the initial field, repeated for each time point, and the time.
std::pair<fields, fields> problem() {
  fields given = xt::zeros<double>({samples, std::size_t(2), n, n, n, moments});
  fields wanted = xt::zeros<double>({samples, std::size_t(1), n, n, n, moments});
  std::minstd_rand random(7);
  const auto number = [&] { return double(random() % 2001) / 1000.0 - 1; };
  for (std::size_t s = 0; s < samples; ++s)
    for (int wave = 1; wave < 8; ++wave) {
      const double kx = wave & 1, ky = wave >> 1 & 1, kz = wave >> 2, square = kx * kx + ky * ky + kz * kz;
      const double amplitude = number() / square, phase = std::numbers::pi * number();
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          for (std::size_t k = 0; k < n; ++k) {
            const double at = two_pi / n * (kx * double(i) + ky * double(j) + kz * double(k)) + phase;
            for (std::size_t m = 0; m < moments; ++m) {
              const double t = double(m) / moments;
              given(s, 0, i, j, k, m) += amplitude * std::cos(at);
              given(s, 1, i, j, k, m) = t;
              wanted(s, 0, i, j, k, m) +=
                  amplitude * std::exp(-0.2 * square * t) * std::cos(at - (kx + 0.5 * ky + 0.25 * kz) * t);
            }
          }
    }
  return {given, wanted};
}

/// The first and the last loss of a network that is trained on fields in this layout.
std::pair<double, double> train(const world& everyone, const sharding& layout, const fields& given,
                                const fields& wanted) {
  const tensor x = shard(everyone, layout, given), y = shard(everyone, layout, wanted);
  double salt = 0;
  const auto weights = [&](double scale, auto... e) {
    salt += 1;
    return shard<double>(everyone, sharding(layout.on, sizeof...(e)), {e...}, [&, scale](const auto& i) {
      double at = salt;
      for (const std::size_t k : i) at = 7 * at + double(k);
      return scale * std::sin(at);
    });
  };
  constexpr std::size_t c = channels, k = modes, one = 1, two = 2;
  const auto waves = [&] { return weights(0.2, c, c, k, k, k, k / 2 + 1); };  // real or imaginary parts of the weights
  // braces: every compiler evaluates the initialisers in this order, each of which adds 1 to salt
  auto parameters =
      std::tuple{weights(1, two, c),  waves(), waves(), weights(0.4, c, c), waves(), waves(), weights(0.4, c, c),
                 weights(0.4, c, one)};
  auto gradients = parameters;
  auto optimiser = std::apply(
      [&](auto&... p) {
        return std::apply([&](auto&... g) { return adam<double>({{p, g}...}, {.learning_rate = 0.05}); }, gradients);
      },
      parameters);
  const auto loss = [&](const auto& lift, const auto& a, const auto& b, const auto& local_1, const auto& c,
                        const auto& d, const auto& local_2, const auto& project) {
    const auto off = subtract(network(x, lift, to_complex(a, b), local_1, to_complex(c, d), local_2, project), y);
    return mean(multiply(off, off));
  };
  std::pair<double, double> losses;
  for (std::size_t step = 0; step < steps; ++step) {
    const auto result = std::apply([&](const auto&... p) { return value_and_gradient(loss, p...); }, parameters);
    (step == 0 ? losses.first : losses.second) = result.value;
    gradients = result.gradients;
    optimiser.step();
  }
  return losses;
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  const auto [given, wanted] = problem();
  const mesh m{axis{"a", 2}, axis{"b", 2}};
  // the layouts of sample, channel, x, y, z, t
  const std::vector<std::pair<const char*, sharding>> layouts{
      {"samples and x", m.layout("a", "", "b", "", "", "")},
      {"x and y", m.layout("", "", "a", "b", "", "")},
      {"z and time", m.layout("", "", "", "", "b", "a")},
      {"channels and time", m.layout("", "b", "", "", "", "a")},
  };
  double known = 0;
  bool right = true;
  for (const auto& [name, layout] : layouts) {
    const auto [first, last] = train(everyone, layout, given, wanted);
    if (known == 0) known = last;
    right = right && (everyone.id() != 0 || (std::abs(last - known) < 1e-9 && last < 0.1 * first));
    if (everyone.id() == 0)
      std::printf("%s are cut: the loss was %.6f, and is %.10f after %zu steps\n", name, first, last, steps);
  }
  return right ? 0 : 1;
}
