// The operators + - * / of tensors and numbers equal those of the whole arrays for all layouts: for run-time, typed and
// traced tensors, with their gradients, and for integers.
#include "check_operation.hpp"

#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/compare.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>

using namespace partita;

BOOST_AUTO_TEST_CASE(signs_are_those_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(41);
  using v = std::vector<test::tensor>;
  for (std::size_t k = 0; k < test::random_cases(24); ++k) {
    const std::size_t a = random() % 7, b = random() % 7, one = 1;
    test::check(everyone, "signs of tensors", random, {{a, b}, {a, b}, {a, b}},
                [](const v& x) { return (x[0] + x[1]) * x[2] - x[0] * x[0]; });
    test::check(everyone, "signs of tensors and numbers", random, {{a, b}},
                [](const v& x) { return 2 - x[0] * 3 + (x[0] - 1) * (5 + x[0]); });
    test::check(everyone, "signs of what is repeated", random, {{a, b}, {a, one}, {one, b}, {}},
                [](const v& x) { return x[0] * x[1] - x[2] + x[3]; });
    test::check(everyone, "quotients of integers", random, {{a, b}, {a, b}},
                [](const v& x) { return x[0] * x[0] * x[0] / (x[1] * x[1] + 1) - x[1] / 3; });
    test::check(everyone, "integers and fractions", random, {{a, b}},
                [](const v& x) { return 7 / (x[0] * x[0] + 2) + x[0] * 2.5 + (x[0] / 0.5 + 1.5) + (x[0] < -0.5); });
    test::check(everyone, "means of integers", random, {{a + 1, b + 1}},
                [](const v& x) { return mean(x[0], dimensions<0>) * mean(x[0]); });
    test::check_linear(everyone, "sums", random, {{a, b}, {a, b}},
                       [](const v& x) { return x[0] * 2 - (x[1] + x[0]) * -3; });
  }
}

BOOST_AUTO_TEST_CASE(integers_are_divided_after_what_they_owe, *test::at_least(2)) {
  world everyone(test::workers());
  const mesh m{axis{"a", 2}};
  const auto one = [](const auto&) { return 1LL; };
  const auto odd = shard<long long>(everyone, m.layout("a"), {2}, one);
  const auto partial = sum(odd * 3);
  BOOST_TEST(partial.layout().is_partial());
  const auto is = [&](const auto& x, long long n) { return x.number() == n || everyone.id() >= 2; };
  BOOST_TEST(is(partial / 2, 3));
  BOOST_TEST(is(partial / 4, 1));
  BOOST_TEST(is(partial * 0.5, 3));
  BOOST_TEST(is(partial * 0.75 + 0.5, 4));
  BOOST_TEST(is(13 / partial, 2));
  BOOST_TEST(is(partial < 6.5, 1));
  BOOST_TEST(is(mean(odd * 3), 3));
}

BOOST_AUTO_TEST_CASE(types_run_time_and_programs_have_the_same_signs, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  constexpr sharding whole = m.layout("", "");
  const auto f = [](const auto& x, const auto& y, const auto& w, const auto& s) {
    return (x + y) * w - x / 4 + 2 / s - 1 + w / s;
  };
  xt::xtensor<double, 2> x({3, 5}), y({3, 5}), w({3, 5}), s({3, 5}), z({3, 5}), dx({3, 5}), dw({3, 5}), ds({3, 5});
  for (std::size_t k = 0; k < 15; ++k) {
    const auto n = static_cast<double>(k);
    const double a = x.data()[k] = n - 4, b = y.data()[k] = 3 * n, c = w.data()[k] = 7 - n,
                 d = s.data()[k] = k % 2 == 0 ? 2 : -0.5;
    z.data()[k] = (a + b) * c - a / 4 + 2 / d - 1 + c / d;
    dx.data()[k] = c - 0.25;
    dw.data()[k] = a + b + 1 / d;
    ds.data()[k] = -(2 + c) / (d * d);
  }
  const auto X = reshard<m.layout("data", "").partial("model")>(shard<m.layout("data", "")>(everyone, x));
  const auto Y = shard<m.layout("", "model")>(everyone, y);
  const auto W = shard<m.layout("model", "data")>(everyone, w);
  const auto S = shard<m.layout("", "").reduced("data")>(everyone, s);
  static_assert(decltype(X + X)::layout() == m.layout("data", "").partial("model"));
  static_assert(decltype(X / 4)::layout() == m.layout("data", "").partial("model"));
  static_assert(decltype(2 / X)::layout() == m.layout("data", ""));
  const auto typed = reshard<whole>(f(X, Y, W, S)).whole();
  const auto run_time_tensor =
      reshard(f(X.run_time_tensor(), Y.run_time_tensor(), W.run_time_tensor(), S.run_time_tensor()), whole).whole<2>();
  const auto program = trace(f, spec(m.layout("data", ""), {3, 5}), spec({3, 5}), spec({3, 5}), spec({3, 5}));
  const auto traced = reshard(program(X, Y, W, S), whole).whole<2>();
  const auto loss = [&](const auto&... all) { return sum(f(all...)); };
  const auto traced_loss = [&](const auto&... all) { return sum(program(all...)); };
  const auto same = [&](const auto& gradients) {
    const auto [gx, gy, gw, gs] = gradients;
    const auto a = reshard(gx, whole).template whole<2>(), b = reshard(gy, whole).template whole<2>(),
               c = reshard(gw, whole).template whole<2>(), d = reshard(gs, whole).template whole<2>();
    return everyone.id() >= 4 || (a == dx && b == w && c == dw && d == ds);
  };
  const auto [value, gradients] = value_and_gradient(loss, X, Y, W, S);
  static_assert(std::remove_cvref_t<decltype(std::get<0>(gradients))>::layout() ==
                m.layout("data", "").reduced("model"));
  static_assert(std::remove_cvref_t<decltype(std::get<3>(gradients))>::layout() == m.layout("", "").partial("data"));
  BOOST_TEST(same(std::apply([](const auto&... g) { return std::tuple(g.run_time_tensor()...); }, gradients)));
  BOOST_TEST(
      same(value_and_gradient(loss, X.run_time_tensor(), Y.run_time_tensor(), W.run_time_tensor(), S.run_time_tensor())
               .gradients));
  BOOST_TEST(same(value_and_gradient(traced_loss, X.run_time_tensor(), Y.run_time_tensor(), W.run_time_tensor(),
                                     S.run_time_tensor())
                      .gradients));
  if (everyone.id() >= 4) return;
  BOOST_TEST((typed == z));
  BOOST_TEST((run_time_tensor == z));
  BOOST_TEST((traced == z));
}
