// The element functions of operations on sharded tensors: their computation on a row, the partial operands that they
// accept, and the functions that their derivatives are composed of.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <partita/rule/sharding/rules/elementwise.hpp>
#include <type_traits>

namespace partita::detail {

/// Functions of up to three elements and a number. Functions from `relu_gradient` on are used in derivatives: their
/// first operand is the cotangent, and they are linear in it.
enum class element_function : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  maximum,
  minimum,  // add to minimum: of two elements
  scale,
  shift,
  power,
  over,
  number_over,  // scale to number_over: of one element and a number
  relu,
  exp,
  log,
  tanh,
  sigmoid,
  sqrt,
  abs,
  square,
  gelu,
  where,         // of a condition, a value where it is not 0, and a value where it is 0
  where_number,  // of a condition, a value and a number
  unless_number,
  less,  // of two elements; the result is 1 or 0
  less_equal,
  equal,
  not_equal,
  less_than_number,
  at_most_number,
  greater_than_number,
  at_least_number,
  equal_number,
  not_equal_number,
  relu_gradient,
  tanh_gradient,
  sigmoid_gradient,
  sqrt_gradient,
  abs_gradient,
  power_gradient,
  gelu_gradient,
  pass_if_equal,
  pass_to_greater,
  pass_where,
  pass_unless,
};

/// Whether the result for an integer is in general not an integer.
constexpr bool makes_fractions(element_function f) {
  using e = element_function;
  return f == e::exp || f == e::log || f == e::tanh || f == e::sigmoid || f == e::sqrt || f == e::gelu;
}

inline constexpr double root_two = 1.41421356237309504880, root_of_two_pi = 2.50662827463100050242;

template <class T>
T gaussian_share(T x) {
  return static_cast<T>(0.5 * std::erfc(-static_cast<double>(x) / root_two));
}

/// Integers with a number that is not an integer: computed in floating point, and the result is truncated to an
/// integer.
template <class Each>
bool apply_fraction(element_function f, double c, const Each& each) {
  using e = element_function;
  const auto number = [&](auto function) {
    each([=](auto a, auto, auto) { return function(static_cast<double>(a)); });
    return true;
  };
  switch (f) {
    case e::scale:
      return number([c](double a) { return a * c; });
    case e::shift:
      return number([c](double a) { return a + c; });
    case e::over:
      return number([c](double a) { return a / c; });
    case e::number_over:
      return number([c](double a) { return c / a; });
    case e::less_than_number:
      return number([c](double a) { return a < c; });
    case e::at_most_number:
      return number([c](double a) { return a <= c; });
    case e::greater_than_number:
      return number([c](double a) { return a > c; });
    case e::at_least_number:
      return number([c](double a) { return a >= c; });
    case e::equal_number:
      return number([](double) { return false; });
    case e::not_equal_number:
      return number([](double) { return true; });
    default:
      return false;
  }
}

/// y[k] = f(x[0][k], …) for a row of n elements; each array has its own stride.
template <class T>
void apply_row(element_function f, double number, std::size_t n, T* y, std::ptrdiff_t sy, const T* const* x,
               const std::ptrdiff_t* sx) {
  const bool dense = sy == 1 && sx[0] == 1 && sx[1] == 1 && sx[2] == 1;
  const auto each = [&](auto function) {
    if (dense) {  // a loop that compilers vectorise
      const T *const a = x[0], *const b = x[1], *const d = x[2];
      for (std::size_t k = 0; k < n; ++k) y[k] = static_cast<T>(function(a[k], b[k], d[k]));
      return;
    }
    for (std::size_t k = 0; k < n; ++k) {
      const auto i = static_cast<std::ptrdiff_t>(k);
      y[i * sy] = static_cast<T>(function(x[0][i * sx[0]], x[1][i * sx[1]], x[2][i * sx[2]]));
    }
  };
  const T c = static_cast<T>(number);
  using e = element_function;
  if constexpr (std::is_integral_v<T>)
    if (static_cast<double>(c) != number && apply_fraction(f, number, each)) return;
  switch (f) {
    case e::add:
      return each([](T a, T b, T) { return a + b; });
    case e::subtract:
      return each([](T a, T b, T) { return a - b; });
    case e::multiply:
      return each([](T a, T b, T) { return a * b; });
    case e::divide:
      return each([](T a, T b, T) { return a / b; });
    case e::maximum:
      return each([](T a, T b, T) { return a > b || a != a ? a : b; });
    case e::minimum:
      return each([](T a, T b, T) { return a < b || a != a ? a : b; });
    case e::scale:
      return each([c](T a, T, T) { return a * c; });
    case e::shift:
      return each([c](T a, T, T) { return a + c; });
    case e::power:
      return each([number](T a, T, T) { return std::pow(a, number); });
    case e::over:
      return each([c](T a, T, T) { return a / c; });
    case e::number_over:
      return each([c](T a, T, T) { return c / a; });
    case e::relu:
      return each([](T a, T, T) { return a < T(0) ? T(0) : a; });  // a NaN is passed on
    case e::exp:
      return each([](T a, T, T) { return std::exp(a); });
    case e::log:
      return each([](T a, T, T) { return std::log(a); });
    case e::tanh:
      return each([](T a, T, T) { return std::tanh(a); });
    case e::sigmoid:
      return each([](T a, T, T) { return T(1) / (T(1) + static_cast<T>(std::exp(-a))); });
    case e::sqrt:
      return each([](T a, T, T) { return std::sqrt(a); });
    case e::abs:
      return each([](T a, T, T) {
        if constexpr (std::is_floating_point_v<T>) return std::abs(a);  // abs(-0) is 0
        else return a < T(0) ? -a : a;
      });
    case e::square:
      return each([](T a, T, T) { return a * a; });
    case e::gelu:
      return each([](T a, T, T) { return a * gaussian_share(a); });
    case e::where:
      return each([](T a, T b, T d) { return a != T(0) ? b : d; });
    case e::where_number:
      return each([c](T a, T b, T) { return a != T(0) ? b : c; });
    case e::unless_number:
      return each([c](T a, T b, T) { return a != T(0) ? c : b; });
    case e::less:
      return each([](T a, T b, T) { return a < b; });
    case e::less_equal:
      return each([](T a, T b, T) { return a <= b; });
    case e::equal:
      return each([](T a, T b, T) { return a == b; });
    case e::not_equal:
      return each([](T a, T b, T) { return a != b; });
    case e::less_than_number:
      return each([c](T a, T, T) { return a < c; });
    case e::at_most_number:
      return each([c](T a, T, T) { return a <= c; });
    case e::greater_than_number:
      return each([c](T a, T, T) { return a > c; });
    case e::at_least_number:
      return each([c](T a, T, T) { return a >= c; });
    case e::equal_number:
      return each([c](T a, T, T) { return a == c; });
    case e::not_equal_number:
      return each([c](T a, T, T) { return a != c; });
    case e::pass_where:
      return each([](T d, T a, T) { return a != T(0) ? d : T(0); });
    case e::pass_unless:
      return each([](T d, T a, T) { return a != T(0) ? T(0) : d; });
    case e::relu_gradient:
      return each([](T d, T a, T) { return a <= T(0) ? T(0) : d; });
    case e::tanh_gradient:
      return each([](T d, T b, T) { return d * (T(1) - b * b); });
    case e::sigmoid_gradient:
      return each([](T d, T b, T) { return d * b * (T(1) - b); });
    case e::sqrt_gradient:
      return each([](T d, T b, T) { return d / (b + b); });
    case e::abs_gradient:
      return each([](T d, T a, T) { return a < T(0) ? -d : a > T(0) ? d : T(0); });
    case e::power_gradient:
      return each([number](T d, T a, T) { return static_cast<double>(d) * number * std::pow(a, number - 1); });
    case e::gelu_gradient:
      return each([](T d, T a, T) {
        const double x0 = static_cast<double>(a);
        return static_cast<double>(d) *
               (static_cast<double>(gaussian_share(a)) + x0 * std::exp(-0.5 * x0 * x0) / root_of_two_pi);
      });
    case e::pass_if_equal:
      return each([](T d, T a, T b) { return a == b ? d : T(0); });
    case e::pass_to_greater:  // half of it to each of two equal elements; a NaN is never less
      return each([](T d, T a, T b) { return a < b ? T(0) : a == b ? static_cast<T>(d / T(2)) : d; });
  }
}

/// Whether the function is a comparison: its result is 1 or 0, and no gradient passes through it.
constexpr bool is_comparison(element_function f) {
  return f >= element_function::less && f <= element_function::not_equal_number;
}
/// Whether the function rounds integers. Then its results for the summands do not add up to its result for the sum.
template <class T>
constexpr bool rounds(element_function f, double number) {
  using e = element_function;
  return std::is_integral_v<T> && (f == e::divide || f == e::over || f == e::pass_to_greater ||
                                   (f == e::scale && static_cast<double>(static_cast<T>(number)) != number));
}
/// The rule of a function: operands are aligned dimension by dimension. The rule also decides which partial operands
/// are accepted without a reduction.
constexpr operation rule_of(element_function f) {
  using e = element_function;
  switch (f) {
    case e::add:
    case e::subtract:
    case e::scale:
    case e::over:
      return rules::add;
    case e::multiply:
      return rules::multiply;
    case e::divide:
      return rules::divide;
    case e::relu:
    case e::exp:
    case e::tanh:
    case e::sigmoid:
    case e::shift:
      return rules::relu;
    case e::where:
      return rules::where;
    case e::pass_where:
    case e::pass_unless:
    case e::relu_gradient:
    case e::tanh_gradient:
    case e::sigmoid_gradient:
    case e::sqrt_gradient:
    case e::abs_gradient:
    case e::power_gradient:
    case e::gelu_gradient:
    case e::pass_if_equal:
    case e::pass_to_greater:
      return rules::divide;  // linear in the first operand only
    default:
      return rules::elementwise;
  }
}
constexpr const char* name_of(element_function f) {
  constexpr const char* names[] = {"add",           "subtract", "multiply",     "divide",  "maximum",    "minimum",
                                   "scale",         "shift",    "power",        "divide",  "divide",     "relu",
                                   "exp",           "log",      "tanh",         "sigmoid", "sqrt",       "abs",
                                   "square",        "gelu",     "where",        "where",   "where",      "less",
                                   "less_equal",    "equal_to", "not_equal_to", "less",    "less_equal", "greater",
                                   "greater_equal", "equal_to", "not_equal_to"};
  return f < element_function::relu_gradient ? names[static_cast<std::size_t>(f)] : "gradient of an element function";
}

}  // namespace partita::detail
