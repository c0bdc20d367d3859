// Compares random linear layers of all three algorithms with y = x W^T + b and its derivatives as plain loops: on any
// workers, with batches that change and become larger than the limit for the transposed product, and with gradients
// that accumulate over calls.
#include <partita/nn/linear.hpp>

#include "call_oracle.hpp"
#include "mpi_test.hpp"
#include "random_cases.hpp"

namespace {

using namespace partita;
using oracle::list;

/// Element (row, column) of the tensor with a given number; every worker can compute all elements.
double at(std::uint64_t tensor, std::size_t row, std::size_t column) {
  return oracle::value<double>(tensor, row % 64, column + 131 * (row / 64));
}

struct layer_case {
  oracle::arrangement x, y, w;
  std::size_t in, out;
  bool bias;

  list columns_of_x(std::size_t me) const { return oracle::balanced(in, x.size())[x.place(me)]; }
  list columns_of_y(std::size_t me) const { return oracle::balanced(out, y.size())[y.place(me)]; }
  list rows_of_w(std::size_t me) const { return oracle::balanced(out, w.shape[0])[w.index(me)[0]]; }
  list columns_of_w(std::size_t me) const { return oracle::balanced(in, w.shape[1])[w.index(me)[1]]; }
  bool has_bias(std::size_t me) const { return bias && w.has(me) && w.index(me)[1] == 0; }
};

layer_case some_layer(oracle::random& choose, std::size_t workers, linear_algorithm algorithm) {
  list w = choose.grid(2, workers);
  if (algorithm == column_parallel) w = {oracle::volume(w), 1};
  if (algorithm == row_parallel) w = {1, oracle::volume(w)};
  const auto some = [&](std::size_t n) { return choose.some_of(workers, n); };
  layer_case c{{}, {}, {w, some(oracle::volume(w))}, choose.between(1, 14), choose.between(1, 14), !choose.once_in(3)};
  if (algorithm == weight_stationary) {
    c.x = {{1, w[1]}, some(w[1])};
    c.y = {{1, w[0]}, some(w[0])};
  } else {
    c.x = c.y = {{1, c.w.size()}, c.w.ids};
  }
  return c;
}

/// A block of rows x columns, as a batch of one or two dimensions.
template <std::size_t Rank>
xt::xtensor<double, Rank> block(std::size_t rows, const list& columns, std::uint64_t tensor) {
  std::array<std::size_t, Rank> shape{};
  shape.fill(1);
  shape[0] = Rank == 3 && rows % 2 == 0 ? 2 : rows;
  if (Rank == 3) shape[1] = rows / shape[0];
  shape[Rank - 1] = columns.size();
  xt::xtensor<double, Rank> b(shape);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < columns.size(); ++j) b.data()[r * columns.size() + j] = at(tensor, r, columns[j]);
  return b;
}

template <linear_algorithm Algorithm, std::size_t Rank>
void expect_layers(std::size_t number, std::uint64_t seed) {
  const world everyone(test::workers());
  const std::size_t me = everyone.id();
  oracle::random choose(oracle::seed_here(seed));
  std::size_t wrong = 0;
  const auto expect = [&](double is, double shall) { wrong += is == shall ? 0 : 1; };
  for (std::uint64_t made = 0; made < number;) {
    const layer_case c = some_layer(choose, everyone.size(), Algorithm);
    const auto on = [&](const oracle::arrangement& a) {
      return everyone.partition(extents(a.shape[0], a.shape[1]), workers(a.ids));
    };
    linear<double, Algorithm> layer(on(c.x), on(c.y), on(c.w),
                                    {.in_features = c.in, .out_features = c.out, .bias = c.bias});
    const list rows = c.w.has(me) ? c.rows_of_w(me) : list{}, columns = c.w.has(me) ? c.columns_of_w(me) : list{};
    const std::size_t biases = c.has_bias(me) ? rows.size() : 0;
    std::vector<double> dw(rows.size() * columns.size(), 0), db(biases, 0);
    layer.zero_gradients();
    for (std::size_t turns = choose.between(1, 12); turns > 0; --turns, made += 2, test::random_calls() += 2) {
      const std::uint64_t x = 5 * made, dy = x + 1, w = x + 2, b = x + 3;
      const std::size_t batch = choose.once_in(8) ? choose.between(60, 140) : choose.between(0, 40);
      const bool once_more = choose.once_in(3), forgets = choose.once_in(4);
      for (std::size_t o = 0; o < rows.size(); ++o)
        for (std::size_t i = 0; i < columns.size(); ++i) layer.weight()(o, i) = at(w, rows[o], columns[i]);
      for (std::size_t o = 0; o < biases; ++o) layer.bias()(o) = at(b, 0, rows[o]);

      if (once_more) layer(c.x.has(me) ? block<Rank>(3, c.columns_of_x(me), x) : zero_volume<double, Rank>(3));
      const auto y = layer(c.x.has(me) ? block<Rank>(batch, c.columns_of_x(me), x) : zero_volume<double, Rank>(batch));
      if (c.y.has(me)) {
        const list mine = c.columns_of_y(me);
        expect(static_cast<double>(y.size()), static_cast<double>(batch * mine.size()));
        for (std::size_t k = 0; k < y.size() && wrong == 0; ++k) {
          const std::size_t r = k / mine.size(), o = mine[k % mine.size()];
          double sum = c.bias ? at(b, 0, o) : 0;
          for (std::size_t i = 0; i < c.in; ++i) sum += at(x, r, i) * at(w, o, i);
          expect(y.data()[k], sum);
        }
      } else {
        expect(static_cast<double>(y.size()), 0);
      }

      if (forgets) {
        layer.zero_gradients();
        std::fill(dw.begin(), dw.end(), 0);
        std::fill(db.begin(), db.end(), 0);
      }
      const auto dx =
          layer.adjoint(c.y.has(me) ? block<Rank>(batch, c.columns_of_y(me), dy) : zero_volume<double, Rank>(batch));
      if (c.x.has(me)) {
        const list mine = c.columns_of_x(me);
        expect(static_cast<double>(dx.size()), static_cast<double>(batch * mine.size()));
        for (std::size_t k = 0; k < dx.size() && wrong == 0; ++k) {
          double sum = 0;
          for (std::size_t o = 0; o < c.out; ++o) sum += at(dy, k / mine.size(), o) * at(w, o, mine[k % mine.size()]);
          expect(dx.data()[k], sum);
        }
      } else {
        expect(static_cast<double>(dx.size()), 0);
      }
      for (std::size_t r = 0; r < batch; ++r)
        for (std::size_t o = 0; o < rows.size(); ++o) {
          for (std::size_t i = 0; i < columns.size(); ++i)
            dw[o * columns.size() + i] += at(dy, r, rows[o]) * at(x, r, columns[i]);
          if (biases > 0) db[o] += at(dy, r, rows[o]);
        }
      for (std::size_t k = 0; k < dw.size(); ++k) expect(layer.weight_gradient().data()[k], dw[k]);
      for (std::size_t k = 0; k < db.size(); ++k) expect(layer.bias_gradient().data()[k], db[k]);
      expect(static_cast<double>(layer.bias_gradient().size()), static_cast<double>(db.size()));
    }
  }
  BOOST_TEST(wrong == 0U);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_layers)

BOOST_AUTO_TEST_CASE(with_weights_cut_both_ways_are_what_the_loops_compute) {
  expect_layers<weight_stationary, 2>(test::random_cases(700), 1);
  expect_layers<weight_stationary, 3>(test::random_cases(300), 2);
}

BOOST_AUTO_TEST_CASE(that_gather_their_input_are_what_the_loops_compute) {
  expect_layers<column_parallel, 2>(test::random_cases(500), 3);
  expect_layers<column_parallel, 3>(test::random_cases(100), 4);
}

BOOST_AUTO_TEST_CASE(that_scatter_their_sums_are_what_the_loops_compute) {
  expect_layers<row_parallel, 2>(test::random_cases(500), 5);
  expect_layers<row_parallel, 3>(test::random_cases(100), 6);
}

BOOST_AUTO_TEST_SUITE_END()
