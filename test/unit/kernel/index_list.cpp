// Lists of global indices: ranges, braces, and containers of any integers.
#include <partita/kernel/index_list.hpp>

#include <array>
#include <boost/test/unit_test.hpp>
#include <list>

using namespace partita;

namespace {

std::vector<std::size_t> indices_of(const index_list& list) {
  std::vector<std::size_t> all;
  for (std::size_t k = 0; k < list.size(); ++k) all.push_back(list[k]);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lists_of_indices)

BOOST_AUTO_TEST_CASE(a_list_is_a_range_or_any_integers) {
  const std::vector<std::size_t> expected{4, 5, 6};
  BOOST_TEST(indices_of(interval{4, 7}) == expected, boost::test_tools::per_element());
  BOOST_TEST(indices_of({4, 5, 6}) == expected, boost::test_tools::per_element());
  BOOST_TEST(indices_of(expected) == expected, boost::test_tools::per_element());
  BOOST_TEST(indices_of(std::list<int>{4, 5, 6}) == expected, boost::test_tools::per_element());
  BOOST_TEST(indices_of(std::array<unsigned char, 3>{4, 5, 6}) == expected, boost::test_tools::per_element());
  BOOST_TEST(index_list(interval{4, 7}).is_range());
  BOOST_TEST(!index_list(expected).is_range());
}

BOOST_AUTO_TEST_CASE(a_list_may_be_empty) {
  BOOST_TEST(index_list().size() == 0U);
  BOOST_TEST(index_list({}).size() == 0U);
  BOOST_TEST(index_list(interval{7, 7}).size() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
