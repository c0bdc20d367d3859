// The same code for arrays, typed and run-time tensors and traced programs: reshape with a layout, and take and
// scatter_add of arrays with the result of argmax.
#include "check_operation.hpp"

#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/scatter.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <refused.hpp>
#include <string>

using namespace partita;

namespace {

constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
using matrix = xt::xtensor<double, 2>;

matrix given() {
  matrix x({4, 6});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(7 * k % 11) - 4;
  return x;
}
/// Reshapes to rows of 12, then to rows of 3, and multiplies them by weights.
const auto program_text = [](const auto& x, const auto& w) {
  const auto y = reshape<m.layout("data", "")>(multiply(x, x), {2, 12});
  return multiply(reshape<m.layout("data", "model")>(y, {8, 3}), w);
};
const auto loss = [](const auto& x, const auto& w) { return sum(program_text(x, w)); };

}  // namespace

BOOST_AUTO_TEST_CASE(one_text_reshapes_in_all_four_ways, *test::at_least(4)) {
  const world everyone(test::workers());
  const matrix x = given(), w = xt::ones<double>({8, 3}) * 2.0;
  matrix wanted({8, 3}), wanted_dx({4, 6});
  for (std::size_t k = 0; k < x.size(); ++k)
    wanted.data()[k] = 2 * x.data()[k] * x.data()[k], wanted_dx.data()[k] = 4 * x.data()[k];
  const matrix of_arrays = program_text(x, w);
  BOOST_TEST((of_arrays == wanted));
  const auto X = shard<m.layout("data", "model")>(everyone, x);
  const auto W = shard<m.layout("data", "model")>(everyone, w);
  const auto typed = program_text(X, W);
  static_assert(typed.layout() == m.layout("data", "model"));
  const auto run_time_tensor = program_text(X.run_time_tensor(), W.run_time_tensor());
  const auto program =
      trace(program_text, spec(m.layout("data", "model"), {4, 6}), spec(m.layout("data", "model"), {8, 3}));
  const auto traced = program(X, W);
  constexpr sharding whole = m.layout("", "");
  const auto a = reshard<whole>(typed).whole();
  const auto b = reshard(run_time_tensor, whole).whole<2>(), c = reshard(traced, whole).whole<2>();
  const auto typed_dx = reshard<whole>(std::get<0>(value_and_gradient(loss, X, W).gradients)).whole();
  const auto by_program = value_and_gradient([&](const auto& p) { return sum(program(p, W)); }, X);
  const auto traced_dx = reshard<whole>(std::get<0>(by_program.gradients)).whole();
  if (everyone.id() < 4) BOOST_TEST((a == wanted && b == wanted && c == wanted));
  if (everyone.id() < 4) BOOST_TEST((typed_dx == wanted_dx && traced_dx == wanted_dx));
  BOOST_TEST((std::get<0>(value_and_gradient(loss, x, w).gradients) == wanted_dx));
  const auto refusal = test::refused<shape_error>([&] {
    (void)trace([](const auto& v) { return reshape(v, extents<5, 5>{}); }, spec(m.layout("data", "model"), {4, 6}));
  });
  BOOST_TEST(refusal.find("as many elements") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(arrays_take_and_add_at_what_argmax_gives) {
  const matrix x{{1, 5, 2}, {7, 0, 3}};
  const auto best = argmax(x, dimensions<1>);  // 1, 0
  const matrix columns = take(x, best, dimensions<1>);
  BOOST_TEST((columns == matrix{{5, 1}, {0, 7}}));
  const matrix rows = take(x, argmax(x, dimensions<0>), dimensions<0>);  // rows 1, 0, 1
  BOOST_TEST((rows == matrix{{7, 0, 3}, {1, 5, 2}, {7, 0, 3}}));
  const matrix updates{{10, 20}, {30, 40}};
  BOOST_TEST((scatter_add(x, best, updates, dimensions<1>) == matrix{{21, 15, 2}, {47, 30, 3}}));
  const xt::xtensor<int, 1> numbers{1, 1};
  BOOST_TEST((scatter_add(x, numbers, updates, dimensions<1>) == matrix{{1, 35, 2}, {7, 70, 3}}));
  BOOST_TEST((take(x, numbers, dimensions<1>) == matrix{{5, 5}, {0, 0}}));
}
