// The order of the dimensions in the result of a kernel: the policy permute<...>, and functions of permutations.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/box.hpp>

namespace partita {

/// Dimension d of the kernel's result is dimension P[d] of its source: `permute<1, 0>` transposes a matrix.
template <std::size_t... P>
struct permute_t {};
template <std::size_t... P>
inline constexpr permute_t<P...> permute{};  ///< The policy as a value.

/// A permutation: dimension k of the result is dimension axes[k] of the source.
template <std::size_t Rank>
using axes_order = std::array<std::size_t, Rank>;

/// The identity permutation, which changes no order.
template <std::size_t Rank>
constexpr axes_order<Rank> same_axes() {
  axes_order<Rank> axes{};
  for (std::size_t d = 0; d < Rank; ++d) axes[d] = d;
  return axes;
}

/// Whether `axes` is a permutation: each dimension occurs once.
template <std::size_t Rank>
constexpr bool is_permutation_of_axes(const axes_order<Rank>& axes) {
  std::array<bool, Rank> seen{};
  for (const std::size_t d : axes) {
    if (d >= Rank || seen[d]) return false;
    seen[d] = true;
  }
  return true;
}

/// The inverse permutation: inverse_axes(axes)[axes[k]] == k.
template <std::size_t Rank>
constexpr axes_order<Rank> inverse_axes(const axes_order<Rank>& axes) {
  axes_order<Rank> back{};
  for (std::size_t k = 0; k < Rank; ++k) back[axes[k]] = k;
  return back;
}

/// Reorders one value per source dimension to the order of the result's dimensions.
template <class T, std::size_t Rank>
constexpr std::array<T, Rank> in_result_order(const std::array<T, Rank>& source_values, const axes_order<Rank>& axes) {
  std::array<T, Rank> result_values{};
  for (std::size_t k = 0; k < Rank; ++k) result_values[k] = source_values[axes[k]];
  return result_values;
}

/// Reorders one value per result dimension to the order of the source's dimensions.
template <class T, std::size_t Rank>
constexpr std::array<T, Rank> in_source_order(const std::array<T, Rank>& result_values, const axes_order<Rank>& axes) {
  std::array<T, Rank> source_values{};
  for (std::size_t k = 0; k < Rank; ++k) source_values[axes[k]] = result_values[k];
  return source_values;
}

/// Reorders the dimensions of a box from the source's order to the result's order.
template <std::size_t Rank>
constexpr box<Rank> in_result_order(const box<Rank>& source_values, const axes_order<Rank>& axes) {
  return {in_result_order(source_values.start, axes), in_result_order(source_values.stop, axes)};
}

/// Returns lists and boxes whose rank is known only at run time unchanged: their dimensions are never permuted.
constexpr const shape_list& inverse_axes(const shape_list& axes) { return axes; }
template <class T>
constexpr const short_list<T>& in_result_order(const short_list<T>& values, const shape_list&) {
  return values;
}
template <class T>
constexpr const short_list<T>& in_source_order(const short_list<T>& values, const shape_list&) {  ///< returns `values`
  return values;
}
constexpr const box<dynamic>& in_result_order(const box<dynamic>& values, const shape_list&) { return values; }

}  // namespace partita
