// Element functions as operations on one tensor, on two tensors, or on a tensor and a number.
#pragma once

#include <cstddef>
#include <partita/core/left_out.hpp>
#include <partita/rule/broadcast_extents.hpp>
#include <partita/sharded/call.hpp>

namespace partita {
namespace detail {

/// An element function as an operation.
template <element_function F, std::size_t Operands = 1, std::ptrdiff_t... Dims>
struct elements_op {
  static constexpr element_function of_elements = F;
  double number = 0;

  static constexpr partita::rule rule(const shape_span& shapes) {
    operation o = rule_of(F);
    if constexpr (sizeof...(Dims) > 0) o.with.axes = {Dims...};
    else if constexpr (Operands > 1) require_equal_ranks(shapes);
    return o.named(name_of(F))(shapes);
  }
  applied_operation on(const partita::rule& bound_rule) const { return {bound_rule, block_work::elements, F, number}; }

 private:
  static constexpr void require_equal_ranks(const shape_span& shapes) {
    for (std::size_t i = 1; i < shapes.size(); ++i)
      if (shapes[i].size() != shapes[0].size() && !shapes[i].empty() && !shapes[0].empty())
        throw shape_error(text("partita::")
                          << name_of(F) << ": requires operands of one rank, or a scalar, got " << shapes[0] << " and "
                          << shapes[i] << "; say by broadcast_dimensions<...> where the smaller one stands");
  }
};

template <class X>
consteval std::size_t rank_of_operand() {
  if constexpr (any_tensor<X>) return rank_if_known<X>();
  else return 0;
}
/// Whether operands have the same rank, as far as their types show; scalars and numbers are ignored.
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

/// Checks XLA's broadcasting rule for two operands, the smaller one placed at dimensions D of the larger one. Only the
/// ranks are known from the types.
template <class L, class R, std::ptrdiff_t... D>
consteval broadcast_verdict verdict_on_ranks() {
  const auto unknown = [](std::size_t rank) {
    shape_list extents;
    for (std::size_t d = 0; d < rank; ++d) extents.push_back(dynamic);
    return extents;
  };
  constexpr std::size_t l = rank_of_operand<L>(), r = rank_of_operand<R>();
  if (l == dynamic || r == dynamic) return {};
  return judge_array_broadcast(unknown(l), unknown(r), broadcast_dimensions_t<D...>::list());
}

/// An element function of two tensors of the same rank, or of tensors where the smaller one is placed at dimensions D
/// of the larger one.
template <element_function F, std::ptrdiff_t... D, class L, class R>
auto elements_of_two(const L& l, const R& r) {
  constexpr broadcast_verdict verdict = verdict_on_ranks<L, R, D...>();
  constexpr bool one_rank = verdict.fault != broadcast_fault::rank_mismatch_without_dims;
  static_assert(
      one_rank,
      "partita: requires operands of one rank, or a scalar; say by broadcast_dimensions<...> where the smaller "
      "one stands");
  static_assert(verdict || !one_rank,
                "partita: requires one entry of broadcast_dimensions for each dimension of the smaller operand, below "
                "the rank of the larger one and in rising order");
  if constexpr (verdict) return call(elements_op<F, 2, D...>{}, l, r);
  else return rejected_call{};
}

template <class X, class Y>
decltype(auto) first_tensor(const X& x, const Y& y) {
  if constexpr (any_tensor<X>) return x;
  else return y;
}

/// A binary element function of tensors, or of a tensor and a number.
template <element_function F, class L, class R>
auto binary(const L& l, const R& r) {
  using e = element_function;
  if constexpr (any_tensor<L> && any_tensor<R>) {
    return elements_of_two<F>(l, r);
  } else {
    const auto c = [&] {
      if constexpr (any_tensor<L>) return static_cast<double>(r);
      else return static_cast<double>(l);
    }();
    const auto& x = first_tensor(l, r);
    if constexpr (F == e::add) return call(elements_op<e::shift>{c}, x);
    else if constexpr (F == e::multiply) return call(elements_op<e::scale>{c}, x);
    else if constexpr (F == e::subtract && any_tensor<L>) return call(elements_op<e::shift>{-c}, x);
    else if constexpr (F == e::subtract) return call(elements_op<e::shift>{c}, call(elements_op<e::scale>{-1}, x));
    else if constexpr (F == e::divide && any_tensor<L>) return call(elements_op<e::over>{c}, x);
    else {
      static_assert(F == e::divide && any_tensor<R>,
                    "partita::maximum and minimum of sharded tensors: require two tensors; shard the number first");
      return call(elements_op<e::number_over>{c}, x);
    }
  }
}

}  // namespace detail
}  // namespace partita
