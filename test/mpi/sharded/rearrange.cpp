// Flip, roll, tile, expand, strided slices, triangles, squeeze, unsqueeze and stack: each definition is a loop here,
// and sharded tensors, their gradients and traced programs give what whole arrays give.
#include "check_operation.hpp"

#include <partita/sharded/rearrange.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <refused.hpp>
#include <string>

using namespace partita;

namespace {

using test::check, test::tensor;
using matrix = xt::xtensor<double, 2>;

matrix numbers(std::size_t rows, std::size_t columns) {
  matrix x(std::array<std::size_t, 2>{rows, columns});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(k + 1);
  return x;
}
/// y[i, j] = f(i, j).
template <class F>
matrix defined(std::size_t rows, std::size_t columns, F f) {
  matrix y(std::array<std::size_t, 2>{rows, columns});
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) y(i, j) = f(i, j);
  return y;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_has_the_definition_of_its_loop) {
  const matrix x = numbers(5, 4);
  BOOST_TEST((flip(x, dimensions<0>) == defined(5, 4, [&](auto i, auto j) { return x(4 - i, j); })));
  BOOST_TEST((flip(x, dimensions<0, 1>) == defined(5, 4, [&](auto i, auto j) { return x(4 - i, 3 - j); })));
  for (const std::ptrdiff_t by : {0, 1, 3, 5, 7, -1, -4, -12}) {
    const auto from = [&](std::size_t i) {
      return static_cast<std::size_t>(((static_cast<std::ptrdiff_t>(i) - by) % 5 + 5) % 5);
    };
    BOOST_TEST((roll(x, dimensions<0>, by) == defined(5, 4, [&](auto i, auto j) { return x(from(i), j); })));
  }
  BOOST_TEST(
      (roll(x, dimensions<1, 0>, -1, 2) == defined(5, 4, [&](auto i, auto j) { return x((i + 3) % 5, (j + 1) % 4); })));
  BOOST_TEST((tile(x, dimensions<0, 1>, 2, 3) == defined(10, 12, [&](auto i, auto j) { return x(i % 5, j % 4); })));
  BOOST_TEST((tile(x, dimensions<0>, 0).size() == 0));
  const matrix column = numbers(5, 1);
  BOOST_TEST((expand(column, dimensions<1>, 3) == defined(5, 3, [&](auto i, auto) { return column(i, 0); })));
  BOOST_TEST((strided_slice(x, dimensions<0, 1>, {1, 5, 3}, {0, 4, 2}) ==
              defined(2, 2, [&](auto i, auto j) { return x(1 + 3 * i, 2 * j); })));
  BOOST_TEST((strided_slice(x, dimensions<0>, {2, 2, 1}).size() == 0));
  for (const std::ptrdiff_t d : {-6, -2, 0, 1, 9}) {
    const auto above = [&](std::size_t i, std::size_t j) {
      return static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i);
    };
    BOOST_TEST((tril(x, d) == defined(5, 4, [&](auto i, auto j) { return above(i, j) <= d ? x(i, j) : 0; })));
    BOOST_TEST((triu(x, d) == defined(5, 4, [&](auto i, auto j) { return above(i, j) >= d ? x(i, j) : 0; })));
  }
  const xt::xtensor<double, 1> line = squeeze(column, dimensions<1>);
  const xt::xtensor<double, 3> raised = unsqueeze(x, dimensions<1>), piled = stack(dimensions<0>, x, matrix(2 * x));
  BOOST_TEST((line.shape()[0] == 5 && line(3) == column(3, 0)));
  BOOST_TEST((raised.shape()[0] == 5 && raised.shape()[1] == 1 && raised(4, 0, 2) == x(4, 2)));
  BOOST_TEST((piled.shape()[0] == 2 && piled(0, 4, 2) == x(4, 2) && piled(1, 4, 2) == 2 * x(4, 2)));
}

BOOST_AUTO_TEST_CASE(sharded_tensors_are_rearranged_as_whole_ones) {
  const world everyone(test::workers());
  std::mt19937 random(41);
  using v = std::vector<tensor>;
  for (std::size_t k = 0; k < test::random_cases(25); ++k) {
    const std::size_t a = 1 + random() % 7, b = 1 + random() % 6;
    const auto by = static_cast<std::ptrdiff_t>(random() % 15) - 7;
    const std::size_t times = random() % 4, step = 1 + random() % 3, start = random() % a;
    check(
        everyone, "flip", random, {{a, b}}, [](const v& x) { return flip(x[0], dimensions<0>); }, true);
    check(
        everyone, "flip both", random, {{a, b}}, [](const v& x) { return flip(x[0], dimensions<1, 0>); }, true);
    check(
        everyone, "roll", random, {{a, b}}, [&](const v& x) { return roll(x[0], dimensions<0, 1>, by, 1); }, true);
    check(
        everyone, "tile", random, {{a, b}}, [&](const v& x) { return tile(x[0], dimensions<0>, times); }, true);
    check(
        everyone, "expand", random, {{a, std::size_t{1}}},
        [&](const v& x) { return expand(x[0], dimensions<1>, times); }, true);
    check(
        everyone, "strided slice", random, {{a, b}},
        [&](const v& x) {
          return strided_slice(x[0], dimensions<0>, {start, a, step});
        },
        true);
    check(
        everyone, "tril", random, {{a, b}}, [&](const v& x) { return tril(x[0], by); }, true);
    check(
        everyone, "triu", random, {{b, a}}, [&](const v& x) { return triu(x[0], by); }, true);
    check(
        everyone, "squeeze", random, {{a, std::size_t{1}, b}}, [](const v& x) { return squeeze(x[0], dimensions<1>); },
        true);
    check(
        everyone, "unsqueeze", random, {{a, b}}, [](const v& x) { return unsqueeze(x[0], dimensions<2, 0>); }, true);
    check(everyone, "stack", random, {{a, b}, {a, b}},
          [](const v& x) { return stack(dimensions<1>, x[0], x[1], x[0]); });
  }
}

BOOST_AUTO_TEST_CASE(programs_and_typed_tensors_rearrange_in_place, *test::at_least(2)) {
  const world everyone(test::workers());
  constexpr mesh m{axis{"a", 2}};
  const auto f = [](const auto& x) {
    return tril(roll(flip(strided_slice(tile(x, dimensions<0>, 2), dimensions<0>, {1, 16, 2}), dimensions<0>),
                     dimensions<0>, 2));
  };
  const matrix x = numbers(8, 3);
  const auto y = f(x);
  const auto X = shard<m.layout("a", "")>(everyone, x);
  const auto Y = f(X);
  static_assert(Y.layout() == m.layout("a", ""));
  const auto program = trace(f, spec(m.layout("a", ""), {8, 3}));
  BOOST_TEST(program.complete().reshards.empty());
  const auto loss = [](const auto& of) { return [&](const auto& one) { return sum(square(of(one))); }; };
  const auto one = value_and_gradient(loss(f), X), other = value_and_gradient(loss(program), X);
  const auto whole = Y.whole(), dx = std::get<0>(one.gradients).whole();
  const auto traced = program(X).whole<2>(), traced_dx = std::get<0>(other.gradients).whole();
  if (everyone.id() >= 2) return;
  BOOST_TEST((whole == y));
  BOOST_TEST((traced == y));
  BOOST_TEST((dx == traced_dx));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_on_all_workers) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto x = shard<double>(everyone, m.layout("a", ""), {4, 3}, [](const auto&) { return 1.0; });
  const auto says = [&](const char* what, auto f) {
    const std::string said = test::refused<shape_error>(f);
    BOOST_TEST(said.find(what) != std::string::npos, said);
  };
  says("strided_slice", [&] { strided_slice(x, dimensions<0>, {1, 5, 1}); });
  says("strided_slice", [&] { strided_slice(x, dimensions<0>, {1, 3, 0}); });
  says("squeeze", [&] { squeeze(x, dimensions<1>); });
  says("expand", [&] { expand(x, dimensions<1>, 2); });
}
