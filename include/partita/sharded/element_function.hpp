// The declaration of an element function of sharded tensors: a constexpr object with its name, value and derivatives,
// from which the operation on tensors is made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/core/version.hpp>
#include <partita/rule/sharding/rules/elementwise.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace partita {
namespace detail {

/// How an element function treats integer elements; see element_properties::integer_elements.
enum class integer_support : std::uint8_t { allowed, parameters_converted, truncated, rejected };
/// How an element function treats complex elements: as a compile-time error; as a holomorphic function, whose
/// derivatives get the conjugates of the values that they read; or by derivatives that are declared for complex
/// elements.
enum class complex_support : std::uint8_t { rejected, holomorphic, complex_derivative };

/// A derivative, and a bit mask of the values that it reads besides the cotangent: 1, 2 and 4 for the first, second and
/// third operand, and 8 for the result.
template <unsigned Reads, operation::rule_maker Rule, class Function>
struct element_derivative {
  static constexpr unsigned read_mask = Reads;         ///< the values that it reads, as bits
  static constexpr operation::rule_maker rule = Rule;  ///< the rule of the derivative as an operation
  using function = Function;                           ///< of the cotangent and of the values that it reads
};

/// The number of arguments that the function Value has after its operands: the parameters.
template <class Value, class... Operand>
constexpr std::size_t count_parameters() {
  if constexpr (std::is_invocable_v<Value, Operand...>) return 0;
  else if constexpr (sizeof...(Operand) < 8) return 1 + count_parameters<Value, Operand..., double>();
  else return 0;
}
template <class Value, std::size_t... I>
constexpr std::size_t parameter_count_of(std::index_sequence<I...>) {  ///< Value's, if it has sizeof...(I) operands
  return count_parameters<Value, decltype(static_cast<double>(I))...>();
}

}  // namespace detail

/// The properties of an element function: its rule, and how it treats integers and complex elements.
struct element_properties {
  /// The rule of the function, which decides whether pending reductions of operands may be taken after the function.
  operation::rule_maker rule = &detail::elementwise_rule;
  /// `rejected`: integer elements are a compile-time error, because results would not be integers in general.
  /// `truncated`: results for integers are truncated to integers, so pending sums of integers are taken before the
  /// function. `parameters_converted`: for integer elements, the parameters are converted to integers. Without
  /// `parameters_converted`, the function of integer elements is computed in floating point if a parameter is not an
  /// integer.
  detail::integer_support integer_elements = detail::integer_support::allowed;
  std::size_t default_count = 0;     ///< the number of last parameters that a call may omit
  std::array<double, 4> defaults{};  ///< the values of omitted parameters
  detail::complex_support complex_elements = detail::complex_support::rejected;  ///< how it treats complex elements
};
/// Properties of functions of real numbers, such as exp, which reject integers.
inline constexpr element_properties real_function{.integer_elements = detail::integer_support::rejected};
/// The properties of element functions that also accept integers.
inline constexpr element_properties arithmetic_function{};
/// Properties of non-decreasing functions, after which pending maxima and minima may be taken.
inline constexpr element_properties nondecreasing_function{&detail::monotone_rule};
/// Properties of non-decreasing functions of real numbers, such as exp, which reject integers.
inline constexpr element_properties nondecreasing_real_function{&detail::monotone_rule,
                                                                detail::integer_support::rejected};
PARTITA_FORMER_NAME("use nondecreasing_real_function")
inline constexpr const element_properties& rising_real_function = nondecreasing_real_function;
PARTITA_FORMER_NAME("use nondecreasing_function")
inline constexpr const element_properties& rising_function = nondecreasing_function;
PARTITA_FORMER_NAME("use arithmetic_function")
inline constexpr const element_properties& number_function = arithmetic_function;

/// Changes properties to those of a function that also accepts complex elements, for which it is holomorphic with
/// f(conj z) = conj f(z), as exp: the gradient of a real loss with respect to z is dy conj(f'(z)).
constexpr element_properties holomorphic(element_properties of) {
  of.complex_elements = detail::complex_support::holomorphic;
  return of;
}
/// Changes properties to those of a function that also accepts complex elements, but is not holomorphic: its
/// derivatives map a cotangent dL/dRe y + i dL/dIm y to dL/dRe x + i dL/dIm x.
constexpr element_properties with_complex_derivative(element_properties of) {
  of.complex_elements = detail::complex_support::complex_derivative;
  return of;
}

/// Changes properties to those of a function with default values for its last parameters.
template <class... Number>
constexpr element_properties with_defaults(element_properties of, Number... numbers) {
  of.default_count = sizeof...(Number);
  of.defaults = {static_cast<double>(numbers)...};
  return of;
}

/// Makes a derivative from a function of the cotangent, of the values that it reads, and of the parameters, in this
/// order. The function must be linear in the cotangent. `Reads` is a bit mask: `derivative_from<2>` reads the second
/// operand, `derivative_from<3>` reads the first two operands, and `derivative_from<8>` reads the result.
template <unsigned Reads, operation::rule_maker Rule = Reads == 0 ? &detail::additive_rule : &detail::divide_rule,
          class Function>
constexpr detail::element_derivative<Reads, Rule, Function> derivative_from(Function) {  ///< reads the values in Reads
  return {};
}
/// Makes the derivative of a function y of one operand x. The derivative reads x (derivative_from_x), y
/// (derivative_from_y), or only the cotangent dy (derivative_from_cotangent).
template <class Function>
constexpr auto derivative_from_x(Function f) {
  return derivative_from<1>(f);
}
template <class Function>
constexpr auto derivative_from_y(Function f) {  ///< reads the result y and dy
  return derivative_from<8>(f);
}
template <class Function>
constexpr auto derivative_from_cotangent(Function f) {  ///< reads only dy
  return derivative_from<0>(f);
}
template <unsigned Reads, class Function>
PARTITA_FORMER_NAME("use derivative_from")
constexpr auto reading(Function f) {  ///< the former name of derivative_from
  return derivative_from<Reads>(f);
}
template <class Function>
PARTITA_FORMER_NAME("use derivative_from_cotangent")
constexpr auto reading_nothing(Function f) {  ///< the former name of derivative_from_cotangent
  return derivative_from_cotangent(f);
}
template <class Function>
PARTITA_FORMER_NAME("use derivative_from_x")
constexpr auto reading_x(Function f) {  ///< the former name of derivative_from_x
  return derivative_from_x(f);
}
template <class Function>
PARTITA_FORMER_NAME("use derivative_from_y")
constexpr auto reading_y(Function f) {  ///< the former name of derivative_from_y
  return derivative_from_y(f);
}
/// The derivative of a function whose cotangent is passed to the operand unchanged.
struct identity_derivative {
  static constexpr unsigned read_mask = 0;  ///< it reads only the cotangent
};
using passed_on PARTITA_FORMER_NAME("use identity_derivative") = identity_derivative;  ///< the former name
/// The derivative of piecewise constant functions such as floor, which is 0 wherever it exists. A backward pass through
/// such a function passes no cotangent to this operand.
struct no_derivative {
  static constexpr unsigned read_mask = 0;  ///< it reads nothing
};

/// A function of one to three elements, and of up to four numbers that are parameters of a call:
///
///     inline constexpr partita::element_function cube_root{
///         "cube_root", partita::nondecreasing_real_function, [](auto x) { return std::cbrt(x); },
///         partita::derivative_from_y([](auto dy, auto y) { return dy / (3 * y * y); })};
///
/// An element function declares one derivative for each operand. `apply_to_elements<cube_root>(x)` applies it to arrays
/// and tensors of all kinds.
template <class Value, class... Derivative>
struct element_function {
  static_assert(sizeof...(Derivative) >= 1 && sizeof...(Derivative) <= 4,
                "partita::element_function: requires one to three operands, and a derivative for each: "
                "derivative_from_x(f), derivative_from_y(f), identity_derivative() or no_derivative()");
  static_assert(std::is_empty_v<Value>, "partita::element_function: requires a function without captures");
  static constexpr std::size_t operands = sizeof...(Derivative);  ///< the number of operands
  /// The number of parameters, which are numbers that a call passes besides the operands.
  static constexpr std::size_t parameters = detail::parameter_count_of<Value>(std::make_index_sequence<operands>());
  using value = Value;  ///< the type of the function of elements
  template <std::size_t I>
  using derivative = std::tuple_element_t<I, std::tuple<Derivative...>>;  ///< with respect to operand I

  const char* name;               ///< of the function, for messages and logs
  element_properties properties;  ///< its rule, and which elements it accepts

  constexpr element_function(const char* name_text, const element_properties& with, Value, Derivative...)
      : name(name_text), properties(with) {}
};

namespace detail {

/// The parameters of a call that passes `numbers` for the first parameters; the others have their default values.
template <const auto& F, class... Number>
constexpr auto parameters_given(Number... numbers) {
  constexpr std::size_t all = std::remove_cvref_t<decltype(F)>::parameters, given = sizeof...(Number),
                        default_count = F.properties.default_count;
  static_assert(given <= all && given + default_count >= all,
                "partita: requires the numbers that are parameters of this function after x; the last ones may be left "
                "out where docs/sharded.md gives their values");
  std::array<double, all> parameters{};
  if constexpr (given <= all && given + default_count >= all) {
    std::size_t n = 0;
    ((parameters[n++] = numbers), ...);
    for (; n < all; ++n) parameters[n] = F.properties.defaults[n + default_count - all];
  }
  return parameters;
}
/// The number of values that a derivative reads, which is the number of bits that are set in the mask `reads`.
constexpr std::size_t read_value_count(unsigned reads) {
  std::size_t n = 0;
  for (; reads != 0; reads >>= 1U) n += reads & 1U;
  return n;
}
template <const auto& F, std::size_t I>
using derivative_of = typename std::remove_cvref_t<decltype(F)>::template derivative<I>;  ///< of F, by operand I

/// The name of the derivative of an element function: "gradient of " and the name of the function.
struct gradient_name {
  char letters[rule::most_letters + 1] = "gradient of ";  ///< cut off if it is too long
  constexpr explicit gradient_name(const char* of) {
    for (std::size_t k = 12; k < rule::most_letters && *of != '\0'; ++k) letters[k] = *of++;
  }
};
template <const auto& F>
inline constexpr gradient_name name_of_gradient{F.name};  ///< the name of the derivatives of F, for messages and logs
template <const auto& F, std::size_t I, class Function, std::size_t... Operand>
constexpr auto gradient_function(std::index_sequence<Operand...>) {  ///< the derivative Function as an element_function
  return element_function(name_of_gradient<F>.letters, {derivative_of<F, I>::rule}, Function(),
                          (static_cast<void>(Operand), no_derivative())...);
}
/// The derivative of F by operand I, as an element function of the cotangent and of the values that it reads.
template <const auto& F, std::size_t I>
inline constexpr auto operand_gradient = gradient_function<F, I, typename derivative_of<F, I>::function>(
    std::make_index_sequence<1 + read_value_count(derivative_of<F, I>::read_mask)>());

/// Calls the derivative of a holomorphic function with the complex conjugates of the values that the derivative reads.
template <class Function>
struct conjugated_function {
  template <class D, class... V>
    requires std::is_invocable_v<Function, D, V...>
  constexpr auto operator()(D dy, V... read) const {
    return Function()(dy, conjugate(read)...);
  }

 private:
  template <class V>
  static constexpr V conjugate(V x) {  ///< x itself if x is real
    if constexpr (std::is_arithmetic_v<V>) return x;
    else return V(x.real(), -x.imag());
  }
};
/// The derivative of a holomorphic function F by operand I for complex elements, as an element function.
template <const auto& F, std::size_t I>
inline constexpr auto conjugated_gradient =
    gradient_function<F, I, conjugated_function<typename derivative_of<F, I>::function>>(
        std::make_index_sequence<1 + read_value_count(derivative_of<F, I>::read_mask)>());

}  // namespace detail
}  // namespace partita
