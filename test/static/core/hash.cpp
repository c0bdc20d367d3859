// Hashes: equal values have the same hash, and values that differ anywhere have different ones.
#include <array>
#include <optional>
#include <partita/core/hash.hpp>

using namespace partita;

namespace {

using list = std::array<std::size_t, 3>;

static_assert(hasher().mix(1).mix(2).value() == hasher().mix(1).mix(2).value());
static_assert(hasher().mix(list{1, 2, 3}).value() ==
              hasher().mix(3U).mix(1).mix(2).mix(3).value());  // the size comes first
static_assert(hasher(hasher().mix(1).value()).mix(2).value() == hasher().mix(1).mix(2).value());  // goes on

// order, a value of 0, and where a list ends make a difference
static_assert(hasher().mix(1).mix(2).value() != hasher().mix(2).mix(1).value());
static_assert(hasher().mix(0).value() != hasher().value() && hasher().mix(0).value() != hasher().mix(0).mix(0).value());
static_assert(hasher().mix(std::array<int, 2>{1, 2}).mix(std::array<int, 1>{3}).value() !=
              hasher().mix(std::array<int, 1>{1}).mix(std::array<int, 2>{2, 3}).value());
static_assert(hasher().mix(std::array<int, 0>{}).value() != hasher().value());

// the first number of splitmix64 (Steele, Lea and Flood 2014) with the seed that is mixed, and what follows from it
static_assert(hasher().mix(0).value() == 0xe220a8397b1dcdafU);
static_assert(hasher().mix(1234567).value() == 6457827717110365317U);
static_assert(hasher().mix(-1).value() == 0xe4d971771b652c20U);
static_assert(hasher().mix(1).mix(2).value() == 0xc7667e4957d18953U);

// enumerators and bools are values, too
enum class kind { first, second };
static_assert(hasher().mix(kind::first).value() != hasher().mix(kind::second).value());
static_assert(hasher().mix(false).value() != hasher().mix(true).value());

// fractions by their bits, names by their characters, optional values by what they hold
static_assert(hasher().mix(0.5).value() != hasher().mix(0.25).value());
static_assert(hasher().mix(0.0).value() != hasher().mix(-0.0).value());
static_assert(hasher().mix(0.5F).value() == hasher().mix(0.5).value());
static_assert(hasher().mix(0.1).value() != hasher().mix(0.1 + 1e-15).value());  // also the last bits
static_assert(hasher().mix(1.0).value() == hasher().mix(std::uint64_t{0x3ff0000000000000U}).value());
static_assert(hasher().mix("ab").value() == hasher().mix('a').mix('b').mix('\0').value());
static_assert(hasher().mix(std::optional<int>(3)).value() == hasher().mix(true).mix(3).value());
static_assert(hasher().mix(std::optional<int>()).value() == hasher().mix(false).value());
static_assert(hasher().mix("relu").value() != hasher().mix("tanh").value());
static_assert(hasher().mix("ab").mix("c").value() != hasher().mix("a").mix("bc").value());
static_assert(hasher().mix(std::optional<int>()).value() != hasher().mix(std::optional<int>(0)).value());
static_assert(hasher().mix(std::optional<int>(1)).value() != hasher().mix(std::optional<int>(0)).value());

// a value that has a fingerprint counts by it, a value without state does not count
struct same_as_seven {
  constexpr std::uint64_t fingerprint() const { return 7; }
};
struct stateless {};
static_assert(hasher().mix(same_as_seven()).value() == hasher().mix(std::uint64_t{7}).value());
static_assert(hasher().mix(stateless()).value() == hasher().value());

// no two of 400 pairs of small numbers share even the lower 32 bits
constexpr bool small_pairs_stay_apart() {
  std::array<std::uint64_t, 400> seen{};
  for (std::size_t k = 0; k < seen.size(); ++k) {
    seen[k] = hasher().mix(k / 20).mix(k % 20).value() & 0xffffffffU;
    for (std::size_t j = 0; j < k; ++j)
      if (seen[j] == seen[k]) return false;
  }
  return true;
}
static_assert(small_pairs_stay_apart());

}  // namespace
