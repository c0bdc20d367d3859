// Texts that are built in constant expressions.
#include <partita/core/extents.hpp>
#include <partita/core/text.hpp>

using namespace partita;

namespace {

// characters, literals, integers of every sign and width, other texts
static_assert((text() << 'a' << "bc" << 12 << text(" d")) == "abc12 d");
static_assert((text() << 0 << ' ' << -7 << ' ' << 18446744073709551615ULL) == "0 -7 18446744073709551615");
static_assert((text() << static_cast<long long>(-9223372036854775807LL - 1)) == "-9223372036854775808");
static_assert((text() << static_cast<signed char>(-128) << ' ' << static_cast<unsigned short>(65535)) == "-128 65535");

// ranges in brackets, also of ranges, also empty
static_assert((text() << extents<2, 3>{}.array()) == "[2, 3]");
static_assert((text() << std::array<std::array<int, 2>, 2>{{{1, 2}, {3, 4}}}) == "[[1, 2], [3, 4]]");
static_assert((text() << std::array<int, 0>{}) == "[]");

static_assert(text("abc").size() == 3 && !text("abc").empty() && text().empty());
static_assert(text("abc").contains("bc") && text("abc").contains("") && !text("abc").contains("cb"));
static_assert(!text("abc").contains("abcd"));
static_assert(text().contains("") && !text().contains("a") && text("aab").contains("ab") && !text("ab").contains("bc"));
static_assert(text("abc")[1] == 'b' && *text("abc").begin() == 'a');
static_assert(text("abc") == basic_text<3>("abc") && !(text("abc") == text("abd")) && !(text("ab") == text("abc")));

// what does not fit is cut, and the cut is marked
static_assert((basic_text<8>() << "12345678") == "12345678");
static_assert((basic_text<8>() << "123456789") == "12345...");
static_assert((basic_text<8>() << "1234567890"
                               << "more") == "12345...");
static_assert((basic_text<3>() << "abc") == "abc" && (basic_text<3>() << "abcd") == "...");
static_assert((basic_text<2>() << "abc") == ".." && (basic_text<1>() << "abc") == "." &&
              (basic_text<0>() << "a").empty());

// a message has room for four shapes of the largest rank and of the largest extents
constexpr bool has_room_for(std::size_t lists) {
  std::array<std::size_t, 16> extents{};
  extents.fill(static_cast<std::size_t>(-1));
  text all;
  for (std::size_t k = 0; k < lists; ++k) all << extents;
  return all.size() == lists * (16 * 20 + 15 * 2 + 2);
}
static_assert(has_room_for(4));

}  // namespace
