// Parts of sharded tensors, and their gradients, equal the parts of the whole arrays for all layouts.
#include "check_operation.hpp"

#include <partita/sharded/indexed.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/traced_function.hpp>
#include <refused.hpp>

using namespace partita;

BOOST_AUTO_TEST_CASE(parts_are_those_of_the_whole) {
  world everyone(test::workers());
  std::mt19937 random(13);
  using test::check, test::check_linear;
  using v = std::vector<test::tensor>;
  for (std::size_t k = 0; k < test::random_cases(20); ++k) {
    const std::size_t a = random() % 7, b = random() % 7, c = random() % 4;
    const std::size_t from = random() % (a + 1), to = from + random() % (a + 1 - from);
    check_linear(everyone, "slice", random, {{a, b}}, [&](const v& x) {
      return slice(x[0], dimensions<0>, {from, to});
    });
    check_linear(everyone, "slice of two", random, {{b, c, a}}, [&](const v& x) {
      return slice(x[0], dimensions<2, 0>, {from, to}, {b / 2, b});
    });
    check_linear(everyone, "pad", random, {{a, b}}, [&](const v& x) {
      return pad(x[0], dimensions<1, 0>, {c, 1}, {0, c});
    });
    check(everyone, "pad by a number", random, {{a, b}}, [&](const v& x) {
      return pad(x[0], 7, dimensions<1>, {c, 2});
    });
    check_linear(everyone, "concatenate", random, {{a, b}, {c, b}, {a, b}},
                 [](const v& x) { return concatenate(dimensions<0>, x[0], x[1], x[2]); });
    check_linear(everyone, "concatenate in the middle", random, {{a, c, b}, {a, b, b}},
                 [](const v& x) { return concatenate(dimensions<1>, x[0], x[1]); });
    check_linear(everyone, "split", random, {{a, b}}, [](const v& x) {
      const auto [one, two, three] = split<3>(x[0], dimensions<1>);
      return concatenate(dimensions<1>, three, one, multiply(two, 2), three);
    });
    check_linear(everyone, "where", random, {{a, b}, {a, b}, {a, b}},
                 [](const v& x) { return where(maximum(x[0], subtract(x[0], x[0])), x[1], x[2]); });
    check(everyone, "where of numbers", random, {{a, b}, {a, b}},
          [](const v& x) { return add(where(x[0], x[1], 4), where(x[1], -3, x[0])); });
    check_linear(everyone, "where, broadcast", random, {{a, b}, {a, std::size_t{1}}, {std::size_t{1}, b}},
                 [](const v& x) { return where(x[0], x[1], x[2]); });
  }
}

BOOST_AUTO_TEST_CASE(a_number_is_padded_once_however_many_workers_have_a_summand) {
  world everyone(test::workers());
  const xt::xtensor<double, 1> x{1, 2}, wanted{7, 1, 2, 7};
  for (const mesh& m : test::meshes(everyone.size()))
    for (const pending_reduction kind : {pending_reduction::sum, pending_reduction::max})
      for (const sharding& s : test::layouts(m, 1, kind)) {
        const auto y = reshard(pad(shard(everyone, s, x), 7, dimensions<0>, {1, 1}), sharding(m, 1)).whole<1>();
        if (everyone.id() < m.size()) BOOST_TEST((y == wanted), s);
      }
}

BOOST_AUTO_TEST_CASE(arrays_types_and_programs_have_the_same_parts, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  xt::xtensor<double, 2> x({3, 5});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(k) - 4;
  const auto f = [](const auto& one) {
    const auto [a, b] = split(one, dimensions<1>, extents<2, 3>{});
    const auto padded = pad(a, dimensions<1>, {1, 0});
    return concatenate(dimensions<0>, padded, b, slice(where(b, padded, b), dimensions<0>, {1, 3}));
  };
  const auto y = f(x);
  static_assert(std::is_same_v<decltype(y), const xt::xtensor<double, 2>>);
  const auto X = shard<m.layout("data", "model")>(everyone, x);
  const auto Y = f(X);
  static_assert(Y.layout() == m.layout("", "model"));
  static_assert(decltype(slice(X, dimensions<1>, {0, 3}))::layout() == m.layout("data", "model"));
  static_assert(decltype(pad(X, dimensions<0>, {0, 3}))::layout() == m.layout("data", "model"));
  const auto halves = split<2>(X, dimensions<1>);
  static_assert(halves[0].layout() == m.layout("data", "model"));
  const auto all = reshard<m.layout("", "")>(Y).whole();
  const auto program = trace(f, spec(m.layout("data", ""), {3, 5}));
  const auto traced = reshard(program(X), m.layout("", "")).whole<2>();
  test::expect_refused<shape_error>(
      [&] {
        slice(X, dimensions<0>, {1, 4});
      },
      "partita::slice: requires indices of the tensor, but those from 1 up to 4 of dimension 0 are not among [3, 5]");
  test::expect_refused<shape_error>(
      [&] { split(x, dimensions<1>, extents<2, 2>{}); },
      "partita::split: requires parts that fill dimension 1 of [3, 5], but they have 4 elements together");
  test::expect_refused<shape_error>(
      [&] {
        concatenate(dimensions<0>, x, xt::xtensor<double, 2>({3, 4}));
      },
      "but 'b' is 5 before and 4 in operand 1 [3, 4] of concatenate _b,_b->_b; give shapes that fit");
  if (everyone.id() >= 4) return;
  BOOST_TEST((all == y));
  BOOST_TEST((traced == y));
}

BOOST_AUTO_TEST_CASE(what_is_cut_along_the_dimension_is_not_brought_together, *test::at_least(2)) {
  world everyone(test::workers());
  const std::size_t p = everyone.size();
  const mesh m{axis{"a", p}};
  const std::size_t n = 8 * p;
  const auto x = test::placed(everyone, m.layout("a"), {n}, 1);
  const auto received = [&](const auto& f) {
    const std::size_t before = detail::run_state.movement_totals.bytes;
    const auto y = f();
    BOOST_TEST((y.layout() == m.layout("a")));
    return (detail::run_state.movement_totals.bytes - before) / sizeof(long long);
  };
  BOOST_TEST(received([&] { return slice(x, dimensions<0>, {2, n}); }) <= 2 * p);
  BOOST_TEST(received([&] { return pad(x, dimensions<0>, {2, 0}); }) <= 2 * p);
  BOOST_TEST(received([&] { return cumsum(x, dimensions<0>); }) == everyone.id());
  BOOST_TEST(received([&] { return slice(x, dimensions<0>, {0, n}); }) == 0U);
  // The blocks of each half have 4 elements; those of worker k begin at elements 4 k and n / 2 + 4 k of x.
  const std::size_t me = everyone.id();
  std::size_t others = 0;
  for (const std::size_t start : {4 * me, n / 2 + 4 * me})
    for (std::size_t i = start; i < start + 4; ++i) others += i / 8 != me;
  BOOST_TEST(received([&] {
               const auto [one, two] = split<2>(x, dimensions<0>);
               BOOST_TEST((one.layout() == m.layout("a")));
               return two;
             }) == others);
  const no_implicit_reshard written_down;
  BOOST_CHECK_THROW(slice(x, dimensions<0>, {2, n}), partition_error);
  slice(x, dimensions<0>, {0, n});
}

BOOST_AUTO_TEST_CASE(windows_and_carried_sums_count_their_messages, *test::at_least(2)) {
  world everyone(test::workers());
  const std::size_t p = everyone.size(), me = everyone.id();
  const mesh m{axis{"a", p}};
  const auto x = test::placed(everyone, m.layout("a"), {8 * p}, 1);
  const auto messages = [&](const auto& f) {
    const std::size_t before = detail::run_state.movement_totals.messages;
    f();
    return detail::run_state.movement_totals.messages - before;
  };
  // The result has 7 elements on each worker: they begin at element p + 7 me of x, whose blocks have 8 elements.
  std::size_t others = 0;
  for (std::size_t k = (p + 7 * me) / 8; k <= (p + 7 * me + 6) / 8; ++k) others += k != me;
  BOOST_TEST(messages([&] { slice(x, dimensions<0>, {p, 8 * p}); }) == others);
  BOOST_TEST(messages([&] { cumsum(x, dimensions<0>); }) == me);
}

BOOST_AUTO_TEST_CASE(a_movement_is_planned_again_after_many_others, *test::at_least(2)) {
  world everyone(test::workers());
  const std::size_t p = everyone.size();
  const mesh m{axis{"a", p}};
  const auto x = test::placed(everyone, m.layout("a"), {600 * p}, 1);
  // More windows than movements are kept; the first is evicted while the others are used.
  for (std::size_t round = 0; round < 2; ++round)
    for (std::size_t k = 1; k < 560; k += round == 0 ? 1 : 50) {
      const auto y = slice(x, dimensions<0>, {k, 600 * p});
      y.for_each_local([&](const auto& i, const long long& v) {
        if (v != test::numbered(shape_list{i[0] + k}, 1) * 7 % 11 - 5)
          BOOST_ERROR("element " << i[0] << " of the slice from " << k);
      });
    }
}
