// Sort keys have the order of their numbers, and give the numbers back.
#include <partita/array/sort_key.hpp>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using partita::detail::key_and_position;
using partita::detail::sort_key;
using partita::detail::value_from_sort_key;

/// Numbers in ascending order, without two that are equal.
template <class T>
std::vector<T> ascending() {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (std::is_integral_v<T>) {
    std::vector<T> all;
    if constexpr (std::is_signed_v<T>)
      all = {limits::min(), limits::min() + 1, static_cast<T>(-100), static_cast<T>(-2), static_cast<T>(-1)};
    for (const T n : {T(0), T(1), T(2), T(50), static_cast<T>(limits::max() / 2), static_cast<T>(limits::max() - 1)})
      all.push_back(n);
    all.push_back(limits::max());
    return all;
  } else {
    std::vector<T> all{-limits::infinity()};
    const T sizes[] = {limits::max(), T(1000),       std::nextafter(T(1), T(2)), T(1),
                       T(0.5),        limits::min(), limits::denorm_min()};
    for (const T size : sizes) all.push_back(-size);
    all.push_back(T(0));
    for (std::size_t k = std::size(sizes); k-- > 0;) all.push_back(sizes[k]);
    all.push_back(limits::infinity());
    return all;
  }
}

template <class T>
void keys_have_the_order_of() {
  const auto all = ascending<T>();
  for (std::size_t i = 0; i < all.size(); ++i) {
    BOOST_TEST((value_from_sort_key<T>(sort_key<T>(all[i])) == all[i]));
    for (std::size_t j = 0; j < all.size(); ++j)
      BOOST_TEST((sort_key<T>(all[i]) < sort_key<T>(all[j])) == (i < j), sizeof(T) << " bytes: " << i << " and " << j);
  }
}

template <class T>
void special_numbers() {
  const T zero = 0, nan = std::numeric_limits<T>::quiet_NaN();
  BOOST_TEST(sort_key(-zero) == sort_key(zero));
  BOOST_TEST(!std::signbit(value_from_sort_key<T>(sort_key(-zero))));
  for (const T none : {nan, std::copysign(nan, T(-1))}) {
    for (const T one : ascending<T>()) BOOST_TEST(sort_key(one) < sort_key(none));
    BOOST_TEST(std::isnan(value_from_sort_key<T>(sort_key(none))));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sort_keys)

BOOST_AUTO_TEST_CASE(a_key_is_below_another_exactly_if_its_number_is) {
  keys_have_the_order_of<bool>();
  keys_have_the_order_of<std::int8_t>();
  keys_have_the_order_of<std::uint8_t>();
  keys_have_the_order_of<std::int32_t>();
  keys_have_the_order_of<std::uint32_t>();
  keys_have_the_order_of<std::int64_t>();
  keys_have_the_order_of<std::uint64_t>();
  keys_have_the_order_of<float>();
  keys_have_the_order_of<double>();
}

BOOST_AUTO_TEST_CASE(zeros_have_one_key_and_what_is_no_number_comes_last) {
  special_numbers<float>();
  special_numbers<double>();
}

BOOST_AUTO_TEST_CASE(equal_keys_are_in_the_order_of_their_positions) {
  for (std::uint64_t a = 0; a < 9; ++a)
    for (std::uint64_t b = 0; b < 9; ++b)
      BOOST_TEST((key_and_position{a / 3, a % 3} < key_and_position{b / 3, b % 3}) == (a < b));
}

BOOST_AUTO_TEST_SUITE_END()
