// Clip equals its definition, element by element, in all four forms and with its gradient; cast converts each element.
#include "check_operation.hpp"
#include "refused.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/cast.hpp>
#include <partita/sharded/clip.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <string>
#include <type_traits>

using namespace partita;

namespace {

constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
using matrix = xt::xtensor<double, 2>;

/// Values on both sides of 0 and 2, and both of them.
matrix given() { return {{-1, 0, 0.5}, {2, 3, -0.0}, {1, 2.5, -7}}; }
matrix clipped() { return {{0, 0, 0.5}, {2, 2, 0}, {1, 2, 0}}; }
/// Of the sum of squares of what is clipped: twice the value where x lies in [0, 2].
matrix gradient() { return {{0, 0, 1}, {4, 0, 0}, {2, 0, 0}}; }

const auto loss = [](const auto& x) {
  const auto y = clip(x, 0, 2);
  return sum(multiply(y, y));
};

}  // namespace

BOOST_AUTO_TEST_CASE(clip_is_its_definition_of_arrays) {
  BOOST_TEST((clip(given(), 0, 2) == clipped()));
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const xt::xtensor<double, 1> odd{nan, infinity, -infinity};
  const xt::xtensor<double, 1> y = clip(odd, -1, 1);
  BOOST_TEST(std::isnan(y(0)));
  BOOST_TEST((y(1) == 1 && y(2) == -1));
  BOOST_TEST((clip(xt::xtensor<int, 1>{-5, 1, 9}, 0, 3) == xt::xtensor<int, 1>{0, 1, 3}));
  BOOST_TEST((clip(xt::xtensor<float, 1>{-5, 1, 9}, 1, 1) == xt::xtensor<float, 1>{1, 1, 1}));
  BOOST_TEST(test::refused<shape_error>([&] { (void)clip(odd, 1, 0); }).find("low <= high") != std::string::npos);
  test::expect_refused<shape_error>([&] { (void)clip(odd, nan, 0); });
  BOOST_TEST((std::get<0>(value_and_gradient(loss, given()).gradients) == gradient()));
}

BOOST_AUTO_TEST_CASE(clip_is_that_of_the_whole_however_tensors_lie) {
  const world everyone(test::workers());
  std::mt19937 random(5);
  using v = std::vector<test::tensor>;
  for (std::size_t k = 0; k < test::random_cases(40); ++k) {
    const std::size_t a = random() % 7, b = random() % 7;
    test::check(everyone, "clip", random, {{a, b}}, [](const v& x) { return clip(x[0], -2, 3); });
    test::check(everyone, "clip of a sum", random, {{a, b}, {a, b}},
                [](const v& x) { return clip(sum(x[0] * x[1], dimensions<0>), -5, 9); });
  }
}

BOOST_AUTO_TEST_CASE(types_run_time_and_programs_are_clipped_alike, *test::at_least(4)) {
  const world everyone(test::workers());
  constexpr sharding whole = m.layout("", "");
  const auto X = shard<m.layout("data", "model")>(everyone, given());
  const auto Y = clip(X, 0, 2);
  static_assert(Y.layout() == m.layout("data", "model"));
  const auto R = clip(X.run_time_tensor(), 0, 2);
  const auto program = trace([](const auto& x) { return clip(x, 0, 2); }, spec(m.layout("data", "model"), {3, 3}));
  const auto P = program(X);
  const auto both = value_and_gradient(loss, X);
  const auto dx = reshard<whole>(std::get<0>(both.gradients)).whole();
  const auto typed = reshard<whole>(Y).whole(), traced = reshard(P, whole).whole<2>();
  const auto run_time_tensor = reshard(R, whole).whole<2>();
  if (everyone.id() < 4) {
    BOOST_TEST((typed == clipped() && run_time_tensor == clipped() && traced == clipped()));
    BOOST_TEST((dx == gradient()));
  }
}

BOOST_AUTO_TEST_CASE(cast_converts_each_element_wherever_it_lies) {
  matrix x = given();
  const auto f = cast<float>(x);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(f)>, xt::xtensor<float, 2>>);
  BOOST_TEST((cast<int>(given()) == xt::xtensor<int, 2>{{-1, 0, 0}, {2, 3, 0}, {1, 2, -7}}));
  const world everyone(test::workers());
  const mesh line{axis{"data", everyone.size()}};
  const auto X = shard(everyone, line.layout("data", ""), x);
  const sharded_tensor<float> F = cast<float>(X);
  BOOST_TEST(F.layout().same_layout(X.layout()));
  BOOST_TEST((reshard(F, line.layout("", "")).whole<2>() == f));
  const auto total = cast<int>(sum(X, dimensions<0>));  // 2, 5.5, -6.5: summed first, then truncated
  BOOST_TEST((reshard(total, line.layout("")).whole<1>() == xt::xtensor<int, 1>{2, 5, -6}));
  BOOST_TEST((cast<double>(X).state() == X.state()));
  const auto asked = [](const auto& p) { return sum(cast<double>(cast<float>(p))); };
  BOOST_TEST(test::refused<error>([&] { (void)value_and_gradient(asked, X); }).find("stop_gradient") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(typed_tensors_keep_their_layout_when_they_are_cast, *test::at_least(4)) {
  const world everyone(test::workers());
  const auto X = shard<m.layout("data", "model")>(everyone, given());
  const auto F = cast<float>(X);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(F)>, sharded<float, m.layout("data", "model")>>);
  const auto all = reshard<m.layout("", "")>(F).whole();
  if (everyone.id() < 4) BOOST_TEST((all == cast<float>(given())));
}
