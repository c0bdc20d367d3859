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

/// Every character of Unicode is kept; what is no character, or is not in its shortest form, is a question mark for
/// each byte.
BOOST_AUTO_TEST_CASE(utf_8_is_kept_and_other_bytes_are_replaced) {
  const auto bytes_of = [](unsigned c, int length) {  // a code point in a form of this many bytes
    std::string bytes;
    if (length == 1) return std::string(1, static_cast<char>(c));
    const unsigned fronts[] = {0, 0, 0xc0, 0xe0, 0xf0};
    bytes += static_cast<char>(fronts[length] | c >> 6 * (length - 1));
    for (int k = length - 2; k >= 0; --k) bytes += static_cast<char>(0x80 | (c >> 6 * k & 0x3f));
    return bytes;
  };
  for (const unsigned c :
       {0x7fU,   0x80U,   0xffU,   0x7ffU,   0x800U,   0xfffU,   0x1000U,  0xd7ffU,   0xd800U,   0xdbffU,
        0xdfffU, 0xe000U, 0xffffU, 0x10000U, 0x3ffffU, 0x40000U, 0xfffffU, 0x100000U, 0x10ffffU, 0x110000U}) {
    const int shortest = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    const bool is_character = (c < 0xd800 || c >= 0xe000) && c < 0x110000;
    for (int length = shortest; length <= 4; ++length) {
      const std::string given = bytes_of(c, length);
      const bool kept = is_character && length == shortest;
      BOOST_TEST(json_escaped("a" + given + "b") == "a" + (kept ? given : std::string(given.size(), '?')) + "b",
                 c << " in " << length << " bytes");
      if (length == 1 || !kept) continue;
      // without its last byte it is none, and a byte that begins a character does not end one
      const std::string cut = given.substr(0, given.size() - 1);
      BOOST_TEST(json_escaped(cut) == std::string(cut.size(), '?'), c);
      BOOST_TEST(json_escaped(cut + "(") == std::string(cut.size(), '?') + "(", c);
    }
  }
  BOOST_TEST(json_escaped("\xf5\x80\x80\x80") == "????");
  BOOST_TEST(json_escaped("\x1f\x20\x7f") == "  \x7f");
}
