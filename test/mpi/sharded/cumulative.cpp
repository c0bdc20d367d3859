// Cumulative sums, products, maxima and minima: each definition and each gradient is a loop here, for elements of which
// many are equal or 0, and all kinds of tensors give what the loops give, wherever they are sharded.
#include "in_all_ways.hpp"
#include "layouts.hpp"

#include <cmath>
#include <limits>
#include <partita/sharded/cumulative.hpp>
#include <partita/sharded/operations.hpp>
#include <random_cases.hpp>

using namespace partita;

namespace {

using test::cube, test::gathered, test::same;

enum class kind { sum, product, maximum, minimum };

template <std::size_t D, class X>
auto cumulated(kind which, const X& x) {
  switch (which) {
    case kind::sum:
      return cumsum(x, dimensions<D>);
    case kind::product:
      return cumprod(x, dimensions<D>);
    case kind::maximum:
      return cummax(x, dimensions<D>);
    default:
      return cummin(x, dimensions<D>);
  }
}

/// Calls f(at), where at(k) is the place of element k, for each line of x along dimension d.
template <class F>
void for_each_line(const cube& x, std::size_t d, F f) {
  std::size_t inner = 1;
  for (std::size_t k = d + 1; k < 3; ++k) inner *= x.shape()[k];
  const std::size_t n = x.shape()[d];
  for (std::size_t first = 0; first < x.size(); ++first)
    if (first / inner % n == 0) f([=](std::size_t k) { return first + k * inner; });
}
/// The place in a line of the element that is the extreme of those up to i: the last of equal ones, the last NaN.
template <class At>
std::size_t extreme(const cube& x, kind which, At at, std::size_t i) {
  std::size_t best = 0;
  for (std::size_t k = 1; k <= i; ++k) {
    const double now = x.data()[at(k)], most = x.data()[at(best)];
    if (std::isnan(now) || (which == kind::maximum ? now >= most : now <= most)) best = k;
  }
  return best;
}
/// The definition, and the gradient of sum(weights * y).
std::pair<cube, cube> defined(kind which, const cube& x, std::size_t d, const cube& weights) {
  cube y = x, dx = xt::zeros<double>(x.shape());
  const std::size_t n = x.shape()[d];
  for_each_line(x, d, [&](auto at) {
    for (std::size_t i = 0; i < n; ++i) {
      const double dy = weights.data()[at(i)];
      if (which == kind::maximum || which == kind::minimum) {
        const std::size_t from = extreme(x, which, at, i);
        y.data()[at(i)] = x.data()[at(from)];
        dx.data()[at(from)] += dy;
        continue;
      }
      double all = which == kind::sum ? 0 : 1;
      for (std::size_t k = 0; k <= i; ++k) {
        all = which == kind::sum ? all + x.data()[at(k)] : all * x.data()[at(k)];
        double others = 1;
        for (std::size_t j = 0; j <= i && which == kind::product; ++j) others *= j == k ? 1 : x.data()[at(j)];
        dx.data()[at(k)] += dy * others;
      }
      y.data()[at(i)] = all;
    }
  });
  return {y, dx};
}

cube numbers(std::mt19937& random, const std::array<std::size_t, 3>& shape) {
  cube x(shape);
  for (double& one : x) one = static_cast<double>(random() % 3);
  return x;
}
/// Compares plain arrays, run-time tensors and traced programs of random layouts with the definition.
template <std::size_t D>
void check(const world& everyone, std::mt19937& random, const cube& x) {
  const cube weights = numbers(random, x.shape()) - 1;
  const shape_list extents{x.shape()[0], x.shape()[1], x.shape()[2]};
  const auto known = test::meshes(everyone.size());
  const mesh m = known[random() % known.size()];
  constexpr pending_reduction kinds[] = {pending_reduction::sum, pending_reduction::max, pending_reduction::min};
  const auto all = test::layouts(m, 3, kinds[random() % 3]);
  const auto any = [&] { return all[random() % all.size()]; };
  const sharding at = any();
  const auto X = shard(everyone, at, x), W = shard(everyone, any(), weights);
  for (const kind which : {kind::sum, kind::product, kind::maximum, kind::minimum}) {
    const auto [y, dx] = defined(which, x, D, weights);
    const auto f = [&](const auto& one) { return cumulated<D>(which, one); };
    const auto weighted = [](const auto& g, const auto& by) {
      return [&](const auto& one) { return sum(multiply(by, g(one))); };
    };
    const auto Y = f(X);
    text how;
    how << static_cast<int>(which) << " along " << D << ' ' << at << extents << " gives " << Y.layout();
    BOOST_TEST((Y.layout()[D] == at[D]), how);
    test::operation_along(f, x, X).expect(y, dx, weighted, weights, W, how);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_is_what_its_name_says) {
  const xt::xtensor<double, 1> x{2, 1, 3, 3, 0, 4};
  BOOST_TEST((cumsum(x, dimensions<0>) == xt::xtensor<double, 1>{2, 3, 6, 9, 9, 13}));
  BOOST_TEST((cumprod(x, dimensions<0>) == xt::xtensor<double, 1>{2, 2, 6, 18, 0, 0}));
  BOOST_TEST((cummax(x, dimensions<0>) == xt::xtensor<double, 1>{2, 2, 3, 3, 3, 4}));
  BOOST_TEST((cummin(x, dimensions<0>) == xt::xtensor<double, 1>{2, 1, 1, 1, 0, 0}));
  const auto gradient = [&](const auto& f) {
    return std::get<0>(value_and_gradient([&](const auto& one) { return sum(f(one)); }, x).gradients);
  };
  // the adjoint of the sums from the end are those from the beginning
  BOOST_TEST((gradient([](const auto& one) { return apply_op(detail::cumulative_operation<sum_t, 0>(true), one); }) ==
              xt::xtensor<double, 1>{1, 2, 3, 4, 5, 6}));
  // y[4] is 0 by x[4] alone, so that only x[4] has a part in y[4] and y[5]: 18 + 18 * 4
  BOOST_TEST((gradient([](const auto& one) { return cumprod(one, dimensions<0>); }) ==
              xt::xtensor<double, 1>{1 + 1 + 3 + 9, 2 + 6 + 18, 2 + 6, 6, 18 + 72, 0}));
  // the last of equal elements has the gradient
  BOOST_TEST((gradient([](const auto& one) { return cummax(one, dimensions<0>); }) ==
              xt::xtensor<double, 1>{2, 0, 1, 2, 0, 1}));
}

BOOST_AUTO_TEST_CASE(all_kinds_of_tensors_have_the_values_and_gradients_of_the_loops) {
  const world everyone(test::workers());
  std::mt19937 random(83);
  for (std::size_t k = 0; k < test::random_cases(25); ++k) {
    const cube x = numbers(random, {random() % 8, 1 + random() % 7, 1 + random() % 3});
    check<0>(everyone, random, x);
    check<1>(everyone, random, x);
    check<2>(everyone, random, x);
  }
}

BOOST_AUTO_TEST_CASE(sums_of_a_pending_maximum_are_those_of_the_maximum) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), rows = n % 2 == 0 ? 2 : n;
  const mesh m{axis{"a", rows}, axis{"b", n / rows}};
  std::mt19937 random(97);
  for (std::size_t k = 0; k < 4; ++k) {
    xt::xtensor<double, 2> x({4 + random() % 4, 6 + random() % 4});
    for (double& one : x) one = static_cast<double>(random() % 5) - 2;
    const auto most = maximum(shard(everyone, m.layout("a", "b"), x), dimensions<0>);
    BOOST_TEST(most.layout().is_partial());
    const auto sums = reshard(cumsum(most, dimensions<0>), m.layout(""));
    const xt::xtensor<double, 1> expected = cumsum(maximum(x, dimensions<0>), dimensions<0>);
    BOOST_TEST((sums.whole<1>() == expected));
  }
}

BOOST_AUTO_TEST_CASE(infinities_and_nan_are_kept) {
  const world everyone(test::workers());
  std::mt19937 random(89);
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const mesh m{axis{"a", everyone.size()}};
  for (std::size_t k = 0; k < test::random_cases(20); ++k) {
    cube x = numbers(random, {7, 2, 1}), weights = numbers(random, {7, 2, 1});
    for (double& one : x)
      if (random() % 4 == 0) one = random() % 3 == 0 ? nan : random() % 2 == 0 ? infinity : -infinity;
    for (double& one : weights)
      if (random() % 8 == 0) one = infinity;
    const auto X = shard(everyone, m.layout("a", "", ""), x), W = shard(everyone, m.layout("a", "", ""), weights);
    for (const kind which : {kind::maximum, kind::minimum}) {
      const auto [y, dx] = defined(which, x, 0, weights);
      const auto loss = [&](const auto& one) { return sum(multiply(W, cumulated<0>(which, one))); };
      const cube whole = gathered(cumulated<0>(which, X)),
                 whole_dx = gathered(std::get<0>(value_and_gradient(loss, X).gradients));
      BOOST_TEST(same(whole, y));
      BOOST_TEST(same(whole_dx, dx));
    }
  }
}

BOOST_AUTO_TEST_CASE(typed_tensors_keep_their_layout_and_integers_are_exact, *test::at_least(2)) {
  const world everyone(test::workers());
  constexpr mesh m{axis{"a", 2}};
  const xt::xtensor<int, 2> x{{3, 1}, {2, 2}, {0, 5}, {7, 0}, {1, 1}};
  const auto X = shard<m.layout("a", "")>(everyone, x);
  const auto product = cumprod(X, dimensions<0>), largest = cummax(X, dimensions<0>), least = cummin(X, dimensions<0>);
  static_assert(product.layout() == m.layout("a", "") && largest.layout() == m.layout("a", ""));
  const auto p = product.whole(), l = largest.whole(), s = least.whole();
  if (everyone.id() >= 2) return;
  BOOST_TEST((p == xt::xtensor<int, 2>{{3, 1}, {6, 2}, {0, 10}, {0, 0}, {0, 0}}));
  BOOST_TEST((l == xt::xtensor<int, 2>{{3, 1}, {3, 2}, {3, 5}, {7, 5}, {7, 5}}));
  BOOST_TEST((s == xt::xtensor<int, 2>{{3, 1}, {2, 1}, {0, 1}, {0, 0}, {0, 0}}));
}
