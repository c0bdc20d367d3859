// The pending reduction of a partial value: the reduction over a mesh axis that completes the value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/rule/reduction.hpp>

namespace partita {

constexpr const char* name_of(pending_reduction kind) {
  const char* name = "none";
  detail::pending_reductions::visit(kind, [&](auto r) { name = decltype(r)::short_name; });
  return name;
}

/// How an operation treats values that are still partial.
enum class linearity : std::uint8_t {
  none,         ///< no reduction may stay pending: operands must be complete
  movement,     ///< values are only moved or copied: any reduction stays pending that all data operands have
  additive,     ///< linear in all operands together: sum or avg stays pending if all data operands have it
  multilinear,  ///< linear in each operand: sum or avg stays pending if only one operand has it
  monotone,     ///< a non-decreasing function of its one operand: max and min stay pending
};

/// Whether a reduction is linear in the elements: sum and avg.
constexpr bool is_linear(pending_reduction kind) {
  bool is = false;
  detail::pending_reductions::visit(kind, [&](auto r) { is = detail::is_linear_reduction<decltype(r)>; });
  return is;
}
/// Whether a reduction chooses the largest or the smallest element.
constexpr bool is_extreme(pending_reduction kind) {
  bool is = false;
  detail::pending_reductions::visit(kind, [&](auto r) { is = detail::is_extreme_reduction<decltype(r)>; });
  return is;
}

/// Whether an operation gives the same result before and after a pending reduction of this kind is taken.
constexpr bool commutes(linearity how, pending_reduction kind) {
  switch (how) {
    case linearity::movement:
      return kind != pending_reduction::none;
    case linearity::additive:
    case linearity::multilinear:
      return is_linear(kind);
    case linearity::monotone:
      return is_extreme(kind);
    case linearity::none:
      break;
  }
  return false;
}

/// Whether a value with the pending reduction `pending` may be reduced by `by` first, with the same result.
constexpr bool commutes(pending_reduction by, pending_reduction pending) {
  return by == pending || (is_linear(by) && is_linear(pending));
}

}  // namespace partita
