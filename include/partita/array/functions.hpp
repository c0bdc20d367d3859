// The element functions of the named operations, with XLA's semantics where C++ differs.
#pragma once

#include <cmath>
#include <concepts>
#include <functional>
#include <partita/array/expression.hpp>
#include <type_traits>

namespace partita::function {

struct add : std::plus<> {
  static constexpr const char* name = "add";  ///< in error messages
};
struct subtract : std::minus<> {
  static constexpr const char* name = "subtract";  ///< in error messages
};
struct multiply : std::multiplies<> {
  static constexpr const char* name = "multiply";  ///< in error messages
};
/// Divides; a quotient of integers is truncated toward zero.
struct divide : std::divides<> {
  static constexpr const char* name = "divide";  ///< in error messages
};
/// Divides and returns the remainder with the sign of the dividend: C's `%` and `fmod`, not std::remainder, whose
/// quotient is rounded to nearest.
struct remainder {
  static constexpr const char* name = "remainder";  ///< in error messages
  template <class T, class U>
  auto operator()(const T& a, const U& b) const {
    if constexpr (std::is_integral_v<T> && std::is_integral_v<U>) return a % b;
    else return std::fmod(a, b);
  }
};
/// Raises to a power. Integers stay integers: a negative exponent gives 0, or ±1 if the base is ±1.
struct power {
  static constexpr const char* name = "power";  ///< in error messages
  template <class T, class U>
  auto operator()(const T& a, const U& b) const {
    if constexpr (std::is_integral_v<T> && std::is_integral_v<U>) return integer_power(a, b);
    else return std::pow(a, b);
  }

 private:
  template <class T>
  static constexpr T integer_power(T base, T exponent) {  ///< base to the power `exponent`, by repeated squaring
    if (exponent < 0) {
      if (base == T{1}) return 1;
      if constexpr (std::is_signed_v<T>)
        if (base == T{-1}) return exponent % 2 == 0 ? T{1} : T{-1};
      return 0;
    }
    T result = 1;
    for (;; base = static_cast<T>(base * base)) {
      if (exponent % 2 != 0) result = static_cast<T>(result * base);
      exponent = static_cast<T>(exponent / 2);
      if (exponent == 0) return result;
    }
  }
};
/// The maximum of two numbers; if one is NaN the result is NaN, as in XLA (std::max may ignore a NaN).
struct maximum {
  static constexpr const char* name = "maximum";  ///< in error messages
  template <class T, class U>
  constexpr std::common_type_t<T, U> operator()(const T& a, const U& b) const {
    return a > b || a != a ? a : b;
  }
};
struct minimum {                                  ///< the minimum of two numbers; NaN if one of them is NaN
  static constexpr const char* name = "minimum";  ///< in error messages
  template <class T, class U>
  constexpr std::common_type_t<T, U> operator()(const T& a, const U& b) const {
    return a < b || a != a ? a : b;
  }
};
struct atan2 {                                  ///< atan2(a, b): the angle of the point x = b, y = a, from -pi to pi
  static constexpr const char* name = "atan2";  ///< in error messages
  template <class T, class U>
  auto operator()(const T& a, const U& b) const {
    return std::atan2(a, b);
  }
};

/// The bitwise AND of integers, the logical AND of bools.
struct bitwise_and {
  static constexpr const char* name = "bitwise_and";  ///< in error messages
  template <std::integral T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct bitwise_or {                                  ///< the bitwise OR of integers, the logical OR of bools
  static constexpr const char* name = "bitwise_or";  ///< in error messages
  template <std::integral T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct bitwise_xor {                                  ///< the bitwise XOR of integers, the logical XOR of bools
  static constexpr const char* name = "bitwise_xor";  ///< in error messages
  template <std::integral T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

struct equal_to : std::equal_to<> {
  static constexpr const char* name = "equal_to";  ///< in error messages
};
struct not_equal_to : std::not_equal_to<> {
  static constexpr const char* name = "not_equal_to";  ///< in error messages
};
struct less : std::less<> {
  static constexpr const char* name = "less";  ///< in error messages
};
struct less_equal : std::less_equal<> {
  static constexpr const char* name = "less_equal";  ///< in error messages
};
struct greater : std::greater<> {
  static constexpr const char* name = "greater";  ///< in error messages
};
struct greater_equal : std::greater_equal<> {
  static constexpr const char* name = "greater_equal";  ///< in error messages
};

struct select {                                  ///< the second argument where the first is true, else the third
  static constexpr const char* name = "select";  ///< in error messages
  template <class T, class U>
  constexpr std::common_type_t<T, U> operator()(bool predicate, const T& on_true, const U& on_false) const {
    return predicate ? on_true : on_false;
  }
};
/// Clamps x as minimum(maximum(low, x), high), so that a NaN in any operand gives NaN.
struct clamp {
  static constexpr const char* name = "clamp";  ///< in error messages
  template <class L, class T, class H>
  constexpr T operator()(const L& low, const T& x, const H& high) const {
    return static_cast<T>(minimum{}(maximum{}(low, x), high));
  }
};

}  // namespace partita::function
