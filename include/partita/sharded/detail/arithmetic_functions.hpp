// Arithmetic, comparisons and selection as element functions.
#pragma once

#include <partita/sharded/element_function.hpp>

namespace partita::element_functions {

/// Properties of functions that commute with pending sums; `truncating_`: results for integers are truncated.
inline constexpr element_properties additive_properties = holomorphic({&detail::additive_rule}),
                                    truncating_additive_properties =
                                        holomorphic({&detail::additive_rule, detail::integer_support::truncated});

/// Functions of two elements: their sum, difference, product and quotient.
inline constexpr element_function add{"add", additive_properties, [](auto a, auto b) { return a + b; },
                                      identity_derivative(), identity_derivative()};
inline constexpr element_function subtract{"subtract", additive_properties, [](auto a, auto b) { return a - b; },
                                           identity_derivative(), derivative_from<0>([](auto dy) { return -dy; })};
inline constexpr element_function multiply{
    "multiply", holomorphic({&detail::multilinear_rule}), [](auto a, auto b) { return a * b; },
    derivative_from<2, &detail::multilinear_rule>([](auto dy, auto b) { return dy * b; }),
    derivative_from<1, &detail::multilinear_rule>([](auto dy, auto a) { return dy * a; })};
inline constexpr element_function divide{
    "divide", holomorphic({&detail::divide_rule, detail::integer_support::truncated}),
    [](auto a, auto b) { return a / b; }, derivative_from<2>([](auto dy, auto b) { return dy / b; }),
    derivative_from<2 + 8>([](auto dy, auto b, auto y) { return -(dy * y / b); })};
/// The derivative of maximum and minimum: dy goes to the element that is the result, half of it to each of two equal
/// elements, and all of it to both if one is NaN.
inline constexpr auto derivative_of_maximum = [](auto dy, auto a, auto b) {
  return a < b ? decltype(dy)(0) : a == b ? static_cast<decltype(dy)>(dy / 2) : dy;
};
/// The larger (maximum) or smaller (minimum) of two elements; NaN if one of them is NaN.
inline constexpr element_function maximum{
    "maximum", arithmetic_function, [](auto a, auto b) { return a > b || a != a ? a : b; },
    derivative_from<3>(derivative_of_maximum),
    derivative_from<3>([](auto dy, auto a, auto b) { return decltype(derivative_of_maximum)()(dy, b, a); })};
inline constexpr element_function minimum{
    "minimum", arithmetic_function, [](auto a, auto b) { return a < b || a != a ? a : b; },
    derivative_from<3>([](auto dy, auto a, auto b) { return decltype(derivative_of_maximum)()(dy, b, a); }),
    derivative_from<3>(derivative_of_maximum)};

/// A function that applies Function to complex numbers and returns real numbers unchanged.
template <class Function>
constexpr auto apply_if_complex(Function) {
  return [](auto x, auto... more) {
    if constexpr (std::is_arithmetic_v<decltype(x)>) return x;
    else return Function()(x, more...);
  };
}

/// Functions of an element x and a number c; `scale` is their product.
inline constexpr element_function scale{"scale", additive_properties, [](auto x, auto c) { return x * c; },
                                        derivative_from_cotangent([](auto dy, auto c) { return dy * c; })};
inline constexpr element_function add_number{"shift", holomorphic(nondecreasing_function),  ///< x + c
                                             [](auto x, auto c) { return x + c; }, identity_derivative()};
inline constexpr element_function subtract_number{"subtract", holomorphic(nondecreasing_function),  ///< x - c
                                                  [](auto x, auto c) { return x - c; }, identity_derivative()};
inline constexpr element_function number_minus{"subtract", holomorphic(arithmetic_function),  ///< c - x
                                               [](auto x, auto c) { return c - x; },
                                               derivative_from_cotangent([](auto dy) { return -dy; })};
inline constexpr element_function divide_by_number{"divide", truncating_additive_properties,  ///< x / c
                                                   [](auto x, auto c) { return x / c; },
                                                   derivative_from_cotangent([](auto dy, auto c) { return dy / c; })};
/// The function c / x of an element x and a number c.
inline constexpr element_function number_over{
    "divide", holomorphic(arithmetic_function), [](auto x, auto c) { return c / x; },
    derivative_from<1 + 8>([](auto dy, auto x, auto y, auto) { return -(dy * y / x); })};

/// The complex conjugate, and the identity for real numbers. conj is a template, so that a program without complex
/// elements does not instantiate it.
template <class = void>
inline constexpr element_function conj{
    "conj", with_complex_derivative(additive_properties),
    apply_if_complex([](auto x) { return decltype(x)(x.real(), -x.imag()); }),
    derivative_from_cotangent(apply_if_complex([](auto dy) { return decltype(dy)(dy.real(), -dy.imag()); }))};

// Comparisons, whose result is 1 or 0.
#define PARTITA_COMPARISON(name, sign, properties)                                                                    \
  inline constexpr element_function name{#name, properties, [](auto a, auto b) { return a sign b; }, no_derivative(), \
                                         no_derivative()};                                                            \
  inline constexpr element_function name##_number{#name, properties, [](auto x, auto c) { return x sign c; },         \
                                                  no_derivative()};
PARTITA_COMPARISON(less, <, arithmetic_function)
PARTITA_COMPARISON(less_equal, <=, arithmetic_function)
PARTITA_COMPARISON(greater, >, arithmetic_function)
PARTITA_COMPARISON(greater_equal, >=, arithmetic_function)
PARTITA_COMPARISON(equal_to, ==, holomorphic(arithmetic_function))
PARTITA_COMPARISON(not_equal_to, !=, holomorphic(arithmetic_function))
#undef PARTITA_COMPARISON

/// The derivatives of a selection by c, with respect to the operand that is selected where c is not 0, or where c is 0.
inline constexpr auto derivative_where = [](auto dy, auto c) { return c != decltype(c)(0) ? dy : decltype(dy)(0); };
inline constexpr auto derivative_where_false = [](auto dy, auto c) {  ///< dy where c is 0, else 0
  return c != decltype(c)(0) ? decltype(dy)(0) : dy;
};
inline constexpr element_function where{"where",  ///< a where c is not 0, else b
                                        holomorphic({&detail::where_rule}),
                                        [](auto c, auto a, auto b) { return c != decltype(c)(0) ? a : b; },
                                        no_derivative(),
                                        derivative_from<1>(derivative_where),
                                        derivative_from<1>(derivative_where_false)};
/// An operand or a number: number_where_false gives the number where c is 0, number_where_true where c is not 0.
inline constexpr element_function number_where_false{
    "where", holomorphic({.integer_elements = detail::integer_support::parameters_converted}),
    [](auto c, auto a, auto b) { return c != decltype(c)(0) ? a : decltype(a)(b); }, no_derivative(),
    derivative_from<1>(derivative_where)};
/// The number where c is not 0, else the operand.
inline constexpr element_function number_where_true{
    "where", holomorphic({.integer_elements = detail::integer_support::parameters_converted}),
    [](auto c, auto b, auto a) { return c != decltype(c)(0) ? decltype(b)(a) : b; }, no_derivative(),
    derivative_from<1>(derivative_where_false)};

}  // namespace partita::element_functions
