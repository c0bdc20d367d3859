// Text in JSON: whatever bytes it has, the string stays one that JSON allows, and what can be printed is kept.
#include <partita/comm/detail/diagnostics/json_text.hpp>

#include <boost/test/unit_test.hpp>
#include <string>

using partita::detail::json_escaped;

BOOST_AUTO_TEST_CASE(a_quote_is_escaped_and_a_line_end_is_a_space) {
  BOOST_TEST(json_escaped("a \"b\"\nc\\ \xc3\xa9 \xff") == "a \\\"b\\\" c\\\\ \xc3\xa9 ?");
}

BOOST_AUTO_TEST_CASE(two_bytes_of_any_value_stay_inside_a_string_of_json) {
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) {
      const std::string words{static_cast<char>(a), static_cast<char>(b)}, quoted = json_escaped(words);
      std::string read;
      bool right = true;
      for (std::size_t k = 0; k < quoted.size(); ++k) {
        const bool escaped = quoted[k] == '\\';
        if (escaped) ++k;
        right = right && k < quoted.size() && static_cast<unsigned char>(quoted[k]) >= ' ' &&
                escaped == (quoted[k] == '"' || quoted[k] == '\\');
        if (k < quoted.size()) read += quoted[k];
      }
      const auto is_printed = [](int c) { return c >= ' ' && c < 128; };
      if (is_printed(a) && is_printed(b)) right = right && read == words;
      BOOST_REQUIRE(right);
    }
}
