// The workers of a partition in error messages: a range, or the first eight of a list.
#include <partita/kernel/detail/described.hpp>

#include <boost/test/unit_test.hpp>
#include <numeric>
#include <string>
#include <vector>

namespace {

std::string written(const partita::workers& all) { return partita::detail::workers_text(all).c_str(); }

/// n ids in descending order, which are no range unless n is 1.
partita::workers descending(std::size_t n) {
  std::vector<std::size_t> ids(n);
  std::iota(ids.rbegin(), ids.rend(), std::size_t{3});
  return partita::workers(ids);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(text_of_workers)

BOOST_AUTO_TEST_CASE(a_range_has_its_first_and_its_last_worker) {
  using partita::workers;
  BOOST_TEST(written(workers(0, 0)) == "no worker");
  BOOST_TEST(written(workers(std::vector<std::size_t>())) == "no worker");
  BOOST_TEST(written(workers(7, 8)) == "worker 7");
  BOOST_TEST(written(workers(4, 6)) == "workers 4-5");
  BOOST_TEST(written(workers(0, 100)) == "workers 0-99");
}

BOOST_AUTO_TEST_CASE(a_list_has_at_most_eight_workers) {
  BOOST_TEST(written(descending(1)) == "worker 3");
  for (std::size_t n = 2; n < 12; ++n) {
    std::string expected = "workers ";
    for (std::size_t k = 0; k < n && k < 8; ++k) expected += (k == 0 ? "" : ", ") + std::to_string(n + 2 - k);
    if (n > 8) expected += ", ... (" + std::to_string(n) + " in all, the last 3)";
    BOOST_TEST(written(descending(n)) == expected);
  }
}

BOOST_AUTO_TEST_SUITE_END()
