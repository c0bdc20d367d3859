// Growing texts, whose width is counted in visible characters.
#include <partita/explain/long_text.hpp>

#include <boost/test/unit_test.hpp>
#include <sstream>
#include <string>

using namespace partita;

BOOST_AUTO_TEST_SUITE(long_texts)

BOOST_AUTO_TEST_CASE(a_long_text_takes_what_a_text_takes_and_grows_beyond_it) {
  long_text p("worker ");
  p << 12U << ',' << text(" sends ") << -3 << long_text(" boxes");
  BOOST_TEST((p == "worker 12, sends -3 boxes"));
  BOOST_TEST(std::string(p) == std::string("worker 12, sends -3 boxes"));
  const std::string much(3 * text::capacity(), 'x');
  BOOST_TEST((long_text() << much.c_str()).size() == much.size());
}

BOOST_AUTO_TEST_CASE(a_long_text_written_onto_itself_is_written_once_more) {
  long_text p("ab");
  p << p;
  BOOST_TEST((p == "abab"));
}

BOOST_AUTO_TEST_CASE(columns_are_counted_in_characters_not_in_bytes) {
  long_text p("3 × 4 …");
  BOOST_TEST(p.columns() == 7U);
  BOOST_TEST(p.size() == 10U);
  BOOST_TEST((p.pad(9) == "3 × 4 …  "));
  BOOST_TEST((p.pad(2) == "3 × 4 …  "));  // never shorter
}

BOOST_AUTO_TEST_CASE(a_long_text_is_equal_to_the_same_characters_only) {
  BOOST_TEST((long_text("ab") == long_text("ab") && !(long_text("ab") == long_text("abc"))));
  BOOST_TEST((!(long_text("ab") == "abc") && !(long_text("ab") == "a") && long_text().empty() && long_text() == ""));
  std::ostringstream out;
  out << long_text("to a stream");
  BOOST_TEST(out.str() == "to a stream");
}

BOOST_AUTO_TEST_SUITE_END()
