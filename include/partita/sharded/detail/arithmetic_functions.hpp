// Arithmetic, comparisons and selection as element functions.
#pragma once

#include <partita/sharded/element_function.hpp>

namespace partita::element_functions {

inline constexpr element_properties additive{&detail::additive_rule},
    additive_truncated{&detail::additive_rule, detail::integers::truncated};

// of two elements
inline constexpr element_function add{"add", additive, [](auto a, auto b) { return a + b; }, passed_on(), passed_on()};
inline constexpr element_function subtract{"subtract", additive, [](auto a, auto b) { return a - b; }, passed_on(),
                                           reading<0>([](auto dy) { return -dy; })};
inline constexpr element_function multiply{
    "multiply",
    {&detail::multilinear_rule},
    [](auto a, auto b) { return a * b; },
    reading<2, &detail::multilinear_rule>([](auto dy, auto b) { return dy * b; }),
    reading<1, &detail::multilinear_rule>([](auto dy, auto a) { return dy * a; })};
inline constexpr element_function divide{"divide",
                                         {&detail::divide_rule, detail::integers::truncated},
                                         [](auto a, auto b) { return a / b; },
                                         reading<2>([](auto dy, auto b) { return dy / b; }),
                                         reading<2 + 8>([](auto dy, auto b, auto y) { return -(dy * y / b); })};
/// The derivative of an extreme: half of it to each of two equal elements; a NaN is never less.
inline constexpr auto pass_to_greater = [](auto dy, auto a, auto b) {
  return a < b ? decltype(dy)(0) : a == b ? static_cast<decltype(dy)>(dy / 2) : dy;
};
inline constexpr element_function maximum{
    "maximum", number_function, [](auto a, auto b) { return a > b || a != a ? a : b; }, reading<3>(pass_to_greater),
    reading<3>([](auto dy, auto a, auto b) { return decltype(pass_to_greater)()(dy, b, a); })};
inline constexpr element_function minimum{
    "minimum", number_function, [](auto a, auto b) { return a < b || a != a ? a : b; },
    reading<3>([](auto dy, auto a, auto b) { return decltype(pass_to_greater)()(dy, b, a); }),
    reading<3>(pass_to_greater)};

// of an element and a number
inline constexpr element_function scale{"scale", additive, [](auto x, auto c) { return x * c; },
                                        reading_nothing([](auto dy, auto c) { return dy * c; })};
inline constexpr element_function shift{"shift", rising_function, [](auto x, auto c) { return x + c; }, passed_on()};
inline constexpr element_function unshift{"subtract", rising_function, [](auto x, auto c) { return x - c; },
                                          passed_on()};
inline constexpr element_function number_minus{"subtract", number_function, [](auto x, auto c) { return c - x; },
                                               reading_nothing([](auto dy) { return -dy; })};
inline constexpr element_function over{"divide", additive_truncated, [](auto x, auto c) { return x / c; },
                                       reading_nothing([](auto dy, auto c) { return dy / c; })};
inline constexpr element_function number_over{
    "divide", number_function, [](auto x, auto c) { return c / x; },
    reading<1 + 8>([](auto dy, auto x, auto y, auto) { return -(dy * y / x); })};

// comparisons, whose result is 1 or 0
#define PARTITA_COMPARISON(name, sign)                                                                             \
  inline constexpr element_function name{#name, number_function, [](auto a, auto b) { return a sign b; },          \
                                         no_derivative(), no_derivative()};                                        \
  inline constexpr element_function name##_number{#name, number_function, [](auto x, auto c) { return x sign c; }, \
                                                  no_derivative()};
PARTITA_COMPARISON(less, <)
PARTITA_COMPARISON(less_equal, <=)
PARTITA_COMPARISON(greater, >)
PARTITA_COMPARISON(greater_equal, >=)
PARTITA_COMPARISON(equal_to, ==)
PARTITA_COMPARISON(not_equal_to, !=)
#undef PARTITA_COMPARISON

// selection by a condition
inline constexpr auto pass_where = [](auto dy, auto c) { return c != 0 ? dy : decltype(dy)(0); };
inline constexpr auto pass_unless = [](auto dy, auto c) { return c != 0 ? decltype(dy)(0) : dy; };
inline constexpr element_function where{
    "where",         {&detail::where_rule},  [](auto c, auto a, auto b) { return c != 0 ? a : b; },
    no_derivative(), reading<1>(pass_where), reading<1>(pass_unless)};
inline constexpr element_function where_number{"where",
                                               {.integers = detail::integers::kept},
                                               [](auto c, auto a, auto b) { return c != 0 ? a : b; },
                                               no_derivative(),
                                               reading<1>(pass_where)};
inline constexpr element_function unless_number{"where",
                                                {.integers = detail::integers::kept},
                                                [](auto c, auto b, auto a) { return c != 0 ? a : b; },
                                                no_derivative(),
                                                reading<1>(pass_unless)};

}  // namespace partita::element_functions
