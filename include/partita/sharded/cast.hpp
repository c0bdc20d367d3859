// Converts the elements of a tensor to another type.
#pragma once

#include <cstddef>
#include <partita/core/rejected_call.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <type_traits>

namespace partita {
namespace detail {

template <class To, class T>
sharded_tensor<To> cast_tensor(const sharded_tensor<T>& input) {  ///< executes its pending reductions first
  if (input.state()->node)
    throw error(
        "partita::cast<T>(x): requires a tensor of which no gradient is asked, as a gradient has one element type; "
        "cast before value_and_gradient, or cast<T>(stop_gradient(x))");
  const auto x = reduce_pending_sums(input);
  const auto& state = *x.state();
  const auto operation = hasher(type_number<T>()).mix(type_number<To>()).mix("cast").mix(fingerprint_of(x.layout()));
  const std::uint64_t number =
      state.on ? state.on->log_operation(hasher(operation.value()).mix(x.extents()).mix(state.number).value(), "cast",
                                         x.extents())
               : 0;
  tensor_block<To> block(state.block.shape);
  const T* const from = state.block.data();
  To* const to = block.data();
  for (std::size_t k = 0; k < block.size(); ++k) to[k] = static_cast<To>(from[k]);
  return tensor_of(state.on, x.layout(), x.extents(), std::move(block), number);
}

}  // namespace detail

/// Converts each element of x to type To by static_cast: `cast<float>(x)`.
/// Shapes:   those of x, a plain array or a sharded tensor; the result has the layout of x without pending reductions,
///           which are executed first; a tensor of elements To is returned unchanged.
/// Requires: arithmetic types [compile time]; a tensor that is not recorded for a gradient [error] if the type changes,
///           because a gradient has one element type. A value of a traced program cannot be cast [compile time]: cast
///           the arguments of the program instead.
/// Cost:     one pass over this worker's block; no communication, unless x is partial.
/// Adjoint:  none.
template <class To, ranked_array X>
auto cast(X&& x) {
  return xt::xtensor<To, rank_of<X>>(xt::cast<To>(x));
}
template <class To, class T>
sharded_tensor<To> cast(const sharded_tensor<T>& x) {
  constexpr bool are_numbers = std::is_arithmetic_v<T> && std::is_arithmetic_v<To>;
  static_assert(are_numbers, "partita::cast<T>(x): requires an arithmetic type, as cast<float>(x)");
  if constexpr (std::is_same_v<To, T>) return x;
  else if constexpr (are_numbers) return detail::cast_tensor<To>(x);
}
template <class To, class T, auto Layout>
auto cast(const typed_sharded<T, Layout>& x) {
  if constexpr (std::is_same_v<To, T>) {
    return x;
  } else {
    const auto whole = detail::reduce_pending_sums(x);
    return typed_sharded<To, std::remove_cvref_t<decltype(whole)>::name>(cast<To>(whole.run_time_tensor()));
  }
}
template <class To>
auto cast(const traced&) {
  static_assert(detail::dependent_false<To>,
                "partita::cast<T>(x): a traced program has one element type; cast what is given to it before");
  return detail::rejected_call{};
}

}  // namespace partita
