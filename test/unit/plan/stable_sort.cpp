// The sort that plans and rules use is stable.
#include <partita/plan/stable_sort.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>

BOOST_AUTO_TEST_SUITE(stable_sorting)

BOOST_AUTO_TEST_CASE(orders_as_the_standard_library_does_and_keeps_the_order_of_equals) {
  std::mt19937 random(3);
  for (std::size_t n = 0; n < 200; ++n) {
    std::vector<std::pair<std::size_t, std::size_t>> items(n);
    for (std::size_t k = 0; k < n; ++k) items[k] = {random() % (1 + n / 3), k};
    auto expected = items;
    const auto key = [](const auto& item) { return item.first; };
    std::stable_sort(expected.begin(), expected.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    partita::detail::stable_sort(items, key);
    BOOST_TEST((items == expected));
    partita::detail::stable_sort(items, key);  // what is sorted stays
    BOOST_TEST((items == expected));
  }
}

BOOST_AUTO_TEST_SUITE_END()
