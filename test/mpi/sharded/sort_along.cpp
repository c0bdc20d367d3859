// Sorting along a dimension: each definition and each gradient is a loop here, for elements of which many are equal,
// infinite or NaN, and all kinds of tensors give what the loops give, wherever they are sharded.
#include "in_all_ways.hpp"
#include "layouts.hpp"
#include "refused.hpp"

#include <cmath>
#include <limits>
#include <partita/kernel/sorted_numbers.hpp>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/gather.hpp>
#include <partita/sharded/movements.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/sort_along.hpp>
#include <random_cases.hpp>

using namespace partita;

namespace {

using test::cube, test::gathered, test::same;

enum class kind { sort, argsort, top_values, top_indices, quantile };
struct sorting {
  kind which;
  bool descending;
  std::size_t k;
  double probability;
};

template <std::size_t D, class X>
auto sorted(const sorting& s, const X& x) {
  switch (s.which) {
    case kind::sort:
      return sort(x, dimensions<D>, {.descending = s.descending});
    case kind::argsort:
      return argsort(x, dimensions<D>, {.descending = s.descending});
    case kind::top_values:
      return top_k(x, s.k, dimensions<D>).values;
    case kind::top_indices:
      return top_k(x, s.k, dimensions<D>).indices;
    default:
      return unsqueeze(quantile(x, s.probability, dimensions<D>), dimensions<D>);
  }
}

/// Whether number j of a line, a, is before number k, b.
bool is_before(double a, std::size_t j, double b, std::size_t k, bool descending) {
  const auto precedes = [&](double one, double other) {
    if (std::isnan(one) || std::isnan(other))
      return std::isnan(descending ? one : other) && !(one != one && other != other);
    return descending ? one > other : one < other;
  };
  return precedes(a, b) || (!precedes(b, a) && j < k);
}
/// The definition along dimension d, and the gradient of sum(weights * y).
std::pair<cube, cube> defined(const sorting& s, const cube& x, std::size_t d, const cube& weights) {
  const bool is_top = s.which == kind::top_values || s.which == kind::top_indices;
  const bool is_index = s.which == kind::argsort || s.which == kind::top_indices;
  const bool descending = s.which == kind::quantile ? false : s.descending || is_top;
  const std::size_t n = x.shape()[d];
  cube y(weights.shape()), dx = xt::zeros<double>(x.shape());
  for (std::size_t p = 0; p < x.size(); ++p) {  // each element p, with index k of its line
    std::array<std::size_t, 3> at{p / x.shape()[2] / x.shape()[1], p / x.shape()[2] % x.shape()[1], p % x.shape()[2]};
    const std::size_t k = at[d];
    std::vector<double> line;
    for (std::size_t j = 0; j < n; ++j) {
      auto other = at;
      other[d] = j;
      line.push_back(x[other]);
    }
    const auto rank_of_number = [&](std::size_t of) {  // as many are before it
      std::size_t rank = 0;
      for (std::size_t j = 0; j < n; ++j) rank += is_before(line[j], j, line[of], of, descending) ? 1 : 0;
      return rank;
    };
    const std::size_t rank = rank_of_number(k);
    auto there = at;
    there[d] = rank;
    if (s.which != kind::quantile) {
      if (rank >= y.shape()[d]) continue;
      y[there] = is_index ? static_cast<double>(k) : line[k];
      if (!is_index) dx[at] = weights[there];
      continue;
    }
    there[d] = 0;
    const double place = s.probability * static_cast<double>(n - 1), share = place - std::floor(place);
    const auto low = static_cast<std::size_t>(place);
    bool has_nan = false;
    for (const double one : line) has_nan = has_nan || std::isnan(one);
    if (has_nan) {  // the last of all is NaN, and has all of the gradient
      y[there] = std::numeric_limits<double>::quiet_NaN();
      if (rank == n - 1) dx[at] = weights[there];
    } else if (rank == low) {
      y[there] = line[k];
      dx[at] = (1 - share) * weights[there];
      for (std::size_t j = 0; j < n && share > 0; ++j)
        if (rank_of_number(j) == low + 1) y[there] += share * (line[j] - line[k]);
    } else if (rank == low + 1 && share > 0) {
      dx[at] = share * weights[there];
    }
  }
  return {y, dx};
}

cube numbers(std::mt19937& random, const std::array<std::size_t, 3>& shape, bool special = false) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double rare[] = {infinity, -infinity, -0.0, std::numeric_limits<double>::quiet_NaN()};
  cube x(shape);
  for (double& one : x) one = special && random() % 3 == 0 ? rare[random() % 4] : static_cast<double>(random() % 3);
  return x;
}
/// Compares plain arrays, run-time tensors, traced and bound programs of random layouts with the definition.
template <std::size_t D>
void check(const world& everyone, std::mt19937& random, const cube& x) {
  const auto known = test::meshes(everyone.size());
  const mesh m = known[random() % known.size()];
  const auto all = test::layouts(m, 3);
  const auto any = [&] { return all[random() % all.size()]; };
  const shape_list extents{x.shape()[0], x.shape()[1], x.shape()[2]};
  const sharding at = any();
  const auto X = shard(everyone, at, x);
  const std::size_t n = extents[D];
  for (std::size_t which = 0; which < (n == 0 ? 4 : 5); ++which) {
    const sorting s{static_cast<kind>(which), random() % 2 == 0, random() % (n + 1),
                    static_cast<double>(random() % 5) / 4};
    auto shape = x.shape();
    if (which >= 2) shape[D] = which == 4 ? 1 : s.k;
    const cube weights = numbers(random, shape) - 1;
    const auto W = shard(everyone, any(), weights);
    const auto [y, dx] = defined(s, x, D, weights);
    const auto f = [&](const auto& one) { return sorted<D>(s, one); };
    const auto weighted = [](const auto& g, const auto& by) {
      // the sum of the elements makes a gradient of 1 for operations that have none
      return [&](const auto& one) { return add(sum(multiply(by, g(one))), sum(one)); };
    };
    text how;
    how << which << " along " << D << ' ' << at << extents;
    const auto Y = f(X);
    how << " gives " << Y.layout();
    const test::operation_along along(f, x, X);
    along.expect(y, dx + 1, weighted, weights, W, how);
    const bool has_gradient = which % 2 == 0;  // indices have none
    auto step = has_gradient ? along.program.template bind<double>(everyone, {0})
                             : along.program.template bind<double>(everyone);
    const sharded_tensor<double> Z = step(X);
    const cube of_step = gathered(Z);
    cube of_step_dx = dx;
    if (has_gradient)
      of_step_dx = gathered(step.backward(shard(everyone, layout_of_cotangent(Z.layout()), weights))[0]);
    BOOST_TEST(Y.layout()[D].empty(), how);
    if (everyone.id() >= m.size()) continue;
    BOOST_TEST(same(of_step, y), how);
    BOOST_TEST(same(of_step_dx, dx), how);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_line_is_sorted) {
  const xt::xtensor<double, 1> x{2, 1, 3, 1, 0};
  using numbers = xt::xtensor<double, 1>;
  BOOST_TEST((sort(x, dimensions<0>) == numbers{0, 1, 1, 2, 3}));
  BOOST_TEST((sort(x, dimensions<0>, {.descending = true}) == numbers{3, 2, 1, 1, 0}));
  BOOST_TEST((argsort(x, dimensions<0>) == numbers{4, 1, 3, 0, 2}));
  BOOST_TEST((argsort(x, dimensions<0>, {.descending = true}) == numbers{2, 0, 1, 3, 4}));
  const auto [values, indices] = top_k(x, 3, dimensions<0>);
  BOOST_TEST((values == numbers{3, 2, 1}));
  BOOST_TEST((indices == numbers{2, 0, 1}));
  BOOST_TEST(top_k(x, 0, dimensions<0>).values.size() == 0U);
  BOOST_TEST(quantile(x, 0.5, dimensions<0>)() == 1);
  BOOST_TEST(quantile(x, 0.875, dimensions<0>)() == 2.5);
  BOOST_TEST(quantile(x, 0.625, dimensions<0>)() == 1.5);  // between 1 and 2, neither of which is the last
  const numbers with_nan{2, std::numeric_limits<double>::quiet_NaN(), 0};  // every quantile is NaN, also the least
  for (const double probability : {0.0, 0.25, 0.5, 1.0})
    BOOST_TEST(std::isnan(quantile(with_nan, probability, dimensions<0>)()));
  const auto zeros = sort(numbers{0.0, -0.0, -1}, dimensions<0>, {.descending = true});  // equal ones keep their order
  BOOST_TEST((!std::signbit(zeros(0)) && std::signbit(zeros(1))));
  BOOST_CHECK_NO_THROW(top_k(x, 5, dimensions<0>));
  test::expect_refused<shape_error>(
      [&] { top_k(x, 6, dimensions<0>); },
      "partita::top_k(x, k, dimensions<d>): requires at least k = 6 elements along dimension 0 of [5]");
  for (const double wrong : {-0.001, 1.001, std::numeric_limits<double>::quiet_NaN()})
    test::expect_refused<shape_error>(
        [&] { quantile(x, wrong, dimensions<0>); },
        "partita::quantile(x, probability, dimensions<d>): requires a probability from 0 to 1 and ");
  test::expect_refused<shape_error>([] { quantile(numbers(std::array<std::size_t, 1>{0}), 0.5, dimensions<0>); },
                                    "an element along dimension 0");
}

BOOST_AUTO_TEST_CASE(all_kinds_of_tensors_are_sorted_as_by_the_loops_and_have_their_gradients) {
  const world everyone(test::workers());
  std::mt19937 random(97);
  for (std::size_t k = 0; k < test::random_cases(8); ++k) {
    const cube x = numbers(random, {random() % 7, 1 + random() % 7, 1 + random() % 3}, k % 2 == 1);
    check<0>(everyone, random, x);
    check<1>(everyone, random, x);
    check<2>(everyone, random, x);
  }
}

BOOST_AUTO_TEST_CASE(the_axes_of_a_typed_tensor_move_to_another_dimension, *test::at_least(2)) {
  const world everyone(test::workers());
  constexpr mesh m{axis{"a", 2}};
  const xt::xtensor<int, 2> x{{3, 1}, {2, 2}, {0, 5}, {7, 0}, {1, 1}};
  const auto X = shard<m.layout("a", "")>(everyone, x);
  // [lines]
  const auto Y = sort(X, dimensions<0>);  // in the layout ("", "a")
  const auto rows = sort(X, dimensions<1>, {.descending = true});
  const auto [best, from] = top_k(X, 2, dimensions<0>);
  const auto again = take_along_axis(X, argsort(X, dimensions<0>), dimensions<0>);
  // [/lines]
  static_assert(Y.layout() == m.layout("", "a") && rows.layout() == m.layout("a", ""));
  const auto numbers = sort(shard(everyone, m.layout("a"), xt::xtensor<float, 1>{2, 0, 1}), dimensions<0>).whole<1>();
  BOOST_CHECK_THROW(top_k(X, 6, dimensions<0>), shape_error);
  test::expect_refused<shape_error>(
      [&] { sort(X.run_time_tensor(), dimensions<2>); },
      "partita::sort(x, dimensions<d>), argsort, top_k, quantile: requires a dimension that x ");
  {
    const no_implicit_reshard here;
    BOOST_CHECK_THROW(sort(X, dimensions<0>), partition_error);
    BOOST_CHECK_THROW(sort(X.run_time_tensor(), dimensions<0>), partition_error);
    BOOST_CHECK_NO_THROW(sort(X, dimensions<1>));
  }
  // a quarter of 4 x 6 elements to each of two workers, and their gradients back
  const auto moves = movements_of([](const auto& z) { return sort(z, dimensions<0>); },
                                  shard(everyone, m.layout("a", ""), xt::xtensor<double, 2>(xt::ones<double>({4, 6}))));
  const auto y = Y.whole(), r = rows.whole(), b = best.whole(), f = from.whole(), t = again.whole();
  if (everyone.id() >= 2) return;
  BOOST_TEST(moves.size() == 2U);
  for (const movement& one : moves) BOOST_TEST(one.bytes == 6 * sizeof(double));
  BOOST_TEST((y == xt::xtensor<int, 2>{{0, 0}, {1, 1}, {2, 1}, {3, 2}, {7, 5}}));
  BOOST_TEST((t == y));
  BOOST_TEST((r == xt::xtensor<int, 2>{{3, 1}, {2, 2}, {5, 0}, {7, 0}, {1, 1}}));
  BOOST_TEST((b == xt::xtensor<int, 2>{{7, 5}, {3, 2}}));
  BOOST_TEST((f == xt::xtensor<int, 2>{{3, 2}, {0, 1}}));
  BOOST_TEST((numbers == xt::xtensor<float, 1>{0, 1, 2}));
}

// The gradient of a gradient: put back and in order again are the adjoints of each other.
BOOST_AUTO_TEST_CASE(gradients_have_gradients) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const xt::xtensor<double, 2> keys{{2, 1, 2}, {0, 0, 1}}, dy{{1, 2}, {3, 4}}, by{{1, 2, 3}, {4, 5, 6}};
  const auto K = shard(everyone, m.layout("a", ""), keys), W = shard(everyone, m.layout("", "a"), by);
  const auto back = [&](const auto& d) {
    return sum(multiply(W, apply_op(detail::sort_adjoint_operation<1>{{2, true}}, d, K)));
  };
  const auto d = value_and_gradient(back, shard(everyone, m.layout("a", ""), dy));
  BOOST_TEST(d.value == 1 * 1 + 3 * 2 + 6 * 3 + 4 * 4);
  const auto all = reshard(std::get<0>(d.gradients), sharding(m, 2)).whole<2>();
  BOOST_TEST((all == xt::xtensor<double, 2>{{1, 3}, {6, 4}}));
  const auto V = shard(everyone, m.layout("", ""), dy);
  const auto forth = [&](const auto& x) {
    return sum(multiply(V, apply_op(detail::sort_by_keys_operation<1>{{2, true}}, x, K)));
  };
  const auto f = value_and_gradient(forth, W);
  BOOST_TEST(f.value == d.value);
  const auto put_back = reshard(std::get<0>(f.gradients), sharding(m, 2)).whole<2>();
  BOOST_TEST((put_back == xt::xtensor<double, 2>{{1, 0, 2}, {4, 0, 3}}));
}

BOOST_AUTO_TEST_CASE(the_functions_of_kernels_have_the_same_names) {
  const world everyone(test::workers());
  const xt::xtensor<int, 1> x{static_cast<int>(everyone.id())};
  BOOST_TEST(sort(everyone, x)(0) == static_cast<int>(everyone.id()));
  BOOST_TEST(argsort(everyone, x, {.descending = true})(0) == everyone.size() - 1 - everyone.id());
  BOOST_TEST(top_k(everyone, x, 1).values(0) == static_cast<int>(everyone.size()) - 1);
  BOOST_TEST(quantile(everyone, x, {0.0})(0) == 0);
}
