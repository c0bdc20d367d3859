// The linear layer and what trains it give on any partition what one process computes, and refuse alike on all workers.
#include "mpi_test.hpp"

#include <cmath>
#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/nn/activation.hpp>
#include <partita/nn/initialise.hpp>
#include <partita/nn/linear.hpp>
#include <partita/nn/optimiser.hpp>
#include <partita/nn/sequential.hpp>
#include <partita/nn/softmax_cross_entropy.hpp>

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;

/// The world of this worker alone: what one process computes.
world alone() { return world(boost::mpi::communicator(MPI_COMM_SELF, boost::mpi::comm_attach)); }

double weight_at(std::size_t i, std::size_t j) { return static_cast<double>((7 * i + 3 * j) % 11) - 5; }
double bias_at(std::size_t i) { return static_cast<double>(5 * i % 13) - 6; }
double x_at(std::size_t i, std::size_t j) { return static_cast<double>((5 * i + 2 * j) % 9) - 4; }
double dy_at(std::size_t i, std::size_t j) { return static_cast<double>((3 * i + j) % 7) - 3; }

/// This worker's columns of a matrix given by its elements, cut over p = 1 x f.
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

struct shape_of_case {
  const char* name;
  std::size_t batch, in, out;
};
constexpr shape_of_case shapes[] = {
    {"even", 4, 12, 12}, {"uneven", 3, 7, 5}, {"fewer features than workers", 2, 2, 1}, {"one row", 1, 9, 4}, {"no row", 0, 4, 4}};

/// Every f_out x f_in grid of at most as many workers as there are.
template <class F>
void for_each_grid(std::size_t workers, F f) {
  for (std::size_t f_out = 1; f_out <= workers; ++f_out)
    for (std::size_t f_in = 1; f_out * f_in <= workers; ++f_in) f(f_out, f_in);
}

template <class Call>
std::string refused(Call call) {
  try {
    call();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(layers)

BOOST_AUTO_TEST_CASE(a_linear_layer_and_its_gradients_are_those_of_one_process_on_every_grid) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  for_each_grid(n, [&](std::size_t f_out, std::size_t f_in) {
    const auto p_x = everyone.partition(extents<1, dynamic>(f_in), workers(n - f_in, n));  // the last workers
    const auto p_y = everyone.partition(extents<1, dynamic>(f_out));
    const auto p_w = everyone.partition(extents<dynamic, dynamic>(f_out, f_in));
    for (const auto& [name, batch, in, out] : shapes) {
      BOOST_TEST_CONTEXT(name << " on " << f_out << " x " << f_in) {
        linear<double> layer(p_x, p_y, p_w, {.in_features = in, .out_features = out});
        set_weights(layer);
        for (int pass = 1; pass <= 2; ++pass) {  // gradients add up
          const matrix y = layer(columns_of(p_x, batch, in, x_at));
          const std::size_t features = in, rows = batch, results = out;
          BOOST_TEST((y == columns_of(p_y, batch, out, [&](std::size_t i, std::size_t o) {
            double sum = bias_at(o);
            for (std::size_t k = 0; k < features; ++k) sum += x_at(i, k) * weight_at(o, k);
            return sum;
          })));
          const matrix dx = layer.adjoint(columns_of(p_y, batch, out, dy_at));
          BOOST_TEST((dx == columns_of(p_x, batch, in, [&](std::size_t i, std::size_t k) {
            double sum = 0;
            for (std::size_t o = 0; o < results; ++o) sum += dy_at(i, o) * weight_at(o, k);
            return sum;
          })));
          const box<2> own = layer.weight_box();
          for (std::size_t o = own.start[0]; o < own.stop[0]; ++o) {
            for (std::size_t k = own.start[1]; k < own.stop[1]; ++k) {
              double sum = 0;
              for (std::size_t i = 0; i < rows; ++i) sum += dy_at(i, o) * x_at(i, k);
              BOOST_TEST(layer.weight_gradient()(o - own.start[0], k - own.start[1]) == pass * sum);
            }
            double sum = 0;
            for (std::size_t i = 0; i < rows; ++i) sum += dy_at(i, o);
            if (layer.bias_gradient().size() > 0) BOOST_TEST(layer.bias_gradient()(o - own.start[0]) == pass * sum);
          }
        }
        layer.zero_gradients();
        BOOST_TEST(xt::sum(xt::abs(layer.weight_gradient()))() == 0.0);
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(dimensions_between_batch_and_features_are_more_batch) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto p_x = everyone.partition(extents<1, 1, dynamic>(n));
  const auto p_y = everyone.partition<1, 1, 1>();
  linear<double> layer(p_x, p_y, everyone.partition(extents<1, dynamic>(n)), {.in_features = 5, .out_features = 4});
  set_weights(layer);
  const interval own = balanced_part(5, n, everyone.id());
  xt::xtensor<double, 3> x({2, 3, own.size()});
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < own.size(); ++j) x(i / 3, i % 3, j) = x_at(i, own.start + j);
  const auto y = layer(x);
  if (p_y.active()) {
    BOOST_TEST_REQUIRE((y.shape() == std::array<std::size_t, 3>{2, 3, 4}));
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t o = 0; o < 4; ++o) {
        double sum = bias_at(o);
        for (std::size_t k = 0; k < 5; ++k) sum += x_at(i, k) * weight_at(o, k);
        BOOST_TEST(y(i / 3, i % 3, o) == sum);
      }
  }
  BOOST_TEST((layer.adjoint(y).shape() == x.shape()));
}

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

BOOST_AUTO_TEST_CASE(one_seed_gives_one_global_matrix_on_every_grid_within_the_bound_of_the_global_fan) {
  const world everyone(test::workers()), self = alone();
  const auto one = self.partition<1, 1>();
  const linear_options options{.in_features = 33, .out_features = 17};
  linear<double> whole(one, one, one, options), other(one, one, one, options), glorot(one, one, one, options);
  kaiming_uniform(whole, 7);
  kaiming_uniform(other, 8);
  xavier_uniform(glorot, 7);
  BOOST_TEST((whole.weight() != other.weight()));
  const double largest = xt::amax(xt::abs(whole.weight()))();
  BOOST_TEST(largest <= std::sqrt(6.0 / 33));
  BOOST_TEST(largest > 0.95 * std::sqrt(6.0 / 33));
  BOOST_TEST(xt::amax(xt::abs(glorot.weight()))() <= std::sqrt(6.0 / 50));
  BOOST_TEST(std::abs(xt::mean(whole.weight())()) < 0.05);
  for_each_grid(everyone.size(), [&](std::size_t f_out, std::size_t f_in) {
    linear<double> layer(everyone.partition(extents<1, dynamic>(f_in)), everyone.partition(extents<1, dynamic>(f_out)),
                         everyone.partition(extents<dynamic, dynamic>(f_out, f_in)), options);
    kaiming_uniform(layer, 7);
    const box<2> own = layer.weight_box();
    for (std::size_t i = own.start[0]; i < own.stop[0]; ++i)
      for (std::size_t j = own.start[1]; j < own.stop[1]; ++j)
        BOOST_TEST(layer.weight()(i - own.start[0], j - own.start[1]) == whole.weight()(i, j));
  });
}

BOOST_AUTO_TEST_CASE(softmax_and_cross_entropy_are_those_of_whole_rows_also_for_large_scores) {
  const world everyone(test::workers()), self = alone();
  const xt::xtensor<int, 1> labels{0, 3, 9, 4};
  for (const double scale : {1.0, 1000.0}) {
    const auto score = [&](std::size_t i, std::size_t j) { return scale * std::sin(1.0 + static_cast<double>(10 * i + j)); };
    const auto one = self.partition<1, 1>();
    softmax_cross_entropy<double> of_whole_rows(one);
    const double expected = of_whole_rows(columns_of(one, 4, 10, score), labels);
    BOOST_TEST(std::isfinite(expected));
    for (std::size_t f = 1; f <= everyone.size(); ++f) {
      const auto p = everyone.partition(extents<1, dynamic>(f), workers(everyone.size() - f, everyone.size()));
      softmax_cross_entropy<double> loss(p);
      const matrix scores = columns_of(p, 4, 10, score);
      BOOST_TEST(loss(scores, labels) == expected, boost::test_tools::tolerance(1e-14));
      const matrix right = columns_of(p, 4, 10, [&](std::size_t i, std::size_t j) { return of_whole_rows.adjoint()(i, j); });
      BOOST_TEST_REQUIRE((loss.adjoint().shape() == right.shape()));
      BOOST_TEST(xt::all(xt::abs(loss.adjoint() - right) < 1e-14));
      BOOST_TEST(loss.correct(scores, labels) == of_whole_rows.correct(columns_of(one, 4, 10, score), labels));
    }
  }
}

BOOST_AUTO_TEST_CASE(optimisers_follow_their_formulas) {
  const auto one = alone().partition<1, 1>();
  const auto layer_with_gradient = [&] {
    linear<double> layer(one, one, one, {.in_features = 1, .out_features = 1});
    layer.weight()(0, 0) = 2;
    layer.weight_gradient()(0, 0) = 0.5;
    return layer;
  };
  auto plain = layer_with_gradient(), heavy = layer_with_gradient(), adaptive = layer_with_gradient();
  sgd<double> descent(plain.parameters(), {.learning_rate = 0.1});
  sgd<double> momentum(heavy.parameters(), {.learning_rate = 0.1, .momentum = 0.9});
  adam<double> moments(adaptive.parameters(), {.learning_rate = 0.1});
  double v = 0, w = 2, m1 = 0, m2 = 0, a = 2;
  for (int t = 1; t <= 5; ++t) {
    descent.step(), momentum.step(), moments.step();
    v = 0.9 * v + 0.5;
    w -= 0.1 * v;
    m1 = 0.9 * m1 + 0.1 * 0.5;
    m2 = 0.999 * m2 + 0.001 * 0.25;
    a -= 0.1 * (m1 / (1 - std::pow(0.9, t))) / (std::sqrt(m2 / (1 - std::pow(0.999, t))) + 1e-8);
    BOOST_TEST(plain.weight()(0, 0) == 2 - 0.05 * t, boost::test_tools::tolerance(1e-14));
    BOOST_TEST(heavy.weight()(0, 0) == w, boost::test_tools::tolerance(1e-14));
    BOOST_TEST(adaptive.weight()(0, 0) == a, boost::test_tools::tolerance(1e-12));
  }
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
  sequential network(std::move(first), hyperbolic_tangent<double>(), repartition(p_x, p_one), sigmoid<double>(), std::move(second));
  softmax_cross_entropy<double> loss(p_x);
  const matrix x = columns_of(p_one, 2, 3, x_at);
  const xt::xtensor<int, 1> labels{1, 3};
  network.zero_gradients();
  loss(network(x), labels);
  const auto dx = network.adjoint(loss.adjoint());
  const double h = 1e-5;
  for (std::size_t k = 0; k < 6; ++k) {  // in x, on worker 0
    matrix up = x, down = x;
    if (p_one.active()) up.data()[k] += h, down.data()[k] -= h;
    const double slope = (loss(network(up), labels) - loss(network(down), labels)) / (2 * h);
    if (p_one.active()) BOOST_TEST(std::abs(dx.data()[k] - slope) < 1e-8);
  }
  auto& weights = network.layer<0>();
  const double derivative = weights.weight().size() > 0 ? weights.weight_gradient()(0, 0) : 0;
  const auto move_weight = [&](double by) {  // the weight at global (0, 0)
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

  BOOST_TEST(refused([&] { layer.adjoint(columns_of(p_y, 2, 3, dy_at)); }).find("requires a forward call before") != std::string::npos);
  const matrix too_wide = xt::ones<double>({2, 5});
  const std::string features = refused([&] { layer(last ? too_wide : x); });
  BOOST_TEST(features.find("requires 4 features in the last dimension of x on worker " + std::to_string(n - 1)) != std::string::npos);
  BOOST_TEST(features.find("got 5") != std::string::npos);
  const matrix y = layer(x);
  const matrix wrong_dy = xt::ones<double>({3, 3});
  BOOST_TEST(refused([&] { layer.adjoint(p_y.active() ? wrong_dy : y); }).find("requires dy of the shape of the last result") != std::string::npos);
  const matrix kept = layer.weight();
  if (last) layer.weight() = xt::ones<double>({2, 2});
  BOOST_TEST(refused([&] { layer(x); }).find("requires a weight block of") != std::string::npos);
  layer.weight() = kept;
  BOOST_TEST((layer(x) == y));

  if (n > 1)
    BOOST_CHECK_THROW(linear<double>(p_x, p_y, everyone.partition(extents<dynamic, dynamic>(n, 1)), {.in_features = 4, .out_features = 3}),
                      partition_error);
  softmax_cross_entropy<double> loss(p_x);
  BOOST_TEST(refused([&] { loss(x, xt::xtensor<int, 1>{0, static_cast<int>(4 * n)}); }).find("requires labels below the number of classes") != std::string::npos);
  BOOST_TEST(refused([&] { loss(x, xt::xtensor<int, 1>{0, 1, 2}); }).find("requires one label for each row") != std::string::npos);
  BOOST_TEST(std::isfinite(loss(x, xt::xtensor<int, 1>{0, 1})));
}

BOOST_AUTO_TEST_SUITE_END()
