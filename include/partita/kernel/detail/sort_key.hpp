// Numbers as unsigned keys of the same order, and where sorted blocks are cut so that each worker gets its share.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <partita/comm/world.hpp>
#include <partita/core/config.hpp>
#include <type_traits>
#include <vector>

namespace partita::detail {

/// Numbers that have keys.
template <class T>
concept sortable = std::integral<T> || std::same_as<T, float> || std::same_as<T, double>;

/// A key with key(a) < key(b) exactly if a is before b in ascending order. NaNs are last, 0.0 and -0.0 are equal.
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

/// The number that has a key.
template <sortable T>
T of_sort_key(std::uint64_t key) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
  if constexpr (std::unsigned_integral<T>) return static_cast<T>(key);
  else if constexpr (std::integral<T>) return static_cast<T>(static_cast<std::int64_t>(key ^ sign));
  else if (key == std::numeric_limits<std::uint64_t>::max()) return std::numeric_limits<T>::quiet_NaN();
  else return static_cast<T>(std::bit_cast<double>((key & sign) != 0 ? key ^ sign : ~key));
}

/// The keys of a sorted block of any elements.
struct sorted_keys {
  const void* elements = nullptr;
  std::size_t size = 0;
  /// How many of the elements have a key of at most `key`.
  std::size_t (*up_to)(const void* elements, std::size_t size, std::uint64_t key) = nullptr;

  std::size_t count(std::uint64_t key) const { return up_to(elements, size, key); }
};

/// For each rank (position in the order of all elements of all workers, from 0) the key of the element that has it.
/// Requires: ranks below the number of all elements; the same ones on all workers. Collective.
/// Cost:     16 sums of 15 numbers for each rank.
PARTITA_DECL std::vector<std::uint64_t> keys_of_ranks(const world_state& world, const sorted_keys& keys,
                                                      const std::vector<std::uint64_t>& ranks);

/// How many elements of this worker go to each worker, so that these have `lengths` elements in the order of all
/// elements. Equal elements keep the order of the workers. Collective.
PARTITA_DECL std::vector<std::size_t> counts_by_receiver(const world_state& world, const sorted_keys& keys,
                                                         const std::vector<std::size_t>& lengths);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/kernel/detail/impl/sort_key.ipp>
#endif
