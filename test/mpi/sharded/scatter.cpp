// Taking, adding and replacing elements at sharded indices, comparisons and dropout equal those of the whole arrays for
// all layouts, and so do their gradients.
#include "check_operation.hpp"

#include <partita/sharded/drop.hpp>
#include <partita/sharded/scatter.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/traced_function.hpp>

using namespace partita;

BOOST_AUTO_TEST_CASE(indices_that_are_cut_are_those_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(23);
  using test::check, test::check_linear;
  using v = std::vector<test::tensor>;
  for (std::size_t k = 0; k < test::random_cases(20); ++k) {
    const std::size_t a = random() % 6, b = random() % 5, c = random() % 4, d = 1 + random() % 3;
    check_linear(everyone, "take", random, {{a, c}, {b, d}},
                 [](const v& x) { return take(x[0], x[1], dimensions<0>); });
    check_linear(everyone, "take in the middle", random, {{c, a, d}, {b}},
                 [](const v& x) { return take(x[0], x[1], dimensions<1>); });
    check_linear(everyone, "scatter_add", random, {{a, c}, {b, d}, {b, d, c}},
                 [](const v& x) { return scatter_add(x[0], x[1], x[2], dimensions<0>); });
    check_linear(everyone, "scatter_add at last", random, {{d, a}, {b}, {d, b}},
                 [](const v& x) { return scatter_add(x[0], x[1], x[2], dimensions<1>); });
    check_linear(everyone, "scatter", random, {{a, c}, {b}, {b, c}},
                 [](const v& x) { return scatter(x[0], x[1], x[2], dimensions<0>); });
    check(everyone, "comparisons", random, {{a, b}, {a, b}}, [](const v& x) {
      return add(multiply(x[0] < x[1], 1),
                 add(multiply(x[0] <= x[1], 2),
                     add(multiply(x[0] > x[1], 4),
                         add(multiply(x[0] >= x[1], 8),
                             add(multiply(equal_to(x[0], x[1]), 16), multiply(not_equal_to(x[0], x[1]), 32))))));
    });
    check(everyone, "comparisons with numbers", random, {{a, b}}, [](const v& x) {
      return add(
          multiply(x[0] < 2, 1),
          add(multiply(2 <= x[0], 2),
              add(multiply(x[0] > 0, 4), add(multiply(1 >= x[0], 8), add(multiply(equal_to(x[0], 3), 16),
                                                                         multiply(not_equal_to(-1, x[0]), 32))))));
    });
    check_linear(everyone, "a mask, broadcast", random, {{a, b}, {b}},
                 [](const v& x) { return multiply(stop_gradient(less(x[0], x[1], broadcast_dimensions<1>)), x[0]); });
    check_linear(everyone, "drop", random, {{a, b, d}},
                 [&](const v& x) { return drop(x[0], {.probability = 0.5, .seed = k}, 3); });
  }
}

BOOST_AUTO_TEST_CASE(a_fraction_is_no_index) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const xt::xtensor<double, 1> x{5, 6, 7}, at{1.5, 2, -0.5, 3, 0}, u{1, 10, 100, 1000, 10000};
  const auto X = shard(everyone, m.layout(""), x), A = shard(everyone, m.layout("a"), at);
  const auto U = shard(everyone, m.layout("a"), u);
  const auto whole = [&](const auto& y) { return reshard(y, m.layout("")).template whole<1>(); };
  BOOST_TEST((whole(take(X, A, dimensions<0>)) == xt::xtensor<double, 1>{0, 7, 0, 0, 5}));
  BOOST_TEST((whole(scatter_add(X, A, U, dimensions<0>)) == xt::xtensor<double, 1>{10005, 6, 17}));
  BOOST_TEST((whole(scatter(X, A, U, dimensions<0>)) == xt::xtensor<double, 1>{10000, 6, 10}));
}

BOOST_AUTO_TEST_CASE(types_and_programs_scatter_alike, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  xt::xtensor<double, 2> x({5, 3}), u({4, 3});
  xt::xtensor<double, 1> rows{4, 0, 4, 2};
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(7 * k % 11) - 4;
  for (std::size_t k = 0; k < u.size(); ++k) u.data()[k] = static_cast<double>(k);
  const auto f = [](const auto& one, const auto& at, const auto& more) {
    const auto added = scatter_add(one, at, more, dimensions<0>);
    return where(added > 3, added, multiply(added, -1));
  };
  const auto X = shard<m.layout("", "model")>(everyone, x);
  const auto U = shard<m.layout("data", "model")>(everyone, u);
  const auto R = shard<m.layout("data")>(everyone, rows);
  static_assert(decltype(take(X, R, dimensions<0>))::layout() == m.layout("data", "model"));
  static_assert(decltype(X < X)::layout() == m.layout("", "model"));
  const auto all = reshard<m.layout("", "")>(f(X, R, U)).whole();
  const auto program =
      trace(f, spec(m.layout("", "model"), {5, 3}), spec(m.layout("data"), {4}), spec(m.layout("data", ""), {4, 3}));
  const auto traced = reshard(program(X, R, U), m.layout("", "")).whole<2>();
  if (everyone.id() >= 4) return;
  auto y = x;
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t j = 0; j < 3; ++j) y(static_cast<std::size_t>(rows(k)), j) += u(k, j);
  for (double& one : y) one = one > 3 ? one : -one;
  BOOST_TEST((all == y));
  BOOST_TEST((traced == y));
}
