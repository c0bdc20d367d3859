// Sequences of layers: forward in order, the adjoint in reverse order, and the parameters of all layers.
#include <boost/test/unit_test.hpp>
#include <partita/nn/activation.hpp>
#include <partita/nn/optimiser.hpp>
#include <partita/nn/sequential.hpp>
#include <string>
#include <vector>

namespace {

using namespace partita;
using vector = xt::xtensor<double, 1>;

/// A layer y = a x with one parameter a. It records its calls.
struct scale {
  vector a, da{0};
  std::vector<std::string>* diary;
  vector x{};

  vector operator()(const vector& given) {
    diary->push_back("forward " + std::to_string(static_cast<int>(a(0))));
    x = given;
    return a(0) * x;
  }
  vector adjoint(const vector& dy) {
    diary->push_back("adjoint " + std::to_string(static_cast<int>(a(0))));
    da(0) += xt::sum(dy * x)();
    return a(0) * dy;
  }
  void zero_gradients() { da.fill(0); }
  std::vector<parameter<double>> parameters() { return {{a, da}}; }
};

/// A layer that acts differently in training and in evaluation.
struct with_mode {
  bool trains = true;

  vector operator()(const vector& x) const { return trains ? vector(2 * x) : x; }
  vector adjoint(const vector& dy) const { return trains ? vector(2 * dy) : dy; }
  void train() { trains = true; }
  void evaluate() { trains = false; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(layers_one_after_the_other)

BOOST_AUTO_TEST_CASE(act_in_order_and_their_adjoints_in_reverse) {
  std::vector<std::string> diary;
  sequential network(scale{{2}, {0}, &diary}, relu<double>(), scale{{3}, {0}, &diary});
  BOOST_TEST((network(vector{1, -1}) == vector{6, 0}));
  BOOST_TEST((network.forward(vector{1, -1}) == vector{6, 0}));
  BOOST_TEST((network.adjoint(vector{1, 1}) == vector{6, 0}));
  const std::vector<std::string> wanted{"forward 2", "forward 3", "forward 2", "forward 3", "adjoint 3", "adjoint 2"};
  BOOST_TEST(diary == wanted, boost::test_tools::per_element());
  BOOST_TEST(network.layer<0>().da(0) == 3.0);
  BOOST_TEST(network.layer<2>().da(0) == 2.0);
  network.zero_gradients();
  BOOST_TEST(network.layer<0>().da(0) == 0.0);
  BOOST_TEST(network.layer<2>().da(0) == 0.0);
}

BOOST_AUTO_TEST_CASE(have_the_parameters_of_all_of_them_in_order) {
  std::vector<std::string> diary;
  sequential network(relu<double>(), scale{{2}, {10}, &diary}, scale{{3}, {20}, &diary});
  const auto all = network.parameters();
  BOOST_TEST(all.size() == 2U);
  BOOST_TEST(all[0].value() == network.layer<1>().a.data());
  BOOST_TEST(all[1].gradient() == network.layer<2>().da.data());
  sgd<double> descend(all, {.learning_rate = 0.5});
  descend.step();
  BOOST_TEST(network.layer<1>().a(0) == -3.0);
  BOOST_TEST(network.layer<2>().a(0) == -7.0);
}

BOOST_AUTO_TEST_CASE(are_switched_together_to_evaluation_and_back_to_training) {
  sequential network(with_mode{}, relu<double>{}, with_mode{}, with_mode{});
  for (int times = 0; times < 2; ++times) {
    BOOST_TEST((network(vector{1, 3}) == vector{8, 24}));
    network.evaluate();
    BOOST_TEST((network(vector{1, 3}) == vector{1, 3}));
    BOOST_TEST((network.adjoint(vector{1, 1}) == vector{1, 1}));
    network.train();
    BOOST_TEST((network.adjoint(vector{1, 1}) == vector{8, 8}));
  }
}

BOOST_AUTO_TEST_CASE(without_a_layer_are_the_identity) {
  sequential<> nothing;
  BOOST_TEST((nothing(vector{1, 2}) == vector{1, 2}));
  BOOST_TEST((nothing.forward(vector{1, 2}) == vector{1, 2}));
  BOOST_TEST((nothing.adjoint(vector{3, 4}) == vector{3, 4}));
}

BOOST_AUTO_TEST_SUITE_END()
