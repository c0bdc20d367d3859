// Solves Poisson's equation in a periodic box by pencil Fourier transforms, forward and inverse, on 4 workers.
#include <fftw3.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <iostream>
#include <numbers>
#include <partita/partita.hpp>

using namespace partita;
using number = std::complex<double>;
using field = xt::xtensor<number, 3>;

/// A known solution, and minus its Laplacian. Their Fourier series are infinite.
double u_at(double x, double y, double z) { return std::exp(std::sin(x) + std::cos(y)) * std::cos(z); }
double f_at(double x, double y, double z) {
  const double bent = std::cos(x) * std::cos(x) - std::sin(x) + std::sin(y) * std::sin(y) - std::cos(y) - 1;
  return -bent * u_at(x, y, z);
}

/// Transforms every line along dimension d in place: a loop runs over the dimensions before d, FFTW's batch over those
/// after d.
void transform(field& x, std::size_t d, int direction) {
  if (x.size() == 0) return;
  std::size_t before = 1, behind = 1;
  for (std::size_t e = 0; e < d; ++e) before *= x.shape(e);
  for (std::size_t e = d + 1; e < 3; ++e) behind *= x.shape(e);
  const int length = static_cast<int>(x.shape(d)), lines = static_cast<int>(behind);
  for (std::size_t b = 0; b < before; ++b) {
    auto* const data = reinterpret_cast<fftw_complex*>(x.data() + b * x.shape(d) * behind);
    const auto plan = fftw_plan_many_dft(1, &length, lines, data, nullptr, lines, 1, data, nullptr, lines, 1, direction,
                                         FFTW_ESTIMATE);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
  }
}

/// The largest error of the solution on n x n x n points.
double error_on(const world& everyone, std::size_t n) {
  const double h = 2 * std::numbers::pi / static_cast<double>(n);
  const extents box(n, n, n);
  // [solve]
  auto along_2 = everyone.partition<2, 2, 1>();  // dimension 2 is whole on every worker
  auto along_1 = everyone.partition<2, 1, 2>();
  auto along_0 = everyone.partition<1, 2, 2>();
  repartition first(along_2, along_1);
  repartition second(along_1, along_0);

  field f = block_from<number>(along_2, box, [&](auto... i) { return f_at(h * double(i)...); });
  transform(f, 2, FFTW_FORWARD);
  field g = first(f);
  transform(g, 1, FFTW_FORWARD);
  field waves = second(g);
  transform(waves, 0, FFTW_FORWARD);

  // minus the Laplacian multiplies wave (a, b, c) by a^2 + b^2 + c^2: the worker that holds the wave divides by it
  const auto square = [n](std::size_t i) {
    const double k = static_cast<double>(i < n - i ? i : n - i);
    return k * k;
  };
  const double points = static_cast<double>(n * n * n);  // FFTW's two transforms multiply by their number
  waves *= block_from<number>(along_0, box, [&](auto i, auto j, auto k) {
    const double by = square(i) + square(j) + square(k);
    return by > 0 ? 1 / (by * points) : 0.0;  // wave 0 is the mean, which the equation leaves free
  });

  transform(waves, 0, FFTW_BACKWARD);
  g = second.adjoint(waves);  // the adjoint of a repartition moves every element back
  transform(g, 1, FFTW_BACKWARD);
  field u = first.adjoint(g);
  transform(u, 2, FFTW_BACKWARD);
  // [/solve]

  const field known = block_from<number>(along_2, box, [&](auto... i) { return u_at(h * double(i)...); });
  double off = 0;
  for (std::size_t k = 0; k < u.size(); ++k) off = std::max(off, std::abs(u.data()[k] - known.data()[k]));
  return all_reduce(everyone.partition<4>(), dimensions<0>, maximum)(as_rank<1>({off}))(0);
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const bool speaks = everyone.id() == 0;
  if (speaks) std::cout << "-(u_xx + u_yy + u_zz) = f in a periodic box, u known: exp(sin x + cos y) cos z.\n";
  double off = 0;
  for (const std::size_t n : {6U, 12U, 18U, 24U, 30U}) {
    off = error_on(everyone, n);
    if (speaks) std::cout << "  " << n << " points a side: the farthest from u is " << off << "\n";
  }
  if (speaks)
    std::cout
        << "Look at: every few points more a side give some more digits, until those of a double are used up.\n"
        << "That is what Fourier's waves give a smooth u; differences of neighbours would give a factor of 4 for\n"
        << "twice the points. Four movements do it: two repartitions there, their adjoints back.\n";
  return off < 1e-11 ? EXIT_SUCCESS : EXIT_FAILURE;
}
