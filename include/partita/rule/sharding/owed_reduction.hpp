// The pending reduction of a partial value: the reduction over a mesh axis that completes it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace partita {

/// The reduction that completes a value over a mesh axis; `none`: the value is complete over that axis.
enum class owed_reduction : std::uint8_t { none, sum, avg, max, min, prod, any, all };

constexpr const char* name_of(owed_reduction kind) {
  constexpr const char* names[] = {"none", "sum", "avg", "max", "min", "prod", "any", "all"};
  return names[static_cast<std::size_t>(kind)];
}

/// How an operation treats values that are still partial.
enum class linearity : std::uint8_t {
  none,         ///< not known: operands must be complete
  movement,     ///< values are only moved or copied: any kind, if all data operands have the same pending reduction
  additive,     ///< linear in all operands together: sum and avg, if every data operand has the same pending reduction
  multilinear,  ///< linear in each operand: sum and avg, if one operand is partial and the others are complete
  monotone,     ///< a non-decreasing function of its one operand: max and min
};

constexpr bool is_linear(owed_reduction kind) { return kind == owed_reduction::sum || kind == owed_reduction::avg; }

/// Whether the operation can be applied before a pending reduction of this kind, with the same result.
constexpr bool commutes(linearity how, owed_reduction kind) {
  switch (how) {
    case linearity::movement:
      return kind != owed_reduction::none;
    case linearity::additive:
    case linearity::multilinear:
      return is_linear(kind);
    case linearity::monotone:
      return kind == owed_reduction::max || kind == owed_reduction::min;
    case linearity::none:
      break;
  }
  return false;
}

/// Whether a value with the pending reduction `owed` may be reduced by `by` first, with the same result.
constexpr bool commutes(owed_reduction by, owed_reduction owed) {
  return by == owed || (is_linear(by) && is_linear(owed));
}

}  // namespace partita
