// Recomputes a segment of a program in the backward pass instead of keeping its intermediate values (checkpointing).
#pragma once

#include <cstddef>
#include <partita/sharded/value_and_gradient.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace partita {
namespace detail {

/// The copy of an argument of a segment that the tape keeps: it is detached from the tape, and shares the block of the
/// argument.
template <class T, auto Layout>
typed_sharded<T, Layout> detached_argument(const typed_sharded<T, Layout>& x) {
  return typed_sharded<T, Layout>(detach(x.run_time_tensor()));
}
template <class T>
sharded_tensor<T> detached_argument(const sharded_tensor<T>& x) {  ///< x without its tape node; shares the block of x
  return detach(x);
}
template <ranked_array X>
xt::xtensor<element_of<X>, rank_of<X>> detached_argument(const X& x) {
  return x;
}
/// The arguments of a segment that are tensors, in order.
template <class T, class Arguments>
std::vector<sharded_tensor<T>> list_tensors(const Arguments& arguments) {
  std::vector<sharded_tensor<T>> all;
  const auto add = [&](const auto& x) {
    if constexpr (tensor_value<decltype(x)>) all.push_back(as_run_time(x));
  };
  std::apply([&](const auto&... x) { (add(x), ...); }, arguments);
  return all;
}

template <class T, auto Layout>
typed_sharded<T, Layout> to_state_type(const typed_sharded<T, Layout>&, sharded_tensor<T> value) {
  return typed_sharded<T, Layout>(std::move(value));
}
template <class T>
sharded_tensor<T> to_state_type(const sharded_tensor<T>&, sharded_tensor<T> value) {  ///< value as the argument's type
  return value;
}

/// The backward function of a segment, that is, of one call of recompute. The first call of the backward function
/// computes the segment again and runs the backward pass of the segment; each call returns the cotangent of one
/// argument.
template <class T, class F, class Arguments>
cotangent_function<T> recomputed_adjoint(const F& f, const Arguments& arguments) {
  return [f, arguments, cotangents = std::vector<sharded_tensor<T>>()](std::size_t i,
                                                                       const sharded_tensor<T>& dy) mutable {
    if (cotangents.empty()) {
      const auto leaf = [](const auto& x) {
        if constexpr (tensor_value<decltype(x)>) {
          const auto argument = parameter_of(x);
          as_run_time(argument).state()->node->keeps_contribution_layout = true;
          return argument;
        } else {
          return x;
        }
      };
      const auto leaves = std::apply([&](const auto&... x) { return std::tuple(leaf(x)...); }, arguments);
      run_backward(as_run_time(std::apply(f, leaves)), dy);
      for (const auto& one : list_tensors<T>(leaves)) cotangents.push_back(gradient_of(one));
    }
    return std::exchange(cotangents[i], {});
  };
}

}  // namespace detail

/// Returns f(x...). The tape keeps only the arguments x, not the intermediate values of f. The backward pass calls f
/// again, so no intermediate value of f is kept between the forward and the backward pass of f (checkpointing). `f` is
/// a function of tensors that returns one tensor.
/// Shapes:   those of f.
/// Requires: an f that gets every tensor whose gradient is wanted as an argument, and captures no such tensor [error];
///           an f that computes the same result when it is called again.
/// Cost:     one more call of f, with its movements; memory for the arguments, and during the backward pass for the
///           intermediate values of one call of f at a time.
/// Adjoint:  that of f, with identical bits. Outside of value_and_gradient, while tracing, and for arrays, recompute
///           only calls f(x...).
template <class F, class... X>
  requires(detail::any_tensor<X> && ...)
auto recompute(const F& f, const X&... x) {
  if constexpr (((detail::tensor_kind<X> == 0) && ...) || ((detail::tensor_kind<X> == 3) || ...)) {
    return f(x...);
  } else {
    const std::tuple arguments{detail::detached_argument(x)...};
    const auto y = std::apply(f, arguments);
    constexpr bool is_tensor = detail::tensor_value<decltype(y)>;
    static_assert(is_tensor, "partita::recompute(f, x...): requires a function that gives one sharded tensor");
    if constexpr (is_tensor) {
      using T = detail::element_of_tensor<decltype(y)>;
      if (detail::as_run_time(y).state()->node)
        throw error(
            "partita::recompute: requires a function that reads as its arguments what a gradient is asked of, but it "
            "holds a tensor of a gradient, too; give that as an argument");
      auto fresh = sharded_tensor<T>(std::make_shared<detail::tensor_state<T>>(*detail::as_run_time(y).state()));
      const auto operands = detail::list_tensors<T>(std::forward_as_tuple(x...));
      auto recorded = detail::record_on_tape<T>(std::move(fresh), operands,
                                                [&] { return detail::recomputed_adjoint<T>(f, arguments); });
      if (const auto& node = recorded.state()->node)
        for (const auto& one : operands) node->hold_block(one);
      return detail::to_state_type(y, std::move(recorded));
    }
  }
}

}  // namespace partita
