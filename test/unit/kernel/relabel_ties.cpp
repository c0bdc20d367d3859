// If several orders of workers have the same least cost, relabelled chooses one in which most workers keep their place.
// The choice is compared with all possible orders, for costs with many ties.
#include <partita/kernel/relabel.hpp>
#include <partita/plan/cost.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <random>
#include <vector>

#include "random_cases.hpp"

namespace {

using namespace partita;
using list = std::vector<std::size_t>;
using line = grid<extents<dynamic>>;

/// n workers in a line, in this order.
line in_order(const list& order) { return {extents<dynamic>(order.size()), workers(order)}; }

list random_sizes(std::mt19937& random, std::size_t n, std::size_t total) {
  list sizes(n, 0);
  for (; total > 0; --total) ++sizes[random() % n];
  return sizes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(relabelling_with_ties)

BOOST_AUTO_TEST_CASE(of_the_cheapest_orders_one_in_which_most_workers_stay_is_taken) {
  std::mt19937 random(1);
  std::size_t ties = 0;
  for (std::size_t trial = 0; trial < test::random_cases(1500); ++trial) {
    const std::size_t n = 2 + random() % 4, total = random() % (2 * n);
    const list from = random_sizes(random, n, total), to = random_sizes(random, n, total);
    const decomposition<1> x{{cut::at(from)}}, y{{cut::at(to)}};
    list sources(n + 2), destinations(n + 2);
    std::iota(sources.begin(), sources.end(), std::size_t{0});
    std::iota(destinations.begin(), destinations.end(), std::size_t{0});
    if (trial % 2 == 1) {
      std::shuffle(sources.begin(), sources.end(), random);
      std::shuffle(destinations.begin(), destinations.end(), random);
    }
    sources.resize(n);
    destinations.resize(n);
    const line p = in_order(sources);
    const auto stay = [&](const list& order) {
      std::size_t count = 0;
      for (std::size_t k = 0; k < n; ++k) count += order[k] == destinations[k] ? 1 : 0;
      return count;
    };
    const auto moved = [&](const list& order) { return cost_of(p, x, in_order(order), y).elements_moved; };
    list order = destinations;
    std::sort(order.begin(), order.end());
    std::size_t least = ~std::size_t{0}, most_stay = 0, cheapest = 0;
    do {
      const std::size_t cost = moved(order);
      if (cost < least) least = cost, most_stay = 0, cheapest = 0;
      if (cost == least) most_stay = std::max(most_stay, stay(order)), ++cheapest;
    } while (std::next_permutation(order.begin(), order.end()));
    ties += cheapest > 1 ? 1 : 0;
    const auto ours = relabelled(p, x, in_order(destinations), y);
    list taken(n);
    for (std::size_t k = 0; k < n; ++k) taken[k] = ours.workers()[k];
    BOOST_TEST(moved(taken) == least);
    BOOST_TEST(stay(taken) == most_stay);
  }
  BOOST_TEST(ties > test::random_cases(1500) / 4);  // or this shows nothing
}

BOOST_AUTO_TEST_SUITE_END()
