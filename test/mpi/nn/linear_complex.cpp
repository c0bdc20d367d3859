// Compares the linear layer on complex elements with explicit sums of integers, so results are exact.
#include "mpi_test.hpp"

#include <complex>
#include <partita/kernel/adjoint_test.hpp>
#include <partita/nn/initialise.hpp>
#include <partita/nn/linear.hpp>
#include <partita/nn/optimiser.hpp>
#include <partita/plan/cut.hpp>

namespace {

using namespace partita;
using number = std::complex<double>;
using matrix = xt::xtensor<number, 2>;

number integer(std::size_t a, std::size_t b) {
  return {static_cast<double>(a % 9) - 4, static_cast<double>(b % 7) - 3};
}
number x_at(std::size_t row, std::size_t i) { return integer(3 * row + 5 * i, 2 * row + i + 1); }
number w_at(std::size_t o, std::size_t i) { return integer(7 * o + 3 * i, 5 * o + i + 2); }
number dy_at(std::size_t row, std::size_t o) { return integer(2 * row + 3 * o, row + 4 * o); }

template <class P, class At>
matrix block(const P& p, std::size_t rows, std::size_t features, At at) {
  if (!p.active()) return zero_volume<number, 2>(rows);
  const interval own = balanced_part(features, p.size(), p.index()[1]);
  matrix x({rows, own.size()});
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < own.size(); ++j) x(r, j) = at(r, own.start + j);
  return x;
}

struct features {
  std::size_t batch, in, out;
};

/// Checks dx = dy conj(W), dW = dy^T conj(x), db = the sum of the rows of dy, and <F x, y> == <x, F* y>.
template <linear_algorithm Algorithm>
void expect_adjoint(const std::array<std::size_t, 2>& ends, const std::array<std::size_t, 2>& grid, const features& f) {
  const world everyone(test::workers());
  const auto p_x = everyone.partition(extents(1, ends[0])), p_y = everyone.partition(extents(1, ends[1]));
  const auto p_w = everyone.partition(extents(grid[0], grid[1]));
  linear<number, Algorithm> layer(p_x, p_y, p_w, {.in_features = f.in, .out_features = f.out});
  initialise(layer, w_at);
  const matrix x = block(p_x, f.batch, f.in, x_at), dy = block(p_y, f.batch, f.out, dy_at);
  const matrix y = layer(x);
  BOOST_TEST((!p_y.active() || y == block(p_y, f.batch, f.out, [&](std::size_t r, std::size_t o) {
                                 number sum = 0;
                                 for (std::size_t i = 0; i < f.in; ++i) sum += x_at(r, i) * w_at(o, i);
                                 return sum;
                               })));
  for (int times = 1; times <= 2; ++times) {  // gradients accumulate
    const matrix dx = layer.adjoint(dy);
    BOOST_TEST((!p_x.active() || dx == block(p_x, f.batch, f.in, [&](std::size_t r, std::size_t i) {
                                   number sum = 0;
                                   for (std::size_t o = 0; o < f.out; ++o) sum += dy_at(r, o) * std::conj(w_at(o, i));
                                   return sum;
                                 })));
    const box<2> mine = layer.weight_box();
    std::size_t wrong = 0;
    for (std::size_t o = mine.start[0]; o < mine.stop[0]; ++o) {
      number bias = 0;
      for (std::size_t r = 0; r < f.batch; ++r) bias += dy_at(r, o);
      if (layer.bias().size() != 0 && layer.bias_gradient()(o - mine.start[0]) != double(times) * bias) ++wrong;
      for (std::size_t i = mine.start[1]; i < mine.stop[1]; ++i) {
        number sum = 0;
        for (std::size_t r = 0; r < f.batch; ++r) sum += dy_at(r, o) * std::conj(x_at(r, i));
        if (layer.weight_gradient()(o - mine.start[0], i - mine.start[1]) != double(times) * sum) ++wrong;
      }
    }
    BOOST_TEST(wrong == 0U);
  }
  const auto products = adjoint_test(everyone, layer, x, dy);
  BOOST_TEST(products.exact());
  BOOST_TEST(products.forward.imag() != 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(a_complex_linear_layer)

BOOST_AUTO_TEST_CASE(has_the_conjugated_adjoint_by_every_algorithm) {
  const std::size_t n = static_cast<std::size_t>(test::number_of_workers());
  for (const features& f : {features{3, 7, 5}, {1, 4, 6}, {20, 9, 4}}) {  // more rows than features, and fewer
    expect_adjoint<weight_stationary>({1, n}, {n, 1}, f);
    expect_adjoint<weight_stationary>({n, 1}, {1, n}, f);
    expect_adjoint<column_parallel>({n, n}, {n, 1}, f);
    expect_adjoint<row_parallel>({n, n}, {1, n}, f);
  }
}

BOOST_AUTO_TEST_CASE(descends_along_its_weight_gradient) {
  const world everyone(test::workers());
  const auto one = everyone.partition<1, 1>();
  linear<number> layer(one, one, one, {.in_features = 3, .out_features = 2});
  const matrix x = block(one, 4, 3, x_at), wanted = block(one, 4, 2, dy_at);
  sgd<number> optimiser(layer.parameters(), {.learning_rate = 1e-3});
  double before = 0, slope = 0, after = 0;
  for (double* loss : {&before, &after}) {  // |y - wanted|^2, whose gradient is 2 (y - wanted)
    const matrix difference = layer(x) - wanted;
    for (const number& d : difference) *loss += std::norm(d);
    layer.zero_gradients();
    layer.adjoint(matrix(2.0 * difference));
    if (loss == &after) break;
    for (const number& g : layer.weight_gradient()) slope += std::norm(g);
    for (const number& g : layer.bias_gradient()) slope += std::norm(g);
    optimiser.step();
  }
  // the gradient is the direction of steepest descent
  if (one.active()) BOOST_TEST(std::abs((before - after) / (1e-3 * slope) - 1) < 0.15);
}

BOOST_AUTO_TEST_SUITE_END()
