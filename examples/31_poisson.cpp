// Solves Poisson's equation in a periodic box by Fourier transforms, forward and inverse, on 4 workers.
#include <cmath>
#include <complex>
#include <cstdlib>
#include <iostream>
#include <numbers>
#include <partita/kernel/fourier_transform.hpp>
#include <partita/partita.hpp>

using namespace partita;
using field = xt::xtensor<double, 3>;

/// A known solution u of Poisson's equation, and f = -Laplacian(u). The Fourier series of u and f are infinite.
double u_at(double x, double y, double z) { return std::exp(std::sin(x) + std::cos(y)) * std::cos(z); }
double f_at(double x, double y, double z) {
  const double laplacian_factor = std::cos(x) * std::cos(x) - std::sin(x) + std::sin(y) * std::sin(y) - std::cos(y) - 1;
  return -laplacian_factor * u_at(x, y, z);
}

/// The largest error of the computed solution on n x n x n points.
double error_on(const world& everyone, std::size_t n) {
  const double h = 2 * std::numbers::pi / static_cast<double>(n);
  const extents box(n, n, n);
  // [solve]
  auto p = everyone.partition<2, 2, 1>();
  // transforms real numbers to half of their spectrum, whose layout the kernel chooses, and back
  auto transform = fourier_transform<0, 1, 2>(p, real_to_complex, {.real_extent = n});
  auto inverse = transform.inverse(box);

  const field f = block_from(p, box, [&](auto... i) { return f_at(h * double(i)...); });
  xt::xtensor<std::complex<double>, 3> waves = transform(f);

  // minus the Laplacian multiplies wave (a, b, c) by a^2 + b^2 + c^2: the wave's worker divides it by this number
  const auto square = [n](std::size_t i) {
    const double k = static_cast<double>(i < n - i ? i : n - i);
    return k * k;
  };
  waves *= block_from(transform.result_partition(box), extents(n, n, n / 2 + 1), [&](auto a, auto b, auto c) {
    const double by = square(a) + square(b) + square(c);
    return by > 0 ? 1 / by : 0.0;  // wave 0 is the mean, which the equation does not determine
  });
  const field u = inverse(waves);
  // [/solve]

  const field expected = block_from(p, box, [&](auto... i) { return u_at(h * double(i)...); });
  double largest_error = 0;
  for (std::size_t k = 0; k < u.size(); ++k)
    largest_error = std::max(largest_error, std::abs(u.data()[k] - expected.data()[k]));
  return all_reduce(everyone.partition<4>(), dimensions<0>, maximum)(as_rank<1>({largest_error}))(0);
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const bool prints = everyone.id() == 0;
  if (prints) std::cout << "-(u_xx + u_yy + u_zz) = f in a periodic box, u known: exp(sin x + cos y) cos z.\n";
  double largest_error = 0;
  for (const std::size_t n : {6U, 12U, 18U, 24U, 30U}) {
    largest_error = error_on(everyone, n);
    if (prints) std::cout << "  " << n << " points a side: the farthest from u is " << largest_error << "\n";
  }
  if (prints)
    std::cout
        << "Look at: every few points more a side give some more digits, until those of a double are used up.\n"
        << "That is what Fourier's waves give a smooth u; differences of neighbours would give a factor of 4 for\n"
        << "twice the points. Two moves do it, of half of a spectrum each: one there, and one back.\n";
  return largest_error < 1e-11 ? EXIT_SUCCESS : EXIT_FAILURE;
}
