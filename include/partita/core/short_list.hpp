// A short list stored by value, for shapes and lists of dimensions whose length is known only at run time.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <partita/core/error.hpp>
#include <partita/core/extents.hpp>
#include <type_traits>

namespace partita {

/// The largest supported rank of a tensor.
inline constexpr std::size_t most_dimensions = 16;

/// At most `most_dimensions` values in order, without allocation and usable in constant expressions.
template <class T>
class short_list {
 public:
  using value_type = T;

  constexpr short_list() = default;
  /// Returns a list of `count` copies of `value`. This function is not a constructor, because `{1, n}`, a list of two
  /// values, could call a constructor by mistake.
  static constexpr short_list filled(std::size_t count, const T& value) {
    short_list all;
    for (std::size_t k = 0; k < count; ++k) all.push_back(value);
    return all;
  }
  constexpr short_list(std::initializer_list<T> values) {  // also accepts {7, n} with two different types
    for (const T& value : values) push_back(value);
  }
  template <class U>
    requires(std::is_convertible_v<U, T>)
  constexpr short_list(std::initializer_list<U> values) {
    require_integers<U>();
    for (const U& value : values) push_back(static_cast<T>(value));
  }
  /// Converts from any sized range: an array, a vector, the shape of a tensor.
  template <class Range>
    requires(!std::is_same_v<Range, short_list> && requires(const Range& r) { r.size(), r.begin() != r.end(); })
  constexpr short_list(const Range& values) {  // NOLINT: a shape is a list
    require_integers<std::remove_cvref_t<decltype(*values.begin())>>();
    for (const auto& value : values) push_back(static_cast<T>(value));
  }
  template <std::size_t... E>
  constexpr short_list(const extents<E...>& all) : short_list(all.array()) {}  // NOLINT

  /// Appends one value; more than `most_dimensions` values are a shape_error.
  constexpr void push_back(const T& value) {
    if (size_ == most_dimensions)
      throw shape_error(text("partita: requires at most ") << most_dimensions << " dimensions; reshape to fewer");
    values_[size_++] = value;
  }

  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](std::size_t k) { return values_[k]; }
  constexpr const T& operator[](std::size_t k) const { return values_[k]; }
  constexpr const T* data() const { return values_; }
  constexpr const T* begin() const { return values_; }
  constexpr const T* end() const { return values_ + size_; }

  friend constexpr bool operator==(const short_list& a, const short_list& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t k = 0; k < a.size_; ++k)
      if (!(a.values_[k] == b.values_[k])) return false;
    return true;
  }

 private:
  /// Rejects floating-point arguments at compile time, because they would be truncated.
  template <class U>
  static constexpr void require_integers() {
    static_assert(!std::is_integral_v<T> || !std::is_floating_point_v<U>,
                  "partita: requires extents and indices of an integer type; round them first");
  }

  T values_[most_dimensions]{};  ///< the values of the list are the first size_ of these
  std::size_t size_ = 0;         ///< the number of values in the list
};

/// The extents of a tensor whose rank is known only at run time.
using shape_list = short_list<std::size_t>;

}  // namespace partita
