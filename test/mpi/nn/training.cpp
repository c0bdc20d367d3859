// Training: compares losses and whole networks with formulas and with the same on one worker.
#include "mpi_test.hpp"

#include <partita/kernel/repartition.hpp>
#include <partita/nn/activation.hpp>
#include <partita/nn/initialise.hpp>
#include <partita/nn/linear.hpp>
#include <partita/nn/optimiser.hpp>
#include <partita/nn/sequential.hpp>
#include <partita/nn/softmax_cross_entropy.hpp>
#include <partita/plan/cut.hpp>

#include <cmath>

namespace {

using namespace partita;

double score_at(std::size_t row, std::size_t c) { return static_cast<double>((5 * row + 7 * c) % 11) / 3 - 1; }

bool close(double a, double b) { return std::abs(a - b) <= 1e-13 * std::max({std::abs(a), std::abs(b), 1.0}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(training)

BOOST_AUTO_TEST_CASE(softmax_cross_entropy_is_its_formula_and_its_adjoint_the_derivative) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), batch = 4, classes = 2 * n + 1;
  const interval own = balanced_part(classes, n, everyone.id());
  softmax_cross_entropy<double> loss(everyone.partition(extents(1, n)));
  xt::xtensor<double, 2> scores({batch, own.size()});
  for (std::size_t r = 0; r < batch; ++r)
    for (std::size_t c = 0; c < own.size(); ++c) scores(r, c) = score_at(r, own.start + c);
  const xt::xtensor<std::size_t, 1> labels{0, classes - 1, 1, classes / 2};
  const double value = loss(scores, labels);

  double wanted = 0;
  std::size_t right = 0;
  for (std::size_t r = 0; r < batch; ++r) {
    double sum = 0, best = -1e9;
    std::size_t at_best = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      sum += std::exp(score_at(r, c));
      if (score_at(r, c) > best) best = score_at(r, c), at_best = c;
    }
    wanted += (std::log(sum) - score_at(r, labels(r))) / static_cast<double>(batch);
    right += at_best == labels(r) ? 1 : 0;
    for (std::size_t c = 0; c < own.size(); ++c) {
      const double hit = own.start + c == labels(r) ? 1 : 0;
      BOOST_TEST(close(loss.adjoint()(r, c), (std::exp(scores(r, c)) / sum - hit) / static_cast<double>(batch)));
    }
  }
  BOOST_TEST(close(value, wanted));
  BOOST_TEST(loss.count_correct(scores, labels) == right);

  // of equal scores the lowest class counts, whichever worker holds it
  const xt::xtensor<double, 2> equal = 0 * scores;
  BOOST_TEST(loss.count_correct(equal, labels) == std::size_t{1});
  BOOST_TEST(loss.count_correct(equal, xt::xtensor<std::size_t, 1>{0, 0, 0, 0}) == std::size_t{4});

  // scores for which exp would overflow
  const xt::xtensor<double, 2> high = scores + 5000, low = scores - 5000;
  BOOST_TEST(std::abs(loss(high, labels) - wanted) < 1e-11);
  BOOST_TEST(std::abs(loss(low, labels) - wanted) < 1e-11);
}

BOOST_AUTO_TEST_CASE(workers_outside_of_a_loss_have_its_numbers) {
  const world everyone(test::workers());
  softmax_cross_entropy<double> loss(everyone.partition<1, 1>());  // on worker 0
  const bool active = everyone.id() == 0;
  const xt::xtensor<double, 2> scores = active ? xt::xtensor<double, 2>{{1, 3, 2}, {5, 4, 4}, {0, 0, 1}}
                                               : xt::xtensor<double, 2>(zero_volume<double, 2>(3));
  const xt::xtensor<int, 1> labels{1, 2, 2};
  double wanted = 0;
  for (const auto& [a, b, c, own] : {std::array{1.0, 3.0, 2.0, 3.0}, {5.0, 4.0, 4.0, 4.0}, {0.0, 0.0, 1.0, 1.0}})
    wanted += (std::log(std::exp(a) + std::exp(b) + std::exp(c)) - own) / 3;
  BOOST_TEST(close(loss(scores, labels), wanted));
  BOOST_TEST(loss.count_correct(scores, labels) == std::size_t{2});
  BOOST_TEST(loss.count_correct(scores, xt::xtensor<int, 1>{1, 0, 2}) == std::size_t{3});
}

BOOST_AUTO_TEST_CASE(a_loss_over_some_workers_is_known_to_all) {
  const world everyone(test::workers());
  const auto last = everyone.partition<1, 1>(workers{everyone.size() - 1});
  softmax_cross_entropy<double> loss(last);
  const xt::xtensor<double, 2> scores =
      last.active() ? xt::xtensor<double, 2>{{0, 0}, {0, 0}} : zero_volume<double, 2>(2);
  const xt::xtensor<int, 1> labels{0, 1};
  BOOST_TEST(close(loss(scores, labels), std::log(2.0)));
  BOOST_TEST(loss.adjoint().size() == scores.size());
}

BOOST_AUTO_TEST_CASE(a_network_on_all_workers_is_the_network_on_one) {
  const auto network = [](const world& on, std::size_t lines, std::size_t columns) {
    const auto x = on.partition(extents(1, columns)), y = on.partition(extents(1, lines)),
               w = on.partition(extents(lines, columns)), back = on.partition(extents(columns, lines));
    linear<double> first(x, y, w, {.in_features = 9, .out_features = 7}),
        second(y, x, back, {.in_features = 7, .out_features = 5});
    const auto weight = [](std::size_t i, std::size_t j) { return static_cast<double>((3 * i + 5 * j) % 7) - 3; };
    initialise(first, weight), initialise(second, weight);
    return sequential(std::move(first), relu<double>(), std::move(second));
  };
  const world everyone(test::workers()), alone(boost::mpi::communicator(MPI_COMM_SELF, boost::mpi::comm_attach));
  const std::size_t n = everyone.size(), lines = n % 2 == 0 ? 2 : 1, columns = n / lines;
  auto parted = network(everyone, lines, columns);
  auto whole = network(alone, 1, 1);
  const auto p = everyone.partition(extents(1, columns));
  const auto part = [&](const xt::xtensor<double, 2>& all) {
    if (!p.active()) return zero_volume<double, 2>(all.shape()[0]);
    const interval own = balanced_part(all.shape()[1], columns, p.index()[1]);
    return xt::xtensor<double, 2>(xt::view(all, xt::all(), xt::range(own.start, own.stop)));
  };
  xt::xtensor<double, 2> x({6, 9}), dy({6, 5});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(k % 5) - 2;
  for (std::size_t k = 0; k < dy.size(); ++k) dy.data()[k] = static_cast<double>(k % 3) - 1;

  BOOST_TEST((parted(part(x)) == part(whole(x))));
  BOOST_TEST((parted.adjoint(part(dy)) == part(whole.adjoint(dy))));
  const auto expect_same_layer = [](auto& some, auto& all) {
    const box<2> mine = some.weight_box();
    const auto own = [&](const auto& tensor) {
      return xt::xtensor<double, 2>(
          xt::view(tensor, xt::range(mine.start[0], mine.stop[0]), xt::range(mine.start[1], mine.stop[1])));
    };
    BOOST_TEST((some.weight_gradient() == own(all.weight_gradient())));
    BOOST_TEST((some.weight() == own(all.weight())));
    if (some.bias().size() != 0)
      BOOST_TEST((some.bias() == xt::xtensor<double, 1>(xt::view(all.bias(), xt::range(mine.start[0], mine.stop[0])))));
  };
  expect_same_layer(parted.template layer<0>(), whole.template layer<0>());
  expect_same_layer(parted.template layer<2>(), whole.template layer<2>());

  sgd<double> descend(parted.parameters(), {.learning_rate = 0.25, .momentum = 0.5});
  sgd<double> descend_alone(whole.parameters(), {.learning_rate = 0.25, .momentum = 0.5});
  descend.step(), descend_alone.step();  // all factors are powers of two, so the results are exact
  expect_same_layer(parted.template layer<0>(), whole.template layer<0>());
  BOOST_TEST((parted(part(x)) == part(whole(x))));
  parted.zero_gradients();
  BOOST_TEST(xt::sum(xt::abs(parted.template layer<2>().weight_gradient()))() == 0.0);
}

BOOST_AUTO_TEST_SUITE_END()
