// The mesh axes that shard one dimension, major to minor, in one machine word.
#pragma once

#include <cstddef>
#include <cstdint>

namespace partita {

/// The maximal number of axes of a mesh.
inline constexpr std::size_t most_axes = 8;

/// An ordered list of mesh axis numbers, four bits each; every axis occurs at most once.
struct axis_list {
  std::uint32_t packed = 0;  ///< bits 4k … 4k + 3 hold the k-th axis number plus one

  constexpr axis_list() = default;  ///< no axis
  constexpr explicit axis_list(std::size_t axis) { push_back(axis); }

  constexpr bool empty() const { return packed == 0; }
  constexpr std::size_t size() const {
    std::size_t n = 0;
    while (n < most_axes && ((packed >> (4 * n)) & 15U) != 0) ++n;
    return n;
  }
  constexpr std::size_t operator[](std::size_t k) const { return ((packed >> (4 * k)) & 15U) - 1U; }
  constexpr std::size_t back() const { return (*this)[size() - 1]; }  ///< The minor axis.
  constexpr bool contains(std::size_t axis) const {
    for (std::size_t k = 0; k < size(); ++k)
      if ((*this)[k] == axis) return true;
    return false;
  }
  /// Appends an axis at the minor end; an axis that is already in the list changes nothing.
  constexpr void push_back(std::size_t axis) {
    const std::size_t n = size();
    if (n < most_axes && !contains(axis)) packed |= static_cast<std::uint32_t>(axis + 1) << (4 * n);
  }
  constexpr void pop_back() { packed &= (std::uint32_t{1} << (4 * (size() - 1))) - 1U; }  ///< Removes the last axis.
  constexpr void append(axis_list more) {  ///< appends the axes that are not in the list yet
    for (std::size_t k = 0; k < more.size(); ++k) push_back(more[k]);
  }
  /// The list without its first k axes, in the same order.
  constexpr axis_list from(std::size_t k) const {
    axis_list rest;
    if (k < most_axes) rest.packed = packed >> (4 * k);
    return rest;
  }
  /// The list without the axis `axis`, in the same order.
  constexpr axis_list without(std::size_t axis) const {
    axis_list rest;
    for (std::size_t k = 0; k < size(); ++k)
      if ((*this)[k] != axis) rest.push_back((*this)[k]);
    return rest;
  }
  /// Whether the first axes of the list are those of `prefix`.
  constexpr bool starts_with(axis_list prefix) const {
    const std::size_t bits = 4 * prefix.size();
    return bits == 32 ? packed == prefix.packed : (packed & ((std::uint32_t{1} << bits) - 1U)) == prefix.packed;
  }
  /// The axes of the list as a set, with a bit for each axis.
  constexpr std::uint32_t set() const {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < size(); ++k) bits |= std::uint32_t{1} << (*this)[k];
    return bits;
  }

  friend constexpr bool operator==(const axis_list& a, const axis_list& b) { return a.packed == b.packed; }
};

}  // namespace partita
