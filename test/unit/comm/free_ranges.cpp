// Free ranges of shared memory: what is taken is free and taken once, and what is given back becomes one range again.
#include <partita/comm/detail/node/free_ranges.hpp>

#include <boost/test/unit_test.hpp>
#include <random>
#include <utility>
#include <vector>

BOOST_AUTO_TEST_CASE(the_smallest_range_that_is_large_enough_is_taken) {
  std::vector<char> memory(1000);
  char* const all = memory.data();
  partita::detail::free_ranges ranges;
  ranges.make_room(8);
  ranges.add(all, 300), ranges.add(all + 400, 100), ranges.add(all + 600, 200);
  BOOST_TEST((ranges.take(90) == all + 400));
  BOOST_TEST((ranges.take(150) == all + 600));
  BOOST_TEST((ranges.take(150) == all));
  BOOST_TEST((ranges.take(151) == nullptr));
  BOOST_TEST((ranges.take(10) == all + 490));
  BOOST_TEST((ranges.take(50) == all + 750));
  BOOST_TEST((ranges.take(150) == all + 150));
}

BOOST_AUTO_TEST_CASE(ranges_are_taken_once_and_joined_when_they_are_given_back) {
  std::mt19937 random(3);
  std::vector<char> memory(1000);
  partita::detail::free_ranges ranges;
  ranges.make_room(64);
  ranges.add(memory.data(), memory.size());
  std::vector<std::pair<char*, std::size_t>> taken;
  std::vector<int> owners(memory.size(), 0);
  const auto own = [&](const std::pair<char*, std::size_t>& one, int by) {
    for (std::size_t k = 0; k < one.second; ++k)
      owners.at(static_cast<std::size_t>(one.first - memory.data()) + k) += by;
  };
  for (int round = 0; round < 500; ++round) {
    const std::size_t bytes = 1 + random() % 200;
    if (char* const one = ranges.take(bytes); one != nullptr) {
      taken.emplace_back(one, bytes);
      own(taken.back(), 1);
    }
    while (!taken.empty() && random() % 2 == 0) {
      std::swap(taken[random() % taken.size()], taken.back());
      own(taken.back(), -1);
      ranges.make_room(1);
      ranges.add(taken.back().first, taken.back().second);
      taken.pop_back();
    }
    ranges.merge_adjacent_ranges();
    for (const int n : owners) BOOST_REQUIRE((n == 0 || n == 1));
    if (taken.empty()) {  // the whole is one range again
      BOOST_REQUIRE(ranges.take(memory.size()) == memory.data());
      ranges.add(memory.data(), memory.size());
    }
  }
  for (const auto& one : taken) ranges.add(one.first, one.second);
  ranges.merge_adjacent_ranges();
  BOOST_TEST((ranges.take(memory.size()) == memory.data()));
  BOOST_TEST((ranges.take(1) == nullptr));
}
