// Losses of sharded tensors, and their gradients, equal their definitions for all layouts: element by element, as means
// and as sums.
#include "layouts.hpp"

#include <cmath>
#include <limits>
#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/detail/run_backward.hpp>
#include <partita/sharded/label_losses.hpp>
#include <partita/sharded/losses.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <random_cases.hpp>
#include <refused.hpp>

using namespace partita;

namespace {

using tensor = sharded_tensor<double>;

/// A number between 0 and 1 for each element, never near 0 or 1.
double number(std::size_t row, std::size_t column, std::size_t salt) {
  return static_cast<double>(1 + (row * 31 + column * 17 + salt * 7) % 29) / 31;
}

struct cases {
  const world& everyone;
  std::mt19937& random;
  shape_list extents{};
  mesh m{};
  tensor x{}, target{}, dy{};
  double from = 0, by = 1, target_from = 0, target_by = 1;  // ranges of x and of the target

  double x_at(std::size_t r, std::size_t c) const { return from + by * number(r, c, 1); }
  double target_at(std::size_t r, std::size_t c) const { return target_from + target_by * number(r, c, 2); }
  sharding anywhere() {
    const auto all = test::layouts(m, 2);
    return all[random() % all.size()];
  }
  void next() {
    const auto known = test::meshes(everyone.size());
    m = known[random() % known.size()];
    extents = {1 + random() % 6, 1 + random() % 6};
    const auto made = [&](auto f) {
      return shard<double>(everyone, anywhere(), extents, [=](const auto& i) { return f(i[0], i[1]); });
    };
    x = made([this](std::size_t r, std::size_t c) { return x_at(r, c); });
    target = made([this](std::size_t r, std::size_t c) { return target_at(r, c); });
    dy = made([](std::size_t r, std::size_t c) { return number(r, c, 3); });
  }
  /// Whether the gathered y equals f(row, column) everywhere.
  template <class F>
  bool is(const tensor& y, F f) const {
    const auto all = reshard(detail::detach(y), sharding(m, 2));
    bool equal = all.extents() == extents;
    for (std::size_t k = 0; equal && k < all.size(); ++k) {
      const double wanted = f(k / extents[1], k % extents[1]);
      equal = std::abs(all.data()[k] - wanted) <= 1e-13 * (1 + std::abs(wanted));
    }
    return equal;
  }
  /// Compares a loss with its definition and its derivative by x, both functions of x and its target.
  template <class Loss, class Value, class Derivative>
  void hold(const char* name, Loss loss, Value value, Derivative derivative) {
    for (std::size_t k = 0; k < test::random_cases(16); ++k) {
      next();
      const auto at = [&](auto f) {
        return [=, this](std::size_t r, std::size_t c) { return f(x_at(r, c), target_at(r, c)); };
      };
      const tensor p = detail::parameter_of(x), t = detail::parameter_of(target), each = loss(p, t);
      BOOST_TEST(is(each, at(value)), name);
      detail::run_backward(each, dy);
      BOOST_TEST((t.state()->node->cotangent.state() == nullptr), name);
      BOOST_TEST(is(p.state()->node->cotangent,
                    [&](std::size_t r, std::size_t c) { return number(r, c, 3) * at(derivative)(r, c); }),
                 name);
      double all = 0;
      const auto n = static_cast<double>(extents[0] * extents[1]);
      for (std::size_t r = 0; r < extents[0]; ++r)
        for (std::size_t c = 0; c < extents[1]; ++c) all += at(value)(r, c);
      const auto of_sum = value_and_gradient([&](const auto& one) { return sum(loss(one, target)); }, x);
      const auto of_mean = value_and_gradient([&](const auto& one) { return mean(loss(one, target)); }, x);
      BOOST_TEST(is(std::get<0>(of_sum.gradients), at(derivative)), name);
      BOOST_TEST(
          is(std::get<0>(of_mean.gradients), [&](std::size_t r, std::size_t c) { return at(derivative)(r, c) / n; }),
          name);
      if (everyone.id() >= m.size()) continue;
      BOOST_TEST(std::abs(of_sum.value - all) < 1e-12 * (1 + std::abs(all)), name);
      BOOST_TEST(std::abs(of_mean.value - all / n) < 1e-12 * (1 + std::abs(all)), name);
    }
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(losses_are_their_definitions) {
  world everyone(test::workers());
  std::mt19937 random(47);
  cases c{everyone, random};
  using std::exp, std::log, std::abs;
  c.hold(
      "mse", [](const auto& x, const auto& t) { return losses::mse(x, t); },
      [](double x, double t) { return (x - t) * (x - t); }, [](double x, double t) { return 2 * x - 2 * t; });
  c.hold(
      "l1", [](const auto& x, const auto& t) { return losses::l1(x, t); },
      [](double x, double t) { return abs(x - t); }, [](double x, double t) { return double(x > t) - double(x < t); });
  c.hold(
      "smooth l1", [](const auto& x, const auto& t) { return losses::smooth_l1(x, t, {.beta = 0.25}); },
      [](double x, double t) { return abs(x - t) < 0.25 ? 2 * (x - t) * (x - t) : abs(x - t) - 0.125; },
      [](double x, double t) { return abs(x - t) < 0.25 ? 4 * (x - t)
                                      : x > t           ? 1.0
                                                        : -1.0; });
  c.hold(
      "bce", [](const auto& x, const auto& t) { return losses::bce(x, t); },
      [](double x, double t) { return -t * log(x) - (1 - t) * log(1 - x); },
      [](double x, double t) { return (1 - t) / (1 - x) - t / x; });
  c.hold(
      "poisson nll of a rate",
      [](const auto& x, const auto& t) { return losses::poisson_nll(x, t, {.log_input = false, .epsilon = 4}); },
      [](double x, double t) { return x - t * log(x + 4); }, [](double x, double t) { return 1 - t / (x + 4); });
  c.from = -6, c.by = 12;
  c.hold(
      "bce with logits", [](const auto& x, const auto& t) { return losses::bce_with_logits(x, t); },
      [](double x, double t) { return t * log(1 + exp(-x)) + (1 - t) * log(1 + exp(x)); },
      [](double x, double t) { return 1 / (1 + exp(-x)) - t; });
  c.hold(
      "poisson nll", [](const auto& x, const auto& t) { return losses::poisson_nll(x, t); },
      [](double x, double t) { return exp(x) - t * x; }, [](double x, double t) { return exp(x) - t; });
  c.hold(
      "kl", [](const auto& x, const auto& t) { return losses::kl(x, t); },
      [](double x, double t) { return t * log(t) - t * x; }, [](double, double t) { return -t; });
  c.target_from = -3, c.target_by = 3;
  c.hold(
      "kl of logarithms", [](const auto& x, const auto& t) { return losses::kl(x, t, {.log_target = true}); },
      [](double x, double t) { return exp(t) * (t - x); }, [](double, double t) { return -exp(t); });
}

/// Logarithms are at least -100, as PyTorch has it, so that a loss at 0 and 1 is finite.
BOOST_AUTO_TEST_CASE(a_binary_cross_entropy_at_the_ends_is_finite) {
  using line = xt::xtensor<double, 1>;
  for (const double x : {0.0, 0.25, 1.0})
    for (const double t : {0.0, 0.25, 1.0}) {
      const auto bounded = [](double of) { return of == 0 ? -100 : std::log(of); };
      const auto loss = [&](const auto& one) { return sum(losses::bce(one, line{t})); };
      const auto [value, gradients] = value_and_gradient(loss, line{x});
      BOOST_TEST(std::abs(value + t * bounded(x) + (1 - t) * bounded(1 - x)) < 1e-14);
      BOOST_TEST(std::get<0>(gradients)(0) == (x - t) / std::max(x * (1 - x), 1e-12));
    }
}

BOOST_AUTO_TEST_CASE(losses_and_their_gradients_are_nan_where_those_of_pytorch_are) {
  world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const sharding rows = sharding(m, 1).cut(0, axis_list(0));
  // The sum of the losses of 0.25 and of x, whose target is t, is NaN; the gradient at x is NaN or a number.
  const auto check = [&](const char* name, auto loss, double x, double t, bool gradient_is_nan, double number = 0) {
    const auto made = [&](double second) {
      return shard<double>(everyone, rows, {2}, [=](const auto& i) { return i[0] == 0 ? 0.25 : second; });
    };
    const tensor target = made(t);
    const auto [value, gradients] =
        value_and_gradient([&](const auto& one) { return sum(loss(one, target)); }, made(x));
    const auto dx = std::get<0>(gradients).template whole<1>();
    BOOST_TEST(std::isnan(value), name);
    BOOST_TEST(!std::isnan(dx(0)), name);
    BOOST_TEST((gradient_is_nan ? std::isnan(dx(1)) : dx(1) == number), name << " at " << x << ", " << t);
  };
  const auto l1 = [](const auto& x, const auto& t) { return losses::l1(x, t); };
  const auto smooth_l1 = [](const auto& x, const auto& t) { return losses::smooth_l1(x, t); };
  const auto mse = [](const auto& x, const auto& t) { return losses::mse(x, t); };
  const auto bce = [](const auto& x, const auto& t) { return losses::bce(x, t); };
  const auto bce_with_logits = [](const auto& x, const auto& t) { return losses::bce_with_logits(x, t); };
  const auto poisson_nll = [](const auto& x, const auto& t) { return losses::poisson_nll(x, t); };
  const auto kl = [](const auto& x, const auto& t) { return losses::kl(x, t); };
  check("l1", l1, nan, 0.5, false);
  check("smooth l1", smooth_l1, nan, 0.5, true);
  check("smooth l1", smooth_l1, 0.5, nan, true);
  check("mse", mse, nan, 0.5, true);
  check("bce", bce, nan, 0.5, true);
  check("bce with logits", bce_with_logits, nan, 0.5, true);
  check("poisson nll", poisson_nll, nan, 0.5, true);
  using line = xt::xtensor<double, 1>;
  BOOST_TEST((losses::kl(line{0.5, -1}, line{0, 1}) == line{0, 1}));  // 0 log 0 is 0
  check("kl", kl, nan, 0.5, false, -0.5);
  check("kl", kl, nan, 0, false);
  check("kl", kl, 0.5, nan, true);
  check("kl", kl, 0.5, -1, false, 1);
}

BOOST_AUTO_TEST_CASE(cross_entropy_is_its_definition) {
  world everyone(test::workers());
  std::mt19937 random(53);
  cases c{everyone, random};
  c.by = 9;
  for (std::size_t k = 0; k < test::random_cases(32); ++k) {
    c.next();
    const std::size_t rows = c.extents[0], classes = c.extents[1];
    xt::xtensor<int, 1> labels(std::array{rows});
    for (std::size_t r = 0; r < rows; ++r) labels(r) = static_cast<int>((r * 5 + k) % classes);
    std::vector<double> sums(rows, 0);
    double all = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t j = 0; j < classes; ++j) sums[r] += std::exp(c.x_at(r, j));
      all += std::log(sums[r]) - c.x_at(r, static_cast<std::size_t>(labels(r)));
    }
    const auto [value, gradients] =
        value_and_gradient([&](const auto& scores) { return cross_entropy(scores, labels); }, c.x);
    const auto n = static_cast<double>(rows);
    BOOST_TEST(c.is(std::get<0>(gradients), [&](std::size_t r, std::size_t j) {
      return (std::exp(c.x_at(r, j)) / sums[r] - (static_cast<std::size_t>(labels(r)) == j ? 1 : 0)) / n;
    }));
    if (everyone.id() < c.m.size()) BOOST_TEST(std::abs(value - all / n) < 1e-12);
  }
}

BOOST_AUTO_TEST_CASE(a_cross_entropy_is_computed_by_hand) {
  const xt::xtensor<double, 2> scores{{0, std::log(3.0)}, {0, 0}, {5, 7}};
  const xt::xtensor<int, 1> labels{1, 0, -1};
  const double one = std::log(4.0 / 3), two = std::log(2.0);
  const auto plain = cross_entropy(scores, labels, {.ignore_index = -1});
  BOOST_TEST(std::abs(plain() - (one + two) / 2) < 1e-15);
  const auto weighted = cross_entropy(scores, labels, {.ignore_index = -1, .class_weights = {1, 3}});
  BOOST_TEST(std::abs(weighted() - (3 * one + two) / 4) < 1e-15);
  const auto smooth = cross_entropy(scores, labels, {.ignore_index = -1, .label_smoothing = 0.5});
  BOOST_TEST(std::abs(smooth() - (0.75 * one + 0.25 * std::log(4.0) + two) / 2) < 1e-15);
  const double weighed = (3 * one + two + (std::log(4.0) + 3 * one) / 2 + (1 + 3) * two / 2) / 2;
  const auto smooth_and_weighted =
      cross_entropy(scores, labels, {.ignore_index = -1, .class_weights = {1, 3}, .label_smoothing = 0.5});
  BOOST_TEST(std::abs(smooth_and_weighted() - weighed / 4) < 1e-15);
  const auto without = cross_entropy(scores, xt::xtensor<int, 1>{-1, -1, -1}, {.ignore_index = -1});
  BOOST_TEST(without() == 0);
  // A class that no label has may have a probability of 0.
  const xt::xtensor<double, 2> certain{{0, -std::numeric_limits<double>::infinity()}};
  const auto loss = [](const auto& x) { return cross_entropy(x, xt::xtensor<int, 1>{0}, dimensions<1>); };
  const auto none = value_and_gradient(loss, certain);
  BOOST_TEST(none.value == 0);
  BOOST_TEST((std::get<0>(none.gradients) == xt::xtensor<double, 2>{{0, 0}}));
}

BOOST_AUTO_TEST_CASE(labels_and_options_that_do_not_fit_the_scores_are_refused) {
  const xt::xtensor<double, 2> scores{{0, 1}, {0, 0}, {5, 7}};
  using labels = xt::xtensor<int, 1>;
  const auto refuses = [](const char* part, auto call) { test::expect_refused<shape_error>(call, part); };
  for (const labels& wrong : {labels{1, 0}, labels{1, 0, 1, 0}, labels{}}) {
    const text rows = text("got ") << wrong.size() << " labels and scores of extents [3, 2]";
    const text places = text("of extents [3, 2] with classes along dimension 1, got labels of extents [")
                        << wrong.size();
    refuses(rows.c_str(), [&] { cross_entropy(scores, wrong); });
    refuses(places.c_str(), [&] { cross_entropy(scores, wrong, cross_entropy_loss_options()); });
  }
  const labels good{1, 0, 1};
  for (const int wrong : {2, 3, -1, -3}) {
    const labels beyond{1, 0, wrong};
    const text got = text("2 or equal to ignore_index, got ") << wrong;
    refuses("requires labels below 2, got ", [&] { cross_entropy(scores, beyond); });
    refuses(got.c_str(), [&] { cross_entropy(scores, beyond, {.ignore_index = -2}); });
  }
  for (const std::size_t n : {1U, 3U}) {
    const std::vector<double> weights(n, 1.0);
    refuses(n == 1 ? "one for each of 2 classes, got 1" : "one for each of 2 classes, got 3",
            [&] { cross_entropy(scores, good, {.class_weights = weights}); });
  }
  for (const double wrong : {-0.001, 1.001, std::numeric_limits<double>::quiet_NaN()})
    refuses("from 0 to 1", [&] { cross_entropy(scores, good, {.label_smoothing = wrong}); });
  for (const double limit : {0.0, 1.0}) BOOST_TEST(cross_entropy(scores, good, {.label_smoothing = limit})() > 0);
}
