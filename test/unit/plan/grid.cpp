// Choices of workers and their arrangements: order kept, ranges kept as ranges, mistakes named.
#include <partita/plan/grid.hpp>

#include <boost/test/unit_test.hpp>
#include <string>

#include "refused.hpp"

using namespace partita;
using test::refused;

BOOST_AUTO_TEST_SUITE(arranging_workers)

BOOST_AUTO_TEST_CASE(a_contiguous_choice_is_a_range_however_it_is_written) {
  BOOST_TEST(workers(4, 7).is_range());
  BOOST_TEST((workers{4, 5, 6}.is_range()));
  BOOST_TEST((workers{4, 5, 6} == workers(4, 7)));
  BOOST_TEST(!(workers{5, 4, 6}.is_range()));
  BOOST_TEST(!(workers{4, 5, 6} == workers{5, 4, 6}));
  BOOST_TEST(workers(3, 3).empty());
  BOOST_TEST((workers(3, 3) == workers(7, 7)));
  const workers million(0, 1'000'000);
  BOOST_TEST(million.size() == 1'000'000U);
  BOOST_TEST(million.find(999'999) == 999'999U);
  BOOST_TEST(!million.contains(1'000'000));
}

BOOST_AUTO_TEST_CASE(a_subset_of_a_choice_keeps_the_order_of_the_subset) {
  const workers list{5, 2, 0, 1};
  BOOST_TEST((list.subset(workers{3, 0}) == workers{1, 5}));
  BOOST_TEST((workers(4, 9).subset(workers(1, 3)) == workers(5, 7)));
  BOOST_TEST((workers(4, 9).subset(workers{2, 0}).subset(workers{1}) == workers{4}));
  BOOST_TEST(workers(4, 1'000'000).subset(workers(2, 500'000)).is_range());
}

BOOST_AUTO_TEST_CASE(a_union_has_the_workers_of_the_first_in_order_then_those_of_the_second_that_are_new) {
  BOOST_TEST((united(workers{5, 2}, workers{2, 7, 5, 0}) == workers{5, 2, 7, 0}));
  BOOST_TEST((united(workers(0, 4), workers(2, 6)) == workers(0, 6)));
  BOOST_TEST((united(workers(4, 6), workers(0, 2)) == workers{4, 5, 0, 1}));
  BOOST_TEST((united(workers(2, 2), workers(3, 5)) == workers(3, 5)));
  BOOST_TEST((united(workers(1, 9), workers(3, 5)) == workers(1, 9)));
}

BOOST_AUTO_TEST_CASE(a_grid_numbers_its_places_in_C_order_and_reshapes_without_moving_anybody) {
  const grid g(extents<2, 3>{}, workers{9, 8, 7, 3, 2, 1});
  BOOST_TEST(g.worker({0, 2}) == 7U);
  BOOST_TEST(g.worker({1, 0}) == 3U);
  BOOST_TEST(g.place(2) == 4U);
  BOOST_TEST(g.place(4) == g.size());
  BOOST_TEST((g.index(4) == partita::index<2>{1, 1}));
  const auto other = g.reshape(extents<1, 6, 1>{});
  BOOST_TEST(other.worker({0, 4, 0}) == g.worker({1, 1}));
  BOOST_TEST(other.fingerprint() != g.fingerprint());
  BOOST_TEST((g == grid(extents<dynamic, 3>(2), workers{9, 8, 7, 3, 2, 1})));
  BOOST_TEST((g.fingerprint() == grid(extents<dynamic, 3>(2), workers{9, 8, 7, 3, 2, 1}).fingerprint()));
}

BOOST_AUTO_TEST_CASE(mistakes_name_both_sides_and_the_way_out) {
  BOOST_TEST(refused<partition_error>([] { workers{3, 1, 3}; }) ==
             "partita::workers: requires each worker once, worker 3 is listed twice (again at place 2); remove one of them");
  BOOST_TEST(refused<partition_error>([] { grid(extents<2, 3>{}, workers(0, 5)); }) ==
             "partita::partition: requires as many workers as the extents [2, 3] have places (6), got 5 workers; choose 6 workers or other extents");
  BOOST_TEST(refused<partition_error>([] { workers(0, 3).subset(workers{1, 3}); }) ==
             "partita::workers::subset: requires places below 3 (this many workers are chosen from), got place 3");
  BOOST_TEST(refused<partition_error>([] { grid(extents<2, 3>{}).worker({0, 3}); }) ==
             "partita::partition::worker(index): requires an index inside the extents [2, 3], got [0, 3]");
  BOOST_TEST(refused<partition_error>([] { grid(extents<2, 3>{}).reshape(extents<2, 2>{}); }).find("requires as many workers as the extents [2, 2] have places (4), got 6") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
