// The cache of plans: finds plans again, and evicts the one that was not used for the longest time.
#include <partita/plan/cached_plans.hpp>

#include <boost/test/unit_test.hpp>
#include <memory>

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

BOOST_AUTO_TEST_SUITE_END()
