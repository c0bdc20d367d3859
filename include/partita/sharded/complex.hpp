// Functions of tensors of complex numbers: conjugate, real and imaginary part, absolute value, angle, and complex
// tensors made of two real tensors; also traced programs with complex values. partita.hpp does not include this header.
//
// The gradient of a real loss L with respect to z is dL/dRe z + i dL/dIm z, as in PyTorch: the direction of steepest
// ascent.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <partita/array/real_part.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/sharded/detail/convert_elements.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/traced_complex.hpp>
#include <type_traits>
#include <vector>

namespace partita {
namespace element_functions {

/// Properties of element functions that accept complex elements and give results of the same type.
inline constexpr element_properties additive_complex_properties = with_complex_derivative(additive_properties),
                                    complex_properties = with_complex_derivative(arithmetic_function);
/// The real part of a complex number, as a complex number with imaginary part 0.
inline constexpr element_function real_part{
    "real", additive_complex_properties, apply_if_complex([](auto z) { return decltype(z)(z.real()); }),
    derivative_from<0, &detail::additive_rule>(apply_if_complex([](auto dy) { return decltype(dy)(dy.real()); }))};
/// The imaginary part of a complex number, as the real part of a complex number with imaginary part 0.
inline constexpr element_function imaginary_part{
    "imag", additive_complex_properties, apply_if_complex([](auto z) { return decltype(z)(z.imag()); }),
    derivative_from<0, &detail::additive_rule>(apply_if_complex([](auto dy) { return decltype(dy)(0, dy.real()); }))};
/// The derivative of the absolute value: z / |z|, and 0 where z is 0.
inline constexpr auto abs_derivative =
    apply_if_complex([](auto z) { return z == decltype(z)(0) ? z : z / std::abs(z); });
/// The derivative of the angle: i z / |z|², and 0 where z is 0.
inline constexpr auto angle_derivative =
    apply_if_complex([](auto z) { return z == decltype(z)(0) ? z : decltype(z)(-z.imag(), z.real()) / std::norm(z); });
/// The absolute value of a complex number, as a complex number with imaginary part 0.
inline constexpr element_function absolute_value{
    "abs", complex_properties, apply_if_complex([](auto z) { return decltype(z)(std::abs(z)); }),
    derivative_from_x(apply_if_complex([](auto dy, auto z) { return dy.real() * decltype(abs_derivative)()(z); }))};
/// The angle of a complex number in (-pi, pi], as a complex number with imaginary part 0.
inline constexpr element_function angle_of{
    "angle", complex_properties, apply_if_complex([](auto z) { return decltype(z)(std::arg(z)); }),
    derivative_from_x(apply_if_complex([](auto dy, auto z) { return dy.real() * decltype(angle_derivative)()(z); }))};

}  // namespace element_functions

namespace detail {

/// X is a tensor or an array of complex numbers.
template <class X>
concept complex_tensor = any_tensor<X> && is_complex<element_of_tensor<X>>;
template <class X>
concept real_tensor = any_tensor<X> && std::is_floating_point_v<element_of_tensor<X>>;

/// Whether a function of complex numbers with real results is linear, that is, its derivative reads no argument.
template <const auto& F>
inline constexpr bool is_linear_function = derivative_of<F, 0>::read_mask == 0;

template <const auto& F, class T>
sharded_tensor<T> apply_complex_to_real(const sharded_tensor<std::complex<T>>& z);

/// Makes a complex tensor from its real parts and, if there is a second tensor, its imaginary parts.
template <class T>
sharded_tensor<std::complex<T>> join_parts(std::vector<sharded_tensor<T>> parts) {
  using complex = std::complex<T>;
  const sharding there = layout_of_function(parts.front().layout(), parts.back().layout());
  for (auto& part : parts) part = to_layout(part, there);
  return convert_elements<complex, T>(
      "to_complex", parts.size(), parts, there, parts[0].extents(),
      [n = parts[0].size(), both = parts.size() == 2](const T* const* from, complex* to) {
        for (std::size_t k = 0; k < n; ++k) to[k] = complex(from[0][k], both ? from[1][k] : T(0));
      },
      [](std::size_t i, const sharded_tensor<complex>& dy) {
        return i == 0 ? apply_complex_to_real<element_functions::real_part>(dy)
                      : apply_complex_to_real<element_functions::imaginary_part>(dy);
      });
}
/// Applies an element function with real results to complex numbers. The element function returns complex numbers with
/// imaginary part 0, and this function returns their real parts.
template <const auto& F, class T>
sharded_tensor<T> apply_complex_to_real(const sharded_tensor<std::complex<T>>& input) {
  using complex = std::complex<T>;
  const sharding there = layout_of_function(is_linear_function<F>, input.layout());
  const sharded_tensor<complex> z = to_layout(input, there);
  std::vector<sharded_tensor<complex>> kept;
  if constexpr (!is_linear_function<F>) kept.push_back(detach(z));
  return convert_elements<T, complex>(
      F.name, 0, {z}, there, z.extents(),
      [n = z.size()](const complex* const* from, T* to) {
        typename std::remove_cvref_t<decltype(F)>::value value;
        for (std::size_t k = 0; k < n; ++k) to[k] = value(from[0][k]).real();
      },
      [kept](std::size_t, const sharded_tensor<T>& dy) {
        std::vector<sharded_tensor<complex>> read{join_parts<T>({dy})};
        read.insert(read.end(), kept.begin(), kept.end());
        return run_elements(elements_op<operand_gradient<F, 0>>{}, read);
      },
      kept);
}

/// An element function from complex to real numbers in a traced program.
template <const auto& F>
struct complex_to_real_function {
  using operand_type = std::complex<double>;  ///< a placeholder for both precisions, as result_type is
  using result_type = double;                 ///< a placeholder for float and double
  static constexpr partita::rule rule(const shape_span& shapes) { return elements_op<F>::rule(shapes); }  ///< that of F
  template <class T>
  auto convert(const std::vector<sharded_tensor<T>>& z) const {  ///< F of the tensor z[0], with real elements
    return apply_complex_to_real<F>(z[0]);
  }
};
struct real_to_complex_function {            ///< to_complex in a traced program
  using operand_type = double;               ///< a placeholder for both precisions, as result_type is
  using result_type = std::complex<double>;  ///< a placeholder for both precisions
  static constexpr partita::rule rule(const shape_span& shapes) {  ///< the sharding rule for operands of these shapes
    return operation{"to_complex", element_functions::additive_complex_properties.rule, {}}(shapes);
  }
  template <class T>
  auto convert(const std::vector<sharded_tensor<T>>& parts) const {  ///< joins real and, if given, imaginary parts
    return join_parts<T>(parts);
  }
};

/// Applies an element function from complex to real numbers to a tensor of any kind.
template <const auto& F, class T, auto Layout>
auto real_function_call(const typed_sharded<std::complex<T>, Layout>& z) {
  return typed_sharded<T, function_layout_name<is_linear_function<F>, Layout>>(
      apply_complex_to_real<F>(z.run_time_tensor()));
}
template <const auto& F, class T>
auto real_function_call(const sharded_tensor<std::complex<T>>& z) {
  return apply_complex_to_real<F>(z);
}
template <const auto& F>
auto real_function_call(const traced_complex& z) {
  return trace_element_change(complex_to_real_function<F>{}, z);
}
template <const auto& F, ranked_array X>
auto real_function_call(const X& z) {  ///< applies F to a plain array of complex numbers
  return as_array<rank_of<X>>(apply_complex_to_real<F>(as_run_time(z)));
}

inline void require_equal_parts(const shape_list& a, const shape_list& b) {  ///< throws if a and b differ as extents
  if (!(a == b))
    throw shape_error(text("partita::to_complex(re, im): requires tensors of equal extents, got ")
                      << a << " and " << b << "; reshape one of them");
}
template <class T>
sharded_tensor<std::complex<T>> combine_complex(const sharded_tensor<T>& a, const sharded_tensor<T>& b) {  ///< a + i b
  require_equal_parts(a.extents(), b.extents());
  if (a.state()->on != b.state()->on)
    throw partition_error(
        "partita::to_complex(re, im): requires tensors on one mesh of one world; make them from the same mesh");
  return join_parts<T>({a, b});
}

}  // namespace detail

/// The complex conjugate of each element. Real numbers are not changed.
/// Shapes:   those of z, a plain array, a sharded tensor of any kind or a traced value.
/// Requires: nothing. Pending sums and means stay pending.
/// Cost:     one pass; no communication, unless another reduction than a sum or a mean is pending.
/// Adjoint:  conj(dy).
template <class X>
  requires detail::any_tensor<X>
auto conj(X&& z) {
  return detail::call(detail::elements_op<element_functions::conj<>>{}, z);
}

/// The real and the imaginary part, the absolute value and the angle, in (-pi, pi], of each element.
/// Shapes:   those of z; elements are of the real type.
/// Requires: complex elements [compile time].
/// Cost:     one pass; no communication unless z is partial. abs and angle execute pending reductions first; after real
///           and imag, pending sums and means stay pending.
/// Adjoint:  dz is dy for real, i dy for imag, dy z / |z| for abs, and i dy z / |z|² for angle (0 where z is 0).
template <class X>
  requires detail::any_tensor<X>
auto real(X&& z) {
  static_assert(detail::complex_tensor<X>, "partita::real(z): requires complex elements; x itself is real");
  if constexpr (detail::complex_tensor<X>) return detail::real_function_call<element_functions::real_part>(z);
  else return detail::rejected_call{};
}
template <class X>
  requires detail::any_tensor<X>
auto imag(X&& z) {  ///< the imaginary part of each element; see real
  static_assert(detail::complex_tensor<X>, "partita::imag(z): requires complex elements; x itself is real");
  if constexpr (detail::complex_tensor<X>) return detail::real_function_call<element_functions::imaginary_part>(z);
  else return detail::rejected_call{};
}
template <class X>
  requires(detail::tensor_value<X> && detail::complex_tensor<X>)
auto abs(X&& z) {  ///< the absolute value of each element; see real
  return detail::real_function_call<element_functions::absolute_value>(z);
}
/// The angle of each element in (-pi, pi]; see real.
template <class X>
  requires detail::any_tensor<X>
auto angle(X&& z) {
  static_assert(detail::complex_tensor<X>, "partita::angle(z): requires complex elements; to_complex(x) makes them");
  if constexpr (detail::complex_tensor<X>) return detail::real_function_call<element_functions::angle_of>(z);
  else return detail::rejected_call{};
}

/// Makes the complex tensor with real parts `re` and imaginary parts `im`. If `im` is not given, the imaginary parts
/// are 0.
/// Shapes:   re and im have equal extents [shape_error]. If their layouts differ, pending reductions are executed, and
///           im is resharded to the layout of re.
/// Requires: elements of float or double [compile time].
/// Cost:     one pass; no communication if the layouts are equal and nothing but sums and means is pending; these stay
///           pending in the result.
/// Adjoint:  the real and the imaginary part of dy.
template <class T>
  requires std::is_floating_point_v<T>
auto to_complex(const sharded_tensor<T>& re) {
  return detail::join_parts<T>({re});
}
template <class T>
  requires std::is_floating_point_v<T>
auto to_complex(const sharded_tensor<T>& re, const sharded_tensor<T>& im) {
  return detail::combine_complex(re, im);
}
template <class T, auto Layout>
  requires std::is_floating_point_v<T>
auto to_complex(const typed_sharded<T, Layout>& re) {
  return typed_sharded<std::complex<T>, detail::function_layout_name<true, Layout>>(
      detail::join_parts<T>({re.run_time_tensor()}));
}
template <class T, auto A, auto B>
  requires std::is_floating_point_v<T>
auto to_complex(const typed_sharded<T, A>& re, const typed_sharded<T, B>& im) {
  return typed_sharded<std::complex<T>, detail::binary_function_layout_name<A, B>>(
      detail::combine_complex(re.run_time_tensor(), im.run_time_tensor()));
}
template <class X>
  requires(detail::tensor_kind<X> == 3 && detail::real_tensor<X>)
auto to_complex(const X& re) {  ///< of a traced value: real parts re, imaginary parts 0
  return detail::trace_element_change(detail::real_to_complex_function(), re);
}
template <class X, class Y>
  requires(detail::tensor_kind<X> == 3 && detail::tensor_kind<Y> == 3 && detail::real_tensor<X> &&
           detail::real_tensor<Y>)
auto to_complex(const X& re, const Y& im) {
  detail::require_equal_parts(re.extents(), im.extents());
  return detail::trace_element_change(detail::real_to_complex_function(), re, im);
}
template <ranked_array X>
  requires detail::real_tensor<X>
auto to_complex(const X& re) {
  return detail::as_array<rank_of<X>>(detail::join_parts<element_of<X>>({detail::as_run_time(re)}));
}
template <ranked_array X, ranked_array Y>
  requires(detail::real_tensor<X> && std::is_same_v<element_of<X>, element_of<Y>>)
auto to_complex(const X& re, const Y& im) {
  return detail::as_array<rank_of<X>>(detail::combine_complex(detail::as_run_time(re), detail::as_run_time(im)));
}
PARTITA_FALLBACK_OVERLOAD(to_complex) {
  static_assert(detail::dependent_false<Given...>,
                "partita::to_complex(re, im): requires one or two tensors, or arrays, of float or of double");
  return detail::rejected_call{};
}

/// Selects complex elements by a real condition: `where(condition, a, b)`, also for arrays, for which xtensor's `where`
/// does not accept complex elements.
template <class C, class A, class B>
  requires(detail::where_operands<C, A, B> && detail::real_tensor<C> &&
           (detail::complex_tensor<A> || detail::complex_tensor<B>))
auto where(C&& condition, A&& a, B&& b) {  ///< elements of a where the condition is not 0, elsewhere of b
  return where(to_complex(condition), a, b);
}
template <ranked_array C, class A, class B>
  requires(!detail::tensor_value<A> && !detail::tensor_value<B> &&
           (detail::complex_tensor<A> || detail::complex_tensor<B>))
auto where(C&& condition, A&& a, B&& b) {
  using element = element_of<std::conditional_t<detail::complex_tensor<A>, A, B>>;
  const xt::xtensor<element, rank_of<C>> mask = xt::cast<element>(condition);
  const auto whole = [&]<class X>(const X& x) {
    if constexpr (detail::number<X>) return detail::as_run_time(xt::full_like(mask, element(x)));
    else return detail::as_run_time(x);
  };
  return detail::as_array<rank_of<C>>(where(detail::as_run_time(mask), whole(a), whole(b)));
}

}  // namespace partita
