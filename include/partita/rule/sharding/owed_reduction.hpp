// What a partial value still owes: the reduction over a mesh axis that would make it whole.
#pragma once

#include <cstddef>
#include <cstdint>

namespace partita {

/// The reduction that finishes a value over a mesh axis; `none`: the value is whole over that axis.
enum class owed_reduction : std::uint8_t { none, sum, avg, max, min, prod, any, all };

constexpr const char* name_of(owed_reduction kind) {
  constexpr const char* names[] = {"none", "sum", "avg", "max", "min", "prod", "any", "all"};
  return names[static_cast<std::size_t>(kind)];
}

/// What an operation does with values that are still partial.
enum class linearity : std::uint8_t {
  none,         ///< nothing can be said: operands must be whole
  movement,     ///< values are moved or copied, not computed with: any kind, if every data operand owes the same
  additive,     ///< linear in all operands together: sum and avg, if every data operand owes the same
  multilinear,  ///< linear in each operand: sum and avg, if one operand owes and the others are whole
  monotone,     ///< never decreasing in its one operand: max and min
};

constexpr bool is_linear(owed_reduction kind) { return kind == owed_reduction::sum || kind == owed_reduction::avg; }

/// Whether the operation commutes with finishing a value of this kind.
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

/// Whether a value that owes `owed` may be reduced by `by` first: finishing afterwards gives the same.
constexpr bool commutes(owed_reduction by, owed_reduction owed) {
  return by == owed || (is_linear(by) && is_linear(owed));
}

}  // namespace partita
