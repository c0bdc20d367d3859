// Element functions as operations on one tensor, on two tensors, or on a tensor and a number.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/rejected_call.hpp>
#include <partita/rule/broadcast_extents.hpp>
#include <partita/sharded/call.hpp>
#include <type_traits>

/// Defines a function of two tensors, or of a tensor and a number, from three element functions. Two tensors must have
/// the same rank unless one is a scalar, or `broadcast_dimensions<D...>` must say along which dimensions of the larger
/// tensor those of the smaller tensor lie. For plain arrays, array/elementwise.hpp defines such functions.
#define PARTITA_ELEMENT_FUNCTION_OF_TWO(operation, of_number, to_number) \
  PARTITA_DEFINE_BINARY_ELEMENT_FUNCTION(tensor_operands, operation, of_number, to_number)
/// Defines a function as PARTITA_ELEMENT_FUNCTION_OF_TWO does, for operands that satisfy the concept `accepted`: with
/// `any_tensor_operands` they may be plain arrays.
#define PARTITA_DEFINE_BINARY_ELEMENT_FUNCTION(accepted, operation, of_number, to_number) \
  template <class L, class R>                                                             \
    requires detail::accepted<L, R>                                                       \
  auto operation(L&& l, R&& r) {                                                          \
    namespace f = element_functions;                                                      \
    return detail::apply_with_number<f::operation, f::of_number, f::to_number>(l, r);     \
  }                                                                                       \
  template <class L, class R, std::ptrdiff_t... D>                                        \
    requires detail::accepted<L, R>                                                       \
  auto operation(L&& l, R&& r, broadcast_dimensions_t<D...>) {                            \
    return detail::apply_elementwise<element_functions::operation, D...>(l, r);           \
  }

namespace partita {
namespace detail {

template <class X>
consteval std::size_t rank_of_operand() {  ///< 0 for a number
  if constexpr (any_tensor<X>) return static_rank<X>();
  else return 0;
}
/// Whether all operands whose types determine the rank have the same rank; scalars and numbers are ignored.
template <class... X>
consteval bool are_of_one_rank() {
  std::size_t rank = dynamic;
  bool same = true;
  for (const std::size_t r : {rank_of_operand<X>()...}) {
    if (r == dynamic || r == 0) continue;
    same = same && (rank == dynamic || rank == r);
    rank = r;
  }
  return same;
}

/// Checks XLA's broadcasting rule for two operands, the smaller one placed at dimensions D of the larger one. The types
/// of the operands determine only ranks.
template <class L, class R, std::ptrdiff_t... D>
consteval broadcast_verdict verdict_on_ranks() {
  constexpr std::size_t l = rank_of_operand<L>(), r = rank_of_operand<R>();
  if (l == dynamic || r == dynamic) return {};
  return judge_array_broadcast(shape_list::filled(l, dynamic), shape_list::filled(r, dynamic),
                               broadcast_dimensions_t<D...>::list());
}

/// Applies an element function to two tensors of the same rank, or to tensors of which the smaller one is placed at
/// dimensions D of the larger one.
template <const auto& F, std::ptrdiff_t... D, class L, class R>
auto apply_elementwise(const L& l, const R& r) {
  constexpr broadcast_verdict verdict = verdict_on_ranks<L, R, D...>();
  constexpr bool one_rank = verdict.fault != broadcast_fault::rank_mismatch_without_dims;
  static_assert(
      one_rank,
      "partita: requires operands of one rank, or a scalar; say by broadcast_dimensions<...> where the smaller "
      "one stands");
  static_assert(verdict || !one_rank,
                "partita: requires one entry of broadcast_dimensions for each dimension of the smaller operand, below "
                "the rank of the larger one and in rising order");
  if constexpr (verdict) return call(elements_op<F, false, D...>{}, l, r);
  else return rejected_call{};
}

/// Applies an element function to two tensors, its form `OfNumber` to a tensor and a number, or its form `ToNumber` to
/// a number and a tensor.
template <const auto& Of, const auto& OfNumber, const auto& ToNumber, class L, class R>
auto apply_with_number(const L& l, const R& r) {
  if constexpr (!any_tensor<R>) return call(elements_op<OfNumber>{{static_cast<double>(r)}}, l);
  else if constexpr (!any_tensor<L>) return call(elements_op<ToNumber>{{static_cast<double>(l)}}, r);
  else return apply_elementwise<Of>(l, r);
}

/// Applies an element function that has no form for a number (maximum, minimum) to two tensors.
template <const auto& F, class L, class R>
auto apply_to_two_tensors(const L& l, const R& r) {
  constexpr bool are_tensors = any_tensor<L> && any_tensor<R>;
  static_assert(are_tensors,
                "partita::maximum and minimum of sharded tensors: require two tensors; shard the number first");
  if constexpr (are_tensors) return apply_elementwise<F>(l, r);
  else return rejected_call{};
}

}  // namespace detail

/// Applies an element function to tensors or arrays: `apply_to_elements<cube_root>(x)`. The array `parameters` before
/// the operands has the function's parameters: `apply_to_elements<f>({0.5}, x)`.
/// Shapes:   operands that are not scalars have the same rank; dimensions of extent 1 are repeated.
/// Requires: for a function of real numbers, elements that are not integers [compile time].
/// Cost:     one pass; no communication, unless an operand is partial or operands differ in layout.
/// Adjoint:  the derivatives that the element function declares.
template <const auto& F, class... X>
  requires(detail::any_tensor<X> && ...)
auto apply_to_elements(const std::array<double, std::remove_cvref_t<decltype(F)>::parameters>& parameters,
                       const X&... x) {
  constexpr bool has_all_operands = sizeof...(X) == std::remove_cvref_t<decltype(F)>::operands;
  static_assert(has_all_operands, "partita::apply_to_elements<f>(x...): requires as many tensors as f has derivatives");
  if constexpr (!has_all_operands) return detail::rejected_call{};
  else {
    static_assert(detail::are_of_one_rank<X...>(),
                  "partita::apply_to_elements<f>(x...): requires operands of one rank, or scalars");
    return detail::call(detail::elements_op<F>{parameters}, x...);
  }
}
template <const auto& F, class... X>
  requires(detail::any_tensor<X> && ...)
auto apply_to_elements(const X&... x) {  ///< applies F, which has no parameters, to the operands x
  return apply_to_elements<F>({}, x...);
}

}  // namespace partita
