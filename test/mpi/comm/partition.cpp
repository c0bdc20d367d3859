// Worlds and partitions: the properties that every worker knows without communication.
#include "mpi_test.hpp"
#include "refused.hpp"

#include <partita/comm/balanced_extents.hpp>
#include <partita/comm/partition.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/plan/decomposition.hpp>
#include <string>

#include "random_cases.hpp"

using namespace partita;
using test::refused;

BOOST_AUTO_TEST_SUITE(worlds_and_partitions)

BOOST_AUTO_TEST_CASE(active_or_not_every_worker_knows_the_same_of_a_partition) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size(), last = n - 1;
  const auto p = everyone.partition(extents<1, dynamic>(1), workers{last});
  BOOST_TEST(p.active() == (everyone.id() == last));
  BOOST_TEST(p.size() == 1U);
  BOOST_TEST(p.worker({0, 0}) == last);
  if (p.active()) BOOST_TEST((p.index() == partita::index<2>{0, 0}));
  else
    BOOST_TEST(refused<partition_error>([&] {
                 p.index();
               }).find("requires an active worker; worker " + std::to_string(everyone.id())) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(partitions_are_equal_by_content) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  const auto all = everyone.partition(extents<dynamic>(n));
  BOOST_TEST((all == everyone.partition(extents<dynamic>(n))));
  BOOST_TEST((everyone.partition<1>() == everyone.partition(extents<dynamic>(1))));
  BOOST_TEST(!(everyone.partition<1>() == everyone.partition<1>(workers{n - 1})) == (n > 1));
  BOOST_TEST((all.reshape(extents<1, dynamic, 1>(n)).reshape(extents<dynamic>(n)) == all));
  const world other(everyone.communicator());
  BOOST_TEST(!(other.partition(extents<dynamic>(n)) == all));  // a different world, although of the same workers
}

BOOST_AUTO_TEST_CASE(balanced_extents_take_all_workers_at_any_rank) {
  const world everyone(test::workers());
  const dynamic_partition<2> flat = everyone.partition(balanced_extents<2>(everyone.size()));
  const dynamic_partition<3> cube = everyone.partition(balanced_extents<3>(everyone.size()));
  BOOST_TEST(flat.size() == everyone.size());
  BOOST_TEST(cube.size() == everyone.size());
  BOOST_TEST(flat.active());
  BOOST_TEST(refused<partition_error>([] { balanced_extents<2>(0); }).find("at least one worker") != std::string::npos);
  BOOST_TEST(!refused<partition_error>([] { balanced_extents(2, 0); }).empty());
}

BOOST_AUTO_TEST_CASE(the_owner_of_an_element_holds_it) {
  const world everyone(test::workers());
  const auto p = everyone.partition(balanced_extents<2>(everyone.size()));
  const auto cuts = decomposition<2>::balanced({7, 5}, p.grid().shape());
  const auto held = cuts.block(p.index());
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < 5; ++j) {
      const bool here = i >= held.start[0] && i < held.stop[0] && j >= held.start[1] && j < held.stop[1];
      BOOST_TEST((p.worker(cuts.owner({i, j})) == everyone.id()) == here);
      if (here) BOOST_TEST((cuts.place({i, j}) == partita::index<2>{i - held.start[0], j - held.start[1]}));
    }
}

BOOST_AUTO_TEST_CASE(subsets_nest_and_unions_keep_the_order, *test::at_least(4)) {
  const world everyone(test::workers());
  const auto p = everyone.partition<4>(workers{3, 1, 0, 2});
  const auto some = p.subset<1, 3>(workers{0, 2, 3});
  BOOST_TEST((some.workers() == workers{3, 0, 2}));
  const auto fewer = some.subset<2>(workers{2, 0});
  BOOST_TEST((fewer.workers() == workers{2, 3}));
  BOOST_TEST((union_of(fewer, everyone.partition<3>()).workers() == workers{2, 3, 0, 1}));
}

BOOST_AUTO_TEST_CASE(a_union_begins_with_the_workers_of_the_first_partition, *test::at_least(2)) {
  const world everyone(test::workers());
  const auto p = everyone.partition<1>(workers{1}), q = everyone.partition<1>(workers{0});
  BOOST_TEST((union_of(p, q).workers() == workers{1, 0}));
  BOOST_TEST((union_of(q, p).workers() == workers{0, 1}));
  BOOST_TEST((union_of(p, everyone.partition<2>()).workers() == workers{1, 0}));
}

BOOST_AUTO_TEST_CASE(mistakes_are_refused_alike_on_all_workers) {
  const world everyone(test::workers());
  const std::size_t n = everyone.size();
  BOOST_TEST(refused<partition_error>([&] {
               everyone.partition<2>(workers{0, 0});
             }).find("worker 0 is listed twice") != std::string::npos);
  const std::string outside = refused<partition_error>([&] { everyone.partition<1>(workers{n}); });
  BOOST_TEST(outside.find("requires workers of a world of " + std::to_string(n) + ", got worker " +
                          std::to_string(n)) != std::string::npos);
  BOOST_TEST(outside.find("start more workers, or choose ids below " + std::to_string(n)) != std::string::npos);
  BOOST_TEST(refused<partition_error>([&] {
               everyone.partition<2, 2>(workers(0, 1));
             }).find("have places (4), got 1") != std::string::npos);
  const world other(everyone.communicator());
  BOOST_CHECK_THROW(broadcast(everyone.partition<1>(), other.partition<1>()), partition_error);
  BOOST_CHECK_THROW(union_of(everyone.partition<1>(), other.partition<1>()), partition_error);
}

BOOST_AUTO_TEST_CASE(a_partition_of_nobody_is_refused_alike_on_all_workers_however_it_is_asked_for) {
  const world everyone(test::workers());
  const std::string sentence = "partita::partition: requires at least one worker";
  BOOST_TEST(refused<partition_error>([&] { everyone.partition<0>(); }).find(sentence) == 0U);
  BOOST_TEST(refused<partition_error>([&] { everyone.partition(extents(1, 0)); }).find(sentence) == 0U);
  BOOST_TEST(refused<partition_error>([&] { everyone.partition<1>(workers(0, 0)); }).find(sentence) == 0U);
  BOOST_TEST(refused<partition_error>([&] { everyone.partition<1>().reshape<0>(); }).find(sentence) == 0U);
  BOOST_TEST(refused<partition_error>([&] { everyone.partition<1>().subset<0>(workers{}); }).find(sentence) == 0U);
  // no kernel gets an invalid partition, and the world still works
  BOOST_TEST(
      (broadcast(everyone.partition<1>(), everyone.partition<1>())(xt::xtensor<int, 1>{3}) == xt::xtensor<int, 1>{3}));
}

BOOST_AUTO_TEST_CASE(ids_and_extents_that_wrap_around_are_refused) {
  const world everyone(test::workers());
  const std::size_t left = std::size_t{0} - 1;
  BOOST_TEST(refused<partition_error>([&] {
               everyone.partition<1>(workers{left});
             }).find("requires ids that are not negative, got -1") != std::string::npos);
  const std::size_t half = std::size_t{1} << 32;
  BOOST_TEST(refused<partition_error>([&] {
               everyone.partition(extents(half, half));
             }).find("the extents [4294967296, 4294967296]") != std::string::npos);
  BOOST_TEST(refused<partition_error>([&] { everyone.partition<half, half>(); }).find("requires a product") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(partitions_of_one_rank_have_one_type_if_asked_to) {
  const world everyone(test::workers());
  const std::vector<int> last{static_cast<int>(everyone.size()) - 1};
  const auto p = everyone.partition<1, 1>(), q = everyone.partition<1, 1>(workers(last));
  const auto wide = everyone.partition(extents<1, dynamic>(everyone.size()));
  for (const bool choice : {false, true}) {
    const auto either = choice ? p.as_dynamic() : wide.as_dynamic();
    static_assert(std::is_same_v<decltype(either), const dynamic_partition<2>>);
    BOOST_TEST((choice ? either == p : either == wide));
    BOOST_TEST((either.active() == (choice ? p.active() : wide.active())));
  }
  std::vector<dynamic_partition<2>> several{p, q};
  several.push_back(wide);
  BOOST_TEST((several[1].worker({0, 0}) == everyone.size() - 1));
}

BOOST_AUTO_TEST_CASE(a_partition_of_rank_0_is_one_worker_and_says_so) {
  const world everyone(test::workers());
  const auto p = everyone.partition(extents<>{}, workers{everyone.size() - 1});
  BOOST_TEST((p.rank() == 0 && p.size() == 1 && p.worker({}) == everyone.size() - 1));
}

BOOST_AUTO_TEST_CASE(part_of_a_communicator_is_a_world_of_its_own) {
  const auto given = test::workers();
  const auto half = given.split(given.rank() % 2);
  const world mine(half);
  BOOST_TEST(mine.size() == static_cast<std::size_t>(half.size()));
  const auto p_x = mine.partition<1>();
  const auto p_y = mine.partition(extents<dynamic>(mine.size()));
  const xt::xtensor<int, 1> x = mine.id() == 0 ? xt::xtensor<int, 1>{10 + given.rank() % 2, 7} : zero_volume<int, 1>();
  BOOST_TEST((broadcast(p_x, p_y)(x) ==
              xt::xtensor<int, 1>{10 + given.rank() % 2, 7}));  // the halves do not disturb each other
  const auto mine_of_two = repartition(p_x, p_y)(x);
  BOOST_TEST(mine_of_two.size() == balanced_part(2, mine.size(), mine.id()).size());
}

BOOST_AUTO_TEST_CASE(worlds_can_be_made_and_dropped_without_end) {
  const auto given = test::workers();
  for (std::size_t k = 0; k < test::random_cases(3000); ++k) {
    const world everyone(given);
    if (k % 50 == 0) {
      const xt::xtensor<int, 1> x =
          everyone.id() == 0 ? xt::xtensor<int, 1>{static_cast<int>(k)} : zero_volume<int, 1>();
      BOOST_TEST(broadcast(everyone.partition<1>(), everyone.partition(extents<dynamic>(everyone.size())))(x)(0) ==
                 static_cast<int>(k));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
