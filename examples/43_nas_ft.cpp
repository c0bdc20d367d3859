// The NAS benchmark FT of class S, W or A (an argument): one forward transform, one inverse in each step, on 4 workers.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <numbers>
#include <partita/kernel/fourier_transform.hpp>
#include <partita/partita.hpp>
#include <string>

using namespace partita;
using number = std::complex<double>;

/// Bailey et al., The NAS Parallel Benchmarks, RNR-94-007, section 2.7, and the published sums after each step.
struct benchmark_class {
  std::size_t points[3];
  double real[6], imaginary[6];
};
const benchmark_class classes[] = {
    {{64, 64, 64},
     {554.6087004964, 554.6385409190, 554.6148406171, 554.5423607415, 554.4255039624, 554.2683411903},
     {484.5363331978, 486.5304269511, 488.3910722337, 490.1273169046, 491.7475857993, 493.2597244941}},
    {{32, 128, 128},
     {567.3612178944, 563.1436885271, 559.4024089970, 556.0698047020, 553.0898991250, 550.4159734538},
     {529.3246849175, 528.2149986629, 527.0996558037, 526.0027904925, 524.9400845633, 523.9212247086}},
    {{128, 256, 256},
     {504.6735008193, 505.9412319734, 506.9376896287, 507.7892868474, 508.5233095391, 509.1487099959},
     {511.4047905510, 509.8809666433, 509.8144042213, 510.1336130759, 510.4914655194, 510.7917842803}}};

/// The k-th number of the benchmark's random generator: 5^(13 k) s modulo 2^46, with the seed s = 314159265, divided by
/// 2^46.
double random_number(std::uint64_t k) {
  std::uint64_t mask = (std::uint64_t{1} << 46U) - 1, power = 1220703125, x = 314159265;
  for (; k > 0; k /= 2, power = power * power & mask)
    if (k % 2 == 1) x = x * power & mask;
  return std::ldexp(static_cast<double>(x), -46);
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const std::string name = argc > 1 ? argv[1] : "S";
  const auto& c = classes[name == "A" ? 2 : name == "W" ? 1 : 0];
  // [steps]
  auto p = everyone.partition<4, 1, 1>();
  auto transform = fourier_transform<0, 1, 2>(p);  // the kernel chooses the layout of the spectrum
  const std::size_t nz = c.points[0], ny = c.points[1], nx = c.points[2];
  const extents points(nz, ny, nx);
  auto inverse = transform.inverse(points);

  const auto waves = transform(block_from(p, points, [&](auto z, auto y, auto x) {
    const std::uint64_t k = 2 * ((z * ny + y) * nx + x);
    return number(random_number(k + 1), random_number(k + 2));
  }));
  const auto square = [](std::size_t i, std::size_t n) { return std::pow(std::min(i, n - i), 2); };
  const auto decay = block_from(transform.result_partition(points), points, [&](auto z, auto y, auto x) {
    return -4e-6 * std::numbers::pi * std::numbers::pi * (square(x, nx) + square(y, ny) + square(z, nz));
  });

  double error = 0;
  for (std::size_t t = 1; t <= 6; ++t) {
    const auto v = inverse(waves * xt::exp(decay * static_cast<double>(t)));
    // the sum of 1024 elements: each worker adds the elements of its slab
    const auto mine = balanced_part(nz, 4, everyone.id());
    number sum = 0;
    for (std::size_t j = 1; j <= 1024; ++j)
      if (const std::size_t z = 5 * j % nz; z >= mine.start && z < mine.stop)
        sum += v(z - mine.start, 3 * j % ny, j % nx);
    sum = sum_over(everyone, sum);
    error = std::max(error, std::abs(sum / number(c.real[t - 1], c.imaginary[t - 1]) - 1.0));
    if (everyone.id() == 0) std::cout << "step " << t << ": " << std::setprecision(13) << sum << "\n";
  }
  // [/steps]
  if (everyone.id() == 0)
    std::cout << transform.plan(points) << inverse.plan(points) << "Class " << name << ": the sums differ by " << error
              << " from the published ones.\n"
                 "Look at: a step takes one move, as the spectrum stays in the layout that the transform chose.\n";
  return error < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}
