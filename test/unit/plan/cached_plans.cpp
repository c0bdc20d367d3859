// The cache of plans: finds plans again, and evicts the one that was not used for the longest time.
#include <partita/plan/cached_plans.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <vector>

using partita::detail::plan_cache;

BOOST_AUTO_TEST_SUITE(caching_plans)

BOOST_AUTO_TEST_CASE(the_least_recently_used_plan_is_evicted) {
  plan_cache<int, 3> cache;
  const auto is = [](int wanted) { return [wanted](int one) { return one == wanted; }; };
  for (const int one : {1, 2, 3}) cache.add(one);
  BOOST_TEST(cache.find(is(1)) != nullptr);
  cache.add(4);  // 2 was used before 3 and 1
  BOOST_TEST(cache.find(is(2)) == nullptr);
  for (const int one : {1, 3, 4}) BOOST_TEST(*cache.find(is(one)) == one);
  BOOST_TEST(cache.plans_made() == 4U);
}

BOOST_AUTO_TEST_CASE(a_plan_in_use_outlives_its_eviction) {
  plan_cache<std::shared_ptr<int>, 2> cache;
  const std::shared_ptr<int> in_use = cache.add(std::make_shared<int>(7));
  for (int k = 0; k < 5; ++k) cache.add(std::make_shared<int>(k));
  BOOST_TEST(*in_use == 7);
  BOOST_TEST(in_use.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(a_set_of_plans_gives_the_last_used_of_them) {
  plan_cache<int> cache;
  for (const int one : {10, 11, 12}) cache.add(one);
  const std::uint64_t odd_or_twelve = cache.matching_plans([](int one) { return one > 10; });
  BOOST_TEST(odd_or_twelve == 6U);
  BOOST_TEST(cache.use_last_plan(2) == 11);
  BOOST_TEST(cache.use_last_plan(odd_or_twelve) == 11);
  BOOST_TEST(*cache.sole_plan(4) == 12);
  BOOST_TEST(cache.sole_plan(odd_or_twelve) == nullptr);
}

BOOST_AUTO_TEST_CASE(the_last_plan_is_the_one_that_was_added_found_or_used_last) {
  plan_cache<int> cache;
  BOOST_TEST(cache.last_plan() == nullptr);
  for (const int one : {10, 11, 12}) {
    cache.add(one);
    BOOST_TEST(*cache.last_plan() == one);
  }
  BOOST_TEST(*cache.find([](int one) { return one < 12; }) == 10);
  BOOST_TEST(*cache.last_plan() == 10);
  BOOST_TEST(cache.find([](int one) { return one == 13; }) == nullptr);
  BOOST_TEST(cache.matching_plans([](int one) { return one != 11; }) == 5U);  // looking is no use
  BOOST_TEST(*cache.sole_plan(2) == 11);
  BOOST_TEST(*cache.last_plan() == 10);
  BOOST_TEST(cache.use_last_plan(6) == 12);
  BOOST_TEST(*cache.last_plan() == 12);
}

BOOST_AUTO_TEST_CASE(a_set_has_a_sole_plan_if_it_has_one_plan) {
  plan_cache<int> cache;
  for (const int one : {10, 11, 12}) cache.add(one);
  for (std::uint64_t set = 0; set < 8; ++set) {
    const int* const sole = cache.sole_plan(set);
    const int expected = set == 1 ? 10 : set == 2 ? 11 : set == 4 ? 12 : 0;
    BOOST_TEST((sole == nullptr ? 0 : *sole) == expected);
  }
}

BOOST_AUTO_TEST_CASE(a_cache_keeps_32_plans_and_one_more_evicts_the_first) {
  plan_cache<int> cache;
  for (int k = 0; k < 32; ++k) cache.add(k);
  const auto all = [](int) { return true; };
  BOOST_TEST(cache.matching_plans(all) == 0xffffffffU);
  cache.add(32);
  BOOST_TEST(cache.matching_plans(all) == 0xffffffffU);
  for (int k = 0; k < 33; ++k) BOOST_TEST((cache.find([k](int one) { return one == k; }) != nullptr) == (k > 0));
}

namespace {

struct listed_when_forgotten {
  int number = 0;
  std::vector<int>* evicted = nullptr;
  void forget() { evicted->push_back(number); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(an_evicted_plan_is_forgotten_and_no_other) {
  std::vector<int> evicted;
  plan_cache<listed_when_forgotten, 2> cache;
  for (int k = 0; k < 5; ++k) cache.add({k, &evicted});
  BOOST_TEST(evicted == (std::vector<int>{0, 1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(plans_stay_where_they_are_when_one_is_added_after_room_was_made) {
  plan_cache<int, 9> cache;
  for (int k = 0; k < 9; ++k) {
    cache.make_room();
    const int* const before = cache.last_plan();
    cache.add(k);
    if (k > 0) BOOST_TEST(cache.find([k](int one) { return one == k - 1; }) == before);
    cache.find([k](int one) { return one == k; });
  }
}

BOOST_AUTO_TEST_SUITE_END()
