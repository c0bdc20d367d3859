// What is known about an extent before the data exists: its value, an upper bound, or nothing.
//
// Array broadcasting is checked for two types of extents. A `std::size_t` is a number, or `dynamic`: a number that the
// library learns at run time, so it violates no rule yet. A `known_extent` is an extent in the type of an XLA tensor: a
// number, or a dynamic size, which may change from run to run. Such extents are combined by XLA's own rules.
#pragma once

#include <cstddef>
#include <partita/core/extents.hpp>

namespace partita {

/// An extent as XLA knows it: exactly n, at most n ("<=n"), or any number ("?").
struct known_extent {
  enum class knowledge { exactly, upper_bound, any_size };  ///< what `size` is

  std::size_t size = 1;                 ///< the exact size or its upper bound; `dynamic` if any size is possible
  knowledge what = knowledge::exactly;  ///< what `size` means

  constexpr known_extent() = default;                 ///< exactly 1
  constexpr known_extent(std::size_t n) : size(n) {}  // NOLINT: a number is an extent
  static constexpr known_extent with_upper_bound(std::size_t n) { return {n, knowledge::upper_bound}; }  ///< at most n
  static constexpr known_extent any_size() { return {dynamic, knowledge::any_size}; }  ///< An unknown extent.

  constexpr bool is_dynamic() const { return what != knowledge::exactly; }  ///< Whether the exact size is unknown.
  friend constexpr bool operator==(const known_extent&, const known_extent&) = default;

  template <class Text>
    requires requires(Text& out) { out << "" << std::size_t{}; }
  friend constexpr Text& operator<<(Text& out, const known_extent& e) {
    if (e.what == knowledge::any_size) out << "?";
    else out << (e.what == knowledge::upper_bound ? "<=" : "") << e.size;
    return out;
  }

 private:
  constexpr known_extent(std::size_t n, knowledge k) : size(n), what(k) {}
};

/// The combination of two extents in one dimension: whether the combination is legal, and the resulting extent.
template <class Extent>
struct extent_combination {
  bool legal = true;  ///< whether the extents fit together
  Extent extent{};    ///< the extent of the result
};

/// Combines two extents by degenerate broadcasting: an extent of 1 is expanded; other extents must be equal, or one of
/// them unknown.
constexpr extent_combination<std::size_t> combine_extents(std::size_t a, std::size_t b) {
  if (a == 1) return {true, b};
  if (b == 1 || a == b || b == dynamic) return {true, a};
  if (a == dynamic) return {true, b};
  return {false, a};
}
/// Combines two extents as XLA does: 1 and <=1 are expanded; other sizes or bounds must be equal, or one unknown.
constexpr extent_combination<known_extent> combine_extents(known_extent a, known_extent b) {
  using enum known_extent::knowledge;
  if (a.size == 1) return {true, b};
  if (b.size == 1) return {true, a};
  if (a.size == b.size) return {true, a.is_dynamic() ? a : b};
  if (a.what == any_size) return {true, b};
  if (b.what == any_size) return {true, a};
  return {false, a};
}

/// Combines two extents without broadcasting: both extents must be equal, or one of them unknown.
constexpr extent_combination<std::size_t> combine_equal_extents(std::size_t a, std::size_t b) {
  if (a == b || b == dynamic) return {true, a};
  return {a == dynamic, b};
}
/// Combines two extents without broadcasting, as XLA does: the sizes or bounds must be equal, or one of them unknown.
constexpr extent_combination<known_extent> combine_equal_extents(known_extent a, known_extent b) {
  using enum known_extent::knowledge;
  if (a.what == any_size) return {true, b};
  if (b.what == any_size) return {true, a};
  return {a.size == b.size, a.is_dynamic() ? a : b};
}

/// Whether broadcast_dimensions may map extent `small` to extent `large`: both are equal, or one is 1 or `dynamic`.
constexpr bool may_be_mapped(std::size_t small, std::size_t large) { return combine_extents(small, large).legal; }
/// Whether broadcast_dimensions may map `small` to `large` in XLA, which rejects 2 to ?, but not 1 to ?.
constexpr bool may_be_mapped(known_extent small, known_extent large) {
  if (small.size != large.size && small.size != 1 && large.size != 1) return false;
  if (small.is_dynamic() == large.is_dynamic() || small.size == large.size) return true;
  return small == known_extent(1) || large == known_extent(1);
}

}  // namespace partita
