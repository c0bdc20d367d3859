// Taking, adding and replacing elements at sharded indices, comparisons and dropout equal those of the whole arrays for
// all layouts, and so do their gradients.
#include "check_operation.hpp"

#include <limits>
#include <partita/sharded/drop.hpp>
#include <partita/sharded/scatter.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/traced_function.hpp>
#include <refused.hpp>

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

BOOST_AUTO_TEST_CASE(what_is_no_index_or_has_other_extents_moves_nothing_or_is_refused) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto whole = [&](const auto& y) { return reshard(y, m.layout("")).template whole<1>(); };
  // numbers that truncate to an index, and numbers that no index has
  const double none = std::numeric_limits<double>::quiet_NaN(), ever = std::numeric_limits<double>::infinity();
  const xt::xtensor<double, 1> x{5, 6, 7}, at{-0.5, -1e-300, 0.5, 2.9, 3, 1e300, ever, -ever, none, -1, -0.0, 2};
  const auto X = shard(everyone, m.layout("a"), x), A = shard(everyone, m.layout("a"), at);
  const auto U = shard(everyone, m.layout("a"), xt::xtensor<double, 1>(xt::ones_like(at)));
  xt::xtensor<double, 1> taken = xt::zeros_like(at);
  taken(10) = 5, taken(11) = 7;
  BOOST_TEST((whole(take(X, A, dimensions<0>)) == taken));
  BOOST_TEST((whole(scatter_add(X, A, U, dimensions<0>)) == xt::xtensor<double, 1>{6, 6, 8}));
  // updates replace, whatever they are: zeros, and numbers whose products with 0 are none
  const xt::xtensor<double, 1> odd{0, ever, 1, 1, 1, 1, 1, 1, 1, 1, 0, -0.0};
  BOOST_TEST(
      (whole(scatter(X, A, shard(everyone, m.layout("a"), odd), dimensions<0>)) == xt::xtensor<double, 1>{0, 6, 0}));
  const auto refused = [&](const shape_list& of_indices, const shape_list& of_updates, const char* part) {
    const auto zeros = [&](const shape_list& e) {
      return shard<double>(everyone, sharding(m, e.size()), e, [](const auto&) { return 0.0; });
    };
    const auto y = zeros({3, 2}), indices = zeros(of_indices), updates = zeros(of_updates);
    test::expect_refused<shape_error>([&] { scatter_add(y, indices, updates, dimensions<0>); }, part);
    test::expect_refused<shape_error>([&] { scatter(y, indices, updates, dimensions<0>); }, part);
  };
  refused({4, 3}, {4},
          "partita::scatter_add: requires updates with the dimensions of the indices [4, 3] from dimension "
          "0 on, got [4]");
  refused({4}, {3, 2}, "");
  refused({4}, {4, 3}, "");
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
