// User-defined operations work like those of the library.
#include "check_operation.hpp"

#include <partita/sharded/operate.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>

using namespace partita;

namespace {

using test::check, test::tensor;

// [declared]
/// x³ + shift, element by element.
struct cube {
  static constexpr bool on_integers = true;
  static constexpr std::size_t parameters = 1;  // the same on all workers
  double shift = 0;

  static constexpr partita::rule rule(const shape_span& shapes) { return rules::elementwise.named("cube")(shapes); }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = x[k] * x[k] * x[k] + static_cast<T>(shift);
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X& x, const X&) const {
    return multiply(multiply(dy, square(x)), 3);
  }
};
// [/declared]

/// For each row the sum of its elements, each multiplied by its weight and its global index.
struct moments {
  static constexpr bool on_integers = true;
  static constexpr partita::rule rule(const shape_span&) { return partita::rule("ij,j->i").named("moments"); }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<const T>& w, const tensor_part<T>& y) const {
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = 0;
      for (std::size_t j = 0; j < w.size(); ++j)
        y[i] += x[i * w.size() + j] * w[j] * static_cast<T>(w.box[0].start + j);
    }
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(own_operations_are_the_sequential_ones) {
  world everyone(test::workers());
  std::mt19937 random(11);
  using v = std::vector<tensor>;
  for (std::size_t k = 0; k < test::random_cases(40); ++k) {
    const std::size_t a = random() % 7, b = random() % 7;
    check(everyone, "cube", random, {{a, b}}, [](const v& x) { return operate(cube{2}, x[0]); });
    check(everyone, "moments", random, {{a, b}, {b}},
          [](const v& x) { return operate(moments{}, stop_gradient(x[0]), stop_gradient(x[1])); });
  }
}

BOOST_AUTO_TEST_CASE(arrays_types_and_programs_go_the_same_way, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  xt::xtensor<double, 2> x({3, 5});
  xt::xtensor<double, 1> w(std::array<std::size_t, 1>{5});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(k) - 4;
  for (std::size_t k = 0; k < w.size(); ++k) w.data()[k] = static_cast<double>(k) - 2;
  const auto f = [](const auto& one, const auto& weights) {
    return operate(moments{}, operate(cube{1}, one), weights);
  };
  const auto y = f(x, w);
  static_assert(std::is_same_v<decltype(y), const xt::xtensor<double, 1>>);
  const auto X = shard<m.layout("data", "model")>(everyone, x);
  const auto W = shard<m.layout("model")>(everyone, w);
  const auto Y = f(X, W);
  static_assert(Y.layout() == m.layout("data").partial("model"));
  const auto whole = reshard<m.layout("")>(Y).whole();
  const auto program = trace(f, spec(m.layout("data", "model"), {3, 5}), spec({5}));
  const auto traced = reshard(program(X, W), m.layout("")).whole<1>();
  const auto loss = [](const auto& one) { return sum(operate(cube{}, one)); };
  const auto [value, gradients] = value_and_gradient(loss, X);
  const auto g = std::get<0>(gradients).whole();
  BOOST_CHECK_THROW(value_and_gradient([&](const auto& one) { return sum(f(one, W)); }, X), error);
  if (everyone.id() >= 4) return;
  BOOST_TEST((whole == y));
  BOOST_TEST((traced == y));
  BOOST_TEST((g == xt::xtensor<double, 2>(3. * x * x)));
}
