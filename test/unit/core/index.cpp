// Errors for numbers that are not positions in a grid.
#include <partita/core/index.hpp>

#include <boost/test/unit_test.hpp>

#include "refused.hpp"

using namespace partita;
using test::refused;

BOOST_AUTO_TEST_SUITE(core_index)

BOOST_AUTO_TEST_CASE(a_number_outside_the_shape_is_a_shape_error_also_where_the_shape_has_no_position) {
  BOOST_TEST(refused<shape_error>([] {
               index_of(6, partita::index<2>{2, 3});
             }) == "partita::index_of(number, shape): requires a number below the volume of the shape [2, 3], got 6");
  BOOST_TEST(refused<shape_error>([] {
               index_of(0, partita::index<2>{2, 0});
             }).find("[2, 0], got 0") != std::string::npos);
  BOOST_TEST(refused<shape_error>([] {
               index_of(0, partita::index<2>{0, 3});
             }).find("[0, 3], got 0") != std::string::npos);
  BOOST_TEST(refused<shape_error>([] { index_of(1, partita::index<0>{}); }).find("[], got 1") != std::string::npos);
  BOOST_TEST(refused([] { index_of(5, partita::index<2>{2, 3}); }).empty());
}

BOOST_AUTO_TEST_SUITE_END()
