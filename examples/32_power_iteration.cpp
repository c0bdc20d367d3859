// Computes the largest singular value of a matrix by power iteration with its adjoint, on 6 workers.
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <partita/partita.hpp>
#include <vector>

using namespace partita;

constexpr std::size_t rows = 50, columns = 35;
double a_at(std::size_t i, std::size_t j) {
  return std::sin(1.0 + static_cast<double>(i * j)) / (1.0 + 0.1 * static_cast<double>(i + j));
}
double start_at(std::size_t, std::size_t j) { return 1.0 + 0.01 * static_cast<double>(j); }

/// The largest singular value by 2000 steps of power iteration on one worker, as the reference result.
double sequential_result() {
  std::vector<double> x(columns, 1.0), y(rows);
  double length = 0;
  for (int step = 0; step < 2000; ++step) {
    for (std::size_t i = 0; i < rows; ++i) {
      y[i] = 0;
      for (std::size_t j = 0; j < columns; ++j) y[i] += a_at(i, j) * x[j];
    }
    length = 0;
    for (std::size_t j = 0; j < columns; ++j) {
      x[j] = 0;
      for (std::size_t i = 0; i < rows; ++i) x[j] += a_at(i, j) * y[i];
      length += x[j] * x[j];
    }
    length = std::sqrt(length);
    for (double& one : x) one /= length;
  }
  return std::sqrt(length);
}

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  // [power]
  auto p_a = everyone.partition<2, 3>();  // each worker has one of six blocks of the matrix
  auto p_x = everyone.partition<1, 3>();  // vectors are on workers 0 to 2
  auto p_y = everyone.partition<1, 2>(workers(4, 6));
  linear<double> a(p_x, p_y, p_a, {.in_features = columns, .out_features = rows, .bias = false});
  initialise(a, a_at);
  const auto length_of = [&](const auto& x) {  // every worker gets the length, so that all stop together
    return std::sqrt(sum_over(everyone, xt::sum<double>(x * x)()));
  };

  xt::xtensor<double, 2> x = block_from(p_x, extents<1, columns>{}, start_at);
  x /= length_of(x);
  double singular_value = 0, change = 1;
  std::size_t steps = 0;
  while (change > 1e-13 && steps < 1000) {
    x = a.adjoint(a(x));  // the largest eigenvalue of A* A is the square of the singular value
    const double length = length_of(x);
    x /= length;
    change = std::abs(std::sqrt(length) - singular_value) / std::sqrt(length);
    singular_value = std::sqrt(length);
    ++steps;
    if (everyone.id() == 0 && (steps & (steps - 1)) == 0)
      std::cout << "  after " << std::setw(3) << steps << " steps: " << std::setprecision(15) << singular_value << "\n";
  }
  // [/power]

  const double expected = sequential_result(), relative_error = std::abs(singular_value - expected) / expected;
  if (everyone.id() == 0)
    std::cout
        << "A " << rows << " x " << columns << " matrix on 2 x 3 workers stretches a vector at most "
        << std::setprecision(12) << singular_value << "-fold: found in\n"
        << steps << " steps; one worker alone finds the same within " << std::setprecision(2) << relative_error << ".\n"
        << "Look at: the way back is a.adjoint, not a second matrix. The blocks of A never move; of x and y only\n"
        << "a row travels. x is on workers 0 to 2, A x on 4 and 5.\n";
  return relative_error < 1e-10 ? EXIT_SUCCESS : EXIT_FAILURE;
}
