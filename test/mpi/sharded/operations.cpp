// Every operation on sharded tensors equals the operation on the whole arrays for all layouts, and its adjoint is
// exact.
#include "check_operation.hpp"

using namespace partita;

namespace {
using test::check, test::placed, test::tensor;
}  // namespace

BOOST_AUTO_TEST_CASE(operations_are_the_sequential_ones) {
  world everyone(test::workers());
  std::mt19937 random(3);
  using v = std::vector<tensor>;
  for (std::size_t k = 0; k < test::random_cases(30); ++k) {
    const auto n = [&] { return std::size_t{1} + random() % 6; };
    const std::size_t a = n(), b = n(), c = n(), d = n();
    check(everyone, "add", random, {{a, b}, {a, b}}, [](const v& x) { return add(x[0], x[1]); });
    check(everyone, "multiply", random, {{a, b}, {a, std::size_t{1}}}, [](const v& x) { return multiply(x[0], x[1]); });
    check(everyone, "subtract", random, {{a, b}, {b}},
          [](const v& x) { return subtract(x[0], x[1], broadcast_dimensions<1>); });
    test::check_linear(everyone, "multiply by columns", random, {{a, b, c}, {b}},
                       [](const v& x) { return multiply(x[0], detail::detach(x[1]), broadcast_dimensions<1>); });
    test::check_linear(everyone, "columns multiplied", random, {{a, b, c}, {b, a}}, [](const v& x) {
      return multiply(detail::detach(x[0]), transpose(x[1]), broadcast_dimensions<0, 1>);
    });
    check(everyone, "affine", random, {{a}}, [](const v& x) { return add(multiply(x[0], 3), 2); });
    check(everyone, "maximum of two", random, {{a, b}, {a, b}}, [](const v& x) { return maximum(x[0], x[1]); });
    check(everyone, "square and abs", random, {{a, b}}, [](const v& x) { return add(square(x[0]), abs(x[0])); });
    check(everyone, "matmul", random, {{a, b}, {b, c}}, [](const v& x) { return matmul(x[0], x[1]); });
    check(everyone, "matmul of batches", random, {{a, b, c}, {a, c, d}}, [](const v& x) { return matmul(x[0], x[1]); });
    check(everyone, "einsum", random, {{a, b, c}, {c, d}},
          [](const v& x) { return einsum<"bmk,kn->nbm">(x[0], x[1]); });
    check(everyone, "einsum that sums", random, {{a, b}, {b, c}},
          [](const v& x) { return einsum<"mk,kn->n">(x[0], x[1]); });
    check(everyone, "transpose", random, {{a, b, c}}, [](const v& x) { return transpose(x[0], permute<2, 0, 1>); });
    check(everyone, "sum", random, {{a, b}}, [](const v& x) { return sum(x[0], dimensions<0>); });
    check(everyone, "sum of all", random, {{a, b}}, [](const v& x) { return sum(x[0]); });
    check(everyone, "reshape", random, {{a, b * c}}, [&](const v& x) { return reshape(x[0], {a * b, c}); });
    check(everyone, "reshape of cubes", random, {{a, b, c}}, [&](const v& x) { return reshape(x[0], {a, b * c}); });
    check(everyone, "two ways", random, {{a, b}, {b, a}},
          [](const v& x) { return add(matmul(x[0], x[1]), matmul(transpose(x[1]), transpose(x[0]))); });
  }
}

BOOST_AUTO_TEST_CASE(arrays_and_types_go_the_same_way, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  xt::xtensor<double, 2> x({3, 5}), w({5, 4});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(k);
  for (std::size_t k = 0; k < w.size(); ++k) w.data()[k] = static_cast<double>(k) - 7;
  const auto X = shard<m.layout("data", "")>(everyone, x);
  const auto W = shard<m.layout("", "model")>(everyone, w);
  const auto y = matmul(x, w);
  static_assert(std::is_same_v<decltype(y), const xt::xtensor<double, 2>>);
  const auto Y = matmul(X, W);
  static_assert(Y.layout() == m.layout("data", "model"));
  const auto Z = matmul(reshard<m.layout("data", "model")>(X), reshard<m.layout("model", "")>(W));
  static_assert(Z.layout() == m.layout("data", "").partial("model"));
  const auto S = sum(add(multiply(Y, 2), Y), dimensions<1>);
  static_assert(S.layout() == m.layout("data").partial("model"));
  const auto E = exp(Z);
  static_assert(E.layout() == m.layout("data", ""));
  const auto back = Y.whole(), second = reshard<m.layout("", "")>(Z).whole();
  if (everyone.id() < 4) {
    BOOST_TEST((back == y));
    BOOST_TEST((second == y));
  }
  BOOST_TEST((matmul(X.run_time_tensor(), W.run_time_tensor()).layout() == Y.layout()));
}

BOOST_AUTO_TEST_CASE(movements_that_are_not_written_down_can_be_refused, *test::at_least(2)) {
  world everyone(test::workers());
  const mesh m{axis{"a", 2}};
  const auto x = placed(everyone, m.layout("", "a"), {4, 4}, 1), w = placed(everyone, m.layout("", "a"), {4, 4}, 2);
  matmul(x, w);
  const auto says = [](const partition_error& e) {
    return e.sentence().contains("must have layout") && e.sentence().contains("bytes to a worker");
  };
  const mesh strict = m.no_implicit_reshard();
  const auto u = placed(everyone, strict.layout("", "a"), {4, 4}, 1),
             v = placed(everyone, strict.layout("", "a"), {4, 4}, 2);
  BOOST_CHECK_EXCEPTION(matmul(u, v), partition_error, says);
  matmul(reshard(u, strict.layout("", "")), v);
  const no_implicit_reshard written_down;
  BOOST_CHECK_EXCEPTION(matmul(x, w), partition_error, says);
  matmul(reshard(x, m.layout("", "")), w);
}
