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
  const values wanted =
      xt::sin(xt::arange<double>(static_cast<double>(a.columns().start), static_cast<double>(a.columns().stop)));
  const values b = a(wanted);
  // [/load]
  const auto dot = [&](const values& x, const values& y) { return sum_over(everyone, xt::sum<double>(x * y)()); };
  values x = xt::zeros_like(b), r = b, p = b;
  double left = dot(r, r);
  const double enough = 1e-24 * left;
  int steps = 0;
  for (; left > enough && steps < 1000; ++steps) {
    const values q = a(p);
    const double length = left / dot(p, q), before = left;
    x += length * p;
    r -= length * q;
    left = dot(r, r);
    p = r + (left / before) * p;
  }
  const values error = x - wanted;
  const double off = std::sqrt(dot(error, error) / dot(wanted, wanted));
  const double entries = sum_over(everyone, static_cast<double>(a.entries()));
  if (everyone.id() == 0)
    std::cout << "a matrix of " << entries << " entries: " << steps << " steps, "
              << (off < 1e-9 ? "the solution is as wanted\n" : "the solution is wrong\n");
  return off < 1e-9 ? EXIT_SUCCESS : EXIT_FAILURE;
}
