// The cost of a repartition, summed over all workers.
#include <partita/plan/cost.hpp>

#include <boost/test/unit_test.hpp>

using namespace partita;

BOOST_AUTO_TEST_SUITE(cost_of_a_repartition)

BOOST_AUTO_TEST_CASE(rows_to_columns_move_all_but_the_diagonal) {
  const grid rows(extents<4, 1>{}, workers(0, 4));
  const grid columns(extents<1, 4>{}, workers(0, 4));
  const auto from = decomposition<2>::balanced({8, 8}, {4, 1}), to = decomposition<2>::balanced({8, 8}, {1, 4});
  const movement_cost cost = cost_of(rows, from, columns, to);
  BOOST_TEST(cost.elements_moved == 48U);
  BOOST_TEST(cost.elements_kept == 16U);
  BOOST_TEST(cost.messages == 12U);
  BOOST_TEST(cost.most_sent == 12U);
  BOOST_TEST(cost.most_received == 12U);
  BOOST_TEST(cost.most_messages == 3U);
  BOOST_TEST(cost.workers == 4U);
  BOOST_TEST(cost.imbalance() == 1);
  BOOST_TEST(cost.seconds(4, 2, 24) == 3 * 2 + 2.0);
  BOOST_TEST((cost_of(columns, to, rows, from) == cost));  // the way back costs the same
}

BOOST_AUTO_TEST_CASE(one_worker_that_sends_all_is_busiest) {
  const grid one(extents<1>{}, workers{9});
  const grid all(extents<4>{}, workers(0, 4));
  const auto whole = decomposition<1>::balanced({8}, {1}), parts = decomposition<1>::balanced({8}, {4});
  const movement_cost scatter = cost_of(one, whole, all, parts);
  BOOST_TEST(scatter.most_sent == 8U);
  BOOST_TEST(scatter.most_received == 2U);
  BOOST_TEST(scatter.workers == 5U);
  BOOST_TEST(scatter.imbalance() == 5);
  const movement_cost none = cost_of(one, whole, one, whole);
  BOOST_TEST(none.elements_moved == 0U);
  BOOST_TEST(none.elements_kept == 8U);
  BOOST_TEST(none.imbalance() == 1);
}

BOOST_AUTO_TEST_CASE(one_worker_that_receives_all_is_as_busy_as_one_that_sends_all) {
  const grid one(extents<1>{}, workers{9});
  const grid all(extents<4>{}, workers(0, 4));
  const auto whole = decomposition<1>::balanced({8}, {1}), parts = decomposition<1>::balanced({8}, {4});
  const movement_cost scatter = cost_of(one, whole, all, parts), gather = cost_of(all, parts, one, whole);
  BOOST_TEST(gather.most_sent == 2U);
  BOOST_TEST(gather.most_received == 8U);
  for (const movement_cost& cost : {scatter, gather}) {
    BOOST_TEST(cost.messages == 4U);
    BOOST_TEST(cost.most_messages == 4U);
    BOOST_TEST(cost.workers == 5U);
    BOOST_TEST(cost.imbalance() == 5);
    BOOST_TEST(cost.seconds(4, 2, 8) == 4 * 2 + 8 * 4 / 8.0);
  }
}

BOOST_AUTO_TEST_CASE(workers_without_elements_are_not_counted) {
  const movement_cost cost = cost_of(grid(extents<3>{}), decomposition(cut::at({4, 0, 2})),
                                     grid(extents<2>{}, workers(3, 5)), decomposition(cut::at({6, 0})));
  BOOST_TEST(cost.elements_moved == 6U);
  BOOST_TEST(cost.workers == 3U);
  BOOST_TEST(cost.imbalance() == 3);
}

BOOST_AUTO_TEST_CASE(a_transposition_costs_what_its_plans_move) {
  const grid p(extents<2, 1>{});
  const auto rows = decomposition<2>::balanced({4, 6}, {2, 1}), columns = decomposition<2>::balanced({6, 4}, {2, 1});
  const movement_cost cost = cost_of(p, rows, p, columns, axes_order<2>{1, 0});
  BOOST_TEST(cost.elements_moved == 12U);  // two of four blocks of 2 x 3
  BOOST_TEST(cost.elements_kept == 12U);
  BOOST_TEST(cost.messages == 2U);
}

BOOST_AUTO_TEST_SUITE_END()
