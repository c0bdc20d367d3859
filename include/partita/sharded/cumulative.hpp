// Cumulative sums, products, maxima and minima along a dimension; if it is sharded, each worker receives the totals of
// the blocks before its own (in the adjoint, of those after it).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/rule/kernel_dimensions.hpp>
#include <partita/rule/sharding/rules/reduction.hpp>
#include <partita/sharded/rearrange.hpp>

namespace partita {
namespace detail {

/// The common part of operations that combine each element with all before it (or after it) along dimension D by R.
template <class R, std::size_t D>
struct cumulative {
  using carried = R;                                             ///< the reduction that combines the totals of blocks
  static constexpr bool on_integers = true;                      ///< accepts integers, also in traced programs
  static constexpr std::uint32_t along = std::uint32_t{1} << D;  ///< a bit for the dimension along which it works
  static constexpr std::size_t parameters = 1;                   ///< number of data members, each equal on all workers
  bool reversed_order = false;  ///< true: combines each element with all elements after it, not before it

  explicit cumulative(bool reversed = false) : reversed_order(reversed) {}  ///< true: combines from the last element on
  bool carries_backwards() const { return reversed_order; }  ///< true: totals go from later to earlier blocks
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {  ///< y without totals of other blocks
    carried_lines(x.shape, D, carried_number_count<R>(), reversed_order).scan_lines<R>(x.memory, y.memory);
  }
};

/// Computes h[k] = b[k] + a[k] h[k - 1] as a scan. The operand holds a at index 0 of its first dimension and b at index
/// 1; the result holds the cumulative products of a at index 0 and h at index 1. If a[k] is 0, then h[k] is b[k], also
/// if h[k - 1] is infinite or NaN.
struct recurrence {
  static constexpr std::size_t tuple_size = 2;  ///< a and b, or a cumulative product and h
  template <class T>
  static constexpr std::array<T, 2> identity() {  ///< the neutral element: a = 1, b = 0
    return {T(1), T(0)};
  }
  template <class T>
  constexpr std::array<T, 2> operator()(const std::array<T, 2>& first, const std::array<T, 2>& second) const {
    if (second[0] == T(0)) return second;
    return {static_cast<T>(second[0] * first[0]), static_cast<T>(second[0] * first[1] + second[1])};
  }
};
template <std::size_t D>
struct recurrence_operation : cumulative<recurrence, D> {  ///< solves the recurrence along dimension D
  static constexpr bool is_linear = false;                 ///< pending sums of the operand are taken first
  using cumulative<recurrence, D>::cumulative;
  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of these shapes
    return rules::along({0, static_cast<std::ptrdiff_t>(D)}).named("recurrence")(x);
  }
};

/// 1 where element x is not the cumulative extreme y, but an earlier element is; 0 where x is the extreme or NaN.
inline constexpr element_function is_earlier_extreme{"comes from before", arithmetic_function,
                                                     [](auto x, auto y) { return x == x && x != y; }, no_derivative(),
                                                     no_derivative()};

template <class R, std::size_t D>
struct cumulative_operation : cumulative<R, D> {  ///< cumsum, cumprod, cummax or cummin, depending on R
  /// Whether pending sums stay pending, as for sums, and whether elements may be complex, as for sums and products.
  static constexpr bool is_linear = is_linear_reduction<R>, on_complex = is_linear || std::is_same_v<R, product_t>;
  static constexpr std::uint32_t adjoint_reads = is_linear ? 0 : 3;  ///< bit mask: nothing, or x and y
  using cumulative<R, D>::cumulative;

  static constexpr partita::rule rule(const shape_span& x) {  ///< the sharding rule for operands of these shapes
    return rules::along({static_cast<std::ptrdiff_t>(D)}, 1, is_linear).named(name())(x);
  }
  /// For sums, dx[k] is the sum of dy from k on. For other reductions y[k] depends on x[k] by a factor, and on y[k - 1]
  /// by the factor passed[k], so dx[k] = factor (dy[k] + passed[k + 1] (dy[k + 1] + passed[k + 2] (…))). The formula
  /// divides by no element, so elements may be 0.
  template <class X>
  X adjoint(std::size_t, const X& dy, const X& x, const X& y) const {  ///< the cotangent of the operand
    using T = typename X::value_type;
    const std::size_t n = dy.extents()[D];
    if constexpr (is_linear) {
      return apply_op(cumulative_operation(!this->reversed_order), dy);
    } else if (n == 0) {
      return dy;
    } else if constexpr (std::is_same_v<R, product_t>) {  // for products passed is x, and the factor is y[k - 1]
      const X factor =
          apply_op(pad_operation<false, D>{{margin{1, 0}}, 1}, apply_op(slice_operation<D>{{interval{0, n - 1}}}, y));
      return run_elements<T>(elements_op<element_functions::multiply>{},
                             {conjugate_of(factor), accumulate(conjugate_of(x), dy, n)});
    } else {  // where x is the extreme, passed is 0 and the factor 1; elsewhere passed is 1 and the factor 0
      const X passed = run_elements<T>(elements_op<is_earlier_extreme>{}, {x, y});
      return run_elements<T>(elements_op<element_functions::number_where_true>{{0}},
                             {passed, accumulate(passed, dy, n)});
    }
  }

 private:
  static constexpr const char* name() {  ///< of the operation, for messages and logs
    return is_linear                      ? "cumsum"
           : std::is_same_v<R, product_t> ? "cumprod"
           : std::is_same_v<R, maximum_t> ? "cummax"
                                          : "cummin";
  }
  /// Returns h with h[k] = dy[k] + passed[k + 1] h[k + 1].
  template <class X>
  static X accumulate(const X& passed, const X& dy, std::size_t n) {
    const X next =
        apply_op(pad_operation<true, D>{{margin{0, 1}}, 0}, apply_op(slice_operation<D>{{interval{1, n}}}, passed));
    const X both = apply_op(recurrence_operation<D + 1>(true), stack(dimensions<0>, next, dy));
    return squeeze(apply_op(slice_operation<0>{{interval{1, 2}}}, both), dimensions<0>);
  }
};

template <class R, class X, std::size_t D>
auto cumulative_call(const X& x) {  ///< checks the types, and applies the operation
  constexpr bool takes = tensor_kind<X> == 3 || can_reduce_elements<R, element_of_tensor<X>>;
  static_assert(takes,
                "partita::cumprod, cummax and cummin(x, dimensions<d>): require elements that have products, or "
                "an order; cast x");
  if constexpr (has_dimensions<X, D> && takes) return apply_op(cumulative_operation<R, D>(), x);
  else return rejected_call{};
}

}  // namespace detail

/// The cumulative sum along a dimension: each element is the sum of all elements up to and including it. `cumprod`
/// gives products, `cummax` and `cummin` the largest and the smallest elements so far, or NaN from the first NaN on.
/// Shapes:   those of x.
/// Requires: a dimension that x has [compile time].
/// Cost:     one pass. If the dimension is sharded, it stays sharded, and each worker receives the totals of the blocks
///           before its own. cumsum keeps sums pending; the other functions execute all pending reductions first.
/// Adjoint:  for cumsum, the cumulative sum of dy from the last element back to the first. For cumprod, the derivative
///           is computed without a division, so elements may be 0. For cummax and cummin, each dy goes to the last
///           element of x, up to and including the position of dy, that equals the result (or is NaN).
template <detail::any_tensor X, std::size_t D>
auto cumsum(const X& x, dimensions_t<D>) {
  static_assert(detail::has_dimensions<X, D>, PARTITA_REQUIRES_DIMENSION("partita::cumsum(x, dimensions<d>)"));
  return detail::cumulative_call<sum_t, X, D>(x);
}
template <detail::any_tensor X, std::size_t D>
auto cumprod(const X& x, dimensions_t<D>) {  ///< the product of all elements up to and including each
  static_assert(detail::has_dimensions<X, D>, PARTITA_REQUIRES_DIMENSION("partita::cumprod(x, dimensions<d>)"));
  return detail::cumulative_call<product_t, X, D>(x);
}
template <detail::any_tensor X, std::size_t D>
auto cummax(const X& x, dimensions_t<D>) {  ///< the largest element up to and including each
  static_assert(detail::has_dimensions<X, D>, PARTITA_REQUIRES_DIMENSION("partita::cummax(x, dimensions<d>)"));
  return detail::cumulative_call<maximum_t, X, D>(x);
}
template <detail::any_tensor X, std::size_t D>
auto cummin(const X& x, dimensions_t<D>) {  ///< the smallest element up to and including each
  static_assert(detail::has_dimensions<X, D>, PARTITA_REQUIRES_DIMENSION("partita::cummin(x, dimensions<d>)"));
  return detail::cumulative_call<minimum_t, X, D>(x);
}

}  // namespace partita
