// The NAS benchmark FT, class S: one Fourier transform forward, one inverse per time step, on 4 workers.
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <numbers>
#include <partita/kernel/fourier_transform.hpp>
#include <partita/partita.hpp>

using namespace partita;
using number = std::complex<double>;
using field = xt::xtensor<number, 3>;

constexpr std::size_t n = 64, steps = 6;
constexpr extents<n, n, n> cube;
// Bailey et al., The NAS Parallel Benchmarks, RNR-94-007, section 2.7: the published sums of class S
const number published[steps] = {{554.6087004964, 484.5363331978}, {554.6385409190, 486.5304269511},
                                 {554.6148406171, 488.3910722337}, {554.5423607415, 490.1273169046},
                                 {554.4255039624, 491.7475857993}, {554.2683411903, 493.2597244941}};

/// Number k of the benchmark's generator: 5^(13 k) s modulo 2^46.
double random_number(std::uint64_t k) {
  constexpr std::uint64_t mask = (std::uint64_t{1} << 46U) - 1;
  std::uint64_t power = 1220703125, x = 314159265;
  for (; k > 0; k /= 2, power = power * power & mask)
    if (k % 2 == 1) x = x * power & mask;
  return std::ldexp(static_cast<double>(x), -46);
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  // [steps]
  auto p = everyone.partition<4, 1, 1>();
  auto transform = fourier_transform<0, 1, 2>(p);  // the layout of the spectrum is left to the kernel
  auto inverse = transform.inverse(cube);

  const field u = block_from(p, cube, [](auto z, auto y, auto x) {
    const std::uint64_t k = 2 * ((z * n + y) * n + x);
    return number(random_number(k + 1), random_number(k + 2));
  });
  const field waves = transform(u);
  const auto square = [](std::size_t i) {
    const double k = static_cast<double>(i < n / 2 ? i : n - i);
    return k * k;
  };
  const auto decay = block_from(transform.result_partition(cube), cube, [&](auto z, auto y, auto x) {
    return -4e-6 * std::numbers::pi * std::numbers::pi * (square(x) + square(y) + square(z));
  });

  double off = 0;
  for (std::size_t t = 1; t <= steps; ++t) {
    const field v = inverse(waves * xt::exp(decay * static_cast<double>(t)));
    // the sum of 1024 elements: each worker adds those of its slab
    const auto mine = balanced_part(n, 4, everyone.id());
    number sum = 0;
    for (std::size_t j = 1; j <= 1024; ++j)
      if (const std::size_t z = 5 * j % n; z >= mine.start && z < mine.stop) sum += v(z - mine.start, 3 * j % n, j % n);
    sum = sum_over(everyone, sum);
    off = std::max(off, std::abs(sum - published[t - 1]) / std::abs(sum));
    if (everyone.id() == 0) std::cout << "step " << t << ": " << std::setprecision(13) << sum << "\n";
  }
  // [/steps]
  if (everyone.id() == 0)
    std::cout
        << transform.plan(cube) << inverse.plan(cube) << "The sums differ from the published ones by " << off
        << ".\nLook at: a step takes one move, because the spectrum stays in the layout that the transform chose.\n";
  return off < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}
