// Arithmetic, comparisons and selection as element functions.
#pragma once

#include <partita/sharded/element_function.hpp>

namespace partita::element_functions {

inline constexpr element_properties additive = holomorphic({&detail::additive_rule}),
                                    truncated_additive =
                                        holomorphic({&detail::additive_rule, detail::integers::truncated});

// Functions of two elements.
inline constexpr element_function add{"add", additive, [](auto a, auto b) { return a + b; }, passed_on(), passed_on()};
inline constexpr element_function subtract{"subtract", additive, [](auto a, auto b) { return a - b; }, passed_on(),
                                           reading<0>([](auto dy) { return -dy; })};
inline constexpr element_function multiply{
    "multiply", holomorphic({&detail::multilinear_rule}), [](auto a, auto b) { return a * b; },
    reading<2, &detail::multilinear_rule>([](auto dy, auto b) { return dy * b; }),
    reading<1, &detail::multilinear_rule>([](auto dy, auto a) { return dy * a; })};
inline constexpr element_function divide{"divide", holomorphic({&detail::divide_rule, detail::integers::truncated}),
                                         [](auto a, auto b) { return a / b; },
                                         reading<2>([](auto dy, auto b) { return dy / b; }),
                                         reading<2 + 8>([](auto dy, auto b, auto y) { return -(dy * y / b); })};
/// The derivative of maximum and minimum: dy goes to the element that is the result, half of it to each of two equal
/// elements, and all of it to both if one is NaN.
inline constexpr auto derivative_of_maximum = [](auto dy, auto a, auto b) {
  return a < b ? decltype(dy)(0) : a == b ? static_cast<decltype(dy)>(dy / 2) : dy;
};
inline constexpr element_function maximum{
    "maximum", number_function, [](auto a, auto b) { return a > b || a != a ? a : b; },
    reading<3>(derivative_of_maximum),
    reading<3>([](auto dy, auto a, auto b) { return decltype(derivative_of_maximum)()(dy, b, a); })};
inline constexpr element_function minimum{
    "minimum", number_function, [](auto a, auto b) { return a < b || a != a ? a : b; },
    reading<3>([](auto dy, auto a, auto b) { return decltype(derivative_of_maximum)()(dy, b, a); }),
    reading<3>(derivative_of_maximum)};

/// A function that applies Function to complex numbers and returns real numbers unchanged.
template <class Function>
constexpr auto of_complex(Function) {
  return [](auto x, auto... more) {
    if constexpr (std::is_arithmetic_v<decltype(x)>) return x;
    else return Function()(x, more...);
  };
}

// Functions of an element and a number.
inline constexpr element_function scale{"scale", additive, [](auto x, auto c) { return x * c; },
                                        reading_nothing([](auto dy, auto c) { return dy * c; })};
inline constexpr element_function shift{"shift", holomorphic(rising_function), [](auto x, auto c) { return x + c; },
                                        passed_on()};
inline constexpr element_function unshift{"subtract", holomorphic(rising_function),
                                          [](auto x, auto c) { return x - c; }, passed_on()};
inline constexpr element_function number_minus{"subtract", holomorphic(number_function),
                                               [](auto x, auto c) { return c - x; },
                                               reading_nothing([](auto dy) { return -dy; })};
inline constexpr element_function over{"divide", truncated_additive, [](auto x, auto c) { return x / c; },
                                       reading_nothing([](auto dy, auto c) { return dy / c; })};
inline constexpr element_function number_over{
    "divide", holomorphic(number_function), [](auto x, auto c) { return c / x; },
    reading<1 + 8>([](auto dy, auto x, auto y, auto) { return -(dy * y / x); })};

/// The complex conjugate, and the identity for real numbers. This is a template, so that a program without complex
/// elements does not instantiate it.
template <class = void>
inline constexpr element_function conj{
    "conj", with_complex_derivative(additive), of_complex([](auto x) { return decltype(x)(x.real(), -x.imag()); }),
    reading_nothing(of_complex([](auto dy) { return decltype(dy)(dy.real(), -dy.imag()); }))};

// Comparisons, whose result is 1 or 0.
#define PARTITA_COMPARISON(name, sign, properties)                                                                    \
  inline constexpr element_function name{#name, properties, [](auto a, auto b) { return a sign b; }, no_derivative(), \
                                         no_derivative()};                                                            \
  inline constexpr element_function name##_number{#name, properties, [](auto x, auto c) { return x sign c; },         \
                                                  no_derivative()};
PARTITA_COMPARISON(less, <, number_function)
PARTITA_COMPARISON(less_equal, <=, number_function)
PARTITA_COMPARISON(greater, >, number_function)
PARTITA_COMPARISON(greater_equal, >=, number_function)
PARTITA_COMPARISON(equal_to, ==, holomorphic(number_function))
PARTITA_COMPARISON(not_equal_to, !=, holomorphic(number_function))
#undef PARTITA_COMPARISON

// Selection of an element by a condition.
inline constexpr auto derivative_where = [](auto dy, auto c) { return c != decltype(c)(0) ? dy : decltype(dy)(0); };
inline constexpr auto derivative_where_false = [](auto dy, auto c) {
  return c != decltype(c)(0) ? decltype(dy)(0) : dy;
};
inline constexpr element_function where{"where",
                                        holomorphic({&detail::where_rule}),
                                        [](auto c, auto a, auto b) { return c != decltype(c)(0) ? a : b; },
                                        no_derivative(),
                                        reading<1>(derivative_where),
                                        reading<1>(derivative_where_false)};
inline constexpr element_function where_number{
    "where", holomorphic({.integers = detail::integers::kept}),
    [](auto c, auto a, auto b) { return c != decltype(c)(0) ? a : decltype(a)(b); }, no_derivative(),
    reading<1>(derivative_where)};
inline constexpr element_function unless_number{
    "where", holomorphic({.integers = detail::integers::kept}),
    [](auto c, auto b, auto a) { return c != decltype(c)(0) ? decltype(b)(a) : b; }, no_derivative(),
    reading<1>(derivative_where_false)};

}  // namespace partita::element_functions
