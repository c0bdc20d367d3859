// Conjugate gradients on an unstructured mesh whose matrix is read from a Matrix Market file, on 4 workers.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <partita/io/matrix_market.hpp>
#include <partita/partita.hpp>
#include <string>

using namespace partita;
using values = xt::xtensor<double, 1>;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  const std::string path = argc > 1 ? argv[1] : DIGITS_DATA "/mesh.mtx";
  // [load]
  const auto a = load_matrix_market<double>(path, everyone);  // the matrix is symmetric and positive definite
  const values expected =
      xt::sin(xt::arange<double>(static_cast<double>(a.columns().start), static_cast<double>(a.columns().stop)));
  const values b = a(expected);
  // [/load]
  const auto dot = [&](const values& x, const values& y) { return sum_over(everyone, xt::sum<double>(x * y)()); };
  values x = xt::zeros_like(b), r = b, p = b;
  double residual_square = dot(r, r);
  const double tolerance = 1e-24 * residual_square;
  int steps = 0;
  for (; residual_square > tolerance && steps < 1000; ++steps) {
    const values q = a(p);
    const double length = residual_square / dot(p, q), before = residual_square;
    x += length * p;
    r -= length * q;
    residual_square = dot(r, r);
    p = r + (residual_square / before) * p;
  }
  const values error = x - expected;
  const double relative_error = std::sqrt(dot(error, error) / dot(expected, expected));
  const double entries = sum_over(everyone, static_cast<double>(a.entries()));
  if (everyone.id() == 0)
    std::cout << "a matrix of " << entries << " entries: " << steps << " steps, "
              << (relative_error < 1e-9 ? "the solution is as wanted\n" : "the solution is wrong\n");
  return relative_error < 1e-9 ? EXIT_SUCCESS : EXIT_FAILURE;
}
