// A program of tensors has the same value and the same gradient for all kinds and layouts of its tensors.
#include "distance.hpp"
#include "layouts.hpp"
#include "refused.hpp"

#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/value_and_gradient.hpp>

using namespace partita;

namespace {

constexpr std::size_t rows = 7, in = 5, hidden = 6, classes = 3;

template <std::size_t N>
xt::xtensor<double, N> numbers(const std::array<std::size_t, N>& shape, double salt) {
  xt::xtensor<double, N> x(shape);
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = std::sin(salt + 1.7 * static_cast<double>(k));
  return x;
}
const auto x = numbers<2>({rows, in}, 1), w1 = numbers<2>({in, hidden}, 2), w2 = numbers<2>({hidden, classes}, 3);
const auto b = numbers<1>({hidden}, 4);
const xt::xtensor<int, 1> labels{0, 2, 1, 1, 0, 2, 2};

const auto mlp = [](const auto& X, const auto& W1, const auto& B, const auto& W2) {
  return matmul(relu(add(matmul(X, W1), B, broadcast_dimensions<1>)), W2);
};
/// The loss as a function of the parameters, for given images.
template <class X>
auto loss_of(const X& given) {
  return
      [&given](const auto& W1, const auto& B, const auto& W2) { return cross_entropy(mlp(given, W1, B, W2), labels); };
}

template <class A, class B>
double distance(const A& one, const B& other) {
  double most = one.size() == other.size() ? 0 : 1;
  for (std::size_t k = 0; k < one.size() && k < other.size(); ++k)
    most = std::max(most, test::distance_between<double>(one.data()[k], other.data()[k]));
  return most;
}

}  // namespace

BOOST_AUTO_TEST_CASE(gradients_agree_with_finite_differences) {
  const auto [loss, gradients] = value_and_gradient(loss_of(x), w1, b, w2);
  const auto& [d1, db, d2] = gradients;
  const auto value = [&](const auto& a, const auto& c, const auto& e) { return loss_of(x)(a, c, e)(); };
  const double step = 1e-6;
  for (std::size_t k = 0; k < w1.size(); k += 7) {
    auto up = w1, down = w1;
    up.data()[k] += step, down.data()[k] -= step;
    BOOST_TEST(std::abs((value(up, b, w2) - value(down, b, w2)) / (2 * step) - d1.data()[k]) < 1e-8);
  }
  for (std::size_t k = 0; k < b.size(); ++k) {
    auto up = b, down = b;
    up.data()[k] += step, down.data()[k] -= step;
    BOOST_TEST(std::abs((value(w1, up, w2) - value(w1, down, w2)) / (2 * step) - db.data()[k]) < 1e-8);
  }
  BOOST_TEST(std::abs(value(w1, b, w2) - loss) < 1e-14);
}

BOOST_AUTO_TEST_CASE(typed_and_run_time_tensors_agree_with_arrays, *test::at_least(4)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  const auto [loss, gradients] = value_and_gradient(loss_of(x), w1, b, w2);
  const auto X = shard<m.layout("data", "")>(everyone, x);
  const auto W1 = shard<m.layout("", "model")>(everyone, w1);
  const auto B = shard<m.layout("model").reduced("data")>(everyone, b);
  const auto W2 = shard<m.layout("model", "")>(everyone, w2);
  static_assert(decltype(mlp(X, W1, B, W2))::layout() == m.layout("data", "").partial("model"));
  const auto [value, typed] = value_and_gradient(loss_of(X), W1, B, W2);
  using gradients_of = std::remove_cvref_t<decltype(typed)>;
  static_assert(std::tuple_element_t<0, gradients_of>::layout() == m.layout("", "model"));
  static_assert(std::tuple_element_t<1, gradients_of>::layout() == m.layout("model").partial("data"));
  static_assert(std::tuple_element_t<2, gradients_of>::layout() == m.layout("model", ""));
  const auto d1 = std::get<0>(typed).whole(), d2 = std::get<2>(typed).whole();
  const auto db = reshard<m.layout("")>(std::get<1>(typed)).whole();
  const auto again =
      value_and_gradient(loss_of(X.run_time_tensor()), W1.run_time_tensor(), B.run_time_tensor(), W2.run_time_tensor());
  const auto e1 = std::get<0>(again.gradients).whole<2>();
  if (everyone.id() >= 4) return;
  BOOST_TEST(std::abs(value - loss) < 1e-14);
  BOOST_TEST(distance(d1, std::get<0>(gradients)) < 1e-14);
  BOOST_TEST(distance(db, std::get<1>(gradients)) < 1e-14);
  BOOST_TEST(distance(d2, std::get<2>(gradients)) < 1e-14);
  BOOST_TEST(again.value == value);
  BOOST_TEST((e1 == d1));
}

BOOST_AUTO_TEST_CASE(functions_are_the_sequential_ones_wherever_tensors_lie) {
  world everyone(test::workers());
  std::mt19937 random(5);
  const auto gamma = numbers<1>({in}, 7), beta = numbers<1>({in}, 8);
  const xt::xtensor<int, 2> ids{{1, 6, 0}, {3, 3, 2}};
  const xt::xtensor<int, 1> fifths{0, 4, 1, 1, 0, 2, 3};
  const auto f = [&](const auto& t, const auto& g, const auto& h) {
    const auto scores = normalise(add(sigmoid(t), multiply(gelu(t), 2)), g, h);
    const auto picked = lookup(t, ids);
    return add(add(cross_entropy(scores, fifths), sum(multiply(softmax(t), log_softmax(t)))),
               add(sum(square(picked)), mean(maximum(t, dimensions<1>))));
  };
  const auto [loss, gradients] = value_and_gradient(f, x, gamma, beta);
  for (const mesh& m : test::meshes(everyone.size())) {
    const auto two = test::layouts(m, 2), one = test::layouts(m, 1);
    for (int k = 0; k < 3; ++k) {
      const sharding s = two[random() % two.size()], t = one[random() % one.size()];
      const auto [value, d] =
          value_and_gradient(f, shard(everyone, s, x), shard(everyone, t, gamma), shard(everyone, t, beta));
      const auto d0 = reshard(std::get<0>(d), sharding(m, 2)).whole<2>();
      const auto d1 = reshard(std::get<1>(d), sharding(m, 1)).whole<1>();
      if (everyone.id() >= m.size()) continue;
      BOOST_TEST(std::abs(value - loss) < 1e-12, s);
      BOOST_TEST(distance(d0, std::get<0>(gradients)) < 1e-12, s);
      BOOST_TEST(distance(d1, std::get<1>(gradients)) < 1e-12, s);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_function_whose_result_is_no_number_is_refused_on_all_workers) {
  const world everyone(test::workers());
  const auto squares = [](const auto& w) { return square(w); };
  const std::string wanted =
      "partita::value_and_gradient(f, parameters...): requires an f whose result is one number, got a result of "
      "extents [5, 6]; let f return sum(...) or mean(...) of it";
  const mesh m{axis{"data", std::min<std::size_t>(everyone.size(), 3)}};
  const auto W = shard(everyone, m.layout("data", ""), w1);
  BOOST_TEST(test::refused<shape_error>([&] { (void)value_and_gradient(squares, W); }) == wanted);
  BOOST_TEST(test::refused<shape_error>([&] { (void)value_and_gradient(squares, w1); }) == wanted);
}

BOOST_AUTO_TEST_CASE(gradients_of_a_reduced_parameter_are_summed_once, *test::at_least(2)) {
  world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}};
  constexpr sharding whole = m.layout("", "");
  const auto W = reshard<whole.reduced("data")>(shard<whole>(everyone, w1));
  const auto X = shard<m.layout("data", "")>(everyone, x);
  const auto gradient = [&] {
    return std::get<0>(value_and_gradient([&](const auto& w) { return sum(square(matmul(X, w))); }, W).gradients);
  };
  const std::size_t before = detail::run_state.movement_totals.exchanges;
  auto collected = gradient();
  static_assert(decltype(collected)::layout() == whole.partial("data"));
  for (int k = 0; k < 3; ++k) {
    const auto next = add(collected, gradient());
    static_assert(std::is_same_v<decltype(next), const decltype(collected)>);
    collected = next;
  }
  // the sum of the value, and its broadcast to workers off the mesh
  const std::size_t rounds = everyone.size() > 2 ? 2 : 1;
  const std::size_t losses = 4 * rounds, moved = detail::run_state.movement_totals.exchanges - before;
  const auto dw = reshard<whole>(collected).whole();
  if (everyone.id() >= 2) return;
  BOOST_TEST(moved == losses);  // only the scalars of the values, nothing for the gradients
  BOOST_TEST(detail::run_state.movement_totals.exchanges - before == losses + 1);
  const auto once = value_and_gradient([&](const auto& w) { return sum(square(matmul(x, w))); }, w1);
  BOOST_TEST(distance(dw, xt::xtensor<double, 2>(4 * std::get<0>(once.gradients))) < 1e-12);
}
