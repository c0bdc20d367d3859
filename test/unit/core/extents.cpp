// Extents given at run time.
#include <boost/test/unit_test.hpp>
#include <limits>
#include <partita/core/extents.hpp>
#include <partita/core/short_list.hpp>
#include <sstream>
#include <string>

#include "refused.hpp"

using namespace partita;
using test::refused;

BOOST_AUTO_TEST_SUITE(core_extents)

BOOST_AUTO_TEST_CASE(a_static_entry_given_another_value_is_a_shape_error_that_names_both) {
  BOOST_CHECK_EXCEPTION((extents<dynamic, 3>(2, 4)), shape_error, [](const shape_error& e) {
    return e.sentence().contains("dimension 1 is 3") && e.sentence().contains("given as 4");
  });
  BOOST_CHECK_THROW((extents<2, 3>(extents(3, 2))), shape_error);
}

BOOST_AUTO_TEST_CASE(a_static_entry_given_its_own_value_is_accepted) {
  BOOST_CHECK((extents<dynamic, 3>(2, 3) == extents<2, 3>{}));
  BOOST_CHECK((extents<2, 3>(extents(2, 3)) == extents(2, 3)));
}

BOOST_AUTO_TEST_CASE(a_value_that_was_negative_is_a_shape_error) {
  BOOST_CHECK_EXCEPTION((extents(3, -1)), shape_error, [](const shape_error& e) {
    return e.sentence() ==
           "partita::extents: requires extents that are not negative, got -1 (as an unsigned number "
           "18446744073709551615) as value 1; extents are counts";
  });
  BOOST_CHECK_THROW((extents<dynamic, 3>(std::array<std::size_t, 1>{dynamic})), shape_error);
  BOOST_CHECK_THROW((extents<dynamic, 3>(std::array<std::size_t, 2>{dynamic, 3})), shape_error);
}

BOOST_AUTO_TEST_CASE(every_negative_value_is_refused_in_every_place_and_the_largest_count_is_accepted) {
  using limits = std::numeric_limits<std::ptrdiff_t>;
  for (const std::ptrdiff_t value : {std::ptrdiff_t{-1}, std::ptrdiff_t{-2}, std::ptrdiff_t{-1000}, limits::min() + 1,
                                     limits::min(), std::ptrdiff_t{0}, std::ptrdiff_t{1}, limits::max()}) {
    const auto converted = static_cast<std::size_t>(value);
    for (std::size_t place = 0; place < 3; ++place) {
      std::array<std::size_t, 3> all{2, 3, 4};
      all[place] = converted;
      const std::string message = refused<shape_error>([&] { extents(all[0], all[1], all[2]); });
      const text expected = text("partita::extents: requires extents that are not negative, got ")
                            << value << " (as an unsigned number " << converted << ") as value " << place
                            << "; extents are counts";
      BOOST_TEST(message == (value < 0 ? expected.c_str() : ""));
      if (value >= 0) BOOST_TEST(extents(all[0], all[1], all[2])[place] == converted);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_contradiction_names_the_dimension_both_values_and_what_to_give) {
  BOOST_TEST(refused<shape_error>([] { extents<2, dynamic, 3>(2, 5, 4); }) ==
             "partita::extents: dimension 2 is 3 in the type but was given as 4; make the entry `dynamic` or give 3");
  BOOST_TEST(refused<shape_error>([] { extents<2, dynamic, 3>(extents(7, 5, 3)); }) ==
             "partita::extents: dimension 0 is 2 in the type but was given as 7; make the entry `dynamic` or give 2");
}

BOOST_AUTO_TEST_CASE(extents_are_written_in_brackets) {
  std::ostringstream out;
  out << extents<dynamic, 3>(7) << extents<>() << extents(1, 2, 0);
  BOOST_TEST(out.str() == "[7, 3][][1, 2, 0]");
}

BOOST_AUTO_TEST_CASE(a_list_of_17_extents_is_a_shape_error) {
  for (std::size_t n = 0; n <= 20; ++n) {
    const std::string message = refused<shape_error>([&] { shape_list::filled(n, 2); });
    BOOST_TEST(message == (n <= 16 ? "" : "partita: requires at most 16 dimensions; reshape to fewer"));
  }
}

BOOST_AUTO_TEST_SUITE_END()
