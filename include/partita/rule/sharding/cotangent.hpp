// How the cotangent of a value lies: a function of how the value lies, and of nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/rule/sharding/sharding.hpp>

namespace partita {

/// What one mesh axis is to a value: it cuts a dimension; or the value is whole over it, a sum that has not been taken,
/// or whole with a cotangent that has not been summed.
enum class axis_state : std::uint8_t { cut, whole, partial, reduced };

constexpr const char* name_of(axis_state state) {
  constexpr const char* names[] = {"cut", "whole", "partial", "reduced"};
  return names[static_cast<std::size_t>(state)];
}

constexpr axis_state state_of(const sharding& s, std::size_t a) {
  if ((s.cutting() >> s.on.checked(a) & 1U) != 0) return axis_state::cut;
  if (s.owed[a] != owed_reduction::none) return axis_state::partial;
  return s.is_reduced(a) ? axis_state::reduced : axis_state::whole;
}

/// The sharding of the cotangent: cut where the value is cut, whole where it is whole, partial where it is reduced, and
/// reduced where it is partial. Two cotangents of one value lie alike, so they are added without a move; a value that
/// is said to be reduced collects its cotangent in parts, and one reduction at the end makes it whole.
/// Shapes:   those of the value.
/// Requires: partial sums; other reductions are not linear, or weigh what they reduce [partition_error].
/// Cost:     none; a constant expression where its argument is.
/// Adjoint:  itself: the cotangent of the cotangent lies as the value.
constexpr sharding cotangent(const sharding& s) {
  sharding c = s;
  c.reduced_over = 0;
  for (std::size_t a = 0; a < s.on.rank(); ++a) {
    if (s.owed[a] != owed_reduction::none && s.owed[a] != owed_reduction::sum)
      throw partition_error(text("partita::cotangent: requires a value that is partial by sums, but the ")
                            << name_of(s.owed[a]) << " over \"" << s.on.axes[a].name()
                            << "\" is not taken; finish it before");
    c.owed[a] = s.is_reduced(a) ? owed_reduction::sum : owed_reduction::none;
    if (s.owed[a] == owed_reduction::sum) c.reduced_over = static_cast<std::uint16_t>(c.reduced_over | 1U << a);
  }
  return c;
}

namespace detail {

/// Where the cotangent of a value is collected: what owes another reduction than a sum is one tensor all the same,
/// whose cotangent is whole.
constexpr sharding place_of_cotangent(const sharding& s) {
  sharding sums = s;
  for (owed_reduction& kind : sums.owed)
    if (kind != owed_reduction::sum) kind = owed_reduction::none;
  return cotangent(sums);
}

}  // namespace detail
}  // namespace partita
