// Composed operators: their results, their adjoints, and the combinations that are errors.
#include <partita/array/elementwise.hpp>
#include <partita/kernel/all_reduce.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/compose.hpp>
#include <partita/kernel/operator_sum.hpp>
#include <partita/kernel/reduce.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>

#include "law.hpp"
#include "refused.hpp"
#include "twice.hpp"

namespace {

using namespace law;
using test::twice;

struct kernels {
  world everyone{test::workers()};
  std::size_t P = everyone.size(), me = everyone.id();
  partition<extents<1>> root = everyone.partition<1>(workers{P - 1});
  partition<extents<dynamic>> row = everyone.partition(extents(P));
  broadcast<extents<1>, extents<dynamic>> spread{root, row};
  sum_reduce<extents<dynamic>, extents<1>> collect{row, root};
  all_sum_reduce<extents<dynamic>> total{row, dimensions<0>};
  all_reduce<extents<dynamic>, mean_t> average{row, dimensions<0>, mean};
  all_reduce<extents<dynamic>, maximum_t> most{row, dimensions<0>, maximum};

  xt::xtensor<double, 1> at_root(std::size_t number) const {
    return root.active() ? integers<double, 1>({6}, number) : zero_volume<double, 1>();
  }
};

template <class K>
concept has_an_adjoint = linear_operator<K, xt::xtensor<double, 1>, xt::xtensor<double, 1>>;

}  // namespace

BOOST_AUTO_TEST_SUITE(composition)

BOOST_AUTO_TEST_CASE(applies_one_operator_after_the_other_and_the_adjoints_in_the_opposite_order) {
  const kernels k;
  const auto chain = compose(k.collect, twice{}, k.spread);  // sums, doubles and broadcasts
  const auto x = integers<double, 1>({6}, k.me), dy = integers<double, 1>({6}, k.me + 4);
  const auto y = k.total(x), dx = k.total(dy);
  BOOST_TEST(same(chain(x), xt::xtensor<double, 1>(2 * y)));
  BOOST_TEST(same(chain.adjoint(dy), xt::xtensor<double, 1>(2 * dx)));
  xt::xtensor<double, 2> wide = xt::zeros<double>({2, 6});
  chain.into(x, xt::view(wide, 1));
  chain.adjoint_into(dy, xt::view(wide, 0));
  BOOST_TEST(same(wide, xt::xtensor<double, 2>(xt::stack(xt::xtuple(2 * dx, 2 * y)))));
  auto later = chain.start(x);
  BOOST_TEST(same(later.finish(), xt::xtensor<double, 1>(2 * y)));
  auto back = chain.start_adjoint(dy);
  BOOST_TEST(same(back.finish(), xt::xtensor<double, 1>(2 * dx)));
  expect_adjoint(k.everyone, chain, true, x, true, dy);
  BOOST_TEST(adjoint_test(k.everyone, chain, x, dy).exact());
  BOOST_TEST(same(compose(k.total)(x), y));
  BOOST_TEST(same(compose(compose(k.collect, twice{}), k.spread)(x), chain(x)));  // composition is associative
}

BOOST_AUTO_TEST_CASE(learns_what_it_learns_once) {
  const kernels k;
  const auto chain = compose(k.collect, k.spread);
  const auto x = integers<double, 1>({6}, k.me);
  const auto y = chain(x);
  const std::size_t made = chain.counts().plans_made;
  for (int times = 0; times < 3; ++times) {
    auto later = chain.start(x);
    BOOST_TEST(same(later.finish(), y));
    BOOST_TEST(same(chain(x), y));
  }
  BOOST_TEST(chain.counts().plans_made == made);
  BOOST_TEST(std::get<0>(chain.plan()).groups.size() == k.collect.plan().groups.size());
}

BOOST_AUTO_TEST_CASE(takes_kernels_of_every_kind) {
  const kernels k;
  const auto by_rows = k.everyone.partition(extents<dynamic, 1>(k.P));
  const auto by_columns = k.everyone.partition(extents<1, dynamic>(k.P));
  const auto there_and_back = compose(repartition(by_rows, by_columns), repartition(by_columns, by_rows));
  const auto block = decomposition<2>::balanced({7, 5}, {k.P, 1}).block({k.me, 0}).shape();
  const auto x = integers<float, 2>(block, k.me), dy = integers<float, 2>(block, k.me + 2);
  BOOST_TEST(same(there_and_back(x), x));
  expect_adjoint(k.everyone, there_and_back, true, x, true, dy);
}

BOOST_AUTO_TEST_CASE(adds_the_results_of_two_operators_and_of_their_adjoints) {
  const kernels k;
  const auto both = add(k.total, compose(k.average, twice{}));
  const auto P = static_cast<double>(k.P);
  const xt::xtensor<double, 1> x = P * integers<double, 1>({6}, k.me), dy = P * integers<double, 1>({6}, k.me + 4);
  const xt::xtensor<double, 1> y = k.total(x) * (1 + 2 / P), dx = k.total(dy) * (1 + 2 / P);
  const auto close = [](const auto& a, const auto& b) { return xt::allclose(a, b, 1e-14); };
  BOOST_TEST(close(both(x), y));
  BOOST_TEST(close(both.adjoint(dy), dx));
  auto later = both.start(xt::xtensor<double, 1>(x));  // temporaries are kept
  auto back = both.start_adjoint(xt::xtensor<double, 1>(dy));
  const xt::xtensor<double, 1> over(x.shape(), -1.0), over_too = over;
  BOOST_TEST(close(back.finish(), dx));
  BOOST_TEST(close(later.finish(), y));
  auto filled = x;
  both.into(dy, filled);
  both.adjoint_into(x, filled);
  BOOST_TEST(close(filled, y));
  expect_adjoint(k.everyone, both, true, x, true, dy);
  const auto sum_of_views = add(broadcast(k.root, k.row, shared_view), k.spread);
  BOOST_TEST(same(sum_of_views(k.at_root(3)), xt::xtensor<double, 1>(2 * integers<double, 1>({6}, 3))));
  // on arrays, add is still element-wise
  BOOST_TEST(same(xt::xtensor<double, 1>(add(x, x)), xt::xtensor<double, 1>(2 * x)));
}

BOOST_AUTO_TEST_CASE(refuses_results_of_different_shapes_on_all_workers) {
  const kernels k;
  if (k.P == 1) return;
  const auto unlike = add(k.total, k.collect);
  BOOST_TEST(test::refused<shape_error>([&] {
               unlike(integers<double, 1>({6}, k.me));
             }).find("partita::add(a, b)(x): requires operators whose results have one shape") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(has_an_adjoint_if_all_its_operators_have_one) {
  static_assert(has_an_adjoint<decltype(compose(std::declval<kernels>().collect, std::declval<kernels>().spread))>);
  static_assert(!has_an_adjoint<decltype(compose(std::declval<kernels>().total, std::declval<kernels>().most))>);
  static_assert(!has_an_adjoint<decltype(add(std::declval<kernels>().total, std::declval<kernels>().most))>);
  const kernels k;
  const auto x = integers<double, 1>({6}, k.me);
  const auto largest_total = compose(k.total, k.most);  // the forward call is allowed
  BOOST_TEST(same(largest_total(x), k.total(x)));
}

BOOST_AUTO_TEST_SUITE_END()
