// Operations with indices, and attention, equal those of the whole arrays for all layouts.
#include "check_operation.hpp"

#include <cmath>
#include <partita/sharded/attention.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/scatter.hpp>
#include <partita/sharded/sort_along.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>

using namespace partita;

BOOST_AUTO_TEST_CASE(indices_are_those_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(17);
  using test::check, test::check_linear;
  using v = std::vector<test::tensor>;
  for (std::size_t k = 0; k < test::random_cases(20); ++k) {
    const std::size_t a = 1 + random() % 6, b = random() % 7, c = random() % 4;
    xt::xtensor<int, 2> rows({b, c});
    for (int& row : rows) row = static_cast<int>(random() % a);
    check_linear(everyone, "take", random, {{a, c}}, [&](const v& x) { return take(x[0], rows, dimensions<0>); });
    check_linear(everyone, "take in the middle", random, {{c, a, b}},
                 [&](const v& x) { return take(x[0], rows, dimensions<1>); });
    check_linear(everyone, "lookup", random, {{a, c}}, [&](const v& x) { return lookup(x[0], rows); });
    check(everyone, "argmax", random, {{b, a, c}}, [](const v& x) { return argmax(x[0], dimensions<1>); });
    check(everyone, "one_hot", random, {{b, c}}, [&](const v& x) { return one_hot(x[0], a); });
    check_linear(everyone, "cumsum", random, {{a, b, c}}, [](const v& x) { return cumsum(x[0], dimensions<1>); });
    check_linear(everyone, "cumsum at last", random, {{a, b}}, [](const v& x) { return cumsum(x[0], dimensions<1>); });
  }
}

BOOST_AUTO_TEST_CASE(arrays_types_and_programs_have_the_same_indices, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  xt::xtensor<double, 2> x({3, 5});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(7 * k % 11) - 4;
  const xt::xtensor<int, 1> rows{2, 0, 2, 1};
  const auto f = [&](const auto& one) {
    const auto taken = take(cumsum(one, dimensions<1>), rows, dimensions<0>);
    return concatenate(dimensions<0>, one_hot(argmax(taken, dimensions<1>), 5), taken);
  };
  const auto y = f(x);
  const auto X = shard<m.layout("data", "model")>(everyone, x);
  const auto Y = f(X);
  static_assert(decltype(one_hot(argmax(X, dimensions<1>), 5))::layout() == m.layout("data", ""));
  const auto all = reshard<m.layout("", "")>(Y).whole();
  const auto program = trace(f, spec(m.layout("data", ""), {3, 5}));
  const auto traced = reshard(program(X), m.layout("", "")).whole<2>();
  BOOST_CHECK_THROW(take(X, xt::xtensor<int, 1>{3}, dimensions<0>), shape_error);
  BOOST_CHECK_THROW(take(X, xt::xtensor<int, 1>{-1}, dimensions<0>), shape_error);
  if (everyone.id() >= 4) return;
  BOOST_TEST((all == y));
  BOOST_TEST((traced == all));
}

BOOST_AUTO_TEST_CASE(a_program_looks_rows_up_in_a_table_whose_rows_are_cut) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const xt::xtensor<double, 2> table{{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}};
  const xt::xtensor<int, 1> rows{4, 0, 4};
  const auto f = [&](const auto& x) { return lookup(x, rows); };
  const auto cut = shard(everyone, m.layout("a", ""), table);
  const auto program = trace(f, spec(m.layout("a", ""), {5, 2}));
  BOOST_TEST((f(table) == xt::xtensor<double, 2>{{9, 10}, {1, 2}, {9, 10}}));
  BOOST_TEST((reshard(program(cut), m.layout("", "")).whole<2>() == f(table)));
  const auto squares = [](const auto& g) { return [g](const auto& x) { return sum(square(g(x))); }; };
  const auto [value, gradients] = value_and_gradient(squares(program), cut);
  const xt::xtensor<double, 2> expected{{2, 4}, {0, 0}, {0, 0}, {0, 0}, {36, 40}};
  BOOST_TEST(value == 367);
  BOOST_TEST((reshard(std::get<0>(gradients), m.layout("", "")).whole<2>() == expected));
}

BOOST_AUTO_TEST_CASE(classes_may_be_cut_and_numbers_that_are_no_class_have_a_row_of_zeros) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const xt::xtensor<double, 1> labels{0, 3, -1, 2, 4, 0.5, 1, 3};
  const auto f = [&](const auto& x) { return constrain(one_hot(x, 4), m.layout("", "a")); };
  const auto program = trace(f, spec(m.layout(""), {labels.size()}));
  const auto y = reshard(program(shard(everyone, m.layout(""), labels)), m.layout("", "")).whole<2>();
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (std::size_t c = 0; c < 4; ++c) BOOST_TEST(y(i, c) == (labels(i) == static_cast<double>(c) ? 1 : 0));
  const xt::xtensor<double, 2> none(std::array<std::size_t, 2>{2, 0});
  BOOST_CHECK_THROW(argmax(none, dimensions<1>), shape_error);
  BOOST_CHECK_THROW(argmin(none, dimensions<1>), shape_error);
}

BOOST_AUTO_TEST_CASE(indices_that_elements_do_not_represent_are_refused_and_never_another_index) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  using small = signed char;  // to 127
  const auto f = [](const auto& index) { return static_cast<small>(index[0] % 100); };
  const auto fits = shard<small>(everyone, m.layout("a"), {128}, f),
             x = shard<small>(everyone, m.layout("a"), {200}, f);
  BOOST_TEST(reshard(argmax(fits, dimensions<0>), m.layout()).number() == 99);
  for (const auto& call : {+[](const sharded_tensor<small>& z) { argmax(z, dimensions<0>); },
                           +[](const sharded_tensor<small>& z) { argmin(z, dimensions<0>); },
                           +[](const sharded_tensor<small>& z) { argsort(z, dimensions<0>); },
                           +[](const sharded_tensor<small>& z) { top_k(z, 2, dimensions<0>); }}) {
    call(fits);
    BOOST_CHECK_THROW(call(x), shape_error);
  }
  // Dimensions and classes that are longer than what elements represent have the indices that elements do represent.
  const auto said = shard<small>(everyone, m.layout(""), {3}, [](const auto& index) {
    return static_cast<small>(index[0] == 0 ? 5 : index[0] == 1 ? -56 : 120);
  });
  const auto taken = reshard(take(x, said, dimensions<0>), m.layout("")).template whole<1>();
  BOOST_TEST((taken == xt::xtensor<small, 1>{5, 0, 20}));
  const auto hot = reshard(one_hot(said, 210), m.layout("", "")).template whole<2>();
  for (std::size_t c = 0; c < 210; ++c) {
    BOOST_TEST(hot(0, c) == (c == 5));
    BOOST_TEST(hot(1, c) == 0);
    BOOST_TEST(hot(2, c) == (c == 120));
  }
}

BOOST_AUTO_TEST_CASE(attention_is_the_sequential_one_wherever_it_is_cut) {
  world everyone(test::workers());
  std::mt19937 random(19);
  using array = xt::xtensor<double, 4>;
  const auto numbers = [](std::array<std::size_t, 4> shape, double salt) {
    array x(shape);
    for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = std::sin(salt + 1.7 * static_cast<double>(k));
    return x;
  };
  const array q = numbers({2, 3, 4, 5}, 1), k = numbers({2, 3, 7, 5}, 2), v = numbers({2, 3, 7, 2}, 3);
  for (const bool causal : {false, true}) {
    const auto f = [&](const auto& one, const auto& other, const auto& values) {
      return sum(square(attention(one, other, values, {.causal = causal})));
    };
    // by the definition, score by score
    double expected = 0;
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t h = 0; h < 3; ++h)
        for (std::size_t i = 0; i < 4; ++i) {
          double total = 0, out[2] = {};
          for (std::size_t j = 0; j < 7 && (!causal || j <= i + 3); ++j) {
            double score = 0;
            for (std::size_t d = 0; d < 5; ++d) score += q(b, h, i, d) * k(b, h, j, d);
            const double weight = std::exp(score / std::sqrt(5.0));
            total += weight;
            for (std::size_t d = 0; d < 2; ++d) out[d] += weight * v(b, h, j, d);
          }
          expected += (out[0] * out[0] + out[1] * out[1]) / (total * total);
        }
    const auto [loss, gradients] = value_and_gradient(f, q, k, v);
    BOOST_TEST(std::abs(loss - expected) < 1e-12);
    for (const mesh& m : test::meshes(everyone.size())) {
      const auto all = test::layouts(m, 4);
      const auto any = [&] { return all[random() % all.size()]; };
      const sharding s = any(), t = any(), u = any();
      const auto [value, d] =
          value_and_gradient(f, shard(everyone, s, q), shard(everyone, t, k), shard(everyone, u, v));
      const auto dq = reshard(std::get<0>(d), sharding(m, 4)).whole<4>();
      const auto dk = reshard(std::get<1>(d), sharding(m, 4)).whole<4>();
      const auto dv = reshard(std::get<2>(d), sharding(m, 4)).whole<4>();
      if (everyone.id() >= m.size()) continue;
      const auto close = [](const array& one, const array& other) { return xt::amax(xt::abs(one - other))() < 1e-12; };
      BOOST_TEST(std::abs(value - expected) < 1e-12, s << t << u);
      BOOST_TEST(close(dq, std::get<0>(gradients)), s << t << u);
      BOOST_TEST(close(dk, std::get<1>(gradients)), s << t << u);
      BOOST_TEST(close(dv, std::get<2>(gradients)), s << t << u);
    }
  }
}

BOOST_AUTO_TEST_CASE(attention_is_typed, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  xt::xtensor<double, 3> q({2, 4, 3});
  for (std::size_t k = 0; k < q.size(); ++k) q.data()[k] = static_cast<double>(k * 7 % 5) - 2;
  constexpr sharding heads = m.layout("model", "", ""), rows = m.layout("model", "data", "");
  const auto Q = shard<rows>(everyone, q);
  const auto K = shard<heads>(everyone, q);
  static_assert(decltype(attention(Q, K, K))::layout() == rows);
  const auto ring = attention(shard<heads>(everyone, q), Q, Q);
  static_assert(decltype(ring)::layout() == heads.partial("data"));
  const auto all = attention(Q, K, K, {.causal = true}).whole();
  if (everyone.id() >= 4) return;
  for (std::size_t head = 0; head < 2; ++head)
    for (std::size_t query = 0; query < 4; ++query) {
      double weights[4] = {}, sum = 0;
      for (std::size_t key = 0; key <= query; ++key) {
        for (std::size_t w = 0; w < 3; ++w) weights[key] += q(head, query, w) * q(head, key, w) / std::sqrt(3.0);
        sum += weights[key] = std::exp(weights[key]);
      }
      for (std::size_t w = 0; w < 3; ++w) {
        double wanted = 0;
        for (std::size_t key = 0; key <= query; ++key) wanted += weights[key] / sum * q(head, key, w);
        BOOST_TEST(std::abs(all(head, query, w) - wanted) < 1e-14);
      }
    }
}
