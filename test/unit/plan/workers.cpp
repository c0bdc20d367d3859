// Selections of workers: the order is kept, ranges stay ranges, and errors name the mistake.
#include <partita/plan/workers.hpp>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <list>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "refused.hpp"

using namespace partita;
using test::refused;

BOOST_AUTO_TEST_SUITE(choosing_workers)

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
  BOOST_TEST((union_of(workers{5, 2}, workers{2, 7, 5, 0}) == workers{5, 2, 7, 0}));
  BOOST_TEST((union_of(workers(0, 4), workers(2, 6)) == workers(0, 6)));
  BOOST_TEST((union_of(workers(4, 6), workers(0, 2)) == workers{4, 5, 0, 1}));
  BOOST_TEST((union_of(workers(2, 2), workers(3, 5)) == workers(3, 5)));
  BOOST_TEST((union_of(workers(1, 9), workers(3, 5)) == workers(1, 9)));
}

BOOST_AUTO_TEST_CASE(an_id_that_was_negative_is_refused_however_it_is_written) {
  const std::size_t left = std::size_t{0} - 1;  // the neighbour of worker 0
  const std::string sentence =
      "partita::workers: requires ids that are not negative, got -1 (as an unsigned number 18446744073709551615) at "
      "place 0; the neighbour below worker 0 is no worker";
  BOOST_TEST(refused<partition_error>([&] { workers{left}; }) == sentence);
  BOOST_TEST(refused<partition_error>([&] { workers(std::vector<std::size_t>{left}); }) == sentence);
  BOOST_TEST(refused<partition_error>([&] { workers(std::vector<int>{-1}); }) == sentence);
  BOOST_TEST(refused<partition_error>([&] { workers(left, 3); }) == sentence);
  BOOST_TEST(refused<partition_error>([&] { workers(1, left); }).find("got -2") != std::string::npos);
  BOOST_TEST(refused<partition_error>([&] { workers{2, left, 3}; }).find("at place 1") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(any_container_of_integers_is_a_list) {
  const std::vector<int> of_int{5, 2, 0};
  const std::array<unsigned char, 3> of_char{5, 2, 0};
  const std::list<long long> of_long{5, 2, 0};
  BOOST_TEST((workers(of_int) == workers{5, 2, 0}));
  BOOST_TEST((workers(of_char) == workers{5, 2, 0}));
  BOOST_TEST((workers(of_long) == workers{5, 2, 0}));
  BOOST_TEST((workers(std::span<const int>(of_int).first(2)) == workers{5, 2}));
  BOOST_TEST(workers(std::vector<int>{3, 4, 5}).is_range());
  BOOST_TEST(workers(std::vector<int>{}).empty());
}

BOOST_AUTO_TEST_CASE(large_ids_take_no_table_of_all_workers) {
  const workers far{std::size_t{1} << 60, 3, std::size_t{1} << 50};
  BOOST_TEST(far.find(std::size_t{1} << 50) == 2U);
  BOOST_TEST((union_of(far, workers{7, 3}) == workers{std::size_t{1} << 60, 3, std::size_t{1} << 50, 7}));
  BOOST_TEST(refused<partition_error>([] {
               workers{std::size_t{1} << 60, 3, std::size_t{1} << 60};
             }).find("again at place 2") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(unions_of_lists_in_any_order_are_those_of_asking_every_worker) {
  std::mt19937 random(3);
  const auto some = [&] {
    std::vector<std::size_t> ids(12);
    std::iota(ids.begin(), ids.end(), 0);
    std::shuffle(ids.begin(), ids.end(), random);
    ids.resize(random() % 13);
    return ids;
  };
  bool right = true;
  for (int trial = 0; trial < 2000; ++trial) {
    const std::vector<std::size_t> a = some(), b = some();
    std::vector<std::size_t> both = a;
    for (const std::size_t id : b)
      if (std::find(a.begin(), a.end(), id) == a.end()) both.push_back(id);
    right = right && union_of(workers(a), workers(b)) == workers(both);
  }
  BOOST_TEST(right);
}

BOOST_AUTO_TEST_CASE(a_choice_contains_another_if_it_has_each_of_its_workers) {
  std::vector<std::vector<std::size_t>> all{{}, {4, 1}, {3, 2, 0}, {1, 4, 2, 3}};
  for (std::size_t first = 0; first < 5; ++first)
    for (std::size_t last = first + 1; last <= 5; ++last) {
      all.emplace_back(last - first);
      std::iota(all.back().begin(), all.back().end(), first);
    }
  for (const auto& a : all)
    for (const auto& b : all) {
      const bool each =
          std::all_of(b.begin(), b.end(), [&](std::size_t id) { return std::find(a.begin(), a.end(), id) != a.end(); });
      BOOST_TEST(workers(a).contain(workers(b)) == each);
    }
}

BOOST_AUTO_TEST_CASE(a_worker_that_is_listed_twice_is_refused_wherever_it_is) {
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < 4; ++b)
      for (std::size_t c = 0; c < 4; ++c) {
        bool accepted = true;
        try {
          workers{a, b, c};
        } catch (const partition_error&) {
          accepted = false;
        }
        BOOST_TEST(accepted == (a != b && b != c && a != c));
      }
}

BOOST_AUTO_TEST_CASE(mistakes_name_both_sides_and_the_way_out) {
  BOOST_TEST(
      refused<partition_error>([] {
        workers{3, 1, 3};
      }) ==
      "partita::workers: requires each worker once, worker 3 is listed twice (again at place 2); remove one of them");
  BOOST_TEST(refused<partition_error>([] {
               workers(0, 3).subset(workers{1, 3});
             }) ==
             "partita::workers::subset: requires places below 3 (this many workers are chosen from), got place 3");
}

BOOST_AUTO_TEST_CASE(a_set_of_ids_has_those_that_were_inserted_however_far_they_are_apart) {
  for (std::size_t count = 1; count <= 64; ++count)
    for (const std::size_t step : {std::size_t{2}, std::size_t{9}, std::size_t{1} << 40U}) {
      partita::detail::id_set ids(count, (count - 1) * step + 1);
      bool right = true;
      for (std::size_t k = 0; k < count; ++k)
        right = right && !ids.contains(k * step) && ids.insert(k * step) && !ids.insert(k * step);
      for (std::size_t k = 0; k < count; ++k) right = right && ids.contains(k * step) && !ids.contains(k * step + 1);
      BOOST_TEST(right, count << " ids, every " << step);
    }
}

BOOST_AUTO_TEST_CASE(ids_end_after_the_largest_one) {
  BOOST_TEST(workers(7, 7).id_end() == 0U);
  BOOST_TEST(workers(std::vector<std::size_t>{}).id_end() == 0U);
  BOOST_TEST(workers(0, 1).id_end() == 1U);
  BOOST_TEST(workers(3, 5).id_end() == 5U);
  BOOST_TEST((workers{5, 2, 9, 1}.id_end()) == 10U);
  BOOST_TEST((workers{9, 2}.id_end()) == 10U);
}

BOOST_AUTO_TEST_CASE(the_last_id_of_a_range_that_was_negative_is_named_with_its_place) {
  const std::size_t left = std::size_t{0} - 1;
  BOOST_TEST(refused<partition_error>([&] { workers(left - 6, left); }) ==
             "partita::workers: requires ids that are not negative, got -7 (as an unsigned number "
             "18446744073709551609) at place 0; the neighbour below worker 0 is no worker");
  BOOST_TEST(refused<partition_error>([&] {
               workers(1, left);
             }).find("got -2 (as an unsigned number 18446744073709551614) at place 18446744073709551613;") !=
             std::string::npos);
  BOOST_TEST(refused<partition_error>([&] { workers(5, workers::largest_id + 1); }) == "");
  BOOST_TEST(refused<partition_error>([&] { workers(5, workers::largest_id + 2); }).find("at place") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
