// A list of at most Capacity values that can be a template argument; meshes, shardings and rules consist of such lists.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <partita/core/error.hpp>
#include <type_traits>

namespace partita {

/// Values in order, stored in place. Structural, as all members are public; entries from `count` on are `T{}`.
template <class T, std::size_t Capacity>
struct bounded_list {
  T values[Capacity]{};   ///< the first `count` are in use
  std::size_t count = 0;  ///< the number of values

  constexpr bounded_list() = default;  ///< an empty list
  constexpr bounded_list(std::initializer_list<T> given) {
    for (const T& value : given) push_back(value);
  }
  /// Makes a list from any sized range: an array, a vector, a short_list.
  template <class Range>
    requires(!std::is_same_v<Range, bounded_list> &&
             requires(const Range& r) {
               r.begin();
               r.end();
               r.size();
             })
  constexpr bounded_list(const Range& given) {  // NOLINT: a range of values is a list
    for (const auto& value : given) push_back(static_cast<T>(value));
  }

  /// Appends a value, or throws a shape_error if the list is full.
  constexpr void push_back(const T& value) {
    if (count == Capacity)
      throw shape_error(text("partita: requires a list of at most ")
                        << Capacity << " entries; split what it describes");
    values[count++] = value;
  }

  constexpr std::size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr T& operator[](std::size_t k) { return values[k]; }
  constexpr const T& operator[](std::size_t k) const { return values[k]; }
  constexpr T* begin() { return values; }
  constexpr T* end() { return values + count; }
  constexpr const T* begin() const { return values; }
  constexpr const T* end() const { return values + count; }
  constexpr const T* data() const { return values; }

  friend constexpr bool operator==(const bounded_list& a, const bounded_list& b) {
    if (a.count != b.count) return false;
    for (std::size_t k = 0; k < a.count; ++k)
      if (!(a.values[k] == b.values[k])) return false;
    return true;
  }
};

}  // namespace partita
