// Grids of workers keep the order of workers, and errors name the mistake.
#include <partita/plan/grid.hpp>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "refused.hpp"

using namespace partita;
using test::refused;

BOOST_AUTO_TEST_SUITE(arranging_workers)

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
  BOOST_TEST(refused<partition_error>([] { grid(extents<2, 3>{}, workers(0, 5)); }) ==
             "partita::partition: requires as many workers as the extents [2, 3] have places (6), got 5 workers; "
             "choose 6 workers or other extents");
  BOOST_TEST(refused<partition_error>([] {
               grid(extents<2, 3>{}).worker({0, 3});
             }) == "partita::partition::worker(index): requires an index inside the extents [2, 3], got [0, 3]");
  BOOST_TEST(refused<partition_error>([] {
               grid(extents<2, 3>{}).reshape(extents<2, 2>{});
             }).find("requires as many workers as the extents [2, 2] have places (4), got 6") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_grid_of_nobody_is_refused) {
  BOOST_TEST(
      refused<partition_error>([] { grid(extents<2, 0>{}); }) ==
      "partita::partition: requires at least one worker, got the extents [2, 0] on 0 workers; give extents of at "
      "least 1 and choose a worker for each place");
  BOOST_TEST(refused<partition_error>([] { grid(extents<0>{}, workers(3, 3)); }).find("at least one") !=
             std::string::npos);
  BOOST_TEST(refused<partition_error>([] { grid(extents<2>{}, workers(3, 3)); }).find("at least one") !=
             std::string::npos);
  BOOST_TEST(refused<partition_error>([] {
               grid(extents<1>{}).reshape(extents<0>{});
             }).find("the extents [0] on 1 workers") != std::string::npos);
  BOOST_TEST((grid(extents<>{}, workers{3}).worker({}) == 3U));  // rank 0 is one worker
}

BOOST_AUTO_TEST_CASE(more_places_than_can_be_counted_are_refused) {
  const extents huge(std::size_t{1} << 32, std::size_t{1} << 32);
  const std::string sentence =
      "partita::partition: requires a product of extents of at most 18446744073709551615, got the extents [4294967296, "
      "4294967296]; give smaller extents";
  BOOST_TEST(refused<partition_error>([&] { static_cast<void>(grid(huge)); }) == sentence);
  BOOST_TEST(refused<partition_error>([&] { grid(huge, workers{}); }) == sentence);
}

BOOST_AUTO_TEST_CASE(a_place_outside_is_refused) {
  const grid g(extents<2, 3>{});
  BOOST_TEST(refused<partition_error>([&] { g.index(6); }) ==
             "partita::grid::index(place): requires a place below the number of workers 6, got 6");
  BOOST_TEST(refused<partition_error>([&] {
               g.worker(partita::index<2>{2, 0});
             }).find("got [2, 0]") != std::string::npos);
}

/// Grids are equal, and have equal fingerprints, if their extents and the workers at all places are equal.
BOOST_AUTO_TEST_CASE(grids_with_other_extents_or_other_workers_differ) {
  using matrix = extents<dynamic, dynamic>;
  std::vector<grid<matrix>> all;
  for (const matrix& shape : {matrix(2, 3), matrix(3, 2), matrix(1, 6)})
    for (const workers& chosen : {workers(0, 6), workers(1, 7), workers{1, 0, 2, 3, 4, 5}, workers{0, 1, 2, 3, 5, 4},
                                  workers{0, 1, 2, 3, 4, 6}})
      all.emplace_back(shape, chosen);
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = 0; b < all.size(); ++b) {
      BOOST_TEST((all[a] == all[b]) == (a == b));
      BOOST_TEST((all[a].fingerprint() == all[b].fingerprint()) == (a == b), a << " and " << b);
    }
}

BOOST_AUTO_TEST_SUITE_END()
