// The requirements of the reducing kernels on blocks and reductions, shared by all of these kernels.
#pragma once

#include <partita/comm/element.hpp>
#include <partita/kernel/detail/collective_kernel.hpp>
#include <partita/kernel/detail/requirements.hpp>
#include <partita/rule/reduction.hpp>

namespace partita::detail {

/// Writes a reduction as an argument of a call, for error messages: ", maximum".
template <class R>
text reduction_call_text() {
  text named(", ");
  if constexpr (requires { R::name; }) return named << R::name;
  else return named << type_name<R>();
}

/// What collective_kernel needs of a kernel with the reduction R in direction `There` and its adjoint in `Back`.
template <class R, group_direction There, group_direction Back, bool Shares, bool Exact>
struct reduction_checks {
  static_assert(std::is_empty_v<R> && std::is_default_constructible_v<R>,
                "partita::reduce(p_x, p_y, reduction): requires a reduction: sum, maximum, minimum, any, all, "
                "mean, or an empty type of your own with an identity and a function of two elements");
  static_assert(!Exact || has_reproducible_form<R>,
                "partita::reduce(p_x, p_y, reduction, reproducible): requires a reduction that can be rounded once or "
                "does not depend on the order: leave reproducible out");

  /// Whether the reduction is linear, and therefore has an adjoint.
  static constexpr bool is_linear = is_linear_reduction<R>;
  static constexpr auto there = There, back = Back;      ///< how blocks move in the call and in its adjoint
  static constexpr bool shares = Shares, exact = Exact;  ///< whether a node shares a result; whether sums round once
  using reduction = R;                                   ///< how elements are combined

  /// Whether the kernel accepts a block X; if not, the compiler prints one error message.
  template <class X>
  static consteval bool takes() {
    constexpr bool is_expression = ranked_array<X>;
    static_assert(is_expression, PARTITA_REQUIRES_KNOWN_RANK("partita::reduce(p_x, p_y, reduction)(x)"));
    if constexpr (is_block<X>()) {
      using T = element_of<X>;
      constexpr bool can_be_reduced = movable_element<T> && reduction_of<R, T>;
      static_assert(can_be_reduced,
                    "partita::reduce(p_x, p_y, reduction)(x): requires elements that the reduction takes: sum and "
                    "product numbers but not bool, maximum and minimum ordered numbers, any and all bool or integers, "
                    "mean floating-point or complex numbers, your own those of its function and identity");
      return can_be_reduced;
    } else {
      return false;
    }
  }
  /// Whether the adjoint accepts a block Y; if not, the compiler prints one error message.
  template <class Y>
  static consteval bool takes_back() {
    static_assert(is_linear,
                  "partita::reduce(p_x, p_y, reduction).adjoint(dy): requires a linear reduction, sum or mean; the "
                  "others have no adjoint");
    if constexpr (is_linear) return takes<Y>();
    else return false;
  }
};

}  // namespace partita::detail
