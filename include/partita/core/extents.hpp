// Extents: the size of each dimension, known at compile time or `dynamic`.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/error.hpp>
#include <partita/core/product.hpp>
#include <type_traits>

namespace partita {

/// As a template argument of `extents`: the extent of this dimension is given at run time.
inline constexpr std::size_t dynamic = static_cast<std::size_t>(-1);

/// The extents of a tensor or of a partition, one template argument for each dimension; static entries cost no memory.
///
/// Examples: `extents<2, 3>{}`; `extents<dynamic, 3>(n)`; `extents(n, m)`, whose type is `extents<dynamic, dynamic>`.
template <std::size_t... E>
class extents {
 public:
  static constexpr std::size_t rank() { return sizeof...(E); }
  /// The number of dimensions whose extents are given at run time.
  static constexpr std::size_t rank_dynamic() { return ((E == dynamic ? 1 : 0) + ... + 0); }
  static constexpr bool is_static() { return rank_dynamic() == 0; }  ///< Whether no extent is given at run time.
  /// The compile-time entry of dimension d, or `dynamic`.
  static constexpr std::size_t static_extent(std::size_t d) { return entries_[d]; }

  constexpr extents() = default;

  /// Constructs extents from the dynamic extents in order, or from all extents in order. A value that differs from a
  /// static entry, and a negative value (also one converted to unsigned), is a shape_error.
  template <class... Integer>
    requires(sizeof...(Integer) > 0 && (std::is_convertible_v<Integer, std::size_t> && ...) &&
             (sizeof...(Integer) == rank_dynamic() || sizeof...(Integer) == rank()))
  constexpr explicit extents(Integer... values) {
    assign(std::array<std::size_t, sizeof...(Integer)>{static_cast<std::size_t>(values)...});
  }

  template <std::size_t N>
    requires(N == rank_dynamic() || N == rank())
  constexpr explicit extents(const std::array<std::size_t, N>& values) {
    assign(values);
  }

  /// Converts from `other`, extents of the same rank. A run-time extent of `other` that differs from a static entry of
  /// this type is a shape_error.
  template <std::size_t... Other>
    requires(sizeof...(Other) == sizeof...(E) && ((E == dynamic || Other == dynamic || E == Other) && ...))
  constexpr explicit((... || (E != dynamic && Other == dynamic))) extents(const extents<Other...>& other) {
    assign(other.array());
  }

  constexpr std::size_t operator[](std::size_t d) const {
    if (entries_[d] != dynamic) return entries_[d];
    std::size_t k = 0;
    for (std::size_t i = 0; i < d; ++i)
      if (entries_[i] == dynamic) ++k;
    return values_[k];
  }
  constexpr std::size_t extent(std::size_t d) const { return (*this)[d]; }  ///< The extent of dimension d.
  /// All extents, static and dynamic.
  constexpr std::array<std::size_t, sizeof...(E)> array() const {
    std::array<std::size_t, sizeof...(E)> all{};
    for (std::size_t d = 0; d < rank(); ++d) all[d] = (*this)[d];
    return all;
  }

  /// The product of the extents: 1 for rank 0. A product that overflows `std::size_t` is a shape_error.
  constexpr std::size_t size() const { return product_of(array(), "partita::extents::size()"); }

  template <std::size_t... Other>
  friend constexpr bool operator==(const extents& a, const extents<Other...>& b) {
    if constexpr (sizeof...(E) == sizeof...(Other)) return a.array() == b.array();
    else return false;
  }

 private:
  static constexpr std::array<std::size_t, sizeof...(E)> entries_{E...};  ///< `dynamic`, or the compile-time extent
  /// The largest allowed run-time extent: any larger value is `dynamic` or a negative number converted to unsigned.
  static constexpr std::size_t largest_extent = static_cast<std::size_t>(-1) / 2;

  /// Stores the run-time extents. `given` are all extents, or the run-time extents alone; a wrong value is a
  /// shape_error.
  template <std::size_t N>
  constexpr void assign(const std::array<std::size_t, N>& given) {
    for (std::size_t d = 0; d < N; ++d)
      if (given[d] > largest_extent)
        throw shape_error(text("partita::extents: requires extents that are not negative, got ")
                          << static_cast<std::ptrdiff_t>(given[d]) << " (as an unsigned number " << given[d]
                          << ") as value " << d << "; extents are counts");
    std::size_t k = 0;
    for (std::size_t d = 0; d < rank(); ++d) {
      const bool is_fixed = entries_[d] != dynamic;
      if constexpr (N == rank())
        if (is_fixed && given[d] != entries_[d])
          throw shape_error(text("partita::extents: dimension ")
                            << d << " is " << entries_[d] << " in the type but was given as " << given[d]
                            << "; make the entry `dynamic` or give " << entries_[d]);
      if (is_fixed) continue;
      values_[k] = given[N == rank() ? d : k];
      ++k;
    }
  }

  [[no_unique_address]] std::array<std::size_t, rank_dynamic()> values_{};  ///< the run-time extents, in order
};

template <class... Integer>
  requires(std::is_convertible_v<Integer, std::size_t> && ...)
extents(Integer...) -> extents<((void)sizeof(Integer), dynamic)...>;

/// Writes extents to a stream, for example `[3, 4]`.
template <class Stream, std::size_t... E>
  requires requires(Stream& stream, const char* p) { stream.write(p, 1); }
Stream& operator<<(Stream& stream, const extents<E...>& shape) {
  return stream << (text() << shape.array());
}

/// Whether T is some `extents<...>`.
template <class T>
inline constexpr bool is_extents = false;
template <std::size_t... E>
inline constexpr bool is_extents<extents<E...>> = true;

/// The compile-time entries of an extents type; run-time extents are `dynamic`.
template <class Extents>
constexpr std::array<std::size_t, Extents::rank()> static_extents() {
  std::array<std::size_t, Extents::rank()> entries{};
  for (std::size_t d = 0; d < Extents::rank(); ++d) entries[d] = Extents::static_extent(d);
  return entries;
}

namespace detail {
/// The type extents<E..., dynamic, ...>, with Rank entries `dynamic` at the end.
template <std::size_t Rank, std::size_t... E>
struct append_dynamic_extents : append_dynamic_extents<Rank - 1, E..., dynamic> {};
template <std::size_t... E>
struct append_dynamic_extents<0, E...> {
  using type = extents<E...>;  ///< the end of the recursion: E... has all dynamic entries
};
}  // namespace detail

/// Extents of rank `Rank`, all of which are known only at run time.
template <std::size_t Rank>
using dynamic_extents = typename detail::append_dynamic_extents<Rank>::type;

}  // namespace partita
