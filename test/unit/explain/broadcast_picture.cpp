// Pictures of array broadcasting show the decisions of the rules.
#include <partita/explain/broadcast_picture.hpp>

#include <boost/test/unit_test.hpp>
#include <string>

#include "occurrences.hpp"

using namespace partita;
using test::occurrences;

BOOST_AUTO_TEST_SUITE(broadcast_pictures)

BOOST_AUTO_TEST_CASE(text_has_a_column_for_each_dimension_of_the_result) {
  BOOST_TEST(to_text(broadcast_picture({1U, 2U}, {4U, 3U, 1U}, {1, 2})) ==
             "lhs     *        1 > 3    2        adjoint sums 0, 1\n"
             "rhs     4        3        1 > 2    adjoint sums 2\n"
             "result  4        3        2        \n");
}

BOOST_AUTO_TEST_CASE(drawing_has_a_cell_for_each_dimension_of_operands_and_result) {
  const std::string svg = to_svg(broadcast_picture({1U, 2U}, {4U, 3U, 1U}, {1, 2}));
  BOOST_TEST(svg.starts_with("<svg xmlns="));
  BOOST_TEST(svg.ends_with("</svg>\n"));
  BOOST_TEST(occurrences(svg, "<rect") == 10U);  // and the paper
  BOOST_TEST(occurrences(svg, "stroke-dasharray") == 1U);
  BOOST_TEST(occurrences(svg, "\"#fbdcc0\"") == 2U);
}

BOOST_AUTO_TEST_CASE(a_scalar_is_repeated_and_its_adjoint_sums_all) {
  const broadcast_picture picture({}, {3U, 2U});
  BOOST_TEST(to_text(picture) ==
             "lhs     *        *        adjoint sums 0, 1\n"
             "rhs     3        2        adjoint sums nothing\n"
             "result  3        2        \n");
  const std::string svg = to_svg(picture);
  for (const char* words : {">lhs  scalar<", ">rhs  3 x 2<", ">result  3 x 2<", ">adjoint sums 0, 1<",
                            ">adjoint sums nothing<", ">dim 0<", ">dim 1<"})
    BOOST_TEST(occurrences(svg, words) == 1U, words);
  BOOST_TEST(occurrences(svg, ">repeated<") == 2U);
  BOOST_TEST(occurrences(svg, "stroke-dasharray") == 2U);
  const std::string expanded = to_svg(broadcast_picture({1U, 3U}, {4U, 1U}));
  BOOST_TEST((occurrences(expanded, ">1 → 4<") == 1U && occurrences(expanded, ">1 → 3<") == 1U));
}

BOOST_AUTO_TEST_CASE(what_does_not_broadcast_has_no_picture) {
  BOOST_CHECK_THROW(broadcast_picture({2U, 3U}, {3U}), shape_error);
}

BOOST_AUTO_TEST_SUITE_END()
