// The dimensions of a partition along which a kernel acts: a list of dimensions, or all but the listed dimensions.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/short_list.hpp>
#include <type_traits>

namespace partita {

/// The partition dimensions that a kernel acts along, as a value: `dimensions<0, 2>`.
template <std::size_t... D>
struct dimensions_t {};
template <std::size_t... D>
inline constexpr dimensions_t<D...> dimensions{};  ///< The listed dimensions.
/// The partition dimensions that a kernel does not act along; the kernel acts along all remaining dimensions.
template <std::size_t... D>
struct all_dimensions_but_t {};
template <std::size_t... D>
inline constexpr all_dimensions_but_t<D...> all_dimensions_but{};  ///< All but the listed dimensions.

/// The partition dimensions that a kernel acts along, as a run-time list: `dimension_list{0, 2}`.
using dimension_list = short_list<std::size_t>;

namespace detail {

/// Whether each D is a dimension of a partition of this rank.
template <std::size_t Rank, std::size_t... D>
inline constexpr bool are_dimensions_below_rank = ((D < Rank) && ...);
template <std::size_t... D>
inline constexpr bool are_distinct_dimensions = [] {  ///< whether no D is listed twice
  constexpr std::size_t all[] = {D..., 0};
  for (std::size_t a = 0; a < sizeof...(D); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (all[a] == all[b]) return false;
  return true;
}();

/// Whether D is a type that lists dimensions of a partition.
template <class D>
inline constexpr bool is_dimension_list = std::is_same_v<D, dimension_list>;
template <std::size_t... D>
inline constexpr bool is_dimension_list<dimensions_t<D...>> = true;
template <std::size_t... D>
inline constexpr bool is_dimension_list<all_dimensions_but_t<D...>> = true;
/// Whether the first type of `Other` does not list dimensions; also true if `Other` is empty.
template <class... Other>
inline constexpr bool is_not_a_dimension_list = true;
template <class First, class... Other>
inline constexpr bool is_not_a_dimension_list<First, Other...> = !is_dimension_list<First>;

}  // namespace detail

/// For each of `Rank` dimensions, whether a kernel does not act along the dimension. Listed dimensions that do not
/// exist are ignored, because the caller rejects them.
template <std::size_t Rank, std::size_t... D>
constexpr std::array<bool, Rank> kept_dimensions(dimensions_t<D...>) {
  std::array<bool, Rank> kept{};
  for (std::size_t d = 0; d < Rank; ++d) kept[d] = ((d != D) && ...);
  return kept;
}
template <std::size_t Rank, std::size_t... D>
constexpr std::array<bool, Rank> kept_dimensions(all_dimensions_but_t<D...>) {  ///< true if listed
  std::array<bool, Rank> kept{};
  for (std::size_t d = 0; d < Rank; ++d) kept[d] = ((d == D) || ...);
  return kept;
}

}  // namespace partita
