// Correctly rounded sums: they equal the definition, in any order of summation.
#include <partita/array/exact_sum.hpp>

#include <algorithm>
#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using partita::detail::exact_sum;
using partita::detail::sum_by_accumulator;
using numbers = boost::mpl::list<float, double, long double>;
using fast_numbers = boost::mpl::list<float, double>;

template <class T>
T sum_of(const std::vector<T>& values) {
  T sum{};
  exact_sum<T>([&](std::size_t k) { return values.data() + k; }, values.size(), 1, &sum);
  return sum;
}

/// Numbers between 2^-reach and 2^reach, of both signs, some of them zero and some each other's opposite.
template <class T>
std::vector<std::vector<T>> blocks_of(std::size_t count, std::size_t n, int reach, std::mt19937_64& random) {
  std::vector<std::vector<T>> blocks(count, std::vector<T>(n));
  for (auto& block : blocks)
    for (T& x : block) {
      const auto exponent = static_cast<int>(random() % static_cast<unsigned>(2 * reach + 1)) - reach;
      x = std::ldexp(static_cast<T>(static_cast<double>(random() >> 11U) * 0x1p-53), exponent);
      if (random() % 2 == 0) x = -x;
      if (random() % 11 == 0) x = 0;
      if (random() % 5 == 0) x = -blocks[0][static_cast<std::size_t>(&x - block.data())];
    }
  return blocks;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exact_sums)

BOOST_AUTO_TEST_CASE_TEMPLATE(neither_the_order_nor_zeros_change_a_bit, T, numbers) {
  std::mt19937_64 random(5);
  const std::size_t n = 21;
  for (int turn = 0; turn < 300; ++turn) {
    const int reach = turn % 2 == 0 ? 30 : std::min(std::numeric_limits<T>::max_exponent - 8, 1000);
    auto blocks = blocks_of<T>(1 + random() % 9, n, reach, random);
    const auto block = [&](std::size_t k) { return blocks[k].data(); };
    std::vector<T> sums(n), again(n);
    exact_sum<T>(block, blocks.size(), n, sums.data());
    blocks.insert(blocks.begin() + static_cast<std::ptrdiff_t>(random() % blocks.size()), std::vector<T>(n));
    std::shuffle(blocks.begin(), blocks.end(), random);
    exact_sum<T>(block, blocks.size(), n, again.data());
    BOOST_TEST((sums == again));
    for (std::size_t i = 0; i < n; ++i)
      BOOST_TEST(sums[i] == sum_by_accumulator<T>([&](std::size_t k) { return blocks[k][i]; }, blocks.size()));
  }
}

BOOST_AUTO_TEST_CASE(sums_of_floats_that_fit_a_double_are_those_rounded_once) {
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 2000; ++turn) {
    std::vector<float> values(3 + random() % 5);
    double sum = 0;  // whole numbers below 2^45: no rounding on the way
    for (float& x : values) {
      x = static_cast<float>(static_cast<int>(random())) * static_cast<float>(1U << (random() % 10));
      sum += static_cast<double>(x);
    }
    BOOST_TEST(sum_of(values) == static_cast<float>(sum));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(what_cancels_is_gone_and_what_is_left_is_kept, T, numbers) {
  using limits = std::numeric_limits<T>;
  if (volatile T large = limits::max(); large / 2 == large) {  // infinity
    BOOST_TEST_MESSAGE("skipped: valgrind computes long double as double");
    return;
  }
  const T most = limits::max(), least = limits::denorm_min(), one = 1, half_ulp = limits::epsilon() / 2;
  BOOST_TEST(sum_of<T>({most, most, -most}) == most);
  BOOST_TEST(sum_of<T>({most, least, -most}) == least);
  BOOST_TEST(sum_of<T>({one, half_ulp, least}) == one + limits::epsilon());  // above the middle
  BOOST_TEST(sum_of<T>({one, half_ulp, -least}) == one);                     // below
  BOOST_TEST(sum_of<T>({one, half_ulp, T(0)}) == one);                       // ties to even
  BOOST_TEST(sum_of<T>({one + limits::epsilon(), half_ulp, T(0)}) == one + 2 * limits::epsilon());
  BOOST_TEST(sum_of<T>({-one, -half_ulp, -least}) == -one - limits::epsilon());
  // All bits of the sum are set, and it is rounded up: to a number with one bit more.
  const T all_bits = 2 - limits::epsilon();
  for (const T size : {T(1), std::ldexp(T(1), 40), std::ldexp(T(1), -40)})
    for (const T more : {least, T(0)}) {
      BOOST_TEST(sum_of<T>({size * all_bits, size * half_ulp, more}) == 2 * size);
      BOOST_TEST(sum_of<T>({-size * all_bits, -size * half_ulp, -more}) == -2 * size);
    }
  BOOST_TEST(sum_of<T>({least, least, -least}) == least);
  BOOST_TEST(std::isinf(sum_of<T>({most, most, most})));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(zeros_infinities_and_nan_are_as_in_any_sum, T, numbers) {
  const T infinite = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN(), zero = 0;
  BOOST_TEST(std::signbit(sum_of<T>({-zero, -zero, -zero})));
  BOOST_TEST(!std::signbit(sum_of<T>({-zero, zero, -zero})));
  BOOST_TEST(!std::signbit(sum_of<T>({T(1), -zero, T(-1)})));
  BOOST_TEST(sum_of<T>({T(1), -infinite, T(2)}) == -infinite);
  BOOST_TEST(std::isnan(sum_of<T>({infinite, -infinite, T(2)})));
  BOOST_TEST(std::isnan(sum_of<T>({T(1), nan, infinite})));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_sum_of_no_blocks_is_zero_without_a_sign, T, numbers) {
  std::vector<T> sums(3, T(7));
  exact_sum<T>([](std::size_t) -> const T* { return nullptr; }, 0, 2, sums.data());
  BOOST_TEST((sums == std::vector<T>{0, 0, 7}));
  BOOST_TEST((!std::signbit(sums[0]) && !std::signbit(sums[1])));
}

/// Longer than the parts that the fast loops sum at a time; in place of the last block.
BOOST_AUTO_TEST_CASE_TEMPLATE(each_element_of_long_blocks_has_its_own_sum, T, fast_numbers) {
  std::mt19937_64 random(9);
  for (const std::size_t n : {513U, 1025U, 2100U}) {
    auto blocks = blocks_of<T>(4, n, 20, random);
    std::vector<T> expected(n);
    for (std::size_t i = 0; i < n; ++i)
      expected[i] = sum_by_accumulator<T>([&](std::size_t k) { return blocks[k][i]; }, blocks.size());
    exact_sum<T>([&](std::size_t k) { return blocks[k].data(); }, blocks.size(), n, blocks.back().data());
    BOOST_TEST((blocks.back() == expected), n << " elements");
  }
}

BOOST_AUTO_TEST_SUITE_END()
