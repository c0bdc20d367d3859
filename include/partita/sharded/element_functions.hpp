// The element functions of one or two tensors, such as exponentials, trigonometry, rounding and activations of
// networks, each declared once.
#pragma once

#include <cmath>
#include <cstddef>
#include <partita/sharded/element_operations.hpp>
#include <type_traits>

/// `PARTITA_ELEMENT_FUNCTION(sin, declaration…)` defines the element function element_functions::sin and the function
/// sin(x) of tensors. For plain arrays xtensor defines sin(x), which argument-dependent lookup finds.
#define PARTITA_ELEMENT_FUNCTION(operation, ...) PARTITA_DEFINE_ELEMENT_FUNCTION(tensor_value, operation, __VA_ARGS__)
/// Defines an element function, and a function of tensors and plain arrays that applies it. The macro is used where
/// xtensor has no function of this name, or one that gives other values.
#define PARTITA_ELEMENT_FUNCTION_OF_ARRAYS(operation, ...) \
  PARTITA_DEFINE_ELEMENT_FUNCTION(any_tensor, operation, __VA_ARGS__)
#define PARTITA_DEFINE_ELEMENT_FUNCTION(accepted, operation, ...) \
  PARTITA_ELEMENT_FUNCTION_OBJECT(operation, __VA_ARGS__)         \
  template <class X>                                              \
    requires detail::accepted<X>                                  \
  auto operation(X&& x) {                                         \
    return apply_to_elements<element_functions::operation>(x);    \
  }
/// Defines an element function with parameters, and a function of tensors and plain arrays that applies it. A call may
/// omit the last parameters: `elu(x)`, `elu(x, 0.5)`.
#define PARTITA_ELEMENT_FUNCTION_WITH_PARAMETERS(operation, ...)                                                    \
  PARTITA_ELEMENT_FUNCTION_OBJECT(operation, __VA_ARGS__)                                                           \
  template <class X, class... Number>                                                                               \
    requires(detail::any_tensor<X> && (std::is_arithmetic_v<Number> && ...))                                        \
  auto operation(X&& x, Number... numbers) {                                                                        \
    namespace f = element_functions;                                                                                \
    return apply_to_elements<f::operation>(detail::parameters_given<f::operation>(static_cast<double>(numbers)...), \
                                           x);                                                                      \
  }
#define PARTITA_ELEMENT_FUNCTION_OBJECT(operation, ...)                 \
  namespace element_functions {                                         \
  inline constexpr element_function operation{#operation, __VA_ARGS__}; \
  }

namespace partita {

PARTITA_ELEMENT_FUNCTION(
    exp, holomorphic(nondecreasing_real_function), [](auto x) { return std::exp(x); },
    derivative_from_y([](auto dy, auto y) { return dy * y; }))
PARTITA_ELEMENT_FUNCTION(
    log, holomorphic(real_function), [](auto x) { return std::log(x); },
    derivative_from_x([](auto dy, auto x) { return dy / x; }))
PARTITA_ELEMENT_FUNCTION(
    tanh, holomorphic(nondecreasing_real_function), [](auto x) { return std::tanh(x); },
    derivative_from_y([](auto dy, auto y) { return dy * (decltype(y)(1) - y * y); }))
PARTITA_ELEMENT_FUNCTION(
    sqrt, holomorphic(real_function), [](auto x) { return std::sqrt(x); },
    derivative_from_y([](auto dy, auto y) { return dy / (y + y); }))
PARTITA_ELEMENT_FUNCTION(
    square, holomorphic(arithmetic_function), [](auto x) { return x * x; },
    derivative_from_x([](auto dy, auto x) { return dy * x * decltype(x)(2); }))
// The absolute value of each element; abs(-0.0) is 0.0.
PARTITA_ELEMENT_FUNCTION(
    abs, arithmetic_function,
    [](auto x) {
      if constexpr (std::is_floating_point_v<decltype(x)>) return std::abs(x);
      else return x < 0 ? -x : x;
    },
    derivative_from_x([](auto dy, auto x) { return x < 0   ? -dy
                                                   : x > 0 ? dy
                                                           : decltype(dy)(0); }))

// --- trigonometry and exponentials ---

// [sin]
PARTITA_ELEMENT_FUNCTION(
    sin, holomorphic(real_function), [](auto x) { return std::sin(x); },
    derivative_from_x([](auto dy, auto x) { return dy * std::cos(x); }))
// [/sin]
PARTITA_ELEMENT_FUNCTION(
    cos, holomorphic(real_function), [](auto x) { return std::cos(x); },
    derivative_from_x([](auto dy, auto x) { return -dy * std::sin(x); }))
PARTITA_ELEMENT_FUNCTION(
    tan, holomorphic(real_function), [](auto x) { return std::tan(x); },
    derivative_from_y([](auto dy, auto y) { return dy * (decltype(y)(1) + y * y); }))
PARTITA_ELEMENT_FUNCTION(
    asin, real_function, [](auto x) { return std::asin(x); },
    derivative_from_x([](auto dy, auto x) { return dy / std::sqrt(1 - x * x); }))
PARTITA_ELEMENT_FUNCTION(
    acos, real_function, [](auto x) { return std::acos(x); },
    derivative_from_x([](auto dy, auto x) { return -dy / std::sqrt(1 - x * x); }))
PARTITA_ELEMENT_FUNCTION(
    atan, nondecreasing_real_function, [](auto x) { return std::atan(x); },
    derivative_from_x([](auto dy, auto x) { return dy / (1 + x * x); }))
PARTITA_ELEMENT_FUNCTION(
    sinh, nondecreasing_real_function, [](auto x) { return std::sinh(x); },
    derivative_from_x([](auto dy, auto x) { return dy * std::cosh(x); }))
PARTITA_ELEMENT_FUNCTION(
    cosh, real_function, [](auto x) { return std::cosh(x); },
    derivative_from_x([](auto dy, auto x) { return dy * std::sinh(x); }))
PARTITA_ELEMENT_FUNCTION(
    asinh, nondecreasing_real_function, [](auto x) { return std::asinh(x); },
    derivative_from_x([](auto dy, auto x) { return dy / std::sqrt(x * x + 1); }))
PARTITA_ELEMENT_FUNCTION(
    acosh, real_function, [](auto x) { return std::acosh(x); },
    derivative_from_x([](auto dy, auto x) { return dy / std::sqrt(x * x - 1); }))
PARTITA_ELEMENT_FUNCTION(
    atanh, real_function, [](auto x) { return std::atanh(x); },
    derivative_from_x([](auto dy, auto x) { return dy / (1 - x * x); }))
PARTITA_ELEMENT_FUNCTION(
    erf, real_function, [](auto x) { return std::erf(x); },
    derivative_from_x([](auto dy, auto x) { return dy * decltype(x)(1.12837916709551257390) * std::exp(-x * x); }))
PARTITA_ELEMENT_FUNCTION(
    expm1, nondecreasing_real_function, [](auto x) { return std::expm1(x); },
    derivative_from_y([](auto dy, auto y) { return dy * (y + 1); }))
PARTITA_ELEMENT_FUNCTION(
    log1p, real_function, [](auto x) { return std::log1p(x); },
    derivative_from_x([](auto dy, auto x) { return dy / (x + 1); }))
PARTITA_ELEMENT_FUNCTION_OF_ARRAYS(
    rsqrt, holomorphic(real_function), [](auto x) { return decltype(x)(1) / std::sqrt(x); },
    derivative_from_y([](auto dy, auto y) { return dy * (y * y * y) / decltype(y)(-2); }))
PARTITA_ELEMENT_FUNCTION_OF_ARRAYS(
    reciprocal, holomorphic(real_function), [](auto x) { return decltype(x)(1) / x; },
    derivative_from_y([](auto dy, auto y) { return -dy * (y * y); }))

namespace element_functions {

/// A function that applies Function to real numbers and returns integers unchanged.
template <class Function>
constexpr auto apply_if_real(Function) {
  return [](auto x) {
    if constexpr (std::is_integral_v<decltype(x)>) return x;
    else return Function()(x);
  };
}

}  // namespace element_functions

// --- rounding: integers are not changed; the derivative is 0 ---

PARTITA_ELEMENT_FUNCTION(floor, nondecreasing_function,
                         element_functions::apply_if_real([](auto x) { return std::floor(x); }), no_derivative())
PARTITA_ELEMENT_FUNCTION(ceil, nondecreasing_function,
                         element_functions::apply_if_real([](auto x) { return std::ceil(x); }), no_derivative())
/// Rounds to the nearest integer, and halves to the nearest even integer.
PARTITA_ELEMENT_FUNCTION_OF_ARRAYS(round, nondecreasing_function,
                                   element_functions::apply_if_real([](auto x) { return std::nearbyint(x); }),
                                   no_derivative())
/// The sign of an element, which is 1, 0 or -1, and 0 for NaN.
PARTITA_ELEMENT_FUNCTION_OF_ARRAYS(
    sign, arithmetic_function, [](auto x) { return (x > 0 ? 1 : 0) - (x < 0 ? 1 : 0); }, no_derivative())

/// Masks that are 1 where an element is NaN (is_nan), or where an element is an infinity of either sign (is_inf), and 0
/// elsewhere.
PARTITA_ELEMENT_FUNCTION_OF_ARRAYS(
    is_nan, arithmetic_function, [](auto x) { return x != x; }, no_derivative())
PARTITA_ELEMENT_FUNCTION_OF_ARRAYS(
    is_inf, arithmetic_function, [](auto x) { return x == x && x - x != 0; }, no_derivative())

// --- activations ---

namespace element_functions {

// relu and sigmoid of tensors are class templates (tensor_functions.hpp), so this header defines only the element
// functions. relu and sigmoid of NaN are NaN.
inline constexpr element_function relu{
    "relu", nondecreasing_function, [](auto x) { return x < 0 ? decltype(x)(0) : x; },
    derivative_from_x([](auto dy, auto x) { return x <= 0 ? decltype(dy)(0) : dy; })};
inline constexpr element_function sigmoid{"sigmoid", nondecreasing_real_function,
                                          [](auto x) { return 1 / (1 + std::exp(-x)); },
                                          derivative_from_y([](auto dy, auto y) { return dy * y * (1 - y); })};

/// The cumulative distribution function Φ(x) of the standard normal distribution.
inline double normal_cdf(double x) { return 0.5 * std::erfc(-x / 1.41421356237309504880); }

}  // namespace element_functions

/// The activation x Φ(x), where Φ is the cumulative distribution function of the standard normal distribution.
PARTITA_ELEMENT_FUNCTION_OF_ARRAYS(
    gelu, real_function,
    [](auto x) { return x * static_cast<decltype(x)>(element_functions::normal_cdf(static_cast<double>(x))); },
    derivative_from_x([](auto dy, auto given) {
      const double x = static_cast<double>(given), density = std::exp(-0.5 * x * x) / 2.50662827463100050242;
      return static_cast<double>(dy) * (element_functions::normal_cdf(x) + x * density);
    }))

/// The activation x sigmoid(x).
PARTITA_ELEMENT_FUNCTION_OF_ARRAYS(
    silu, real_function, [](auto x) { return x / (1 + std::exp(-x)); }, derivative_from_x([](auto dy, auto x) {
      const auto s = 1 / (1 + std::exp(-x));
      return dy * (s * (1 + x * (1 - s)));
    }))
/// The activation x tanh(log(1 + exp(x))).
PARTITA_ELEMENT_FUNCTION_OF_ARRAYS(
    mish, real_function, [](auto x) { return x * std::tanh(std::log1p(std::exp(x))); },
    derivative_from_x([](auto dy, auto x) {
      const auto t = std::tanh(std::log1p(std::exp(x)));
      return dy * (t + x * (1 - t * t) / (1 + std::exp(-x)));
    }))
/// The activation log(1 + exp(beta x)) / beta, or x where beta x is above the threshold. The defaults are 1 for beta
/// and 20 for the threshold.
PARTITA_ELEMENT_FUNCTION_WITH_PARAMETERS(
    softplus, with_defaults(real_function, 1, 20),
    [](auto x, auto beta, auto threshold) { return x * beta > threshold ? x : std::log1p(std::exp(x * beta)) / beta; },
    derivative_from_x([](auto dy, auto x, auto beta, auto threshold) {
      const auto e = std::exp(x * beta);
      return x * beta > threshold ? dy : dy * e / (e + 1);
    }))
/// The activation that is x where x is positive, and alpha (exp(x) - 1) elsewhere. By default, alpha is 1.
PARTITA_ELEMENT_FUNCTION_WITH_PARAMETERS(
    elu, with_defaults(real_function, 1), [](auto x, auto alpha) { return x <= 0 ? std::expm1(x) * alpha : x; },
    derivative_from_x([](auto dy, auto x, auto alpha) { return x <= 0 ? dy * alpha * std::exp(x) : dy; }))
/// The activation that is x where x is positive, and alpha (exp(x / alpha) - 1) elsewhere. By default, alpha is 1.
PARTITA_ELEMENT_FUNCTION_WITH_PARAMETERS(
    celu, with_defaults(real_function, 1),
    [](auto x, auto alpha) { return x <= 0 ? std::expm1(x / alpha) * alpha : x; },
    derivative_from_x([](auto dy, auto x, auto alpha) { return x <= 0 ? dy * std::exp(x / alpha) : dy; }))
/// The scaled elu, which keeps the mean 0 and variance 1 of standard normal elements (Klambauer and others, 2017).
PARTITA_ELEMENT_FUNCTION_OF_ARRAYS(
    selu, real_function,
    [](auto x) {
      using T = decltype(x);
      return T(1.0507009873554804934) * (x <= 0 ? std::expm1(x) * T(1.6732632423543772848) : x);
    },
    derivative_from_x([](auto dy, auto x) {
      using T = decltype(x);
      return T(1.0507009873554804934) * (x <= 0 ? dy * T(1.6732632423543772848) * std::exp(x) : dy);
    }))
/// The activation that is x where x is positive, and slope times x elsewhere. By default the slope is 0.01.
PARTITA_ELEMENT_FUNCTION_WITH_PARAMETERS(
    leaky_relu, with_defaults(real_function, 0.01), [](auto x, auto slope) { return x > 0 ? x : x * slope; },
    derivative_from_x([](auto dy, auto x, auto slope) { return x > 0 ? dy : dy * slope; }))
/// The activation that is x where x is above the threshold, and 0 elsewhere. By default the threshold is 1.
PARTITA_ELEMENT_FUNCTION_WITH_PARAMETERS(
    thresholded_relu, with_defaults(real_function, 1),
    [](auto x, auto threshold) { return x <= threshold ? decltype(x)(0) : x; },
    derivative_from_x([](auto dy, auto x, auto threshold) { return x <= threshold ? decltype(dy)(0) : dy; }))
/// The activation (x + 3) / 6, limited to [0, 1].
PARTITA_ELEMENT_FUNCTION_OF_ARRAYS(
    hardsigmoid, nondecreasing_real_function,
    [](auto x) {
      return (x < -3 ? 0 : x > 3 ? 6 : x + 3) / 6;
    },
    derivative_from_x([](auto dy, auto x) { return x > -3 && x < 3 ? dy / 6 : 0; }))
/// The activation x hardsigmoid(x).
PARTITA_ELEMENT_FUNCTION_OF_ARRAYS(
    hardswish, real_function,
    [](auto x) {
      return x * (x < -3 ? 0 : x > 3 ? 6 : x + 3) / 6;
    },
    derivative_from_x([](auto dy, auto x) { return x <= -3 ? 0
                                                   : x < 3 ? dy * (x / 3 + decltype(x)(0.5))
                                                           : dy; }))
/// The activation x / (1 + |x|).
PARTITA_ELEMENT_FUNCTION_OF_ARRAYS(
    softsign, real_function, [](auto x) { return x / (1 + std::abs(x)); },
    derivative_from_x([](auto dy, auto x) { return dy / ((1 + std::abs(x)) * (1 + std::abs(x))); }))

namespace element_functions {

inline constexpr element_function clip{"clip",  ///< x, limited to [low, high]
                                       {&detail::monotone_rule, detail::integer_support::parameters_converted},
                                       [](auto x, auto low, auto high) { return x < low    ? low
                                                                                : x > high ? high
                                                                                           : x; },
                                       derivative_from_x([](auto dy, auto x, auto low, auto high) {
                                         return x >= low && x <= high ? dy : decltype(dy)(0);
                                       })};

inline constexpr element_function pow{
    "pow", real_function, [](auto x, auto z) { return std::pow(x, z); },
    derivative_from<3>([](auto dy, auto x, auto z) { return z == 0 ? z : dy * (z * std::pow(x, z - 1)); }),
    derivative_from<3 + 8>(
        [](auto dy, auto x, auto z, auto y) { return dy * (x == 0 && z >= 0 ? 0 : y * std::log(x)); })};
/// The power x^c of an element x and a number c.
inline constexpr element_function pow_number{
    "pow", real_function, [](auto x, auto c) { return std::pow(x, c); },
    derivative_from_x([](auto dy, auto x, auto c) { return c == 0 ? c : dy * (c * std::pow(x, c - 1)); })};
/// The power c^z of a number c and an element z.
inline constexpr element_function number_pow{"pow", real_function, [](auto z, auto c) { return std::pow(c, z); },
                                             derivative_from<1 + 8>([](auto dy, auto z, auto y, auto c) {
                                               return dy * (c == 0 && z >= 0 ? 0 : y * std::log(c));
                                             })};

/// The remainder x - z floor(x / z), which is 0 or has the sign of z.
inline constexpr auto remainder_of = [](auto x, auto z) {
  decltype(x) rest{};
  if constexpr (std::is_integral_v<decltype(x)>) rest = static_cast<decltype(x)>(x % z);
  else rest = std::fmod(x, z);
  return rest != 0 && (rest < 0) != (z < 0) ? static_cast<decltype(x)>(rest + z) : rest;
};
/// The derivative of the remainder with respect to z: -dy floor(x / z).
inline constexpr auto derivative_by_divisor = [](auto dy, auto x, auto z) {
  if constexpr (std::is_integral_v<decltype(x)>) return -dy * ((x - remainder_of(x, z)) / z);
  else return -dy * std::floor(x / z);
};
inline constexpr element_function mod{"mod", arithmetic_function, remainder_of, identity_derivative(),
                                      derivative_from<3>(derivative_by_divisor)};
inline constexpr element_function mod_number{"mod", arithmetic_function, remainder_of, identity_derivative()};
inline constexpr element_function number_mod{
    "mod", arithmetic_function, [](auto z, auto c) { return remainder_of(c, z); },
    derivative_from_x([](auto dy, auto z, auto c) { return derivative_by_divisor(dy, c, z); })};

}  // namespace element_functions

/// The remainder x - z floor(x / z) of two tensors or arrays, or of a tensor or array and a number. The remainder is 0
/// or has the sign of z, as in Python. Remainders of integers by integers are exact; an integer z must not be 0.
/// Adjoint:  dy for x, -dy floor(x / z) for z.
PARTITA_DEFINE_BINARY_ELEMENT_FUNCTION(any_tensor_operands, mod, mod_number, number_mod)
/// The power x^z of two tensors, or of a tensor and a number.
/// Adjoint:  the derivatives of x^z times dy; dx is 0 where z is 0, and dz is 0 where x is 0 and z is not negative.
PARTITA_ELEMENT_FUNCTION_OF_TWO(pow, pow_number, number_pow)

}  // namespace partita
