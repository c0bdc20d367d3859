// Products of extents with a check for overflow.
#pragma once

#include <array>
#include <cstddef>
#include <partita/core/error.hpp>

namespace partita {

/// Returns whether a * b fits in `std::size_t`, and if so stores it in `product`.
constexpr bool multiply(std::size_t a, std::size_t b, std::size_t& product) {
  return !__builtin_mul_overflow(a, b, &product);
}

/// Returns whether the product of the extents fits in `std::size_t`, and if so stores it in `product`. The product is 1
/// for rank 0, and 0 if an extent is 0.
template <std::size_t Rank>
constexpr bool multiply(const std::array<std::size_t, Rank>& extents, std::size_t& product) {
  product = 1;
  bool fits = true;
  for (const std::size_t extent : extents) {
    if (extent == 0) {  // the product is 0, even if the product of the other extents overflows
      product = 0;
      return true;
    }
    fits = multiply(product, extent, product) && fits;
  }
  return fits;
}

/// The product of the extents: 1 for rank 0, 0 if an extent is 0. A product that overflows `std::size_t` throws an
/// `Error` that names the call.
template <class Error = shape_error, std::size_t Rank>
constexpr std::size_t product_of(const std::array<std::size_t, Rank>& extents, const char* call) {
  std::size_t product = 1;
  if (!multiply(extents, product))
    throw Error(text(call) << ": requires a product of extents of at most " << static_cast<std::size_t>(-1)
                           << ", got the extents " << extents << "; give smaller extents");
  return product;
}

/// Throws a shape_error, in the name of `call`, if the parameters `what` of these extents have more than 2^40 elements,
/// or if one extent is above 2^40. Such extents usually come from negative numbers that were converted to unsigned
/// ones.
template <std::size_t Rank>
void require_no_overflow(const std::array<std::size_t, Rank>& extents, const char* what, const char* call) {
  constexpr std::size_t most_elements = std::size_t{1} << 40U;  // chosen: the size in bytes fits in std::size_t
  std::size_t product = 1;
  bool fits = multiply(extents, product) && product <= most_elements;
  for (const std::size_t extent : extents) fits = fits && extent <= most_elements;
  if (!fits)
    throw shape_error(text(call) << ": requires " << what << " of at most 2^40 elements in all, got " << extents
                                 << "; numbers must not be negative");
}

}  // namespace partita
