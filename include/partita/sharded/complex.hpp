// Functions of tensors of complex numbers: conjugate, real and imaginary part, absolute value, angle, and the complex
// tensor of two real ones; and traced programs of complex elements. partita.hpp does not include this header.
//
// The gradient of a real loss L by z is dL/dRe z + i dL/dIm z, as in PyTorch: the direction in which L increases most.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <partita/array/real_part.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/sharded/detail/between_elements.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/traced_complex.hpp>
#include <type_traits>
#include <vector>

namespace partita {
namespace element_functions {

// For complex elements, with results of the same type.
inline constexpr element_properties additive_complex = with_complex_derivative(additive),
                                    complex_number = with_complex_derivative(number_function);
inline constexpr element_function real_part{
    "real", additive_complex, of_complex([](auto z) { return decltype(z)(z.real()); }),
    reading<0, &detail::additive_rule>(of_complex([](auto dy) { return decltype(dy)(dy.real()); }))};
inline constexpr element_function imaginary_part{
    "imag", additive_complex, of_complex([](auto z) { return decltype(z)(z.imag()); }),
    reading<0, &detail::additive_rule>(of_complex([](auto dy) { return decltype(dy)(0, dy.real()); }))};
/// a + i b of the real parts of a and b.
inline constexpr element_function complex_of_parts{
    "to_complex", additive_complex, of_complex([](auto a, auto b) { return decltype(a)(a.real(), b.real()); }),
    reading<0, &detail::additive_rule>(of_complex([](auto dy) { return decltype(dy)(dy.real()); })),
    reading<0, &detail::additive_rule>(of_complex([](auto dy) { return decltype(dy)(dy.imag()); }))};
inline constexpr auto times_i = of_complex([](auto z) { return decltype(z)(-z.imag(), z.real()); });
/// z / |z|, and 0 of 0: the derivative of the absolute value.
inline constexpr auto direction = of_complex([](auto z) { return z == decltype(z)(0) ? z : z / std::abs(z); });
/// i z / |z|², and 0 of 0: the derivative of the angle.
inline constexpr auto turn =
    of_complex([](auto z) { return z == decltype(z)(0) ? z : decltype(z)(-z.imag(), z.real()) / std::norm(z); });
inline constexpr element_function absolute_value{
    "abs", complex_number, of_complex([](auto z) { return decltype(z)(std::abs(z)); }),
    reading_x(of_complex([](auto dy, auto z) { return dy.real() * decltype(direction)()(z); }))};
inline constexpr element_function angle_of{
    "angle", complex_number, of_complex([](auto z) { return decltype(z)(std::arg(z)); }),
    reading_x(of_complex([](auto dy, auto z) { return dy.real() * decltype(turn)()(z); }))};
inline constexpr element_function times_i_of{"times i", additive_complex, times_i, no_derivative()};
inline constexpr element_function direction_of{"direction", complex_number, direction, no_derivative()};
inline constexpr element_function turn_of{"turn", complex_number, turn, no_derivative()};

}  // namespace element_functions

namespace detail {

/// X is a tensor or an array of complex numbers.
template <class X>
concept complex_tensor = any_tensor<X> && is_complex<element_of_tensor<X>>;
template <class X>
concept real_tensor = any_tensor<X> && std::is_floating_point_v<element_of_tensor<X>>;

/// The functions of one tensor of complex numbers, with real results: their value, and the cotangent of z.
struct real_part_function {
  static constexpr const char* name = "real";
  static constexpr bool is_linear = true;
  static constexpr const auto& traced_row = element_functions::real_part;
  template <class T>
  static T value(const std::complex<T>& z) {
    return z.real();
  }
};
struct imaginary_part_function {
  static constexpr const char* name = "imag";
  static constexpr bool is_linear = true;
  static constexpr const auto& traced_row = element_functions::imaginary_part;
  template <class T>
  static T value(const std::complex<T>& z) {
    return z.imag();
  }
};
struct absolute_value_function {
  static constexpr const char* name = "abs";
  static constexpr bool is_linear = false;
  static constexpr const auto& traced_row = element_functions::absolute_value;
  static constexpr const auto& derivative = element_functions::direction_of;
  template <class T>
  static T value(const std::complex<T>& z) {
    return std::abs(z);
  }
};
struct angle_function {
  static constexpr const char* name = "angle";
  static constexpr bool is_linear = false;
  static constexpr const auto& traced_row = element_functions::angle_of;
  static constexpr const auto& derivative = element_functions::turn_of;
  template <class T>
  static T value(const std::complex<T>& z) {
    return std::arg(z);
  }
};

template <class Function, class T>
sharded_tensor<T> real_function_of(const sharded_tensor<std::complex<T>>& z);

/// A real tensor as the real parts of a complex one, whose imaginary parts are 0.
template <class T>
sharded_tensor<std::complex<T>> as_complex(const sharded_tensor<T>& x) {
  using complex = std::complex<T>;
  const sharding there = layout_of_function(true, x.layout());
  return between_elements<complex, T>(
      "to_complex", 1, {brought_to(x, there)}, there, x.extents(),
      [](const std::vector<tensor_block<T>>& from, const tensor_block<complex>& to) {
        for (std::size_t k = 0; k < to.size(); ++k) to.data()[k] = complex(from[0].data()[k]);
      },
      [](std::size_t, const sharded_tensor<complex>& dy) { return real_function_of<real_part_function>(dy); });
}
template <class T>
sharded_tensor<std::complex<T>> as_complex(const sharded_tensor<T>& a, const sharded_tensor<T>& b) {
  using complex = std::complex<T>;
  const sharding there = layout_of_function(a.layout(), b.layout());
  return between_elements<complex, T>(
      "to_complex", 2, {brought_to(a, there), brought_to(b, there)}, there, a.extents(),
      [](const std::vector<tensor_block<T>>& from, const tensor_block<complex>& to) {
        for (std::size_t k = 0; k < to.size(); ++k) to.data()[k] = complex(from[0].data()[k], from[1].data()[k]);
      },
      [](std::size_t i, const sharded_tensor<complex>& dy) {
        return i == 0 ? real_function_of<real_part_function>(dy) : real_function_of<imaginary_part_function>(dy);
      });
}
template <class Function, class T>
sharded_tensor<T> real_function_of(const sharded_tensor<std::complex<T>>& given) {
  using complex = std::complex<T>;
  const sharding there = layout_of_function(Function::is_linear, given.layout());
  const sharded_tensor<complex> z = brought_to(given, there);
  std::vector<sharded_tensor<complex>> kept;
  if constexpr (!Function::is_linear) kept.push_back(detached(z));
  return between_elements<T, complex>(
      Function::name, 0, {z}, there, z.extents(),
      [](const std::vector<tensor_block<complex>>& from, const tensor_block<T>& to) {
        for (std::size_t k = 0; k < to.size(); ++k) to.data()[k] = Function::value(from[0].data()[k]);
      },
      [kept](std::size_t, const sharded_tensor<T>& dy) {
        namespace f = element_functions;
        const auto d = as_complex(dy);
        if constexpr (std::is_same_v<Function, real_part_function>) return d;
        else if constexpr (Function::is_linear) return run_elements(elements_op<f::times_i_of>{}, std::vector{d});
        else
          return run_elements(elements_op<f::multiply>{},
                              std::vector{d, run_elements(elements_op<Function::derivative>{}, kept)});
      },
      kept);
}

/// A function with real results of tensors of any kind.
template <class Function, class T, auto Layout>
auto real_function_call(const typed_sharded<std::complex<T>, Layout>& z) {
  return typed_sharded<T, name_in_place<Function::is_linear, Layout>>(real_function_of<Function>(z.at_run_time()));
}
template <class Function, class T>
auto real_function_call(const sharded_tensor<std::complex<T>>& z) {
  return real_function_of<Function>(z);
}
template <class Function>
auto real_function_call(const traced_complex& z) {
  return call(elements_op<Function::traced_row>{}, z);
}
template <class Function, ranked_array X>
auto real_function_call(const X& z) {
  return as_array<rank_of<X>>(real_function_of<Function>(as_run_time(z)));
}

template <class T>
void require_equal_parts(const sharded_tensor<T>& a, const sharded_tensor<T>& b) {
  if (!(a.extents() == b.extents()))
    throw shape_error(text("partita::to_complex(re, im): requires tensors of equal extents, got ")
                      << a.extents() << " and " << b.extents() << "; reshape one of them");
  if (a.state()->on != b.state()->on)
    throw partition_error(
        "partita::to_complex(re, im): requires tensors on one mesh of one world; make them from the same mesh");
}
template <class T>
sharded_tensor<std::complex<T>> complex_of(const sharded_tensor<T>& a, const sharded_tensor<T>& b) {
  require_equal_parts(a, b);
  return as_complex(a, b);
}

}  // namespace detail

/// The complex conjugate of each element; real numbers are their own.
/// Shapes:   those of z, a plain array, a sharded tensor of any kind or a traced value.
/// Requires: nothing; pending sums stay pending.
/// Cost:     one pass; no communication.
/// Adjoint:  conj(dy).
template <class X>
  requires detail::any_tensor<X>
auto conj(X&& z) {
  return detail::call(detail::elements_op<element_functions::conj<>>{}, z);
}

/// The real and the imaginary part, the absolute value and the angle, in (-pi, pi], of each element.
/// Shapes:   those of z; elements are of the real type. In a traced program they are complex with imaginary part 0.
/// Requires: complex elements [compile time].
/// Cost:     one pass; no communication, but pending sums are taken before abs and angle.
/// Adjoint:  of real, dy; of imag, i dy; of abs, dy z / |z|; of angle, i dy z / |z|²; 0 where z is 0.
template <class X>
  requires detail::any_tensor<X>
auto real(X&& z) {
  static_assert(detail::complex_tensor<X>, "partita::real(z): requires complex elements; x itself is real");
  if constexpr (detail::complex_tensor<X>) return detail::real_function_call<detail::real_part_function>(z);
  else return detail::rejected_call{};
}
template <class X>
  requires detail::any_tensor<X>
auto imag(X&& z) {
  static_assert(detail::complex_tensor<X>, "partita::imag(z): requires complex elements; x itself is real");
  if constexpr (detail::complex_tensor<X>) return detail::real_function_call<detail::imaginary_part_function>(z);
  else return detail::rejected_call{};
}
template <class X>
  requires(detail::tensor_value<X> && detail::complex_tensor<X>)
auto abs(X&& z) {
  return detail::real_function_call<detail::absolute_value_function>(z);
}
template <class X>
  requires detail::any_tensor<X>
auto angle(X&& z) {
  static_assert(detail::complex_tensor<X>, "partita::angle(z): requires complex elements; to_complex(x) makes them");
  if constexpr (detail::complex_tensor<X>) return detail::real_function_call<detail::angle_function>(z);
  else return detail::rejected_call{};
}

/// The complex tensor with these real and imaginary parts; without the second one, imaginary parts of 0.
/// Shapes:   re and im have equal extents [shape_error]. If their layouts differ, the result has that of re, and im is
///           resharded.
/// Requires: elements of float or double [compile time]; in a program that is traced for complex elements, traced
///           values, of whose elements the real parts are taken.
/// Cost:     one pass; no communication if the layouts are equal. Equal pending sums stay pending.
/// Adjoint:  the real and the imaginary part of dy.
template <class T>
  requires std::is_floating_point_v<T>
auto to_complex(const sharded_tensor<T>& re) {
  return detail::as_complex(re);
}
template <class T>
  requires std::is_floating_point_v<T>
auto to_complex(const sharded_tensor<T>& re, const sharded_tensor<T>& im) {
  return detail::complex_of(re, im);
}
template <class T, auto Layout>
  requires std::is_floating_point_v<T>
auto to_complex(const typed_sharded<T, Layout>& re) {
  return typed_sharded<std::complex<T>, detail::name_in_place<true, Layout>>(detail::as_complex(re.at_run_time()));
}
template <class T, auto A, auto B>
  requires std::is_floating_point_v<T>
auto to_complex(const typed_sharded<T, A>& re, const typed_sharded<T, B>& im) {
  return typed_sharded<std::complex<T>, detail::name_in_place_of_two<A, B>>(
      detail::complex_of(re.at_run_time(), im.at_run_time()));
}
inline traced_complex to_complex(const traced_complex& re) {
  return detail::call(detail::elements_op<element_functions::real_part>{}, re);
}
inline traced_complex to_complex(const traced_complex& re, const traced_complex& im) {
  return detail::call(detail::elements_op<element_functions::complex_of_parts>{}, re, im);
}
template <ranked_array X>
  requires detail::real_tensor<X>
auto to_complex(const X& re) {
  return detail::as_array<rank_of<X>>(detail::as_complex(detail::as_run_time(re)));
}
template <ranked_array X, ranked_array Y>
  requires(detail::real_tensor<X> && std::is_same_v<element_of<X>, element_of<Y>>)
auto to_complex(const X& re, const Y& im) {
  return detail::as_array<rank_of<X>>(detail::complex_of(detail::as_run_time(re), detail::as_run_time(im)));
}
PARTITA_FALLBACK_OVERLOAD(to_complex) {
  static_assert(detail::dependent_false<Given...>,
                "partita::to_complex(re, im): requires one or two tensors, or arrays, of float or of double");
  return detail::rejected_call{};
}

}  // namespace partita
