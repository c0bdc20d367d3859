// The random elements of first weights are numbers of splitmix64 (Steele, Lea and Flood 2014), and depend on the seed
// and the number of the element only.
#include <partita/nn/detail/uniform.hpp>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <complex>
#include <cstdint>

using namespace partita;

namespace {

constexpr std::uint64_t increment = 0x9e3779b97f4a7c15ULL;

/// The output of splitmix64 for a state.
std::uint64_t output(std::uint64_t state) {
  state ^= state >> 30U;
  state *= 0xbf58476d1ce4e5b9ULL;
  state ^= state >> 27U;
  state *= 0x94d049bb133111ebULL;
  return state ^ (state >> 31U);
}
/// Output k of a generator that starts at the first output for the seed, as a number in [0, 1) of 53 bits.
double number(std::uint64_t seed, std::uint64_t k) {
  std::uint64_t state = output(seed + increment);
  state += (k + 1) * increment;
  return static_cast<double>(output(state) >> 11U) / 9007199254740992.0;
}

template <class Real>
void expect_elements(std::uint64_t seed, std::uint64_t k) {
  const double bound = 0.375, part = bound / std::sqrt(2.0);
  BOOST_TEST(detail::draw_uniform<Real>(bound, seed, k) == static_cast<Real>(bound * (2 * number(seed, k) - 1)));
  const auto both = detail::draw_uniform<std::complex<Real>>(bound, seed, k);
  BOOST_TEST(both.real() == static_cast<Real>(part * (2 * number(seed, 2 * k) - 1)));
  BOOST_TEST(both.imag() == static_cast<Real>(part * (2 * number(seed, 2 * k + 1) - 1)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_elements)

BOOST_AUTO_TEST_CASE(numbers_are_those_of_splitmix64) {
  BOOST_TEST(output(increment) == 0xe220a8397b1dcdafULL);  // the first outputs for the state 0, as published
  BOOST_TEST(output(2 * increment) == 0x6e789e6aa1b965f4ULL);
  BOOST_TEST(output(3 * increment) == 0x06c45d188009454fULL);
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{42}, ~std::uint64_t{0}})
    for (std::uint64_t k = 0; k < 40; ++k)
      for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1} << 40U})
        BOOST_TEST(detail::draw_uniform(seed, first + k) == number(seed, first + k));
}

BOOST_AUTO_TEST_CASE(elements_are_uniform_between_their_bounds_and_complex_ones_use_two_numbers) {
  for (const std::uint64_t seed : {0U, 7U})
    for (std::uint64_t k = 0; k < 40; ++k) expect_elements<float>(seed, k), expect_elements<double>(seed, k);
}

BOOST_AUTO_TEST_SUITE_END()
