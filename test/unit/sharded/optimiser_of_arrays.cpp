// Optimisers of plain arrays, which need no workers: their steps are those of the optimisers of layers, the norm counts
// every element, and only a norm above the limit is scaled.
#include <partita/nn/optimiser.hpp>
#include <partita/sharded/sharded_optimiser.hpp>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <tuple>

using namespace partita;

namespace {

template <class T>
using vector = xt::xtensor<T, 1>;

/// n small integers, positive and negative; of complex elements both parts are.
template <class T>
vector<T> integers(std::size_t n, std::size_t salt) {
  vector<T> x(std::array<std::size_t, 1>{n});
  const auto part = [&](std::size_t k) {
    using real = detail::real_of<T>;
    return static_cast<real>((5 * k + 3 * salt) % 7) - real(3);
  };
  for (std::size_t k = 0; k < n; ++k) {
    if constexpr (detail::is_complex<T>) x(k) = T(part(k), part(k + 4));
    else x(k) = part(k);
  }
  return x;
}

template <class T, class Sharded, class Sequential, class Options>
void expect_the_sequential_one(const Options& options) {
  auto w = integers<T>(5, 1), b = integers<T>(3, 2), u = w, c = b, du = w, dc = b;
  Sharded optimiser({w, b}, options);
  Sequential truth({parameter<T>(u, du), parameter<T>(c, dc)}, options);
  for (std::size_t step = 0; step < 3; ++step) {
    du = integers<T>(5, 10 + step), dc = integers<T>(3, 20 + step);
    optimiser.step(std::tuple(du, dc));
    truth.step();
    BOOST_TEST((w == u));
    BOOST_TEST((b == c));
    BOOST_TEST(optimiser.steps() == step + 1);
  }
  BOOST_TEST(optimiser.state_bytes() == optimiser.states_of_parameter() * (5 + 3) * sizeof(T));
}
template <class T>
void expect_the_sequential_ones() {
  expect_the_sequential_one<T, sharded_sgd<T>, sgd<T>>(sgd_options{.learning_rate = 0.25});
  expect_the_sequential_one<T, sharded_sgd<T>, sgd<T>>(sgd_options{.learning_rate = 0.25, .momentum = 0.5});
  expect_the_sequential_one<T, sharded_adam<T>, adam<T>>(adam_options{.learning_rate = 0.1});
  expect_the_sequential_one<T, sharded_adamw<T>, adamw<T>>(adamw_options{.learning_rate = 0.1});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(optimisers_of_arrays)

BOOST_AUTO_TEST_CASE(their_steps_and_bytes_are_those_of_the_optimisers_of_layers) {
  expect_the_sequential_ones<float>();
  expect_the_sequential_ones<double>();
  expect_the_sequential_ones<std::complex<float>>();
  expect_the_sequential_ones<std::complex<double>>();
}

BOOST_AUTO_TEST_CASE(the_norm_of_complex_gradients_counts_both_parts_of_each) {
  using complex = std::complex<double>;
  std::tuple gradients(vector<complex>{complex(3, 4), complex(0, 12)});
  BOOST_TEST(global_norm(gradients) == 13);
  BOOST_TEST(clip_by_global_norm(gradients, 6.5) == 13);
  BOOST_TEST((std::get<0>(gradients) == vector<complex>{complex(1.5, 2), complex(0, 6)}));
}

BOOST_AUTO_TEST_CASE(options_that_no_optimiser_has_are_refused_when_it_is_made) {
  auto w = integers<double>(5, 1);
  BOOST_CHECK_THROW(sharded_sgd<double>({w}, {.momentum = -1}), shape_error);
  BOOST_CHECK_THROW(sharded_sgd<double>({w}, {.nesterov = true}), shape_error);
  BOOST_CHECK_THROW(sharded_adam<double>({w}, {.beta1 = 1}), shape_error);
  BOOST_CHECK_THROW(sharded_adamw<double>({w}, {.epsilon = -1}), shape_error);
}

BOOST_AUTO_TEST_CASE(a_state_that_an_option_needs_is_made_at_the_step_that_needs_it) {
  auto w = integers<double>(5, 1), v = integers<double>(5, 1);
  sharded_sgd<double> descent({w}, {.learning_rate = 0.5});
  sharded_adam<double> adam({v}, {.learning_rate = 0.5});
  const auto g = integers<double>(5, 2);
  descent.step(std::tuple(g));
  adam.step(std::tuple(g));
  BOOST_TEST(descent.states_of_parameter() == 0U);
  BOOST_TEST(adam.states_of_parameter() == 2U);
  descent.options().momentum = 0.5;
  adam.options().amsgrad = true;
  descent.step(std::tuple(g));
  adam.step(std::tuple(g));
  BOOST_TEST(descent.states_of_parameter() == 1U);
  BOOST_TEST(adam.states_of_parameter() == 3U);
  BOOST_TEST(adam.state_bytes() == 3 * 5 * sizeof(double));
}

BOOST_AUTO_TEST_CASE(the_norm_counts_every_element_of_every_length) {
  for (std::size_t n = 0; n <= 20; ++n) {
    const auto x = integers<double>(n, 1), y = integers<double>(20 - n, 2);
    double squares = 0;
    for (const double one : x) squares += one * one;
    for (const double one : y) squares += one * one;
    BOOST_TEST(global_norm(std::tuple(x, y)) == std::sqrt(squares));
  }
}

BOOST_AUTO_TEST_CASE(only_a_norm_above_the_limit_is_scaled) {
  const vector<double> x{3, 0}, y{-4};  // of norm 5
  for (const double most : {0.0, 1.25, 2.5, 5.0, 6.0, 10.0}) {
    const double factor = most < 5 ? most / 5 : 1;
    std::tuple g(x, y);
    BOOST_TEST(clip_by_global_norm(g, most) == 5);
    BOOST_TEST((std::get<0>(g) == vector<double>(factor * x)));
    BOOST_TEST((std::get<1>(g) == vector<double>(factor * y)));
    vector<double> v{0, 0}, w{0};
    sharded_sgd<double> optimiser({v, w}, {.learning_rate = 1});
    BOOST_TEST(optimiser.step(std::tuple(x, y), clip_norm{most}) == 5);
    BOOST_TEST((v == vector<double>(-factor * x)));
    BOOST_TEST((w == vector<double>(-factor * y)));
  }
}

/// The limit 0 is the norm of gradients that are all 0: they need no scaling, and a factor 0 / 0 would make NaN.
BOOST_AUTO_TEST_CASE(gradients_of_zeros_stay_zeros_under_every_limit) {
  for (const double most : {0.0, 1.25}) {
    std::tuple g(vector<double>{0, 0}, vector<double>{0});
    BOOST_TEST(clip_by_global_norm(g, most) == 0);
    BOOST_TEST((std::get<0>(g) == vector<double>{0, 0}));
    BOOST_TEST((std::get<1>(g) == vector<double>{0}));
    vector<double> v{1, 2}, w{3};
    sharded_sgd<double> optimiser({v, w}, {.learning_rate = 1});
    BOOST_TEST(optimiser.step(g, clip_norm{most}) == 0);
    BOOST_TEST((v == vector<double>{1, 2}));
    BOOST_TEST((w == vector<double>{3}));
  }
}

BOOST_AUTO_TEST_CASE(a_state_of_other_extents_is_not_restored) {
  vector<double> w{1, 2, 3};
  sharded_adam<double> optimiser({w});
  optimiser.step(std::tuple(vector<double>{1, 1, 1}));
  const auto state_of = [](const auto& x) { return detail::as_run_time(x); };
  BOOST_CHECK_THROW(optimiser.restore(0, 0, state_of(vector<double>{1, 2})), partition_error);
  BOOST_CHECK_THROW(optimiser.restore(0, 0, state_of(xt::xtensor<double, 2>{{1, 2, 3}})), partition_error);
  optimiser.restore(0, 1, state_of(vector<double>{4, 5, 6}));
  BOOST_TEST((detail::as_array<1>(optimiser.state(0, 1)) == vector<double>{4, 5, 6}));
  optimiser.restore_steps(7);
  BOOST_TEST(optimiser.steps() == 7U);
}

BOOST_AUTO_TEST_SUITE_END()
