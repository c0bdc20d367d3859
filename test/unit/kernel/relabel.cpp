// The cost of a repartition, and the order of workers with the least cost, compared with all possible orders.
#include <partita/kernel/relabel.hpp>
#include <partita/plan/cost.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <random>

#include "random_cases.hpp"

namespace {

using namespace partita;
using runtime_grid = grid<dynamic_extents<2>>;

runtime_grid on(std::size_t rows, std::size_t columns, const std::vector<std::size_t>& order) {
  return {dynamic_extents<2>(rows, columns), workers(order)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(choosing_the_order_of_workers)

BOOST_AUTO_TEST_CASE(the_cost_of_rows_to_columns_counts_every_pair_once) {
  const auto rows = on(4, 1, {0, 1, 2, 3}), columns = on(1, 4, {0, 1, 2, 3});
  const auto cost =
      cost_of(rows, decomposition<2>::balanced({8, 8}, {4, 1}), columns, decomposition<2>::balanced({8, 8}, {1, 4}));
  BOOST_TEST(cost.elements_moved == 48U);
  BOOST_TEST(cost.elements_kept == 16U);
  BOOST_TEST(cost.messages == 12U);
  BOOST_TEST(cost.most_sent == 12U);
  BOOST_TEST(cost.most_received == 12U);
  BOOST_TEST(cost.most_messages == 3U);
  BOOST_TEST(cost.workers == 4U);
  BOOST_TEST(cost.imbalance() == 1.0);
  BOOST_TEST(cost.seconds(4, 1.0, 12.0) == 7.0);
}

BOOST_AUTO_TEST_CASE(a_gather_is_as_uneven_as_it_can_be) {
  const auto rows = on(4, 1, {0, 1, 2, 3}), one = on(1, 1, {0});
  const auto cost =
      cost_of(rows, decomposition<2>::balanced({8, 8}, {4, 1}), one, decomposition<2>::balanced({8, 8}, {1, 1}));
  BOOST_TEST(cost.elements_moved == 48U);
  BOOST_TEST(cost.most_received == 48U);
  BOOST_TEST(cost.imbalance() == 4.0);
}

BOOST_AUTO_TEST_CASE(workers_in_another_order_go_back_to_where_their_blocks_are) {
  const auto src = on(4, 1, {2, 0, 3, 1}), dst = on(4, 1, {0, 1, 2, 3});
  const auto balanced = decomposition<2>::balanced({9, 5}, {4, 1});
  const auto better = relabelled(src, balanced, dst, balanced);
  BOOST_TEST(cost_of(src, balanced, better, balanced).elements_moved == 0U);
  BOOST_TEST((better == src));
}

BOOST_AUTO_TEST_CASE(nothing_changes_where_nothing_can_be_gained) {
  const auto src = on(4, 1, {0, 1, 2, 3}), dst = on(1, 4, {0, 1, 2, 3});
  const auto from = decomposition<2>::balanced({8, 8}, {4, 1}), to = decomposition<2>::balanced({8, 8}, {1, 4});
  BOOST_TEST((relabelled(src, from, dst, to) == dst));
}

BOOST_AUTO_TEST_CASE(no_other_order_moves_less) {
  std::mt19937 random(5);
  for (std::size_t trial = 0; trial < test::random_cases(120); ++trial) {
    const std::size_t shapes[][2] = {{5, 1}, {1, 5}, {2, 3}, {3, 2}, {2, 2}, {1, 6}};
    const auto& a = shapes[random() % 6];
    const auto& b = shapes[random() % 6];
    std::vector<std::size_t> order(7);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    const auto src = on(a[0], a[1], {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(a[0] * a[1])});
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::size_t> taken(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(b[0] * b[1]));
    const auto dst = on(b[0], b[1], taken);
    const std::array<std::size_t, 2> extents{3 + random() % 20, 3 + random() % 20};
    const auto from = decomposition<2>::balanced(extents, {a[0], a[1]}),
               to = decomposition<2>::balanced(extents, {b[0], b[1]});
    const std::size_t ours = cost_of(src, from, relabelled(src, from, dst, to), to).elements_moved;
    std::sort(taken.begin(), taken.end());
    std::size_t least = ~std::size_t{0};
    do least = std::min(least, cost_of(src, from, on(b[0], b[1], taken), to).elements_moved);
    while (std::next_permutation(taken.begin(), taken.end()));
    BOOST_TEST(ours == least);
  }
}

BOOST_AUTO_TEST_SUITE_END()
