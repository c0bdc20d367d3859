// The sharding of a cotangent, which depends only on the sharding of its value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/rule/sharding/sharding.hpp>

namespace partita {

/// The role of a mesh axis for a value: the axis shards a dimension (cut), or the value is replicated over it,
/// partial (a sum with a pending reduction), or replicated with a cotangent whose reduction is pending (reduced).
enum class axis_state : std::uint8_t { cut, replicated, partial, reduced };

constexpr const char* name_of(axis_state state) {
  constexpr const char* names[] = {"cut", "whole", "partial", "reduced"};
  return names[static_cast<std::size_t>(state)];
}

/// The role of mesh axis a for a value of this sharding.
constexpr axis_state state_of(const sharding& s, std::size_t a) {
  if ((s.cut_axes() >> s.on.checked_axis(a) & 1U) != 0) return axis_state::cut;
  if (s.pending[a] != pending_reduction::none) return axis_state::partial;
  return s.is_reduced(a) ? axis_state::reduced : axis_state::replicated;
}

/// The sharding of the cotangent of a value. An axis that shards the value shards the cotangent. Over the other axes,
/// the cotangent is replicated if the value is replicated, partial if the value is reduced, and reduced if the value is
/// partial. Two cotangents of one value have the same layout, so they are added without communication. The cotangent of
/// a reduced value is accumulated as partial sums, which one reduction at the end completes.
/// Shapes:   a cotangent has the shape of its value.
/// Requires: no pending reduction other than sums, because the others are not linear, or scale their operands
///           [partition_error].
/// Cost:     no communication; a constant expression where the argument is constant.
/// Adjoint:  the function itself: the cotangent of the cotangent has the layout of the value.
constexpr sharding cotangent(const sharding& s) {
  sharding c = s;
  c.reduced_over = 0;
  for (std::size_t a = 0; a < s.on.rank(); ++a) {
    if (s.pending[a] != pending_reduction::none && s.pending[a] != pending_reduction::sum)
      throw partition_error(text("partita::cotangent: requires a value that is partial by sums, but the ")
                            << name_of(s.pending[a]) << " over \"" << s.on.axes[a].name()
                            << "\" is not taken; finish it before");
    c.pending[a] = s.is_reduced(a) ? pending_reduction::sum : pending_reduction::none;
    if (s.pending[a] == pending_reduction::sum) c.reduced_over = static_cast<std::uint16_t>(c.reduced_over | 1U << a);
  }
  return c;
}

namespace detail {

/// The sharding in which the cotangent of a value is accumulated. A value with a pending reduction other than a sum is
/// treated as one complete tensor, whose cotangent is replicated over the axes of the reduction.
constexpr sharding cotangent_sharding(const sharding& s) {
  sharding sums = s;
  for (pending_reduction& kind : sums.pending)
    if (kind != pending_reduction::sum) kind = pending_reduction::none;
  return cotangent(sums);
}

}  // namespace detail
}  // namespace partita
