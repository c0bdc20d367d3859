// Text that grows, counted in what is seen.
#include <partita/explain/prose.hpp>

#include <boost/test/unit_test.hpp>
#include <sstream>
#include <string>

using namespace partita;

BOOST_AUTO_TEST_SUITE(explaining_in_prose)

BOOST_AUTO_TEST_CASE(prose_takes_what_a_text_takes_and_grows_beyond_it) {
  prose p("worker ");
  p << 12U << ',' << text(" sends ") << -3 << prose(" boxes");
  BOOST_TEST((p == "worker 12, sends -3 boxes"));
  BOOST_TEST(std::string(p) == std::string("worker 12, sends -3 boxes"));
  const std::string much(3 * text::capacity(), 'x');
  BOOST_TEST((prose() << much.c_str()).size() == much.size());
}

BOOST_AUTO_TEST_CASE(prose_written_onto_itself_is_written_once_more) {
  prose p("ab");
  p << p;
  BOOST_TEST((p == "abab"));
}

BOOST_AUTO_TEST_CASE(columns_are_counted_in_characters_not_in_bytes) {
  prose p("3 × 4 …");
  BOOST_TEST(p.columns() == 7U);
  BOOST_TEST(p.size() == 10U);
  BOOST_TEST((p.pad(9) == "3 × 4 …  "));
  BOOST_TEST((p.pad(2) == "3 × 4 …  "));  // never shorter
}

BOOST_AUTO_TEST_CASE(prose_is_equal_to_the_same_characters_only) {
  BOOST_TEST((prose("ab") == prose("ab") && !(prose("ab") == prose("abc"))));
  BOOST_TEST((!(prose("ab") == "abc") && !(prose("ab") == "a") && prose().empty() && prose() == ""));
  std::ostringstream out;
  out << prose("to a stream");
  BOOST_TEST(out.str() == "to a stream");
}

BOOST_AUTO_TEST_SUITE_END()
