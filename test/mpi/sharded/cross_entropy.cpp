// The cross entropy with ignored labels, weights of classes and label smoothing, and with classes along any dimension:
// value and gradient are those of a loop, for all kinds of tensors and wherever they are sharded.
#include "layouts.hpp"

#include <algorithm>
#include <cmath>
#include <partita/sharded/label_losses.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <random_cases.hpp>
#include <refused.hpp>

using namespace partita;

namespace {

using cube = xt::xtensor<double, 3>;
using labels_of_places = xt::xtensor<int, 2>;

/// The definition, and its gradient: a loop over places and classes.
struct definition {
  double value = 0;
  cube gradient{};

  template <std::size_t D>
  static definition of(const cube& x, const labels_of_places& labels, const cross_entropy_loss_options& form) {
    definition all;
    all.gradient = xt::zeros<double>(x.shape());
    const std::size_t classes = x.shape()[D];
    const auto weight = [&](std::size_t c) { return form.class_weights.empty() ? 1.0 : form.class_weights[c]; };
    const double smoothing = form.label_smoothing;
    double total = 0;
    for (std::size_t a = 0; a < labels.shape()[0]; ++a)
      for (std::size_t b = 0; b < labels.shape()[1]; ++b) {
        const auto at = [&](auto& of, std::size_t c) -> auto& {
          return D == 0 ? of(c, a, b) : D == 1 ? of(a, c, b) : of(a, b, c);
        };
        if (form.ignore_index && labels(a, b) == *form.ignore_index) continue;
        const auto label = static_cast<std::size_t>(labels(a, b));
        double exponentials = 0;
        for (std::size_t c = 0; c < classes; ++c) exponentials += std::exp(at(x, c));
        total += weight(label);
        for (std::size_t c = 0; c < classes; ++c) {
          const double share =
              weight(c) * ((c == label ? 1 - smoothing : 0) + smoothing / static_cast<double>(classes));
          all.value -= share * (at(x, c) - std::log(exponentials));
          for (std::size_t d = 0; d < classes; ++d)
            at(all.gradient, d) -= share * ((c == d ? 1 : 0) - std::exp(at(x, d)) / exponentials);
        }
      }
    if (total > 0) all.value /= total, all.gradient /= total;
    return all;
  }
};

bool close(const cube& a, const cube& b) {
  bool all = a.shape() == b.shape();
  for (std::size_t k = 0; all && k < a.size(); ++k) all = std::abs(a.data()[k] - b.data()[k]) < 1e-13;
  return all;
}

template <std::size_t D>
void check(const world& everyone, std::mt19937& random, const std::array<std::size_t, 3>& shape) {
  cube x(shape);
  for (double& one : x) one = static_cast<double>(random() % 3);
  const std::size_t classes = shape[D];
  labels_of_places labels({shape[D == 0 ? 1 : 0], shape[D == 2 ? 1 : 2]});
  cross_entropy_loss_options form;
  if (random() % 2 == 0) form.ignore_index = random() % 2 == 0 ? -100 : 0;
  if (random() % 2 == 0)
    for (std::size_t c = 0; c < classes; ++c) form.class_weights.push_back(static_cast<double>(random() % 4) / 2);
  if (random() % 2 == 0) form.label_smoothing = random() % 2 == 0 ? 0.75 : 1;
  for (int& one : labels)
    one = form.ignore_index && random() % 3 == 0 ? static_cast<int>(*form.ignore_index)
                                                 : static_cast<int>(random() % classes);
  const auto known = test::meshes(everyone.size());
  const mesh m = known[random() % known.size()];
  const auto all = test::layouts(m, 3);
  const sharding at = all[random() % all.size()];
  const definition wanted = definition::of<D>(x, labels, form);
  const auto loss = [&](const auto& scores) { return cross_entropy(scores, labels, dimensions<D>, form); };
  const auto program = trace(loss, spec(at, shape_list{shape[0], shape[1], shape[2]}));
  const auto X = shard(everyone, at, x);
  const auto plain = value_and_gradient(loss, x);
  const auto parts = value_and_gradient(loss, X), traced = value_and_gradient(program, X);
  BOOST_TEST(std::abs(plain.value - wanted.value) < 1e-13);
  BOOST_TEST(close(std::get<0>(plain.gradients), wanted.gradient));
  const auto whole = [&](const auto& of) {
    return reshard(std::get<0>(of.gradients), sharding(m, 3)).template whole<3>();
  };
  const cube dx = whole(parts), traced_dx = whole(traced);
  if (everyone.id() >= m.size()) return;
  BOOST_TEST(std::abs(parts.value - wanted.value) < 1e-13, at);
  BOOST_TEST(std::abs(traced.value - wanted.value) < 1e-13, at);
  BOOST_TEST(close(dx, wanted.gradient), at);
  BOOST_TEST(close(traced_dx, wanted.gradient), at);
}

}  // namespace

BOOST_AUTO_TEST_CASE(values_and_gradients_are_those_of_the_loop) {
  const world everyone(test::workers());
  std::mt19937 random(97);
  for (std::size_t k = 0; k < test::random_cases(25); ++k) {
    const std::array<std::size_t, 3> shape{1 + random() % 6, 1 + random() % 5, 1 + random() % 4};
    check<0>(everyone, random, shape);
    check<1>(everyone, random, shape);
    check<2>(everyone, random, shape);
  }
}

BOOST_AUTO_TEST_CASE(typed_scores_with_sharded_classes_gather_nothing, *test::at_least(4)) {
  const world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}, axis{"model", 2}};
  std::mt19937 random(101);
  xt::xtensor<double, 2> x({3, 64});
  for (double& one : x) one = static_cast<double>(random() % 3);
  const xt::xtensor<int, 1> labels{4, -1, 40};
  const auto X = shard<m.layout("data", "model")>(everyone, x);
  const auto loss = [&](const auto& one) {
    return cross_entropy(one, labels, {.ignore_index = -1, .label_smoothing = 0.25});
  };
  const auto plain = value_and_gradient(loss, x);
  const std::size_t before = detail::run_state.movement_totals.bytes;
  const auto typed = value_and_gradient(loss, X);
  BOOST_TEST(detail::run_state.movement_totals.bytes - before < 64 * sizeof(double));  // less than one row
  using gradient = std::remove_cvref_t<decltype(std::get<0>(typed.gradients))>;
  static_assert(gradient::layout() == m.layout("data", "model"));
  const auto dx = reshard<m.layout("", "")>(std::get<0>(typed.gradients)).whole();
  if (everyone.id() >= 4) return;
  BOOST_TEST(std::abs(typed.value - plain.value) < 1e-13);  // the classes are summed in another order
  for (std::size_t k = 0; k < x.size(); ++k)
    BOOST_TEST(std::abs(dx.data()[k] - std::get<0>(plain.gradients).data()[k]) < 1e-15);
}

BOOST_AUTO_TEST_CASE(scores_and_labels_that_do_not_fit_are_refused_on_all_workers) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto x = shard<double>(everyone, m.layout("a", ""), {3, 4}, [](const auto&) { return 1.0; });
  const auto refused = [&](const xt::xtensor<int, 1>& labels, const cross_entropy_loss_options& form) {
    return test::refused<shape_error>([&] { cross_entropy(x, labels, form); }).find("partita::cross_entropy") == 0;
  };
  BOOST_TEST(refused({0, 1}, {}));
  BOOST_TEST(refused({0, 1, 4}, {}));
  BOOST_TEST(refused({0, -1, 2}, {.ignore_index = -2}));
  BOOST_TEST(refused({0, 1, 2}, {.class_weights = {1, 2}}));
  BOOST_TEST(refused({0, 1, 2}, {.label_smoothing = 1.5}));
  BOOST_TEST(refused({0, 1, 2}, {.label_smoothing = std::nan("")}));
}
