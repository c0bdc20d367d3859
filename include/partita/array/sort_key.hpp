// Unsigned keys for numbers: keys and numbers have the same order.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

namespace partita::detail {

/// A number type whose values have keys for sorting.
template <class T>
concept sortable = std::integral<T> || std::same_as<T, float> || std::same_as<T, double>;

/// The key of a number: key(a) < key(b) exactly if a comes before b. NaNs come last; 0.0 and -0.0 have equal keys.
template <sortable T>
std::uint64_t sort_key(T value) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
  if constexpr (std::unsigned_integral<T>) {
    return value;
  } else if constexpr (std::integral<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) ^ sign;
  } else {
    if (std::isnan(value)) return std::numeric_limits<std::uint64_t>::max();
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(value) + 0.0);
    return bits ^ (sign | (std::uint64_t{0} - (bits >> 63U)));  // all bits of a negative number, else its sign
  }
}

/// The number whose sort key is the given key.
template <sortable T>
T value_from_sort_key(std::uint64_t key) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
  if constexpr (std::unsigned_integral<T>) return static_cast<T>(key);
  else if constexpr (std::integral<T>) return static_cast<T>(static_cast<std::int64_t>(key ^ sign));
  else if (key == std::numeric_limits<std::uint64_t>::max()) return std::numeric_limits<T>::quiet_NaN();
  else return static_cast<T>(std::bit_cast<double>((key & sign) != 0 ? key ^ sign : ~key));
}

/// An element in the order of a stable sort: the key of a number, and the number's original position.
struct key_and_position {
  std::uint64_t key, position;  ///< the sort_key of the number, and its index before sorting

  friend bool operator<(const key_and_position& a, const key_and_position& b) {
    return a.key != b.key ? a.key < b.key : a.position < b.position;
  }
};

}  // namespace partita::detail
