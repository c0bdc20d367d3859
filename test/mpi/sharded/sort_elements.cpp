// Sorting all elements of a tensor that stays sharded gives what one stable sort gives, in all layouts, with gradients.
#include "../kernel/number_blocks.hpp"
#include "layouts.hpp"
#include "refused.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <partita/sharded/movements.hpp>
#include <partita/sharded/reductions.hpp>
#include <partita/sharded/sort_elements.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <vector>

namespace {

using namespace partita;
using numbers = xt::xtensor<double, 1>;

template <std::size_t N, class T>
xt::xtensor<T, N> whole(const sharded_tensor<T>& x) {
  return reshard(x, sharding(x.layout().on, x.rank())).template whole<N>();
}
/// Whether two blocks have the same numbers; NaNs are equal.
bool same(const numbers& a, const numbers& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), test::is_equal<double>);
}

void check(const world& everyone, const sharding& s, const numbers& all) {
  const std::size_t n = all.size();
  const bool on = n == 0 || everyone.id() < s.on.size();  // other workers have no elements
  const auto x = shard(everyone, s, all);
  const std::vector<double> given(all.begin(), all.end());
  numbers weights = xt::zeros<double>({n});
  for (std::size_t k = 0; k < n; ++k) weights(k) = static_cast<double>(k % 5) - 1;
  for (const bool descending : {false, true}) {
    const auto order = test::order_of(given, descending);
    numbers wanted = xt::zeros<double>({n}), dx = wanted;
    xt::xtensor<std::size_t, 1> places = xt::zeros<std::size_t>({n});
    for (std::size_t k = 0; k < n; ++k) wanted(k) = all(order[k]), places(k) = order[k], dx(order[k]) = weights(k);
    const auto y = sort(x, {.descending = descending});
    BOOST_TEST(y.layout() == s.without_partials());
    BOOST_TEST(same(whole<1>(y), wanted) == on, "sort, " << s);
    BOOST_TEST((whole<1>(argsort(x, {.descending = descending})) == places) == on, "argsort, " << s);
    const auto w = shard(everyone, y.layout(), weights);
    const auto loss = [&](const auto& z) { return sum(multiply(sort(z, {.descending = descending}), w)); };
    BOOST_TEST(same(whole<1>(std::get<0>(value_and_gradient(loss, x).gradients)), dx) == on, "gradient, " << s);
    if (!descending) continue;
    const std::size_t k = std::min<std::size_t>(n, 3);
    const auto top = top_k(x, k);
    BOOST_TEST(same(whole<1>(top.values), xt::view(wanted, xt::range(std::size_t{0}, k))) == on, "top_k, " << s);
    BOOST_TEST((whole<1>(top.indices) == xt::view(places, xt::range(std::size_t{0}, k))) == on, "top_k, " << s);
  }
  std::vector<double> different = given;
  std::sort(different.begin(), different.end(), test::is_before<double>);
  const std::vector<double> sorted = different;
  different.erase(std::unique(different.begin(), different.end(), test::is_equal<double>), different.end());
  const auto u = unique(x);
  BOOST_TEST(u.extents()[0] == different.size());
  BOOST_TEST(same(whole<1>(u), xt::adapt(different, std::array{different.size()})) == on, "unique, " << s);
  for (const double probability : {0.0, 0.3, 1.0}) {
    if (n == 0) continue;
    const double at = probability * static_cast<double>(n - 1), low = std::floor(at);
    const auto first = static_cast<std::size_t>(low), second = std::min(first + 1, n - 1);
    const double step = at == low ? 0 : (at - low) * (sorted[second] - sorted[first]);
    const double q = std::isnan(sorted.back()) ? sorted.back() : sorted[first] + step;
    const auto got = whole<0>(quantile(x, probability));
    if (on) BOOST_TEST((std::isnan(q) ? std::isnan(got()) : std::abs(got() - q) < 1e-12), "quantile, " << s);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sorting_elements)

BOOST_AUTO_TEST_CASE(elements_are_sorted_where_they_are) {
  const world everyone(test::workers());
  // [elements]
  const mesh m{axis{"data", everyone.size()}};
  const auto x = shard(everyone, m.layout("data"), xt::xtensor<double, 1>{3, 1, 2, 3});
  const auto y = sort(x);                                // 1, 2, 3, 3, sharded as x is
  const auto rows = bind_indices(x, argsort(x));         // rows.take(z) has the rows of z in this order
  const auto [values, indices] = top_k(x, 2);            // 3, 3, at 0 and 3
  const auto different = unique(x);                      // 1, 2, 3
  const auto shuffled = permutation(x, std::size_t{7});  // in a random order
  // [/elements]
  BOOST_TEST((whole<1>(y) == numbers{1, 2, 3, 3}));
  BOOST_TEST((whole<1>(rows.take(x)) == numbers{1, 2, 3, 3}));
  BOOST_TEST((whole<1>(values) == numbers{3, 3}));
  BOOST_TEST((whole<1>(indices) == xt::xtensor<std::size_t, 1>{0, 3}));
  BOOST_TEST((whole<1>(different) == numbers{1, 2, 3}));
  BOOST_TEST((whole<1>(sort(shuffled)) == numbers{1, 2, 3, 3}));
}

BOOST_AUTO_TEST_CASE(all_layouts_give_the_order_of_one_stable_sort) {
  const world everyone(test::workers());
  unsigned seed = 0;
  for (const mesh& m : test::meshes(everyone.size()))
    for (const sharding& s : test::layouts(m, 1)) {
      std::mt19937 random(++seed);
      numbers all = xt::zeros<double>({seed % 5 == 0 ? seed % 3 : 4 + random() % 30});
      for (double& e : all) e = static_cast<double>(random() % 12) - 6;
      if (seed % 3 == 0 && all.size() > 5 && !s.is_partial())
        all(2) = all(5) = std::numeric_limits<double>::quiet_NaN();
      check(everyone, s, all);
    }
}

BOOST_AUTO_TEST_CASE(rows_in_a_random_order_depend_on_the_seed_only) {
  const world everyone(test::workers());
  xt::xtensor<double, 2> x = xt::zeros<double>({11, 3});
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>(k);
  const auto permuted = [&](const sharding& s, std::uint64_t seed) {
    return whole<2>(permutation(shard(everyone, s, x), seed));
  };
  for (const mesh& m : test::meshes(everyone.size())) {
    const bool on = everyone.id() < m.size();
    const auto first = permuted(sharding(m, 2), 7);
    for (const sharding& s : {sharding(m, 2).cut(0, axis_list{0}), sharding(m, 2).cut(1, axis_list{0})}) {
      BOOST_TEST((permuted(s, 7) == first));
      BOOST_TEST((permuted(s, 8) != first) == on);
    }
    if (!on) continue;
    std::vector<double> rows;
    for (std::size_t i = 0; i < 11; ++i) {
      rows.push_back(first(i, 0));
      BOOST_TEST(first(i, 2) == first(i, 0) + 2);
    }
    std::sort(rows.begin(), rows.end());
    for (std::size_t i = 0; i < 11; ++i) BOOST_TEST(rows[i] == x(i, 0));
  }
  // as many workers as there are do not matter: one alone has the same order
  const world alone(boost::mpi::communicator(MPI_COMM_SELF, boost::mpi::comm_attach));
  const auto order = permutation(alone, std::size_t{11}, std::uint64_t{7});
  const auto of_all = permuted(sharding(mesh{axis{"a", everyone.size()}}, 2), 7);
  for (std::size_t i = 0; i < 11; ++i) BOOST_TEST(of_all(i, 0) == x(order(i), 0));
  const auto squares = value_and_gradient(
      [&](const auto& p) {
        const auto y = permutation(p, 7);
        return sum(multiply(y, y));
      },
      shard(everyone, sharding(mesh{axis{"a", everyone.size()}}, 2).cut(0, axis_list{0}), x));
  BOOST_TEST((whole<2>(std::get<0>(squares.gradients)) == 2 * x));
}

BOOST_AUTO_TEST_CASE(the_layout_is_part_of_the_type_if_that_of_the_operand_is, *test::at_least(2)) {
  const world everyone(test::workers());
  constexpr mesh m{axis{"data", 2}};
  const auto x = shard<m.layout("data")>(everyone, numbers{3, 1, 2});
  const sharded<double, m.layout("data")> y = sort(x), u = unique(x), p = permutation(x, 1);
  const sharded<std::size_t, m.layout("data")> places = argsort(x);
  const auto top = top_k(x, 1);
  static_assert(decltype(top.values)::layout() == m.layout("") && decltype(top.indices)::layout() == m.layout(""));
  const auto median = quantile(x, 0.5);
  static_assert(decltype(median)::rank() == 0);
  const auto all = reshard<m.layout("")>(y).whole();
  const bool on = everyone.id() < 2;
  BOOST_TEST((all == numbers{1, 2, 3}) == on);
  BOOST_TEST((top.values.whole() == numbers{3}) == on);
  BOOST_TEST((reshard<m.layout("")>(sort(u)).whole() == reshard<m.layout("")>(sort(p)).whole()));
  BOOST_TEST((reshard<m.layout("")>(places).whole() == xt::xtensor<std::size_t, 1>{1, 2, 0}) == on);
  if (on) BOOST_TEST(median.whole()() == 2.0);
  else median.whole();
}

BOOST_AUTO_TEST_CASE(no_worker_receives_the_whole_tensor, *test::at_least(2)) {
  const world everyone(test::workers());
  const std::size_t P = everyone.size(), n = 1000 * P;
  const auto x = shard(everyone, mesh{axis{"a", P}}.layout("a"), numbers(-xt::arange<double>(static_cast<double>(n))));
  const auto moved = record_movements([&] { sort(x); });
  BOOST_TEST_REQUIRE(moved.size() == 1U);
  BOOST_TEST(moved[0].bytes <= 8 * 1000);
}

BOOST_AUTO_TEST_CASE(wrong_calls_are_errors_on_all_workers) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto x = shard(everyone, m.layout("a"), numbers{2, 1});
  const auto rows = shard(everyone, m.layout("a", ""), xt::xtensor<double, 2>{{2, 1}});
  test::expect_refused<shape_error>([&] { sort(rows); }, "partita::sort(x): requires a tensor of rank 1, got");
  test::expect_refused<shape_error>([&] { top_k(x, 3); }, "requires at least k = 3");
  for (const double wrong : {1.5, 1 + 1e-9, -1e-9, -0.5, std::nan("")})
    test::expect_refused<shape_error>([&] { quantile(x, wrong); }, "requires a probability from 0 to 1");
  const auto none = shard(everyone, m.layout("a"), numbers(std::array<std::size_t, 1>{0}));
  test::expect_refused<shape_error>([&] { quantile(none, 0.5); }, "from 0 to 1 and an element");
  if (everyone.size() > 1) {
    const std::size_t own = everyone.id() == 0 ? 1 : 0;
    test::expect_refused<disagreement_error>([&] { permutation(x, own); }, "partita::permutation(x, seed) of extents");
    test::expect_refused<disagreement_error>([&] { top_k(x, own); }, "partita::top_k(x, k) of extents");
    test::expect_refused<disagreement_error>([&] { sort(x, {own == 1}); }, "partita::sort(x) of extents");
    test::expect_refused<disagreement_error>([&] { quantile(x, own == 1 ? 0.5 : 1.5); },
                                             "partita::quantile(x, probability) of extents");
    test::expect_refused<disagreement_error>([&] { own == 1 ? sort(x) : unique(x); }, "partita::unique(x) of ext");
    test::expect_refused<disagreement_error>([&] { own == 1 ? (void)argsort(x) : (void)sort(x); }, "argsort(x)");
  }
  if (everyone.size() > 1) {
    const no_implicit_reshard written_down;
    const auto terms = shard(everyone, m.layout("").partial("a"), numbers{2, 1});
    test::expect_refused<partition_error>([&] { sort(terms); }, "requires operands that need not be moved");
    sort(x);
  }
  BOOST_TEST((whole<1>(sort(x)) == numbers{1, 2}));
}

BOOST_AUTO_TEST_SUITE_END()
