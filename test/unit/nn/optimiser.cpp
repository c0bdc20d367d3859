// Optimisers equal their formulas, and throw if a parameter has changed its shape.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <partita/nn/optimiser.hpp>
#include <string>

#include "refused.hpp"

namespace {

using namespace partita;
using test::refused;
using vector = xt::xtensor<double, 1>;
using matrix = xt::xtensor<double, 2>;

/// Three steps of a parameter of n elements give each element bitwise the same as a parameter of this element alone.
template <class Optimiser, class Options>
void expect_each_element_alone(const Options& options) {
  for (const std::size_t n : {1U, 7U, 2047U, 2048U, 2049U, 4096U, 5000U}) {
    vector w = xt::zeros<double>({n}), g = w, alone = xt::zeros<double>({std::size_t{1}}), g_alone = alone;
    const auto weight = [](std::size_t k) { return static_cast<double>(k % 37) / 8 - 2; };
    const auto slope = [](std::size_t k, int step) { return static_cast<double>((k + 5) % 23) / 4 - step; };
    for (std::size_t k = 0; k < n; ++k) w(k) = weight(k);
    Optimiser together({parameter<double>(w, g)}, options);
    for (int step = 0; step < 3; ++step) {
      for (std::size_t k = 0; k < n; ++k) g(k) = slope(k, step);
      together.step();
    }
    std::size_t different = 0;
    for (std::size_t k = 0; k < n; ++k) {
      alone(0) = weight(k);
      Optimiser one({parameter<double>(alone, g_alone)}, options);
      for (int step = 0; step < 3; ++step) g_alone(0) = slope(k, step), one.step();
      different += alone(0) == w(k) ? 0 : 1;
    }
    BOOST_TEST(different == 0U, n << " elements, of which " << different << " differ");
  }
}

bool close(double a, double b) { return std::abs(a - b) <= 1e-13 * std::max({std::abs(a), std::abs(b), 1.0}); }

/// Checks that a step of both optimisers after sizes have changed throws this error message and changes nothing.
template <class Optimiser, class Options>
void expect_sizes_are_kept(const std::string& call, const Options& options) {
  vector first{1, 2}, first_gradient{1, 1}, second{3, 4, 5}, second_gradient{1, 1, 1};
  Optimiser optimiser({parameter<double>(first, first_gradient), parameter<double>(second, second_gradient)}, options);
  optimiser.step();
  const vector before = first;

  for (const std::size_t n : {2U, 4U}) {  // the momentum is of 3 elements
    second = second_gradient = vector(std::array<std::size_t, 1>{n}, 1.0);
    BOOST_TEST(refused<shape_error>([&] { optimiser.step(); }) ==
               call + ": requires parameter 1 to keep the 3 elements that it had when the optimiser was made, got " +
                   std::to_string(n) + "; assign a block of the first shape");
  }
  second = vector{3, 4, 5}, second_gradient = vector{1};
  BOOST_TEST(refused<shape_error>([&] { optimiser.step(); }) ==
             call +
                 ": requires for parameter 1 a gradient of the shape of its value [3], got [1]; assign a gradient of "
                 "that shape");
  BOOST_TEST((first == before));
  second_gradient = vector{0, 0, 0};
  optimiser.step();
  BOOST_TEST((first != before));
}

/// Steps that are refused, for whatever reason, leave no trace: the next steps are those of a twin that refused none.
template <class Optimiser, class Options>
void expect_no_trace_of_refused_steps(const Options& options) {
  const vector slope{0.5, -2};
  for (int refused_before = 0; refused_before < 3; ++refused_before) {
    vector w{1, 2}, g = slope, twin_w = w, twin_g = slope;
    Optimiser optimiser({parameter<double>(w, g)}, options), twin({parameter<double>(twin_w, twin_g)}, options);
    for (int step = 0; step < 4; ++step) {
      if (step == refused_before) {
        const vector kept = w;
        w = vector{1, 2, 3};
        BOOST_CHECK_THROW(optimiser.step(), shape_error);
        w = kept, g = vector{1};
        BOOST_CHECK_THROW(optimiser.step(), shape_error);
        g = slope, optimiser.options().learning_rate = -1;
        BOOST_CHECK_THROW(optimiser.step(), shape_error);
        optimiser.options() = options;
      }
      optimiser.step(), twin.step();
      BOOST_TEST((w == twin_w), "step " << step << ", refused before step " << refused_before);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(optimisers)

BOOST_AUTO_TEST_CASE(stochastic_gradient_descent_is_its_formula) {
  vector w{1, -2, 3}, g{0.5, 0.25, -1};
  sgd<double> plain({parameter<double>(w, g)}, {.learning_rate = 0.1});
  plain.step();
  plain.step();
  BOOST_TEST((w == vector{1 - 0.1 * 0.5 - 0.1 * 0.5, -2 - 0.1 * 0.25 - 0.1 * 0.25, 3 + 0.1 + 0.1}));

  w = {1, -2, 3};
  sgd<double> heavy({parameter<double>(w, g)}, {.learning_rate = 0.1, .momentum = 0.9});
  double v = 0, wanted = 1;
  for (int step = 0; step < 5; ++step) {
    heavy.step();
    v = 0.9 * v + 0.5;
    wanted -= 0.1 * v;
  }
  BOOST_TEST(close(w(0), wanted));
}

BOOST_AUTO_TEST_CASE(adam_is_its_formula) {
  matrix w{{1, -2}}, g{{0.5, -3}};
  adam<double> optimiser({parameter<double>(w, g)}, {.learning_rate = 0.01});
  double m = 0, v = 0, wanted = -2;
  for (int step = 1; step <= 10; ++step) {
    g(0, 1) = -3 + step;
    optimiser.step();
    m = 0.9 * m + 0.1 * g(0, 1);
    v = 0.999 * v + 0.001 * g(0, 1) * g(0, 1);
    wanted -= 0.01 * (m / (1 - std::pow(0.9, step))) / (std::sqrt(v / (1 - std::pow(0.999, step))) + 1e-8);
    if (step == 1)
      BOOST_TEST(std::abs(w(0, 0) - (1 - 0.01)) < 1e-9);  // the first step is the learning rate, whatever the gradient
  }
  BOOST_TEST(close(w(0, 1), wanted));
}

BOOST_AUTO_TEST_CASE(adamw_lets_weights_decay_before_adam_moves_them) {
  vector w{1, -2}, u = w, g{0.5, -3};
  adamw<double> decaying({parameter<double>(w, g)}, {.learning_rate = 0.25, .weight_decay = 0.5});
  adam<double> plain({parameter<double>(u, g)}, {.learning_rate = 0.25});
  for (int step = 0; step < 4; ++step) {
    u *= 1 - 0.25 * 0.5;
    decaying.step(), plain.step();
    BOOST_TEST((w == u));
  }
}

BOOST_AUTO_TEST_CASE(options_that_are_large_are_those_of_the_formulas) {
  const double rate = 0.5, beta1 = 0.25, beta2 = 0.75, epsilon = 4, decay = 0.5;
  vector w{1, -2}, u = w, g{0.5, -3};
  adam<double> plain({parameter<double>(w, g)},
                     {.learning_rate = rate, .beta1 = beta1, .beta2 = beta2, .epsilon = epsilon});
  adamw<double> decaying(
      {parameter<double>(u, g)},
      {.learning_rate = rate, .beta1 = beta1, .beta2 = beta2, .epsilon = epsilon, .weight_decay = decay});
  double m = 0, v = 0, wanted = -2, wanted_decaying = -2;
  for (int step = 1; step <= 6; ++step) {
    g(1) = 2 * step - 7;
    plain.step(), decaying.step();
    m = beta1 * m + (1 - beta1) * g(1);
    v = beta2 * v + (1 - beta2) * g(1) * g(1);
    const double move =
        rate * (m / (1 - std::pow(beta1, step))) / (std::sqrt(v / (1 - std::pow(beta2, step))) + epsilon);
    wanted -= move;
    wanted_decaying = wanted_decaying * (1 - rate * decay) - move;
    BOOST_TEST(close(w(1), wanted));
    BOOST_TEST(close(u(1), wanted_decaying));
  }
}

BOOST_AUTO_TEST_CASE(nesterov_dampening_and_decay_of_gradient_descent_are_its_formula) {
  const double rate = 0.25, momentum = 0.5, decay = 0.75;
  for (const bool nesterov : {false, true})
    for (const double dampening : {0.0, 0.25, 1.0}) {
      if (nesterov && dampening != 0) continue;
      for (const double weight_decay : {0.0, decay}) {
        vector w{1, -2}, g{0.5, -3};
        sgd<double> optimiser({parameter<double>(w, g)}, {.learning_rate = rate,
                                                          .momentum = momentum,
                                                          .dampening = dampening,
                                                          .weight_decay = weight_decay,
                                                          .nesterov = nesterov});
        double v = 0, wanted = -2;
        for (int step = 1; step <= 6; ++step) {
          g(1) = 2 * step - 7;
          optimiser.step();
          const double slope = g(1) + weight_decay * wanted;
          v = step == 1 ? slope : momentum * v + (1 - dampening) * slope;
          wanted -= rate * (nesterov ? slope + momentum * v : v);
          BOOST_TEST(close(w(1), wanted));
        }
      }
    }
  vector w{1, -2}, g{0.5, -3};
  sgd<double> plain({parameter<double>(w, g)}, {.learning_rate = rate, .weight_decay = decay});
  plain.step();
  BOOST_TEST((w == vector{1 - rate * (0.5 + decay), -2 - rate * (-3 - 2 * decay)}));
}

BOOST_AUTO_TEST_CASE(decay_and_amsgrad_of_adam_are_its_formula) {
  const double rate = 0.5, beta1 = 0.25, beta2 = 0.5, epsilon = 2, decay = 0.75;
  for (const bool amsgrad : {false, true}) {
    vector w{1, -2}, u = w, g{0.5, -3};
    adam<double> optimiser({parameter<double>(w, g)}, {.learning_rate = rate,
                                                       .beta1 = beta1,
                                                       .beta2 = beta2,
                                                       .epsilon = epsilon,
                                                       .weight_decay = decay,
                                                       .amsgrad = amsgrad});
    adamw<double> decoupled({parameter<double>(u, g)}, {.learning_rate = rate,
                                                        .beta1 = beta1,
                                                        .beta2 = beta2,
                                                        .epsilon = epsilon,
                                                        .weight_decay = decay,
                                                        .amsgrad = amsgrad});
    struct moments {
      double m = 0, v = 0, largest = 0;
    } of_w, of_u;
    double wanted = -2, wanted_decoupled = -2;
    const auto move = [&](moments& all, double slope, int step) {
      all.m = beta1 * all.m + (1 - beta1) * slope;
      all.v = beta2 * all.v + (1 - beta2) * slope * slope;
      all.largest = std::max(all.largest, all.v);
      const double second = amsgrad ? all.largest : all.v;
      return rate * (all.m / (1 - std::pow(beta1, step))) / (std::sqrt(second / (1 - std::pow(beta2, step))) + epsilon);
    };
    for (int step = 1; step <= 7; ++step) {
      g(1) = step < 3 ? 4 * step : 0.25 * step - 1;  // large at first, so that the largest moment is an earlier one
      optimiser.step(), decoupled.step();
      wanted -= move(of_w, g(1) + decay * wanted, step);
      wanted_decoupled *= 1 - rate * decay;
      wanted_decoupled -= move(of_u, g(1), step);
      BOOST_TEST(close(w(1), wanted));
      BOOST_TEST(close(u(1), wanted_decoupled));
    }
    BOOST_TEST(of_u.largest > of_u.v);
  }
}

BOOST_AUTO_TEST_CASE(momentum_and_amsgrad_may_begin_at_any_step) {
  vector w{1}, g{0.5}, u{1}, e{0.5};
  sgd<double> descend({parameter<double>(w, g)}, {.learning_rate = 0.25});
  adam<double> adapt({parameter<double>(u, e)}, {});
  descend.step(), adapt.step();
  descend.options().momentum = 0.5, adapt.options().amsgrad = true;
  descend.step(), descend.step(), adapt.step();
  BOOST_TEST(w(0) == 1 - 0.25 * (0.5 + 0.5 + 0.75));
}

BOOST_AUTO_TEST_CASE(each_element_of_a_long_parameter_moves_as_it_does_alone) {
  expect_each_element_alone<sgd<double>>(sgd_options{.learning_rate = 0.125});
  expect_each_element_alone<sgd<double>>(sgd_options{.learning_rate = 0.125, .momentum = 0.75});
  expect_each_element_alone<adam<double>>(adam_options{.learning_rate = 0.5, .epsilon = 4});
  expect_each_element_alone<adamw<double>>(adamw_options{.learning_rate = 0.5, .epsilon = 4, .weight_decay = 0.25});
  expect_each_element_alone<adamw<double>>(adamw_options{.learning_rate = 0.5, .weight_decay = 0.25, .amsgrad = true});
}

BOOST_AUTO_TEST_CASE(a_factor_of_the_gradient_is_a_shorter_gradient) {
  const auto expect = [](const auto& options) {
    constexpr std::size_t states = detail::max_state_count<std::remove_cvref_t<decltype(options)>>;
    for (const std::size_t n : {1U, 2048U, 2049U, 5000U}) {
      const vector g = xt::arange<double>(0.5, static_cast<double>(n)), quarter = 0.25 * g;
      const auto moved = [&](const vector& gradient, double factor) {
        vector w = xt::ones<double>({n});
        xt::xtensor<double, 2> state = xt::zeros<double>({states, n});
        detail::flat_parameter<double, states> p{n, w.data(), gradient.data(), {}, factor};
        for (std::size_t s = 0; s < states; ++s) p.state[s] = state.data() + s * n;
        detail::update(options, 1, p), detail::update(options, 2, p);
        return w;
      };
      BOOST_TEST((moved(g, 0.25) == moved(quarter, 1)), n << " elements");  // exact: a quarter is a power of two
    }
  };
  expect(sgd_options{.learning_rate = 0.125, .weight_decay = 0.5});
  expect(sgd_options{.learning_rate = 0.125, .momentum = 0.5, .nesterov = true});
  expect(adam_options{.learning_rate = 0.5, .epsilon = 4, .amsgrad = true});
  expect(adamw_options{.learning_rate = 0.5, .epsilon = 4, .weight_decay = 0.25});
}

BOOST_AUTO_TEST_CASE(a_complex_element_is_two_real_ones) {
  using number = std::complex<double>;
  xt::xtensor<number, 1> w{number(1, -2), number(3, 4)}, g{number(0.5, 2), number(-1, 0.25)};
  vector parts{1, -2, 3, 4}, slopes{0.5, 2, -1, 0.25};
  sgd<number> descend({parameter<number>(w, g)}, {.learning_rate = 0.1, .momentum = 0.5});
  sgd<double> descend_parts({parameter<double>(parts, slopes)}, {.learning_rate = 0.1, .momentum = 0.5});
  adam<number> adapt({parameter<number>(w, g)}, {});
  adam<double> adapt_parts({parameter<double>(parts, slopes)}, {});
  for (int step = 0; step < 3; ++step) {
    descend.step(), descend_parts.step();
    adapt.step(), adapt_parts.step();
  }
  BOOST_TEST((w == xt::xtensor<number, 1>{number(parts(0), parts(1)), number(parts(2), parts(3))}));
}

BOOST_AUTO_TEST_CASE(refuse_parameters_of_other_sizes_than_they_were_made_for) {
  expect_sizes_are_kept<sgd<double>>("partita::sgd::step()", sgd_options{.momentum = 0.9});
  expect_sizes_are_kept<sgd<double>>("partita::sgd::step()", sgd_options{});
  expect_sizes_are_kept<adam<double>>("partita::adam::step()", adam_options{});
  expect_sizes_are_kept<adamw<double>>("partita::adamw::step()", adamw_options{});
}

BOOST_AUTO_TEST_CASE(steps_that_are_refused_are_not_counted) {
  expect_no_trace_of_refused_steps<sgd<double>>(sgd_options{});
  expect_no_trace_of_refused_steps<sgd<double>>(sgd_options{.momentum = 0.5, .dampening = 0.25});
  expect_no_trace_of_refused_steps<adam<double>>(adam_options{.amsgrad = true});
  expect_no_trace_of_refused_steps<adamw<double>>(adamw_options{});
}

BOOST_AUTO_TEST_CASE(refuse_options_that_would_spoil_the_weights_when_made_and_when_they_are_changed) {
  vector w{1, 2}, g{1, 1};
  const std::vector<parameter<double>> all{parameter<double>(w, g)};
  const double none = std::nan("");
  const auto asks = [](const char* call, const char* missing, auto make) {
    const text wanted = text(call) << ": requires " << missing << "; look at what the options hold";
    const std::string said = refused<shape_error>(make);
    BOOST_TEST(said == wanted.c_str());
  };
  const auto of_sgd = [&](const char* missing, const sgd_options& o) {
    asks("partita::sgd::step()", missing, [&] { sgd<double>(all, o); });
  };
  const auto of_adam = [&](const char* missing, const adam_options& o) {
    asks("partita::adam::step()", missing, [&] { adam<double>(all, o); });
  };
  for (const sgd_options& o :
       {sgd_options{.learning_rate = -0.1}, {.learning_rate = none}, {.momentum = -1}, {.momentum = none}})
    of_sgd("a learning_rate and a momentum of at least 0", o);
  for (const double wrong : {-1e-9, none}) {
    of_sgd("a weight_decay of at least 0", {.weight_decay = wrong});
    of_adam("a weight_decay of at least 0", {.weight_decay = wrong});
    of_adam("a learning_rate and an epsilon of at least 0", {.learning_rate = wrong});
    of_adam("a learning_rate and an epsilon of at least 0", {.epsilon = wrong});
    asks("partita::adamw::step()", "a weight_decay of at least 0",
         [&] { adamw<double>(all, {.weight_decay = wrong}); });
  }
  for (const double wrong : {-1e-9, 1.001, none}) of_sgd("a dampening from 0 to 1", {.dampening = wrong});
  for (const sgd_options& o : {sgd_options{.nesterov = true}, {.momentum = 0.5, .dampening = 0.5, .nesterov = true}})
    of_sgd("a momentum above 0, and no dampening, for nesterov", o);
  for (const double wrong : {-1e-9, 1.0, none}) {
    of_adam("beta1 and beta2 from 0 on and below 1", {.beta1 = wrong});
    of_adam("beta1 and beta2 from 0 on and below 1", {.beta2 = wrong});
  }
  BOOST_CHECK_NO_THROW(sgd<double>(all, {.learning_rate = 0, .momentum = 0, .dampening = 1, .weight_decay = 0}));
  BOOST_CHECK_NO_THROW(sgd<double>(all, {.momentum = 1e-9, .nesterov = true}));
  BOOST_CHECK_NO_THROW(adam<double>(all, {.learning_rate = 0, .beta1 = 0, .beta2 = 0, .epsilon = 0}));
  adam<double> changed(all, {});
  changed.step();
  changed.options().learning_rate = none;
  const vector before = w;
  BOOST_CHECK_THROW(changed.step(), shape_error);
  BOOST_TEST((w == before));
  changed.options().learning_rate = 0;  // as at the end of a schedule
  changed.step();
  BOOST_TEST((w == before));
}

BOOST_AUTO_TEST_CASE(without_options_take_the_default_ones) {
  const auto expect = [](auto make, auto make_with_options) {
    vector w{1, -2}, g{0.5, -3}, u = w, e = g;
    auto optimiser = make(std::vector<parameter<double>>{{w, g}});
    auto twin = make_with_options(std::vector<parameter<double>>{{u, e}});
    for (int step = 0; step < 3; ++step) {
      optimiser.step(), twin.step();
      BOOST_TEST((w == u && w(0) < 1 && w(1) > -2));
    }
  };
  using parameters = std::vector<parameter<double>>;
  expect([](const parameters& all) { return sgd<double>(all); },
         [](const parameters& all) { return sgd<double>(all, {.learning_rate = 0.01}); });
  expect([](const parameters& all) { return adam<double>(all); },
         [](const parameters& all) {
           return adam<double>(all, {.learning_rate = 0.001, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8});
         });
  expect([](const parameters& all) { return adamw<double>(all); },
         [](const parameters& all) {
           return adamw<double>(all, {.learning_rate = 0.001, .epsilon = 1e-8, .weight_decay = 0.01});
         });
}

/// Weights decay and gradients count also where other parameters have no elements, as on a worker without a block.
BOOST_AUTO_TEST_CASE(parameters_without_elements_leave_the_others_as_they_are) {
  const auto expect = [](const auto& make) {
    vector w{1, -2, 3}, g{0.5, -3, 2}, u = w, e = g, none(std::array<std::size_t, 1>{0}), none_too = none;
    auto alone = make(std::vector<parameter<double>>{{w, g}});
    auto among = make(std::vector<parameter<double>>{{none, none_too}, {u, e}, {none, none_too}});
    for (int step = 0; step < 3; ++step) {
      alone.step(), among.step();
      BOOST_TEST((w == u && none.size() == 0));
    }
  };
  using parameters = std::vector<parameter<double>>;
  expect([](const parameters& all) { return sgd<double>(all, {.momentum = 0.5, .weight_decay = 0.25}); });
  expect([](const parameters& all) { return adam<double>(all, {.amsgrad = true}); });
  expect([](const parameters& all) { return adamw<double>(all, {.weight_decay = 0.25}); });
}

BOOST_AUTO_TEST_SUITE_END()
