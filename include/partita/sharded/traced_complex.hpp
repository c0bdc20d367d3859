// Traced programs of complex elements.
#pragma once

#include <complex>
#include <partita/sharded/bound_program.hpp>
#include <partita/sharded/traced_function.hpp>
#include <utility>

namespace partita {

/// A value of a program that is traced for complex elements. A traced program has one type of elements: what is real in
/// it, such as abs(z), has imaginary parts of 0.
class traced_complex : public traced {
 public:
  using value_type = std::complex<double>;  ///< a placeholder: the program computes with the type of its arguments
  using traced::traced;
  explicit traced_complex(traced x) : traced(std::move(x)) {}
};

namespace detail {

template <class Real>
struct traced_for<std::complex<Real>> {
  using type = traced_complex;
};

}  // namespace detail

/// The functions of traced values that do not depend on the type of elements.
inline traced_complex constrain(const traced_complex& x, const sharding& layout, std::size_t priority = 0) {
  return traced_complex(constrain(static_cast<const traced&>(x), layout, priority));
}
inline traced_complex stop_gradient(const traced_complex& x) {
  return traced_complex(stop_gradient(static_cast<const traced&>(x)));
}
inline traced_complex reshape(const traced_complex& x, const shape_list& extents) {
  return traced_complex(reshape(static_cast<const traced&>(x), extents));
}
template <std::size_t... E>
traced_complex reshape(const traced_complex& x, const extents<E...>& all) {
  return reshape(x, shape_list(all));
}
template <sharding S, class = void>
traced_complex reshape(const traced_complex& x, const shape_list& extents) {
  return constrain(reshape(x, extents), S);
}

/// trace(f, specs…) for a program of complex elements: `trace<std::complex<double>>(f, spec(layout, {8, 8}))`. It is
/// called with, and bound for, std::complex<float> or std::complex<double>.
template <class T, class F, class... Spec>
  requires(detail::is_complex<T> && (std::is_convertible_v<const Spec&, spec> && ...))
traced_function trace(const F& f, const Spec&... specs) {
  return detail::trace_by<traced_complex>(f, specs...);
}

}  // namespace partita
