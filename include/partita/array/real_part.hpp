// The real numbers that an element consists of.
#pragma once

#include <complex>
#include <cstddef>

namespace partita::detail {

/// The type of the real and the imaginary part of T, and the number of these parts in an element: one or two.
template <class T>
struct real_part {
  using type = T;                          ///< the type of a real number itself
  static constexpr std::size_t count = 1;  ///< a real number is one part
};
template <class T>
struct real_part<std::complex<T>> {
  using type = T;                          ///< the type of both parts
  static constexpr std::size_t count = 2;  ///< the real and the imaginary part
};
/// The type of the real numbers that an element of type T consists of.
template <class T>
using real_of = typename real_part<T>::type;

}  // namespace partita::detail
