// One number for each dimension, accepted in several forms: braces, an array of any integer type, extents.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <partita/core/extents.hpp>

namespace partita::detail {

/// An integer type for counts. Characters are excluded, so that a string literal is not an array of numbers.
template <class I>
concept counting = std::integral<I> && !std::same_as<I, bool> && !std::same_as<I, char>;

/// The parameter of a function that takes extents or strides: `f({n, m})` with int n, a std::array, a C array, extents.
/// Requires: N numbers [compile time], none of them negative where Integer is unsigned [shape_error].
template <std::size_t N, class Integer = std::size_t>
struct number_list : std::array<Integer, N> {
  constexpr number_list(const std::array<Integer, N>& values = {}) : std::array<Integer, N>(values) {}  // NOLINT
  template <counting I>
  constexpr number_list(const std::array<I, N>& values) {  // NOLINT: implicit: any array of integers is a list
    for (std::size_t d = 0; d < N; ++d) (*this)[d] = convert_to_integer(values[d]);
  }
  template <counting I>
    requires(N > 0)
  constexpr number_list(const I (&values)[N > 0 ? N : 1]) {  // NOLINT: implicit: any array of integers is a list
    for (std::size_t d = 0; d < N; ++d) (*this)[d] = convert_to_integer(values[d]);
  }
  template <counting... I>
    requires(sizeof...(I) > 0)
  constexpr number_list(I... values) {  // NOLINT: implicit: numbers in braces are a list
    static_assert(sizeof...(I) == N,
                  "partita: requires one number for each dimension between the braces; the rank says how many");
    if constexpr (sizeof...(I) == N) static_cast<std::array<Integer, N>&>(*this) = {convert_to_integer(values)...};
  }
  template <std::size_t... E>
    requires(sizeof...(E) == N && N > 0)
  constexpr number_list(const extents<E...>& values) {  // NOLINT: implicit: extents are a list
    for (std::size_t d = 0; d < N; ++d) (*this)[d] = convert_to_integer(values[d]);
  }

 private:
  template <class I>
  static constexpr Integer convert_to_integer(I number) {  ///< a negative count is a shape_error
    if constexpr (std::unsigned_integral<Integer> && std::signed_integral<I>)
      if (number < 0)
        throw shape_error(text("partita: requires extents that are not negative, got ")
                          << static_cast<std::ptrdiff_t>(number) << "; extents are counts");
    return static_cast<Integer>(number);
  }
};

}  // namespace partita::detail
