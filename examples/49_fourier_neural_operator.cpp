// A Fourier neural operator that learns to solve a reaction-diffusion equation, on 4 workers.
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdio>
#include <numbers>
#include <partita/partita.hpp>
#include <partita/sharded/fourier.hpp>
#include <random>
#include <tuple>
#include <utility>

using namespace partita;
using fields = xt::xtensor<double, 4>;  // the dimensions are sample, channel, x, y
using tensor = sharded_tensor<double>;

constexpr std::size_t n = 16, samples = 16, channels = 6, modes = 4, steps = 60;

// [layer]
/// A layer: complex weights, one matrix for each wave, mix the channels of the longest waves; real weights mix the
/// channels of the field point by point.
const auto fourier_layer = [](const auto& v, const auto& low, const auto& high, const auto& local) {
  const auto waves = rfft(v, dimensions<2, 3>);
  const auto rising = slice(waves, dimensions<2, 3>, {0, modes}, {0, modes});
  const auto falling = slice(waves, dimensions<2, 3>, {n - modes, n}, {0, modes});
  const auto mixed = [](const auto& w, const auto& weights) { return einsum<"bixy,ioxy->boxy">(w, weights); };
  const auto spectrum = add(pad(mixed(rising, low), dimensions<2, 3>, {0, n - modes}, {0, n / 2 + 1 - modes}),
                            pad(mixed(falling, high), dimensions<2, 3>, {n - modes, 0}, {0, n / 2 + 1 - modes}));
  return add(irfft(spectrum, dimensions<2, 3>, n), einsum<"bixy,io->boxy">(v, local));
};
// [/layer]

// [network]
const auto network = [](const auto& u, const auto& lift, const auto& low_1, const auto& high_1, const auto& local_1,
                        const auto& low_2, const auto& high_2, const auto& local_2, const auto& project) {
  const auto v = gelu(fourier_layer(einsum<"bixy,io->boxy">(u, lift), low_1, high_1, local_1));
  return einsum<"bixy,io->boxy">(fourier_layer(v, low_2, high_2, local_2), project);
};
// [/network]

/// Smooth random fields, which are the same on all workers.
fields initial_fields() {
  fields u = xt::zeros<double>({samples, std::size_t(1), n, n});
  std::minstd_rand random(5);
  const auto number = [&] { return double(random() % 2001) / 1000.0 - 1; };
  for (std::size_t s = 0; s < samples; ++s)
    for (int kx = -2; kx <= 2; ++kx)
      for (int ky = 0; ky <= 2; ++ky) {
        const double amplitude = number() / (1 + kx * kx + ky * ky), phase = std::numbers::pi * number();
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < n; ++j)
            u(s, 0, i, j) += amplitude * std::cos(2 * std::numbers::pi / n * (kx * double(i) + ky * double(j)) + phase);
      }
  return u;
}

/// The solution of du/dt = 0.1 Laplacian u + u - u^3 at t = 1, by steps of diffusion wave by wave and of reaction point
/// by point.
fields solution(fields u) {
  constexpr double dt = 0.05;
  const xt::xtensor<double, 1> kx = fftfreq(n, 1.0 / n), ky = rfftfreq(n, 1.0 / n);
  xt::xtensor<std::complex<double>, 4> decay({samples, std::size_t(1), n, n / 2 + 1});
  for (std::size_t s = 0; s < samples; ++s)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= n / 2; ++j)
        decay(s, 0, i, j) = std::exp(-0.1 * dt * (kx(i) * kx(i) + ky(j) * ky(j)));
  for (int step = 0; step < 20; ++step) {
    const fields diffused = irfft(multiply(rfft(u, dimensions<2, 3>), decay), dimensions<2, 3>, n);
    u = diffused + dt * (diffused - diffused * diffused * diffused);
  }
  return u;
}

/// The first and the last loss of a network that is trained on a given mesh.
std::pair<double, double> train(const world& everyone, const mesh& m, const fields& u, const fields& wanted) {
  // [layouts]
  const sharding cut = m.layout("data", "", "space", "");  // the samples and dimension x are sharded
  const tensor x = shard(everyone, cut, u), y = shard(everyone, cut, wanted);
  // [/layouts]
  double salt = 0;
  const auto weights = [&](double scale, auto... e) {
    salt += 1;
    return shard<double>(everyone, sharding(m, sizeof...(e)), {e...}, [&, scale](const auto& i) {
      double at = salt;
      for (const std::size_t k : i) at = 7 * at + double(k);
      return scale * std::sin(at);
    });
  };
  constexpr std::size_t c = channels, k = modes, one = 1;
  const auto waves = [&] { return weights(0.2, c, c, k, k); };  // real or imaginary parts of the weights
  // braces: every compiler evaluates the initialisers in this order, each of which adds 1 to salt
  auto parameters = std::tuple{weights(1, one, c),
                               waves(),
                               waves(),
                               waves(),
                               waves(),
                               weights(0.4, c, c),
                               waves(),
                               waves(),
                               waves(),
                               waves(),
                               weights(0.4, c, c),
                               weights(0.4, c, one)};
  auto gradients = parameters;
  auto optimiser = std::apply(
      [&](auto&... p) {
        return std::apply([&](auto&... g) { return adam<double>({{p, g}...}, {.learning_rate = 0.02}); }, gradients);
      },
      parameters);
  // [loss]
  const auto loss = [&](const auto& lift, const auto& a, const auto& b, const auto& c, const auto& d,
                        const auto& local_1, const auto& e, const auto& f, const auto& g, const auto& h,
                        const auto& local_2, const auto& project) {
    const auto off = subtract(network(x, lift, to_complex(a, b), to_complex(c, d), local_1, to_complex(e, f),
                                      to_complex(g, h), local_2, project),
                              y);
    return mean(multiply(off, off));
  };
  // [/loss]
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
  const fields u = initial_fields(), wanted = solution(u);
  double first_result = 0;
  bool right = true;
  for (const auto& [data, space] : {std::pair(1, 1), {4, 1}, {1, 4}, {2, 2}}) {
    const mesh m{axis{"data", std::size_t(data)}, axis{"space", std::size_t(space)}};
    const auto [first, last] = train(everyone, m, u, wanted);
    if (data * space == 1) first_result = last;
    right = right && (everyone.id() != 0 || (std::abs(last - first_result) < 1e-9 && last < 0.1 * first));
    if (everyone.id() == 0) std::printf("data %d x space %d: loss %.6f, then %.10f\n", data, space, first, last);
  }
  return right ? 0 : 1;
}
