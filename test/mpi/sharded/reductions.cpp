// Reductions along dimensions, compared with loops: on arrays, typed, run-time and traced tensors, in random layouts,
// with gradients; and a reduction that the library does not have, in kernels and of sharded tensors.
#include "check_operation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <partita/comm/over_workers.hpp>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/clip.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/value_and_gradient.hpp>

using namespace partita;

namespace {

using matrix = xt::xtensor<double, 2>;
using v = std::vector<test::tensor>;

// [own]
/// sqrt(a² + b²): the Euclidean length of all elements.
struct length {
  static constexpr const char* name = "length";
  static constexpr double identity() { return 0; }
  double operator()(double a, double b) const { return std::hypot(a, b); }
  static double derivative(double x, double y) { return y == 0 ? 0 : x / y; }
};
// [/own]

/// Elements between -2 and 2, all different.
matrix given(std::size_t rows, std::size_t columns) {
  matrix x({rows, columns});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = 2 * std::sin(1 + 1.7 * static_cast<double>(k));
  return x;
}
/// Elements 0, 1 and 2: the first row has no 0, the second one, the others several; each has its extremes several
/// times.
matrix given_with_ties(std::size_t rows, std::size_t columns) {
  matrix x({rows, columns});
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < columns; ++k)
      x(i, k) = static_cast<double>(i == 0 ? 1 + k % 2 : i == 1 ? (k == 3 ? 0 : 2) : (k * k + i) % 3);
  return x;
}
template <class X>
bool are_near(const X& a, const X& b) {
  bool all = a.shape() == b.shape();
  for (std::size_t k = 0; all && k < a.size(); ++k)
    all = std::abs(a.data()[k] - b.data()[k]) <= 1e-13 * (1 + std::abs(b.data()[k]));
  return all;
}
/// Checks f(x) and the gradient of its weighted sum, for each kind of tensor and every layout. `define` gives a row's
/// value, `derive` the derivative of that value by element k of the row.
template <class F, class Define, class Derive>
void check_rows(const world& everyone, const char* name, const F& f, const Define& define, const Derive& derive,
                matrix (*made)(std::size_t, std::size_t) = &given) {
  const mesh m{axis{"a", everyone.size()}};
  constexpr mesh one{axis{"a", 1}};
  for (const std::size_t rows : {std::size_t{1}, std::size_t{5}}) {
    const std::size_t n = 7;
    const matrix x = made(rows, n);
    xt::xtensor<double, 1> y = xt::zeros<double>({rows}), c = y;
    matrix dx = x;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::vector<double> row(x.data() + i * n, x.data() + (i + 1) * n);
      y(i) = define(row);
      c(i) = 1 + 0.5 * static_cast<double>(i);
      for (std::size_t k = 0; k < n; ++k) dx(i, k) = c(i) * derive(row, k, y(i));
    }
    const auto loss_by = [&](const auto& weights) {
      return [&f, &weights](const auto& u) { return sum(multiply(f(u), weights)); };
    };
    BOOST_TEST(are_near(xt::xtensor<double, 1>(f(x)), y), name << " of arrays");
    BOOST_TEST(are_near(std::get<0>(value_and_gradient(loss_by(c), x).gradients), dx), name << " of arrays");
    const auto typed = shard<one.layout("a", "")>(everyone, x);
    const auto of_typed = f(typed).whole();
    if (everyone.id() == 0) BOOST_TEST(are_near(of_typed, y), name << " of typed tensors");
    for (const sharding& s : test::layouts(m, 2)) {
      const auto u = shard(everyone, s, x), w = shard(everyone, m.layout(""), c);
      const auto whole = [&](const auto& one_of) { return reshard(one_of, m.layout("")).template whole<1>(); };
      BOOST_TEST(are_near(whole(f(u)), y), name << ' ' << s);
      const auto d = std::get<0>(value_and_gradient(loss_by(w), u).gradients);
      BOOST_TEST(are_near(reshard(d, m.layout("", "")).template whole<2>(), dx), name << ' ' << s);
      const auto program = trace(f, spec(s, shape_list{rows, n}));
      BOOST_TEST(are_near(whole(program(u)), y), name << " traced " << s);
      auto step = program.template bind<double>(everyone, {0});
      BOOST_TEST(are_near(whole(step(u)), y), name << " bound " << s);
      BOOST_TEST(
          are_near(
              reshard(step.backward(reshard(w, cotangent(step(u).layout())))[0], m.layout("", "")).template whole<2>(),
              dx),
          name << " bound " << s);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(reductions_of_small_arrays_are_these_numbers) {
  const matrix x{{1, 2, 3}, {0, 5, 4}};
  using row = xt::xtensor<double, 1>;
  BOOST_TEST((product_of(x, dimensions<1>) == row{6, 0}));
  BOOST_TEST((any_of(x, dimensions<0>) == row{1, 1, 1}));
  BOOST_TEST((all_of(x, dimensions<1>) == row{1, 0}));
  BOOST_TEST((argmin(x, dimensions<1>) == row{0, 0}));
  BOOST_TEST((argmin(x, dimensions<0>) == row{1, 0, 0}));
  BOOST_TEST((variance(x, dimensions<1>) == row{1, 7}));
  BOOST_TEST((variance(x, dimensions<0>, 0) == row{0.25, 2.25, 0.25}));
  BOOST_TEST((sum(x, dimensions<1>, keep_dimensions) == matrix{{6}, {9}}));
  BOOST_TEST((mean(x, dimensions<1>, keep_dimensions) == matrix{{2}, {3}}));
  BOOST_TEST((maximum(x, dimensions<0>, keep_dimensions) == matrix{{1, 5, 4}}));
  BOOST_TEST((minimum(x, dimensions<0, 1>, keep_dimensions) == matrix{{0}}));
  BOOST_TEST((reduce_along<length>(matrix{{3, 4}, {0, 0}}, dimensions<1>) == row{5, 0}));
}

BOOST_AUTO_TEST_CASE(integer_reductions_are_those_of_the_whole_in_all_layouts) {
  const world everyone(test::workers());
  std::mt19937 random(17);
  const auto small = [](const test::tensor& x) { return clip(subtract(x, 23), -1, 2); };
  for (std::size_t k = 0; k < test::random_cases(30); ++k) {
    const std::size_t a = random() % 7, b = random() % 7, c = 1 + random() % 3;
    test::check(everyone, "product", random, {{a, b}},
                [&](const v& x) { return product_of(small(x[0]), dimensions<1>); });
    test::check(everyone, "product of all", random, {{a, c}},
                [&](const v& x) { return product_of(small(x[0]), dimensions<0, 1>, keep_dimensions); });
    test::check(everyone, "any", random, {{a, b}}, [&](const v& x) { return any_of(small(x[0]), dimensions<0>); });
    test::check(everyone, "all", random, {{a, b, c}},
                [&](const v& x) { return all_of(small(x[0]), dimensions<0, 2>, keep_dimensions); });
    test::check(everyone, "sum", random, {{a, b, c}},
                [](const v& x) { return sum(x[0], dimensions<1>, keep_dimensions); });
    test::check(everyone, "maximum", random, {{c, b}},
                [](const v& x) { return maximum(x[0], dimensions<0>, keep_dimensions); });
    test::check(everyone, "argmin", random, {{a, c}}, [](const v& x) { return argmin(x[0], dimensions<1>); });
  }
}

BOOST_AUTO_TEST_CASE(reductions_of_real_numbers_and_their_gradients_are_loops) {
  const world everyone(test::workers());
  using row = std::vector<double>;
  for (const auto made : {&given, &given_with_ties})
    check_rows(
        everyone, "product", [](const auto& x) { return product_of(x, dimensions<1>); },
        [](const row& r) {
          double y = 1;
          for (const double e : r) y *= e;
          return y;
        },
        [](const row& r, std::size_t k, double) {
          double others = 1;
          for (std::size_t j = 0; j < r.size(); ++j) others *= j == k ? 1 : r[j];
          return others;
        },
        made);
  const auto share = [](const row& r, std::size_t k, double y) {  // equal for all elements that are the extreme
    return r[k] == y ? 1 / static_cast<double>(std::count(r.begin(), r.end(), y)) : 0;
  };
  check_rows(
      everyone, "maximum", [](const auto& x) { return maximum(x, dimensions<1>); },
      [](const row& r) { return *std::max_element(r.begin(), r.end()); }, share, &given_with_ties);
  check_rows(
      everyone, "minimum", [](const auto& x) { return minimum(x, dimensions<1>); },
      [](const row& r) { return *std::min_element(r.begin(), r.end()); }, share, &given_with_ties);
  const auto log_of_sum = [](const row& r) {
    double y = 0;
    for (const double e : r) y += std::exp(e);
    return std::log(y);
  };
  check_rows(
      everyone, "log_sum_exp", [](const auto& x) { return log_sum_exp(x, dimensions<1>); }, log_of_sum,
      [](const row& r, std::size_t k, double y) { return std::exp(r[k] - y); });
  const auto mean_of = [](const row& r) {
    double total = 0;
    for (const double e : r) total += e;
    return total / static_cast<double>(r.size());
  };
  check_rows(
      everyone, "variance", [](const auto& x) { return variance(x, dimensions<1>); },
      [&](const row& r) {
        double total = 0;
        for (const double e : r) total += (e - mean_of(r)) * (e - mean_of(r));
        return total / static_cast<double>(r.size() - 1);
      },
      [&](const row& r, std::size_t k, double) { return 2 * (r[k] - mean_of(r)) / static_cast<double>(r.size() - 1); });
  check_rows(
      everyone, "a reduction of the program", [](const auto& x) { return reduce_along<length>(x, dimensions<1>); },
      [](const row& r) {
        double y = 0;
        for (const double e : r) y += e * e;
        return std::sqrt(y);
      },
      [](const row& r, std::size_t k, double y) { return r[k] / y; });
}

BOOST_AUTO_TEST_CASE(log_sum_exp_does_not_overflow_and_passes_infinity_and_nan_on) {
  const double endless = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
  const matrix x{{1000, 1000}, {-endless, 3}, {-endless, -endless}, {endless, 1}, {none, endless}};
  const auto y = log_sum_exp(x, dimensions<1>);
  BOOST_TEST((y(0) == 1000 + std::log(2.0) && y(1) == 3 && y(2) == -endless && y(3) == endless && y(4) != y(4)));
}

BOOST_AUTO_TEST_CASE(a_pending_log_sum_exp_is_taken_by_a_reshard) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const matrix x = given(3, 5);
  const auto y = log_sum_exp(shard(everyone, m.layout("", "a"), x), dimensions<1>);
  BOOST_TEST((y.layout() == m.layout("").partial("a", pending_reduction::log_sum_exp)));
  const auto whole = reshard(y, m.layout("")).whole<1>();
  BOOST_TEST(are_near(whole, xt::xtensor<double, 1>(log_sum_exp(x, dimensions<1>))));
}

BOOST_AUTO_TEST_CASE(the_same_reductions_are_those_of_kernels) {
  const world everyone(test::workers());
  const double n = static_cast<double>(everyone.size());
  const auto one_of_each = [](double x) { return xt::xtensor<double, 1>{x}; };
  BOOST_TEST(are_near(reduce_over(everyone, one_of_each(1), reductions::log_sum_exp), one_of_each(1 + std::log(n))));
  BOOST_TEST(are_near(reduce_over(everyone, one_of_each(2), length{}), one_of_each(2 * std::sqrt(n))));
}
