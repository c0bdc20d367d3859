// Lists of numbers, one for each dimension, can be made from braces, arrays and extents of any integer type.
#include <partita/array/number_list.hpp>

#include <boost/test/unit_test.hpp>
#include <refused.hpp>
#include <string>

namespace {
using namespace partita;

std::array<std::size_t, 2> given(const detail::number_list<2>& n) { return n; }
}  // namespace

BOOST_AUTO_TEST_SUITE(a_number_list)

BOOST_AUTO_TEST_CASE(is_made_of_what_a_program_has) {
  const std::array<std::size_t, 2> expected{3, 5};
  const int n = 3;
  const unsigned char old[] = {3, 5};
  BOOST_TEST((given({3, 5}) == expected && given({n, 5UL}) == expected));
  BOOST_TEST((given(std::array{3L, 5L}) == expected && given(old) == expected && given(expected) == expected));
  BOOST_TEST((given(extents<3, 5>{}) == expected && given(extents(3, 5)) == expected));
  static_assert(!std::is_convertible_v<decltype("a"), detail::number_list<2>>);
  static_assert(!std::is_convertible_v<extents<1, 2, 3>, detail::number_list<2>>);
  static_assert(!std::is_convertible_v<std::array<bool, 2>, detail::number_list<2>>);
  static_assert(!std::is_convertible_v<std::array<double, 2>, detail::number_list<2>>);
  static_assert(!std::is_convertible_v<std::array<int, 3>, detail::number_list<2>>);
}

BOOST_AUTO_TEST_CASE(refuses_a_negative_extent_and_keeps_a_negative_stride) {
  BOOST_CHECK_THROW(given({3, -5}), shape_error);
  const std::string message = "partita: requires extents that are not negative, got -5; extents are counts";
  const long old[] = {3, -5};
  BOOST_TEST(test::refused<shape_error>([] { given({-5, 3}); }) == message);
  BOOST_TEST(test::refused<shape_error>([] { given(std::array{3L, -5L}); }) == message);
  BOOST_TEST(test::refused<shape_error>([&] { given(old); }) == message);
  BOOST_TEST((given({0, 0}) == std::array<std::size_t, 2>{0, 0} && given({}) == std::array<std::size_t, 2>{0, 0}));
  BOOST_TEST((detail::number_list<2, std::ptrdiff_t>{3, -5}[1] == -5));
}

BOOST_AUTO_TEST_SUITE_END()
