// The adjoints of layers and networks are derivatives, and a layer still works after a call that threw.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <cmath>
#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/nn/activation.hpp>
#include <partita/nn/initialise.hpp>
#include <partita/nn/linear.hpp>
#include <partita/nn/sequential.hpp>
#include <partita/nn/softmax_cross_entropy.hpp>

namespace {

using namespace partita;
using test::refused;
using matrix = xt::xtensor<double, 2>;

double weight_at(std::size_t i, std::size_t j) { return static_cast<double>((7 * i + 3 * j) % 11) - 5; }
double bias_at(std::size_t i) { return static_cast<double>(5 * i % 13) - 6; }
double x_at(std::size_t i, std::size_t j) { return static_cast<double>((5 * i + 2 * j) % 9) - 4; }
double dy_at(std::size_t i, std::size_t j) { return static_cast<double>((3 * i + j) % 7) - 3; }

/// This worker's columns of a matrix that is given by a function, partitioned over p = 1 x f.
template <class P, class F>
matrix columns_of(const P& p, std::size_t rows, std::size_t columns, F at) {
  if (!p.active()) return zero_volume<double, 2>(rows);
  const interval own = balanced_part(columns, p.size(), p.index()[1]);
  matrix block({rows, own.size()});
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < own.size(); ++j) block(i, j) = at(i, own.start + j);
  return block;
}

template <class Layer>
void set_weights(Layer& layer) {
  initialise(layer, weight_at);
  for (std::size_t i = 0; i < layer.bias().size(); ++i) layer.bias()(i) = bias_at(layer.weight_box().start[0] + i);
}

/// Calls f with every f_out x f_in grid that fits on the workers.
template <class F>
void for_each_grid(std::size_t workers, F f) {
  for (std::size_t f_out = 1; f_out <= workers; ++f_out)
    for (std::size_t f_in = 1; f_out * f_in <= workers; ++f_in) f(f_out, f_in);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(adjoints_of_layers)

BOOST_AUTO_TEST_CASE(without_a_bias_the_layer_passes_the_adjoint_test_exactly) {
  const world everyone(test::workers());
  for_each_grid(everyone.size(), [&](std::size_t f_out, std::size_t f_in) {
    const auto p_x = everyone.partition(extents<1, dynamic>(f_in));
    const auto p_y = everyone.partition(extents<1, dynamic>(f_out));
    linear<double> layer(p_x, p_y, everyone.partition(extents<dynamic, dynamic>(f_out, f_in)),
                         {.in_features = 7, .out_features = 5, .bias = false});
    set_weights(layer);
    BOOST_TEST(adjoint_test(everyone, layer, columns_of(p_x, 3, 7, x_at), columns_of(p_y, 3, 5, dy_at)).exact());
  });
}

BOOST_AUTO_TEST_CASE(the_adjoint_of_a_network_is_the_derivative_of_its_loss) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p_x = everyone.partition(extents<1, dynamic>(n));
  const auto p_w = everyone.partition(extents<dynamic, 1>(n));
  const auto p_one = everyone.partition<1, 1>();
  linear<double> first(p_one, p_x, p_w, {.in_features = 3, .out_features = 6});
  linear<double> second(p_one, p_x, p_w, {.in_features = 6, .out_features = 4});
  xavier_uniform(first, 1);
  xavier_uniform(second, 2);
  sequential network(std::move(first), hyperbolic_tangent<double>(), repartition(p_x, p_one), sigmoid<double>(),
                     std::move(second));
  softmax_cross_entropy<double> loss(p_x);
  const matrix x = columns_of(p_one, 2, 3, x_at);
  const xt::xtensor<int, 1> labels{1, 3};
  network.zero_gradients();
  loss(network(x), labels);
  const auto dx = network.adjoint(loss.adjoint());
  const double h = 1e-5;
  for (std::size_t k = 0; k < 6; ++k) {  // moves an element of x on worker 0
    matrix up = x, down = x;
    if (p_one.active()) up.data()[k] += h, down.data()[k] -= h;
    const double slope = (loss(network(up), labels) - loss(network(down), labels)) / (2 * h);
    if (p_one.active()) BOOST_TEST(std::abs(dx.data()[k] - slope) < 1e-8);
  }
  auto& weights = network.layer<0>();
  const double derivative = weights.weight().size() > 0 ? weights.weight_gradient()(0, 0) : 0;
  const auto move_weight = [&](double by) {  // changes the weight at global index (0, 0)
    if (everyone.id() == 0) weights.weight()(0, 0) += by;
    return loss(network(x), labels);
  };
  const double above = move_weight(h), below = move_weight(-2 * h);
  if (everyone.id() == 0) BOOST_TEST(std::abs(derivative - (above - below) / (2 * h)) < 1e-8);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused_on_all_workers_with_one_sentence_and_the_layer_lives_on) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p_x = everyone.partition(extents<1, dynamic>(n));
  const auto p_w = everyone.partition(extents<dynamic, dynamic>(1, n));
  const auto p_y = everyone.partition<1, 1>();
  linear<double> layer(p_x, p_y, p_w, {.in_features = 4 * n, .out_features = 3});
  set_weights(layer);
  const matrix x = columns_of(p_x, 2, 4 * n, x_at);
  const bool last = everyone.id() + 1 == n;

  BOOST_TEST(refused([&] { layer.adjoint(columns_of(p_y, 2, 3, dy_at)); }).find("requires a forward call before") !=
             std::string::npos);
  const matrix too_wide = xt::ones<double>({2, 5});
  const std::string features = refused([&] { layer(last ? too_wide : x); });
  BOOST_TEST(features.find("requires 4 features in the last dimension of x on worker " + std::to_string(n - 1)) !=
             std::string::npos);
  BOOST_TEST(features.find("got 5") != std::string::npos);
  const matrix y = layer(x);
  const matrix wrong_dy = xt::ones<double>({3, 3});
  BOOST_TEST(refused([&] {
               layer.adjoint(p_y.active() ? wrong_dy : y);
             }).find("requires dy of the shape of the last result") != std::string::npos);
  const matrix kept = layer.weight();
  if (last) layer.weight() = xt::ones<double>({2, 2});
  BOOST_TEST(refused([&] { layer(x); }).find("requires a weight block of") != std::string::npos);
  layer.weight() = kept;
  BOOST_TEST((layer(x) == y));

  if (n > 1)
    BOOST_CHECK_THROW(linear<double>(p_x, p_y, everyone.partition(extents<dynamic, dynamic>(n, 1)),
                                     {.in_features = 4, .out_features = 3}),
                      partition_error);
  softmax_cross_entropy<double> loss(p_x);
  BOOST_TEST(refused([&] {
               loss(x, xt::xtensor<int, 1>{0, static_cast<int>(4 * n)});
             }).find("requires labels below the number of classes") != std::string::npos);
  BOOST_TEST(refused([&] {
               loss(x, xt::xtensor<int, 1>{0, 1, 2});
             }).find("requires one label for each row") != std::string::npos);
  BOOST_TEST(std::isfinite(loss(x, xt::xtensor<int, 1>{0, 1})));
}

BOOST_AUTO_TEST_SUITE_END()
