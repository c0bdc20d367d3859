// Defines the functions that array/detail/strided_pair.hpp declares.
#pragma once

#include <partita/array/detail/strided_pair.hpp>

namespace partita::detail {

PARTITA_DEF strided_pair make_strided_pair(char*& to, const std::ptrdiff_t* dst_strides, const char*& from,
                                           const std::ptrdiff_t* src_strides, const std::size_t* shape,
                                           std::size_t rank, std::size_t element) {
  strided_pair sorted;
  const auto bytes = static_cast<std::ptrdiff_t>(element);
  for (std::size_t d = 0; d < rank; ++d) {
    if (shape[d] == 1) continue;
    std::ptrdiff_t a = dst_strides[d] * bytes, b = src_strides[d] * bytes;
    if (a <= 0 && b < 0) {
      to += a * static_cast<std::ptrdiff_t>(shape[d] - 1);
      from += b * static_cast<std::ptrdiff_t>(shape[d] - 1);
      a = -a, b = -b;
    }
    std::size_t k = sorted.loops++;
    sorted.extent[k] = shape[d], sorted.dst_stride[k] = a, sorted.src_stride[k] = b;
    for (; k > 0 && magnitude(sorted.src_stride[k - 1]) < magnitude(b); --k) sorted.swap(k - 1, k);
  }
  strided_pair pair;
  for (std::size_t d = 0; d < sorted.loops; ++d)
    pair.append(sorted.extent[d], sorted.dst_stride[d], sorted.src_stride[d]);
  return pair;
}

PARTITA_DEF bool odometer::step(char*& to, const char*& from) {
  for (std::size_t d = loop_count_; d-- > 0;) {
    to += strided_pair_.dst_stride[d];
    from += strided_pair_.src_stride[d];
    if (++loop_position_[d] < strided_pair_.extent[d]) return true;
    const auto n = static_cast<std::ptrdiff_t>(strided_pair_.extent[d]);
    to -= n * strided_pair_.dst_stride[d];
    from -= n * strided_pair_.src_stride[d];
    loop_position_[d] = 0;
  }
  return false;
}

}  // namespace partita::detail
