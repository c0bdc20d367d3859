// A Taylor-Green vortex by Fourier transforms: three velocities move in one exchange, on 4 workers.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <partita/kernel/spectral_operator.hpp>
#include <partita/partita.hpp>
#include <string>
#include <vector>

using namespace partita;
using number = std::complex<double>;
using waves = std::array<xt::xtensor<number, 3>, 3>;

constexpr double nu = 0.01, dt = 0.02;

struct sums {
  double energy, enstrophy;
};

/// The energy and the enstrophy of the flow after each step, on n x n x n points.
std::vector<sums> run(const dynamic_partition<3>& p, std::size_t n, std::size_t steps) {
  const periodic_box<3> box{{n, n, n}};
  const extents points(n, n, n), half(n, n, n / 2 + 1);
  const auto velocity = [&](auto f) {
    return block_from<double>(p, points, [&](auto... i) { return f(box.lengths[0] * double(i) / double(n)...); });
  };
  // [setup]
  const auto transform = fourier_transform<0, 1, 2>(p, real_to_complex, {.real_extent = n});
  const auto inverse = transform.inverse(points);
  const auto u = velocity([](double x, double y, double z) { return std::sin(x) * std::cos(y) * std::cos(z); });
  const auto v = velocity([](double x, double y, double z) { return -std::cos(x) * std::sin(y) * std::cos(z); });
  const auto [u_waves, v_waves, w_waves] = transform(u, v, 0.0 * u);  // moves three fields in one exchange
  // [/setup]
  const auto p_half = transform.result_partition(points);
  const auto for_each_wave = [&](auto f) {
    return block_from<double>(p_half, half, [&](auto... i) { return f(partita::index<3>{i...}); });
  };
  std::array<xt::xtensor<double, 3>, 3> k;
  for (std::size_t d = 0; d < 3; ++d)
    k[d] = for_each_wave([&](const auto& i) { return box.angular_wave_number(d, i[d]); });
  const xt::xtensor<double, 3> square = for_each_wave([&](const auto& i) { return box.square(i); });
  const xt::xtensor<double, 3> dealiasing =
      for_each_wave([&](const auto& i) { return box.two_thirds_rule_keeps(i) ? 1.0 : 0.0; });
  // in half of a spectrum, waves whose conjugates are missing count twice; the energy is half of the mean square
  const xt::xtensor<double, 3> wave_weight =
      for_each_wave([&](const auto& i) { return (i[2] == 0 || 2 * i[2] == n ? 0.5 : 1.0) / std::pow(double(n), 6); });
  const auto curl_of = [&](const waves& a) -> waves {
    const number i(0, 1);
    return {i * (k[1] * a[2] - k[2] * a[1]), i * (k[2] * a[0] - k[0] * a[2]), i * (k[0] * a[1] - k[1] * a[0])};
  };
  // [change]
  // du/dt = u x curl u - grad(pressure) + nu Laplacian u: products are computed by point, all other terms by wave
  const auto change = [&](const waves& a) -> waves {
    const waves curl = curl_of(a);
    const auto [ax, ay, az] = inverse(a[0], a[1], a[2]);
    const auto [cx, cy, cz] = inverse(curl[0], curl[1], curl[2]);
    const auto [x, y, z] = transform(ay * cz - az * cy, az * cx - ax * cz, ax * cy - ay * cx);
    const xt::xtensor<number, 3> pressure = (k[0] * x + k[1] * y + k[2] * z) / xt::maximum(square, 1.0);
    return {dealiasing * (x - k[0] * pressure) - nu * square * a[0],
            dealiasing * (y - k[1] * pressure) - nu * square * a[1],
            dealiasing * (z - k[2] * pressure) - nu * square * a[2]};
  };
  // [/change]
  const auto advanced = [](const waves& a, double by, const waves& b) -> waves {
    return {a[0] + by * b[0], a[1] + by * b[1], a[2] + by * b[2]};
  };
  const auto half_of_squares = [&](const waves& a) {
    std::int64_t sum = 0;  // counts units of 2^-58, because sums of integers do not depend on their order
    for (const auto& one : a)
      for (std::size_t j = 0; j < one.size(); ++j)
        sum += std::llround(std::ldexp(wave_weight.data()[j] * std::norm(one.data()[j]), 58));
    return std::ldexp(static_cast<double>(sum_over(p.world(), sum)), -58);
  };

  waves now{u_waves, v_waves, w_waves};
  std::vector<sums> all{{half_of_squares(now), half_of_squares(curl_of(now))}};
  for (std::size_t step = 0; step < steps; ++step) {  // the Runge-Kutta method of order 4
    const waves a = change(now), b = change(advanced(now, dt / 2, a)), c = change(advanced(now, dt / 2, b));
    const waves d = change(advanced(now, dt, c));
    now = advanced(advanced(advanced(advanced(now, dt / 6, a), dt / 3, b), dt / 3, c), dt / 6, d);
    all.push_back({half_of_squares(now), half_of_squares(curl_of(now))});
  }
  return all;
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  // the arguments are the number of points along each dimension and the number of steps
  const std::size_t n = argc > 1 ? std::stoul(argv[1]) : 32, steps = argc > 2 ? std::stoul(argv[2]) : 6;
  const auto all = run(everyone.partition<2, 2, 1>().as_dynamic(), n, steps);

  double balance_error = 0, difference = 0;
  for (std::size_t t = 1; t + 1 < all.size(); ++t) {
    const double decay = (all[t + 1].energy - all[t - 1].energy) / (2 * dt), wanted = -2 * nu * all[t].enstrophy;
    balance_error = std::max(balance_error, std::abs(decay / wanted - 1));
  }
  if (n <= 32 && everyone.id() == 0) {
    const world self(boost::mpi::communicator(MPI_COMM_SELF, boost::mpi::comm_duplicate));
    const auto sequential = run(self.partition<1, 1, 1>().as_dynamic(), n, steps);
    for (std::size_t t = 0; t < all.size(); ++t)
      difference = std::max({difference, std::abs(all[t].energy - sequential[t].energy),
                             std::abs(all[t].enstrophy - sequential[t].enstrophy)});
  }
  if (everyone.id() == 0) {
    for (std::size_t t = 0; t < all.size(); ++t)
      std::cout << "time " << static_cast<double>(t) * dt << ": energy " << all[t].energy << ", enstrophy "
                << all[t].enstrophy << "\n";
    std::cout << "dE/dt is -2 nu times the enstrophy up to " << balance_error << " of it.\n";
    if (n <= 32 && difference == 0) std::cout << "The run on one worker has the same bits.\n";
    else if (n <= 32) std::cout << "The run on one worker differs by " << difference << ".\n";
    std::cout << "Look at: a change of three velocities takes three exchanges, two back and one there.\n";
  }
  // FFTW may choose different algorithms for lines of equal length (for example 27) in blocks of different shapes
  const bool right =
      balance_error < 1e-4 && difference <= (argc > 1 ? 1e-13 : 0) && std::abs(all[0].energy - 0.125) < 1e-14;
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
