// What an element function of sharded tensors is: one constexpr row with its name, its value and its derivatives, from
// which everything else about it is made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/rule/sharding/rules/elementwise.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace partita {
namespace detail {

enum class integers : std::uint8_t { allowed, kept, truncated, rejected };
/// What an element function makes of complex elements: a compile-time error; a holomorphic function, whose derivatives
/// get the conjugates of what they read; or a function whose derivatives are declared for complex elements.
enum class complex_elements : std::uint8_t { rejected, holomorphic, declared };

/// A derivative, and the values that it reads besides the cotangent: a bit for each operand, and 8 for the result.
template <unsigned Reads, operation::maker Rule, class Function>
struct element_derivative {
  static constexpr unsigned reads = Reads;
  static constexpr operation::maker rule = Rule;
  using function = Function;
};

/// The number of arguments of Value after its operands.
template <class Value, class... Operand>
constexpr std::size_t further_arguments() {
  if constexpr (std::is_invocable_v<Value, Operand...>) return 0;
  else if constexpr (sizeof...(Operand) < 8) return 1 + further_arguments<Value, Operand..., double>();
  else return 0;
}
template <class Value, std::size_t... I>
constexpr std::size_t parameters_of(std::index_sequence<I...>) {
  return further_arguments<Value, decltype(static_cast<double>(I))...>();
}

}  // namespace detail

/// What else is to be known about an element function: its rule, and what it makes of integers.
struct element_properties {
  /// The rule decides which pending reductions of the operands may be taken after the function.
  operation::maker rule = &detail::elementwise_rule;
  /// `rejected`: the results for integers are in general no integers, so integers are a compile-time error.
  /// `truncated`: they are rounded, so that pending sums of integers are taken before. `kept`: parameters are converted
  /// to integers; without it, parameters that are no integers make the function compute in floating point.
  detail::integers integers = detail::integers::allowed;
  std::size_t defaulted = 0;         ///< how many of the last parameters may be left out
  std::array<double, 4> defaults{};  ///< their values
  detail::complex_elements complex = detail::complex_elements::rejected;
};
/// Functions of real numbers, such as exp: integers are rejected.
inline constexpr element_properties real_function{.integers = detail::integers::rejected};
/// Functions that also accept integers.
inline constexpr element_properties number_function{};
/// Non-decreasing functions, which pending maxima and minima may follow.
inline constexpr element_properties rising_function{&detail::monotone_rule};
inline constexpr element_properties rising_real_function{&detail::monotone_rule, detail::integers::rejected};

/// The same for functions that also accept complex elements, and are holomorphic there with f(conj z) = conj f(z), as
/// exp: the gradient of a real loss by z is dy conj(f'(z)).
constexpr element_properties holomorphic(element_properties of) {
  of.complex = detail::complex_elements::holomorphic;
  return of;
}
/// The same for functions of complex elements that are not holomorphic: their derivatives map a cotangent dL/dRe y + i
/// dL/dIm y to dL/dRe x + i dL/dIm x.
constexpr element_properties with_complex_derivative(element_properties of) {
  of.complex = detail::complex_elements::declared;
  return of;
}

/// The same, with values for the last parameters if a call leaves them out.
template <class... Number>
constexpr element_properties with_defaults(element_properties of, Number... numbers) {
  of.defaulted = sizeof...(Number);
  of.defaults = {static_cast<double>(numbers)...};
  return of;
}

/// Derivatives: functions of the cotangent, then of the values that they read, then of the parameters. `reading<2>`
/// reads the second operand, `reading<3>` the first two, and 8 adds the result. They are linear in the cotangent.
template <unsigned Reads, operation::maker Rule = Reads == 0 ? &detail::additive_rule : &detail::divide_rule,
          class Function>
constexpr detail::element_derivative<Reads, Rule, Function> reading(Function) {
  return {};
}
/// The derivative of a function of one operand, from its argument or from its value.
template <class Function>
constexpr auto reading_x(Function f) {
  return reading<1>(f);
}
template <class Function>
constexpr auto reading_y(Function f) {
  return reading<8>(f);
}
template <class Function>
constexpr auto reading_nothing(Function f) {
  return reading<0>(f);
}
/// The cotangent itself.
struct passed_on {
  static constexpr unsigned reads = 0;
};
/// The derivative is 0 wherever there is one: no cotangent is passed back.
struct no_derivative {
  static constexpr unsigned reads = 0;
};

/// A function of one to three elements, and of up to four numbers that are parameters of a call:
///
///     inline constexpr partita::element_function cube_root{
///         "cube_root", partita::rising_real_function, [](auto x) { return std::cbrt(x); },
///         partita::reading_y([](auto dy, auto y) { return dy / (3 * y * y); })};
///
/// It has one derivative for each operand. `apply_to_elements<cube_root>(x)` applies it to arrays and tensors of all
/// kinds.
template <class Value, class... Derivative>
struct element_function {
  static_assert(sizeof...(Derivative) >= 1 && sizeof...(Derivative) <= 4,
                "partita::element_function: requires one to three operands, and a derivative for each: "
                "reading_x(f), reading_y(f), passed_on() or no_derivative()");
  static_assert(std::is_empty_v<Value>, "partita::element_function: requires a function without captures");
  static constexpr std::size_t operands = sizeof...(Derivative);
  static constexpr std::size_t parameters = detail::parameters_of<Value>(std::make_index_sequence<operands>());
  using value = Value;
  template <std::size_t I>
  using derivative = std::tuple_element_t<I, std::tuple<Derivative...>>;

  const char* name;
  element_properties properties;

  constexpr element_function(const char* called, const element_properties& with, Value, Derivative...)
      : name(called), properties(with) {}
};

namespace detail {

/// The parameters of a call that gives the first of them.
template <const auto& F, class... Number>
constexpr auto parameters_given(Number... numbers) {
  constexpr std::size_t all = std::remove_cvref_t<decltype(F)>::parameters, given = sizeof...(Number),
                        defaulted = F.properties.defaulted;
  static_assert(given <= all && given + defaulted >= all,
                "partita: requires the numbers that are parameters of this function after x; the last ones may be left "
                "out where docs/sharded.md gives their values");
  std::array<double, all> parameters{};
  if constexpr (given <= all && given + defaulted >= all) {
    std::size_t n = 0;
    ((parameters[n++] = numbers), ...);
    for (; n < all; ++n) parameters[n] = F.properties.defaults[n + defaulted - all];
  }
  return parameters;
}
/// The number of values that a derivative reads.
constexpr std::size_t values_read(unsigned reads) {
  std::size_t n = 0;
  for (; reads != 0; reads >>= 1U) n += reads & 1U;
  return n;
}
template <const auto& F, std::size_t I>
using derivative_of = typename std::remove_cvref_t<decltype(F)>::template derivative<I>;

/// The derivative of F by operand I as an element function of the cotangent and of what it reads.
struct gradient_name {
  char letters[rule::most_letters + 1] = "gradient of ";
  constexpr explicit gradient_name(const char* of) {
    for (std::size_t k = 12; k < rule::most_letters && *of != '\0'; ++k) letters[k] = *of++;
  }
};
template <const auto& F>
inline constexpr gradient_name name_of_gradient{F.name};
template <const auto& F, std::size_t I, class Function, std::size_t... Operand>
constexpr auto gradient_function(std::index_sequence<Operand...>) {
  using derivative = derivative_of<F, I>;
  return element_function(name_of_gradient<F>.letters, {derivative::rule}, Function(),
                          (static_cast<void>(Operand), no_derivative())...);
}
template <const auto& F, std::size_t I>
inline constexpr auto gradient_by = gradient_function<F, I, typename derivative_of<F, I>::function>(
    std::make_index_sequence<1 + values_read(derivative_of<F, I>::reads)>());

/// The same for complex elements of a holomorphic function: the derivative of the conjugates of what it reads.
template <class Function>
struct of_conjugates {
  template <class D, class... V>
    requires std::is_invocable_v<Function, D, V...>
  constexpr auto operator()(D dy, V... read) const {
    return Function()(dy, conjugate(read)...);
  }

 private:
  template <class V>
  static constexpr V conjugate(V x) {
    if constexpr (std::is_arithmetic_v<V>) return x;
    else return V(x.real(), -x.imag());
  }
};
template <const auto& F, std::size_t I>
inline constexpr auto conjugate_gradient_by =
    gradient_function<F, I, of_conjugates<typename derivative_of<F, I>::function>>(
        std::make_index_sequence<1 + values_read(derivative_of<F, I>::reads)>());

}  // namespace detail
}  // namespace partita
