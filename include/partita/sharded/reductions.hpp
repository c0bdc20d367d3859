// Reductions along dimensions, which are made from the types of rule/reduction.hpp: sum, mean, extremes, product, any,
// all, log-sum-exp, and reductions that a program declares.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/rule/reduction.hpp>
#include <partita/rule/sharding/rules/reduction.hpp>
#include <partita/sharded/element_functions.hpp>
#include <type_traits>

namespace partita {

/// The option that keeps reduced dimensions with extent 1: `sum(x, dimensions<1>, keep_dimensions)`.
struct keep_dimensions_t {};
inline constexpr keep_dimensions_t keep_dimensions{};  ///< see keep_dimensions_t

namespace detail {

/// Keep... is empty, or the option keep_dimensions.
template <class... Keep>
concept keeps = sizeof...(Keep) <= 1 && (std::is_same_v<Keep, keep_dimensions_t> && ...);

template <class R>
constexpr const char* name_of_reduction() {  ///< for messages and logs
  if constexpr (requires { R::name; }) return R::name;
  else return "reduction";
}
template <class R>
struct derivative_function {  ///< dy times the derivative that R declares
  template <class T>
  T operator()(T dy, T x, T y) const {
    return dy * static_cast<T>(R::derivative(x, y));
  }
};
template <class R>
inline constexpr element_function derivative_of_reduction{"derivative of a reduction",
                                                          real_function,
                                                          derivative_function<R>(),
                                                          no_derivative(),
                                                          no_derivative(),
                                                          no_derivative()};

/// The rule of a reduction along the dimensions D, or along all dimensions if D is empty. If the reduction has no
/// pending form (a reduction that a program declares), the rule does not shard the reduced dimensions.
template <class R, bool Keep, std::ptrdiff_t... D>
struct reduction_along {
  static constexpr partita::rule rule(const shape_span& shapes) {  ///< the sharding rule for operands of these shapes
    attributes::list axes;
    (axes.push_back(D), ...);
    return rules::reduction(pending_kind_of_reduction<R>, axes, Keep).named(name_of_reduction<R>())(shapes);
  }
};
/// A reduction as an operation. The loop of the operation combines elements by the reduction, and its adjoint follows
/// from the properties and the derivative that the reduction declares.
template <class R, bool Keep, std::ptrdiff_t... D>
struct reduction_op : reduction_along<R, Keep, D...> {
  /// Whether the operation accepts integers (if R does) and complex elements (if R is the product).
  static constexpr bool on_integers = can_reduce_elements<R, int>, on_complex = std::is_same_v<R, product_t>;
  static constexpr bool has_derivative =
      is_extreme_reduction<R> || std::is_same_v<R, product_t> || requires { R::derivative(1.0, 1.0); };
  static constexpr std::uint32_t adjoint_reads = has_derivative ? ~std::uint32_t{0} : 0;  ///< bit mask: all, or nothing

  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< reduces this worker's block x to y
    if constexpr (!can_reduce_elements<R, T>) {
      throw error("partita::reduce_along: requires elements that the reduction accepts");
    } else {
      const std::size_t rank = x.shape.size();
      std::uint32_t reduced = sizeof...(D) == 0 ? ~std::uint32_t{0} : 0;
      ((reduced |= std::uint32_t{1} << checked_dimension(D, rank, "reduction")), ...);
      const auto to = strides_of(y.shape);
      std::array<short_list<std::ptrdiff_t>, 2> steps{short_list<std::ptrdiff_t>{}, strides_of(x.shape)};
      std::size_t next = 0;
      for (std::size_t d = 0; d < rank; ++d) {
        steps[0].push_back(has_bit(reduced, d) ? 0 : to[Keep ? d : next]);
        next += has_bit(reduced, d) ? 0U : 1U;
      }
      std::fill(y.begin(), y.end(), reduction_identity<R, T>());
      const std::ptrdiff_t sy = rank == 0 ? 0 : steps[0][rank - 1];
      for_each_row(x.shape, steps, [&](const std::ptrdiff_t* at, std::size_t n) {
        T* into = y.memory + at[0];
        const T* from = x.memory + at[1];
        for (std::size_t k = 0; k < n; ++k, into += sy) *into = combine_two_elements<R>(*into, from[k]);
      });
    }
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X& x, const X& given) const {  ///< the cotangent of x
    using T = typename X::value_type;
    const shape_list extents = x.extents();
    const partita::rule how = bind_shapes(reduction_op::rule(shape_span(&extents, 1)), shape_span(&extents, 1));
    const auto repeated = [&](const X& v) {
      return run_operation<T>({select_tensors(how, {1}, 0, "repeat over what was reduced"), block_work::sum_or_repeat},
                              {v});
    };
    const auto summed = [&](const X& v) {
      return run_operation<T>({select_tensors(how, {0}, 1, "count"), block_work::sum_or_repeat}, {v});
    };
    const auto whole = [](const X& v) {
      return v.layout().is_partial() ? reshard(v, v.layout().without_partials()) : v;
    };
    namespace f = element_functions;
    if constexpr (is_extreme_reduction<R>) {  // dx = dy / n at the n elements that equal the extreme
      const X there = run_elements<T>(elements_op<f::equal_to>{}, {x, repeated(whole(given))});
      const X share = run_elements<T>(elements_op<f::divide>{}, {dy, summed(there)});
      return run_elements<T>(elements_op<f::multiply>{}, {there, repeated(share)});
    } else if constexpr (std::is_same_v<R, product_t>) {  // dx = dy times the product of the other elements
      const X zero = run_elements<T>(elements_op<f::equal_to_number>{{0}}, {x});
      const X zeros = repeated(whole(summed(zero)));
      const X not_zero = run_elements<T>(elements_op<f::number_where_true>{{1}}, {zero, x});
      const X others = repeated(whole(run_operation<T>(bind_operation<1, T>(reduction_op{}, {not_zero}), {not_zero})));
      const X is_only_zero = run_elements<T>(elements_op<f::equal_to_number>{{1}}, {zeros});
      const X of_zeros = run_elements<T>(elements_op<f::number_where_false>{{0}}, {is_only_zero, others});
      const X quotient = run_elements<T>(elements_op<f::divide>{}, {others, not_zero});
      const X of_others = run_elements<T>(elements_op<f::number_where_true>{{0}}, {zeros, quotient});
      const X factor = run_elements<T>(elements_op<f::where>{}, {zero, of_zeros, of_others});
      return run_elements<T>(elements_op<f::multiply>{}, {repeated(dy), conjugate_of(factor)});
    } else if constexpr (has_derivative && !std::is_integral_v<T>) {
      return run_elements<T>(elements_op<derivative_of_reduction<R>>{}, {repeated(dy), x, repeated(whole(given))});
    } else {
      return {};
    }
  }
};
/// The sum as an operation, which is computed by the loops that also repeat and transpose elements.
template <bool Keep, std::ptrdiff_t... D>
struct reduction_op<sum_t, Keep, D...> : reduction_along<sum_t, Keep, D...> {
  applied_operation make_applied_operation(const partita::rule& r) const { return {r, block_work::sum_or_repeat}; }
};

template <class R, bool Keep, std::size_t... D, class X>
auto call_reduction(const X& x) {  ///< reduces x by R along D (all if empty), which stay with extent 1 if Keep
  static_assert(has_dimensions<X, D...>,
                "partita: sum, mean, maximum and minimum(x, dimensions<...>) require dimensions that x has, each once; "
                "count them from 0");
  constexpr bool takes = tensor_kind<X> == 3 || can_reduce_elements<R, element_of_tensor<X>>;
  static_assert(takes,
                "partita::reduce_along<R>(x, dimensions<...>): requires a reduction of elements of the type of x; cast "
                "x to a type that R accepts");
  if constexpr (has_dimensions<X, D...> && takes)
    return call(reduction_op<R, Keep, static_cast<std::ptrdiff_t>(D)...>{}, x);
  else return rejected_call{};
}

/// The product of the extents of the dimensions D or, if D is empty, of all dimensions.
template <std::ptrdiff_t... D, class X>
double element_count_along(const X& x) {
  const shape_list extents = operand_extents(x);
  double n = 1;
  if constexpr (sizeof...(D) == 0)
    for (const std::size_t extent : extents) n *= static_cast<double>(extent);
  else ((n *= static_cast<double>(extents[checked_dimension(D, extents.size(), "mean")])), ...);
  return n;
}

/// The mean along the dimensions D, computed from the sum `total` along them.
template <std::size_t... D, class X, class Sum>
auto mean_along(const X& x, const Sum& total) {
  if constexpr (has_dimensions<X, D...>)
    return call(
        elements_op<element_functions::divide_by_number>{{element_count_along<static_cast<std::ptrdiff_t>(D)...>(x)}},
        total);
  else return rejected_call{};
}

}  // namespace detail

/// Reduces x along dimensions by the reduction R, a type of rule/reduction.hpp or one that a program declares:
/// `reduce_along<longest>(x, dimensions<0>)`.
/// Shapes: those of x without the reduced dimensions, or with extent 1 along them if `keep_dimensions` is given.
/// Requires: dimensions that x has, each once [compile time].
/// Cost: one pass. If a reduced dimension is sharded, the result is partial; for an R that a program declares, x is
/// gathered along this dimension instead.
/// Adjoint: for maximum and minimum, dy divided equally among the elements that equal the result; for product, dy times
/// the product of the other elements; for an R with a derivative, dy times R::derivative(x, y); none for other
/// reductions.
template <class R, class X, std::size_t... D>
  requires detail::any_tensor<X>
auto reduce_along(X&& x, dimensions_t<D...>) {
  return detail::call_reduction<R, false, D...>(x);
}
template <class R, class X, std::size_t... D>
  requires detail::any_tensor<X>
auto reduce_along(X&& x, dimensions_t<D...>, keep_dimensions_t) {
  return detail::call_reduction<R, true, D...>(x);
}

/// Defines a reduction with and without `keep_dimensions` as two functions, because xtensor's functions of the same
/// names would be as specialised as one function with a parameter pack.
#define PARTITA_REDUCTION(function, R)                                     \
  template <class X, std::size_t... D>                                     \
    requires detail::any_tensor<X>                                         \
  auto function(X&& x, dimensions_t<D...> along) {                         \
    return reduce_along<R>(x, along);                                      \
  }                                                                        \
  template <class X, std::size_t... D>                                     \
    requires detail::any_tensor<X>                                         \
  auto function(X&& x, dimensions_t<D...> along, keep_dimensions_t keep) { \
    return reduce_along<R>(x, along, keep);                                \
  }

/// The sum along dimensions, `sum(x, dimensions<0>)`, or over all elements, `sum(x)`.
template <class X>
  requires detail::tensor_value<X>
auto sum(X&& x) {
  return detail::call(detail::reduction_op<sum_t, false>{}, x);
}
PARTITA_REDUCTION(sum, sum_t)
template <class X, class A>
  requires(detail::tensor_value<X> && std::is_arithmetic_v<A>)
auto sum(const X&, A) {
  static_assert(
      detail::dependent_false<X>,
      "partita::sum(x, dimensions<...>): requires dimensions as part of the type; write sum(x, dimensions<0>)");
  return detail::rejected_call{};
}
/// The mean along dimensions, or over all elements. Blocks of different sizes are weighted correctly.
template <class X>
  requires detail::tensor_value<X>
auto mean(X&& x) {
  return detail::call(detail::elements_op<element_functions::divide_by_number>{{detail::element_count_along<>(x)}},
                      sum(x));
}
template <class X, std::size_t... D>
  requires detail::any_tensor<X>
auto mean(X&& x, dimensions_t<D...> along) {
  return detail::mean_along<D...>(x, sum(x, along));
}
template <class X, std::size_t... D>
  requires detail::any_tensor<X>
auto mean(X&& x, dimensions_t<D...> along, keep_dimensions_t keep) {
  return detail::mean_along<D...>(x, sum(x, along, keep));
}
/// The largest element along dimensions: `maximum(x, dimensions<1>)`. The result is NaN if an element is NaN.
/// Adjoint: dy divided equally among all elements that equal the largest element.
template <class X, std::size_t... D, class... Keep>
  requires(detail::any_tensor<X> && detail::keeps<Keep...>)
auto apply_extremum(maximum_t, X&& x, dimensions_t<D...> along, Keep... keep) {
  return reduce_along<maximum_t>(x, along, keep...);
}
template <class X, std::size_t... D, class... Keep>
  requires(detail::any_tensor<X> && detail::keeps<Keep...>)
auto apply_extremum(minimum_t, X&& x, dimensions_t<D...> along, Keep... keep) {
  return reduce_along<minimum_t>(x, along, keep...);
}
/// The product along dimensions.
/// Adjoint: dy times the product of the other elements, also if elements are 0.
PARTITA_REDUCTION(product_of, product_t)
/// Reductions with results 1 and 0: any_of is 1 if at least one element along the dimensions is not 0; all_of is 1 if
/// all elements are not 0. NaN counts as not 0.
PARTITA_REDUCTION(any_of, any_t)
PARTITA_REDUCTION(all_of, all_t)
/// log(sum(exp(x))) along dimensions, without overflow.
/// Adjoint: dy exp(x - y), the softmax of x.
PARTITA_REDUCTION(log_sum_exp, log_sum_exp_t)
#undef PARTITA_REDUCTION
/// The variance along dimensions, `variance(x, dimensions<1>)`: the sum of the squared distances from the mean, divided
/// by the number of elements minus `correction`. The default of `correction` is 1; 0 gives the variance of a whole
/// population. The variance of complex elements is real: the sum of the variances of their real and imaginary parts.
template <class X, std::size_t... D, class Number = double>  // xtensor's variance is less constrained
  requires(detail::any_tensor<X> && detail::has_dimensions<X, D...> && std::is_arithmetic_v<Number>)
auto variance(X&& given, dimensions_t<D...> along, Number correction = 1) {
  const auto value = [&](const auto& x) {
    namespace f = element_functions;
    if constexpr (detail::is_complex<detail::element_of_tensor<X>>) {
      constexpr bool has_parts = requires { imag(x); };
      static_assert(has_parts,
                    "partita::variance(z, dimensions<...>) of complex elements: requires the header "
                    "<partita/sharded/complex.hpp>; include it");
      if constexpr (has_parts) return add(variance(real(x), along, correction), variance(imag(x), along, correction));
      else return detail::rejected_call{};
    } else {
      const double n = detail::element_count_along<static_cast<std::ptrdiff_t>(D)...>(x);
      const auto mean_of_all = mean(x, along, keep_dimensions);
      const auto distance = detail::call(detail::elements_op<f::subtract>{}, x, mean_of_all);
      return detail::call(detail::elements_op<f::divide_by_number>{{n - static_cast<double>(correction)}},
                          sum(square(distance), along));
    }
  };
  if constexpr (detail::tensor_kind<X> == 0)
    return detail::as_array<rank_of<X> - sizeof...(D)>(value(detail::as_run_time(given)));
  else return value(given);
}

}  // namespace partita
