// The values of a program that is being traced, and the operations on them.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/array/real_part.hpp>
#include <partita/core/config.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/plan/complete.hpp>
#include <partita/sharded/detail/traced_windows.hpp>
#include <partita/sharded/operations.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

class traced_function;

namespace detail {

struct mixed_type_execution;

/// A program that is being traced: a graph, and for each of its operations the work on blocks.
struct traced_program {
  graph operations;                                              ///< the operations, their rules and their values
  std::vector<applied_operation> applied_operations;             ///< for each operation, its work on blocks
  std::vector<std::shared_ptr<const operation_window>> windows;  ///< the windows to which operations refer
  std::vector<std::uint32_t> gradient_stops;  ///< for each operation, a bit mask of the operands that get no gradient
  const mixed_type_execution* mixed_execution = nullptr;  ///< null if all values have one element type
  /// Finds the reshards of the backward pass by a dry run. `trace`, which knows whether values are real or complex,
  /// sets this function pointer.
  std::vector<backward_reshard> (*backward_reshards)(const traced_function&) = nullptr;

  PARTITA_DECL explicit traced_program(const mesh& m);  ///< without operations, on the mesh m
  /// Adds the work on blocks for the operation that was added to the graph last.
  PARTITA_DECL void add(const applied_operation& done, const std::shared_ptr<const operation_window>& window,
                        std::uint32_t no_gradient_bits);
};

}  // namespace detail

/// A value of a program that is being traced, which has extents but no elements.
class traced {
 public:
  using value_type = double;  ///< a placeholder: a traced program computes with the element type of its arguments

  traced(std::shared_ptr<detail::traced_program> program, value v, bool is_constant = false)
      : program_(std::move(program)), value_(v), is_stopped_(is_constant) {}
  const shape_list& extents() const { return program_->operations[value_].shape; }  ///< of the whole tensor
  value number_in_graph() const { return value_; }                                  ///< the number of this value
  /// Whether this value is a constant for differentiation.
  bool is_gradient_stopped() const { return is_stopped_; }
  const std::shared_ptr<detail::traced_program>& program() const { return program_; }  ///< being traced

  // Reading elements of a traced value is a compile-time error.
  template <class E = value_type>
  E number() const {
    static_assert(detail::dependent_false<E>,
                  "partita::traced::number(): requires elements, which a value of a program that is being traced does "
                  "not have; return it from the function, or choose elements by where(condition, a, b)");
    return {};
  }
  template <std::size_t N>
  detail::rejected_call whole() const {  ///< a compile-time error
    static_assert(
        detail::dependent_false<std::array<int, N>>,
        "partita::traced::whole(): requires elements, which a value of a program that is being traced does not "
        "have; return it from the function");
    return {};
  }
  template <std::size_t N>
  detail::rejected_call local() const {  ///< a compile-time error
    static_assert(
        detail::dependent_false<std::array<int, N>>,
        "partita::traced::local(): requires elements, which a value of a program that is being traced does not "
        "have; return it from the function");
    return {};
  }

 private:
  std::shared_ptr<detail::traced_program> program_;  ///< shared by all values of the program
  value value_;                                      ///< the number of this value in the graph
  bool is_stopped_;                                  ///< whether it is a constant for differentiation
};

/// Sets the layout of a value of a program. For a traced value, the layout becomes an annotation in the program; a
/// sharded tensor is resharded to the layout; a plain array is returned unchanged. Annotations with lower priority
/// numbers are propagated first.
PARTITA_DECL traced constrain(const traced& x, const sharding& layout, std::size_t priority = 0);
template <class T>
sharded_tensor<T> constrain(const sharded_tensor<T>& x, const sharding& layout) {
  return reshard(x, layout);
}
template <ranked_array X>
const X& constrain(const X& x, const sharding&) {
  return x;
}
/// Returns x as a constant for differentiation, which has no gradient.
inline traced stop_gradient(const traced& x) { return {x.program(), x.number_in_graph(), true}; }

namespace detail {

/// Adds an operation to the program that is being traced. `window` describes what the operation moves if dimensions
/// along which it works are sharded; it is null if these dimensions must be whole.
template <class... X>
traced trace_operation(const applied_operation& work, const std::shared_ptr<const operation_window>& window,
                       const X&... x) {
  const std::shared_ptr<traced_program> programs[] = {x.program()...};
  if (!((x.program() == programs[0]) && ...))
    throw error(text("partita::") << work.how.name()
                                  << ": requires values of one program, but got one of another program that is being "
                                     "traced; make it an argument of the inner one");
  traced_program& p = *programs[0];
  const bool windows = window != nullptr;
  const partita::operation_results y =
      !windows ? p.operations.apply(work.how, {x.number_in_graph()...}, work.how.name())
               : p.operations.apply(with_shardable_dimensions(work.how, window->of, window->dimensions),
                                    {x.number_in_graph()...}, work.how.name(), result_shape(work.how, 0), window.get());
  std::uint32_t gradient_stops = 0, i = 0;
  ((gradient_stops |= x.is_gradient_stopped() ? std::uint32_t{1} << i : 0U, ++i), ...);
  p.add(work, window, gradient_stops);
  return {programs[0], y};
}

/// The class of traced values whose elements have the type Element.
template <class Element>
struct traced_type {
  using type = traced;  ///< for real elements and integers
};

template <class Op, class... X>
auto trace_call(const Op& op, const X&... x) {
  static_assert(((tensor_kind<X> == 3) && ...),
                "partita: requires traced values only while a program is traced; give constants as its arguments");
  const shape_list shapes[] = {x.extents()...};
  const shape_span span(shapes, sizeof...(X));
  constexpr std::size_t n = sizeof...(X);
  constexpr bool windows = may_read_windows<Op, n>;
  std::shared_ptr<const operation_window> window;
  applied_operation work;
  using element = std::common_type_t<typename X::value_type...>;
  if constexpr (is_complex<element>) {
    using cfloat = std::complex<float>;
    work = bind_operation<n, cfloat, element>(op, span);
    if constexpr (windows) window = std::make_shared<const traced_window<Op, n, cfloat, element>>(op, shapes[0].size());
  } else if constexpr (requires { requires Op::on_integers; }) {
    work = bind_operation<n, float, double, int, long, long long>(op, span);
    if constexpr (windows)
      window = std::make_shared<const traced_window<Op, n, float, double, int, long, long long>>(op, shapes[0].size());
  } else {
    work = bind_operation<n, float, double>(op, span);
    if constexpr (windows) window = std::make_shared<const traced_window<Op, n, float, double>>(op, shapes[0].size());
  }
  return typename traced_type<element>::type(trace_operation(work, window, x...));
}

}  // namespace detail

/// Reshapes a value of a traced program, by the same rule as for tensors. `reshape<S>` also sets the layout of the
/// result.
inline traced reshape(const traced& x, const shape_list& extents) {
  return detail::trace_operation({detail::rule_of_reshape(x.extents(), extents), detail::block_work::reshape}, nullptr,
                                 x);
}
template <std::size_t... E>
traced reshape(const traced& x, const extents<E...>& all) {
  return reshape(x, shape_list(all));
}
template <sharding S, class = void>
traced reshape(const traced& x, const shape_list& extents) {
  return constrain(reshape(x, extents), S);
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/sharded/impl/traced.ipp>
#endif
