// A differentiable loop over steps, such as the time steps of a solver or of a recurrent network.
#pragma once

#include <cstddef>
#include <memory>
#include <partita/core/rejected_call.hpp>
#include <partita/sharded/detail/scan_run.hpp>
#include <partita/sharded/recompute.hpp>
#include <partita/sharded/traced_function.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {
namespace detail {

template <class S>
inline constexpr bool is_tensor_tuple = false;  ///< whether S is a std::tuple of tensors
template <class... X>
inline constexpr bool is_tensor_tuple<std::tuple<X...>> = sizeof...(X) > 0 && (any_tensor<X> && ...);

/// S is the state of a scan: a tensor, or a std::tuple of tensors.
template <class S>
concept scan_state = any_tensor<S> || is_tensor_tuple<S>;

/// Applies f to each tensor of a state, and returns a state of the same form.
template <class S, class F>
auto map_state(const S& state, const F& f) {
  if constexpr (is_tensor_tuple<S>)
    return std::apply([&](const auto&... x) { return std::tuple<decltype(f(x))...>{f(x)...}; }, state);
  else return f(state);
}

/// Converts a result of a step to the type that a scan keeps as its state: an expression is evaluated to an array.
/// Values that are neither arrays nor tensors keep their type, which the checks of the state reject.
template <class X>
X to_scan_state(const X& x) {
  return x;
}
template <ranked_array X>
xt::xtensor<element_of<X>, rank_of<X>> to_scan_state(const X& x) {
  return x;
}

/// What the tensors of a state are: arrays, traced values, and of which element type.
template <class S>
struct state_traits {
  static constexpr bool are_arrays = tensor_kind<S> == 0, are_traced = tensor_kind<S> == 3;
  using element = element_of_tensor<S>;
  static constexpr bool are_of_one_type = true;
};
template <class First, class... X>
struct state_traits<std::tuple<First, X...>> {
  static constexpr bool are_arrays = tensor_kind<First> == 0 && ((tensor_kind<X> == 0) && ...);  ///< all are arrays
  static constexpr bool are_traced = tensor_kind<First> == 3 && ((tensor_kind<X> == 3) && ...);  ///< all are traced
  using element = element_of_tensor<First>;  ///< of the first tensor
  static constexpr bool are_of_one_type = (std::is_same_v<element, element_of_tensor<X>> && ...);  ///< all of one type
};

/// The next state: step(state, parameters...), or, if the step cannot be called like this, step(i, state,
/// parameters...).
template <class F, class S, class... P>
auto next_state(const F& step, std::size_t i, const S& state, const P&... parameters) {
  const auto to_state = [](const auto& x) { return to_scan_state(x); };
  if constexpr (std::is_invocable_v<const F&, const S&, const P&...>)
    return map_state(step(state, parameters...), to_state);
  else return map_state(step(i, state, parameters...), to_state);
}
template <class F, class... X>
concept returns_from =
    std::is_invocable_v<const F&, const X&...> && !std::is_void_v<std::invoke_result_t<const F&, const X&...>>;

template <class S>
void require_same_extents(std::size_t i, const S& made, const S& expected) {  ///< throws unless step i kept all extents
  std::size_t j = 0;
  const auto one = [&](const auto& a, const auto& b) {
    if constexpr (tensor_kind<decltype(a)> == 0) require_same_extents(i, j++, shape_of(a), shape_of(b));
    else require_same_extents(i, j++, a.extents(), b.extents());
  };
  if constexpr (is_tensor_tuple<S>) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (one(std::get<I>(made), std::get<I>(expected)), ...);
    }(std::make_index_sequence<std::tuple_size_v<S>>());
  } else {
    one(made, expected);
  }
}

/// Converts a state to the list of its tensors (to_list), and such a list back to a state of the same kinds of tensors
/// (make_state).
template <class T, class S>
state_list<T> to_list(const S& state) {
  state_list<T> all;
  map_state(state, [&](const auto& x) { return all.push_back(as_run_time(x)), 0; });
  return all;
}
template <class T, class S>
S make_state(const S& kinds, const state_list<T>& all) {  ///< a state of the type of `kinds`
  std::size_t j = 0;
  return map_state(kinds, [&](const auto& x) { return to_state_type(x, all[j++]); });
}
/// The tape node of a parameter; null if the parameter is not on the tape or has integer elements.
template <class T, class X>
std::shared_ptr<tape_node<T>> find_tape_node(const X& x) {
  if constexpr (tensor_kind<X> != 0 && std::is_same_v<element_of_tensor<X>, T>) return as_run_time(x).state()->node;
  else return nullptr;
}

/// Makes a function of lists of tensors of T from a step. The function checks that the step keeps the extents and the
/// mesh of the state, and reshards the result of the step to the layouts of the state.
template <class T, class F, class S, class... P>
scan_step<T> make_list_step(const F& step, const S& initial, const P&... parameters) {
  const auto kinds = map_state(initial, [](const auto& x) { return detached_argument(x); });
  return [step, kinds, recorded = std::tuple<decltype(to_scan_state(parameters))...>{to_scan_state(parameters)...},
          kept = std::tuple<decltype(detached_argument(parameters))...>{detached_argument(parameters)...}](
             std::size_t i, const state_list<T>& state, bool is_recorded) {
    const auto called = [&](const auto&... p) { return next_state(step, i, make_state(kinds, state), p...); };
    const S y = std::apply(called, is_recorded ? recorded : kept);
    require_same_extents(i, y, kinds);
    state_list<T> next = to_list<T>(y);
    for (std::size_t j = 0; j < next.size(); ++j) {
      if (!is_recorded && next[j].state()->node)
        throw error(
            "partita::scan: requires a step that reads as its arguments what a gradient is asked of, but it holds a "
            "tensor of a gradient, too; give that as a parameter");
      if (next[j].state()->on != state[j].state()->on)
        throw partition_error(
            "partita::scan: requires a step that leaves the state on its mesh; make the state on the mesh of the "
            "parameters, or reshard it in the step");
      if (!next[j].layout().same_layout(state[j].layout())) next[j] = reshard(next[j], state[j].layout());
    }
    return next;
  };
}

/// Runs a scan with a step that keeps the type of the state.
template <class F, class S, class... P>
S scan_of_same_type(const F& step, const S& initial, std::size_t n, const scan_options& options,
                    const P&... parameters) {
  using of_state = state_traits<S>;
  require_one_scan_option(options);
  const bool has_option = options.recompute_every > 0 || options.checkpoints > 0 || options.memory > 0;
  if constexpr (of_state::are_arrays || of_state::are_traced) {
    // The options do not change a scan of arrays, which has no gradient; they are an error in a scan of traced values.
    if (of_state::are_traced && has_option)
      throw error(
          "partita::scan: requires no options while a program is traced, as the program decides what it keeps; trace "
          "the step instead, and scan the traced step");
    S state = initial;
    for (std::size_t i = 0; i < n; ++i) {
      S next = next_state(step, i, state, parameters...);
      require_same_extents(i, next, initial);
      state = std::move(next);
    }
    return state;
  } else {
    using T = typename of_state::element;
    constexpr bool are_of_one_type =
        of_state::are_of_one_type &&
        ((std::is_same_v<element_of_tensor<P>, T> || std::is_integral_v<element_of_tensor<P>>)&&...);
    static_assert(are_of_one_type,
                  "partita::scan(step, state, n, parameters...): requires a state and parameters of one type of "
                  "elements, besides parameters of integers; cast them first");
    if constexpr (are_of_one_type) {
      const state_list<T> first = to_list<T>(initial);
      const auto& s = *first[0].state();
      record_operation<T>(
          hasher().mix(n).mix(options.recompute_every).mix(options.checkpoints).mix(options.memory).value(), "scan",
          s.on.get(), s.extents, first);
      const std::vector<std::shared_ptr<tape_node<T>>> records{find_tape_node<T>(parameters)...};
      bool is_asked = false;
      for (const auto& x : first) is_asked = is_asked || x.state()->node;
      for (const auto& one : records) is_asked = is_asked || one;
      const auto lists = make_list_step<T>(step, initial, parameters...);
      if (is_asked) {
        const scan_options agreed = agree_on_options(lists, first, n, options);
        return make_state(initial,
                          scan_run<T>::forward(std::make_shared<scan_run<T>>(lists, first, n, agreed), records));
      }
      state_list<T> state = first;
      for (std::size_t i = 0; i < n; ++i) state = lists(i, state, !has_option);
      return make_state(initial, state);
    } else {
      return initial;
    }
  }
}

/// Checks the types of the step and of the state at compile time, and runs the scan.
template <class F, class S, class... P>
auto run_scan(const F& step, const S& initial, std::size_t n, const scan_options& options, const P&... parameters) {
  constexpr bool is_step = returns_from<F, S, P...> || returns_from<F, std::size_t, S, P...>;
  static_assert(is_step,
                "partita::scan(step, state, n, parameters...): requires a step that is called as step(state, "
                "parameters...), or as step(i, state, parameters...) with its number, and returns the next state");
  if constexpr (is_step) {
    constexpr bool keeps_type = std::is_same_v<decltype(next_state(step, n, initial, parameters...)), S>;
    static_assert(keeps_type,
                  "partita::scan(step, state, n, parameters...): requires a step whose result has the type of the "
                  "state; reshard or cast it in the step, or the state before");
    if constexpr (keeps_type) return scan_of_same_type(step, initial, n, options, parameters...);
    else return rejected_call{};
  } else {
    return rejected_call{};
  }
}

}  // namespace detail

/// Computes state = step(state, parameters...) n times, and returns the last state. The state is a tensor or a
/// std::tuple of tensors. A step may also take its number i, counted from 0, as the first argument: step(i, state,
/// parameters...).
///   const auto last = scan(step, u, 1000, {.recompute_every = 32}, speed);
/// Shapes:   a step must keep the extents of the state [shape_error] and its type [compile time].
/// Requires: a step that gets all tensors whose gradients are wanted as arguments [error], and computes the same result
///           if it is called again; the same element type in the state and in all parameters that are not integers
///           [compile time]; a memory limit that is possible [error, on all workers, which states the least possible
///           limit].
/// Cost:     with a gradient, the cost that scan_cost returns; otherwise n calls of the step. If the result of a step
///           has another layout than the state, the result is resharded to the layout of the state.
/// Adjoint:  the adjoints of the steps, last step first, with identical bits for all options; gradients of the
///           parameters are summed over the steps. While tracing, the steps are operations of the program, and options
///           are an error.
template <class F, class S, class... P>
auto scan(const F& step, const S& state, std::size_t n, const scan_options& options, const P&... parameters) {
  constexpr bool is_state = detail::scan_state<S>;
  static_assert(is_state,
                "partita::scan(step, state, n, parameters...): requires a state that is a tensor, an array, or a "
                "std::tuple of them");
  constexpr bool are_parameters = (detail::any_tensor<P> && ...);
  static_assert(are_parameters,
                "partita::scan(step, state, n, parameters...): requires parameters that are tensors or "
                "arrays; let the step hold the numbers that are constant");
  if constexpr (is_state && are_parameters) {
    constexpr bool all_arrays = detail::state_traits<S>::are_arrays && ((detail::tensor_kind<P> == 0) && ...);
    const auto initial = detail::map_state(state, [](const auto& x) {
      if constexpr (all_arrays) return detail::to_scan_state(x);
      else if constexpr (detail::tensor_kind<decltype(x)> == 0) return detail::as_run_time(x);
      else return detail::to_scan_state(x);
    });
    return detail::run_scan(step, initial, n, options, parameters...);
  } else {
    return detail::rejected_call{};
  }
}
template <class F, class S, class... P>
auto scan(const F& step, const S& state, std::size_t n, const P&... parameters) {  ///< with the default options
  return scan(step, state, n, scan_options{}, parameters...);
}
PARTITA_FALLBACK_OVERLOAD(scan) {
  static_assert(detail::dependent_false<Given...>,
                "partita::scan(step, state, n, parameters...): requires a function, the first state and the number of "
                "steps; write scan(step, u, 1000, {.recompute_every = 32}, w)");
  return detail::rejected_call{};
}

}  // namespace partita
