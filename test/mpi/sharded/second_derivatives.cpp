// A gradient inside a gradient is an error on all workers, for arrays, typed, run-time and traced tensors, unless it is
// constant for the outer gradient.
#include "layouts.hpp"

#include <cmath>
#include <partita/sharded/movements.hpp>
#include <partita/sharded/recompute.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <refused.hpp>

using namespace partita;

namespace {

constexpr const char* message =
    "partita::value_and_gradient(f, parameters...): requires parameters, and tensors that f reads, of which no other "
    "value_and_gradient asks a gradient, as second derivatives are not computed; stop_gradient them to take them for "
    "constant";

const auto sum_of_tanh = [](const auto& b) { return sum(tanh(b)); };
/// The sum of the gradient of f. The gradient of this sum would be a second derivative.
template <class F>
auto gradient_sum(const F& f) {
  return [&f](const auto& a) { return sum(std::get<0>(value_and_gradient(f, a).gradients)); };
}
const xt::xtensor<double, 2> x{{0.3, -0.2}, {0.1, 0.7}, {0.5, 0.4}};

}  // namespace

BOOST_AUTO_TEST_CASE(a_second_derivative_is_refused_in_every_way) {
  const world everyone(test::workers());
  constexpr mesh one{axis{"a", 1}};
  const mesh m{axis{"a", everyone.size() > 1 ? everyone.size() - 1 : 1}};  // smaller than the world if possible
  const auto typed = shard<one.layout("a", "")>(everyone, x);
  const auto run_time_tensor = shard(everyone, m.layout("", "a"), x);
  const auto program = trace(sum_of_tanh, spec(m.layout("a", ""), {3, 2}));
  const auto refused = [](const auto& f, const auto& u) { return test::refused([&] { value_and_gradient(f, u); }); };
  BOOST_TEST(refused(gradient_sum(sum_of_tanh), x) == message);
  BOOST_TEST(refused(gradient_sum(sum_of_tanh), typed) == message);
  BOOST_TEST(refused(gradient_sum(sum_of_tanh), run_time_tensor) == message);
  BOOST_TEST(refused(gradient_sum(program), run_time_tensor) == message);
  const auto recomputed = [](const auto& b) { return sum(recompute([](const auto& c) { return tanh(c); }, b)); };
  BOOST_TEST(refused(gradient_sum(recomputed), run_time_tensor) == message);
}

BOOST_AUTO_TEST_CASE(a_function_that_reads_a_parameter_of_another_gradient_is_refused_and_that_one_stays_right) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto u = shard(everyone, m.layout("a", ""), x), w = shard(everyone, m.layout("", "a"), x);
  std::string said, foretold;
  const auto loss = [&](const auto& a) {
    const auto y = square(a);
    said = test::refused(
        [&] { value_and_gradient([&](const auto& b) { return sum(multiply(y, reshard(b, y.layout()))); }, w); });
    foretold = test::refused([&] { movements_of([&](const auto& b) { return sum(add(y, b)); }, w); });
    return sum(multiply(y, a));
  };
  const auto d = value_and_gradient(loss, u).gradients;
  BOOST_TEST(said == message);
  BOOST_TEST(foretold == message);
  const auto there = reshard(std::get<0>(d), m.layout("", "")).whole<2>();
  for (std::size_t k = 0; k < x.size(); ++k)
    BOOST_TEST(std::abs(there.data()[k] - 3 * x.data()[k] * x.data()[k]) < 1e-14);
}

BOOST_AUTO_TEST_CASE(a_gradient_of_what_is_constant_to_another_one_is_a_constant) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto u = shard(everyone, m.layout("a", ""), x);
  const auto check = [&](const auto& loss) {  // sum(a tanh'(x)), in which tanh' is a constant
    const auto d = reshard(std::get<0>(value_and_gradient(loss, u).gradients), m.layout("", "")).template whole<2>();
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double t = std::tanh(x.data()[k]);
      BOOST_TEST(std::abs(d.data()[k] - (1 - t * t)) < 1e-14);
    }
  };
  check([&](const auto& a) {
    return sum(multiply(a, std::get<0>(value_and_gradient(sum_of_tanh, stop_gradient(a)).gradients)));
  });
  check([&](const auto& a) { return sum(multiply(a, std::get<0>(value_and_gradient(sum_of_tanh, u).gradients))); });
}
