// Defines the functions that array/detail/strided_pair.hpp declares.
#pragma once

#include <partita/array/detail/strided_pair.hpp>

namespace partita::detail {

PARTITA_DEF strided_pair pair_of(char*& to, const std::ptrdiff_t* to_strides, const char*& from,
                                 const std::ptrdiff_t* from_strides, const std::size_t* shape, std::size_t rank,
                                 std::size_t element) {
  strided_pair sorted;
  const auto bytes = static_cast<std::ptrdiff_t>(element);
  for (std::size_t d = 0; d < rank; ++d) {
    if (shape[d] == 1) continue;
    std::ptrdiff_t a = to_strides[d] * bytes, b = from_strides[d] * bytes;
    if (a <= 0 && b < 0) {
      to += a * static_cast<std::ptrdiff_t>(shape[d] - 1);
      from += b * static_cast<std::ptrdiff_t>(shape[d] - 1);
      a = -a, b = -b;
    }
    std::size_t k = sorted.loops++;
    sorted.extent[k] = shape[d], sorted.to_stride[k] = a, sorted.from_stride[k] = b;
    for (; k > 0 && magnitude(sorted.from_stride[k - 1]) < magnitude(b); --k) sorted.swap(k - 1, k);
  }
  strided_pair pair;
  for (std::size_t d = 0; d < sorted.loops; ++d)
    pair.append(sorted.extent[d], sorted.to_stride[d], sorted.from_stride[d]);
  return pair;
}

PARTITA_DEF bool odometer::step(char*& to, const char*& from) {
  for (std::size_t d = loops_; d-- > 0;) {
    to += pair_.to_stride[d];
    from += pair_.from_stride[d];
    if (++position_[d] < pair_.extent[d]) return true;
    const auto n = static_cast<std::ptrdiff_t>(pair_.extent[d]);
    to -= n * pair_.to_stride[d];
    from -= n * pair_.from_stride[d];
    position_[d] = 0;
  }
  return false;
}

}  // namespace partita::detail
