// Reverse-mode differentiation: the value of a function of parameters, and its gradients, whose layouts depend only on
// the layouts of the parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/core/rejected_call.hpp>
#include <partita/sharded/call.hpp>
#include <partita/sharded/detail/run_backward.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace partita {

/// The value of a scalar function, and its gradients with respect to the parameters, in order.
template <class T, class... Gradient>
struct value_with_gradients {
  T value{};                          ///< the value of the function
  std::tuple<Gradient...> gradients;  ///< one per parameter, in the layout of its cotangent
};

namespace detail {

/// Returns the tensor x, marked as a parameter whose gradient is wanted.
template <class T>
sharded_tensor<T> parameter_of(const sharded_tensor<T>& x) {
  auto state = std::make_shared<tensor_state<T>>(*x.state());
  state->node = new_tape_node<T>(x.layout());
  return sharded_tensor<T>(std::move(state));
}
template <class T, auto Layout>
typed_sharded<T, Layout> parameter_of(const typed_sharded<T, Layout>& x) {
  return typed_sharded<T, Layout>(parameter_of(x.run_time_tensor()));
}
template <ranked_array X>
auto parameter_of(const X& x) {  ///< array x as a tensor without a mesh, marked as a parameter
  return parameter_of(as_run_time(x));
}

/// Throws an error if x depends on a parameter of another gradient, because second derivatives are not supported.
template <class X>
void require_no_other_gradient(const X& x) {
  if constexpr (tensor_value<X>)
    if (as_run_time(x).state()->node) reject_second_derivative();
}
/// Records that the gradient with respect to a parameter is wanted.
template <class T>
void record_parameter(const sharded_tensor<T>& x) {
  record_operation<T>(0, "gradient", x.state()->on.get(), x.extents(), *x.state());
}

/// The gradient that was accumulated for a parameter; zeros if there was no contribution.
template <class T>
sharded_tensor<T> gradient_of(const sharded_tensor<T>& parameter) {
  const auto& s = *parameter.state();
  if (s.node->cotangent.state() != nullptr) return s.node->cotangent;
  tensor_block<T> none(s.block.shape);
  none.fill(T(0));
  return tensor_of(s.on, cotangent(s.layout), s.extents, std::move(none), s.number);
}
/// The gradient that was accumulated for a parameter, as the type that belongs to the type of the parameter.
template <class T>
sharded_tensor<T> typed_gradient(const sharded_tensor<T>&, const sharded_tensor<T>& parameter) {
  return gradient_of(parameter);
}
template <class T, auto Layout>
auto typed_gradient(const typed_sharded<T, Layout>&, const typed_sharded<T, Layout>& parameter) {
  return typed_sharded<T, cotangent_name<Layout>>(gradient_of(parameter.run_time_tensor()));
}
template <ranked_array X, class T>
auto typed_gradient(const X&, const sharded_tensor<T>& parameter) {  ///< the gradient of an array, as an array
  return as_array<rank_of<X>>(gradient_of(parameter));
}

/// F may be callable: F is a function, or a class (for example of a lambda) that is not a tensor.
template <class F>
concept may_be_called = !any_tensor<F> && (std::is_class_v<F> || std::is_function_v<std::remove_pointer_t<F>>);

}  // namespace detail

/// Computes f(parameters...) and its gradients: `auto [loss, gradients] = value_and_gradient(f, w1, w2)`. f is called
/// once, with parameters of the same types (plain arrays become tensors without a mesh). All other tensors that f reads
/// are constants.
/// Shapes:   f returns a tensor with one element; a gradient has the extents of its parameter.
/// Requires: floating-point parameters [compile time]; a scalar result [shape_error]; f reads no parameter of
///           another value_and_gradient, as second derivatives are not computed [error, on all workers].
/// Cost:     the backward pass computes up to two products for each product of f. The layout of a gradient is
///           cotangent(layout of its parameter). A block that the backward pass reads is kept until the backward step
///           that reads it is done; see tape_holds() and recompute.
template <class F, class... P>
  requires((detail::any_tensor<P> && ...) && sizeof...(P) > 0 && detail::may_be_called<F>)
auto value_and_gradient(const F& f, const P&... parameters) {
  constexpr bool have_elements = ((detail::tensor_kind<P> != 3) && ...);
  static_assert(
      have_elements,
      "partita::value_and_gradient(f, parameters...): requires parameters that have elements, which values of "
      "a traced program do not; call it with that program, value_and_gradient(program, x...)");
  constexpr bool are_real = !have_elements || (!std::is_integral_v<detail::element_of_tensor<P>> && ...);
  static_assert(are_real,
                "partita::value_and_gradient(f, parameters...): requires floating-point parameters, real or complex, "
                "as derivatives are no integers; cast them first");
  if constexpr (have_elements && are_real) {
    // 1. Mark the parameters, and run f; the operations are recorded on the tape.
    (detail::require_no_other_gradient(parameters), ...);
    const std::uint64_t tape_nodes_before = detail::run_state.tape_nodes;
    tape_contents& held = detail::current_tape_contents();
    held.most_bytes = held.bytes;
    const auto leaves = std::tuple(detail::parameter_of(parameters)...);
    std::apply([](const auto&... leaf) { (detail::record_parameter(detail::as_run_time(leaf)), ...); }, leaves);
    const auto result = detail::as_run_time(std::apply(f, leaves));
    using T = typename std::remove_cvref_t<decltype(result)>::value_type;
    if (detail::shape_size(result.extents()) != 1)
      throw shape_error(
          text("partita::value_and_gradient(f, parameters...): requires an f whose result is one number, ")
          << "got a result of extents " << result.extents() << "; let f return sum(...) or mean(...) of it");
    const auto loss = result.layout().is_partial() ? reshard(result, result.layout().without_partials()) : result;
    // 2. Run backward from the result, whose cotangent is 1.
    detail::tensor_block<T> one{shape_list(loss.extents())};
    one.fill(T(1));
    const T value = loss.number();
    detail::run_backward(
        loss, detail::tensor_of(loss.state()->on, loss.layout(), loss.extents(), std::move(one), loss.state()->number),
        tape_nodes_before);
    // 3. Return the accumulated gradients in the types that belong to the parameters.
    return std::apply(
        [&](const auto&... leaf) {
          return value_with_gradients<T, decltype(detail::typed_gradient(parameters, leaf))...>{
              value, std::tuple(detail::typed_gradient(parameters, leaf)...)};
        },
        leaves);
  } else {
    return detail::rejected_call{};
  }
}
/// Fallback: value_and_gradient of any other arguments is a compile-time error.
template <class F, class... P>
  requires(!(detail::any_tensor<P> && ...) || sizeof...(P) == 0 || !detail::may_be_called<F>)
auto value_and_gradient(const F&, const P&...) {
  constexpr bool no_function = !detail::may_be_called<F>;
  static_assert(!no_function, "partita::value_and_gradient(f, parameters...): requires a function first");
  static_assert(no_function || detail::dependent_false<F, P...>,
                "partita::value_and_gradient(f, parameters...): requires parameters that are tensors or arrays; let f "
                "hold the numbers that are constant");
  return detail::rejected_call{};
}

}  // namespace partita
