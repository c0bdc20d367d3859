// Texts at run time: streams and C strings.
#include <boost/test/unit_test.hpp>
#include <partita/core/text.hpp>
#include <sstream>
#include <string>

using namespace partita;

BOOST_AUTO_TEST_SUITE(core_text)

BOOST_AUTO_TEST_CASE(a_text_written_to_a_stream_is_its_characters) {
  std::ostringstream out;
  out << (text() << "blocks of " << 12 << " bytes") << '!';
  BOOST_TEST(out.str() == "blocks of 12 bytes!");
}

BOOST_AUTO_TEST_CASE(a_text_is_a_terminated_string) {
  text t("abc");
  BOOST_TEST(std::string(t.c_str()) == "abc");
  t << std::string(2 * text::capacity(), 'x').c_str();
  BOOST_TEST(std::string(t.c_str()).size() == text::capacity());
}

BOOST_AUTO_TEST_CASE(a_cut_text_ends_in_three_dots) {
  const std::string all(text::capacity() + 1, 'x');
  const std::string cut((text() << all.c_str()).c_str());
  BOOST_TEST(cut == std::string(text::capacity() - 3, 'x') + "...");
}

BOOST_AUTO_TEST_SUITE_END()
