// Reductions other than sums, and operators that are composed and added, on 6 workers.
#include <cstdlib>
#include <iostream>
#include <partita/partita.hpp>
#include <sstream>

using namespace partita;
using vector = xt::xtensor<double, 1>;

// [own]
/// The reduction to the element that is farthest from 0; of two elements with the same distance, to the positive one.
struct farthest {
  static constexpr double identity() { return 0; }
  constexpr double operator()(double a, double b) const {
    return a * a > b * b ? a : b * b > a * a ? b : a > b ? a : b;
  }
};
// [/own]

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  world everyone;
  const auto id = static_cast<double>(everyone.id());
  // [reduce]
  auto p = everyone.partition<2, 3>();        // workers 0 1 2 above 3 4 5
  auto columns = everyone.partition<1, 3>();  // workers 0 1 2, one for each column of p
  const vector x{id, 0 - 2 * id};
  reduce highest(p, columns, maximum);
  const auto y = highest(x);  // worker k of 0 1 2 gets the larger elements of workers k and k + 3
  // [/reduce]
  // [all]
  all_reduce lowest(p, dimensions<1>, minimum);  // every worker gets the minimum of its row of workers
  const auto z = lowest(x);
  all_reduce farthest_of_all(p, all_dimensions_but<>, farthest{});  // over all workers, by the reduction defined above
  const auto w = farthest_of_all(x);
  all_reduce average(p, dimensions<0, 1>, mean);
  const auto m = average(x), dx = average.adjoint(m);  // a mean is linear, and is its own adjoint
  // [/all]

  // [compose]
  sum_reduce column_sum(p, columns);                     // sums each column on its first worker
  broadcast column_copy(columns, p);                     // copies a block from the first worker to its column
  auto sum_and_copy = compose(column_sum, column_copy);  // one operator that computes column_copy(column_sum(x))
  const auto sums = sum_and_copy(x);                     // from the third call on, both kernels share one agreement
  const auto dx_of_sums = sum_and_copy.adjoint(sums);    // computes column_sum.adjoint(column_copy.adjoint(sums))
  auto later = sum_and_copy.start(x);                    // starts column_sum; finish() runs column_copy
  const auto same_sums = later.finish();
  auto doubled = add(sum_and_copy,
                     sum_and_copy);  // the operator x -> sum_and_copy(x) + sum_and_copy(x), which also has an adjoint
  const auto products =
      adjoint_test(everyone, compose(doubled, sum_and_copy), x, sums);  // computes <K x, y> and <x, K* y>
  // [/compose]

  const double k = static_cast<double>(everyone.id() % 3), row = everyone.id() < 3 ? 0 : 3;
  const bool right = (everyone.id() > 2 || y == vector{k + 3, -2 * k}) && z == vector{row, -2 * (row + 2)} &&
                     w == vector{5, -10} && m == vector{2.5, -5} && dx == m && sums == vector{2 * k + 3, -4 * k - 6} &&
                     dx_of_sums == 2 * sums && same_sums == sums && products.exact();
  std::ostringstream line;
  line << "worker " << everyone.id() << " gave " << x(0) << ", " << x(1) << ": lowest of its row " << z(0) << ", "
       << z(1) << "; sums of its column " << sums(0) << ", " << sums(1) << "\n";
  std::cout << line.str();
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
