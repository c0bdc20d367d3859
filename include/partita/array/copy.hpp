// Copying and accumulating between two strided blocks of equal shape: the only loops that move bytes inside a worker.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace partita::detail {

/// Walks two strided blocks together and hands each innermost pair of runs to `run(dst, dst_stride, src, src_stride, n)`.
template <class T, class Run>
void for_each_run(T* dst, const std::ptrdiff_t* dst_strides, const T* src, const std::ptrdiff_t* src_strides,
                  const std::size_t* shape, std::size_t rank, Run run) {
  constexpr std::size_t most = 16;
  std::size_t extent[most];
  std::ptrdiff_t a[most], b[most];
  std::size_t m = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    if (shape[d] == 0) return;
    if (shape[d] == 1) continue;
    const auto n = static_cast<std::ptrdiff_t>(shape[d]);
    if (m > 0 && a[m - 1] == n * dst_strides[d] && b[m - 1] == n * src_strides[d]) {
      extent[m - 1] *= shape[d];
      a[m - 1] = dst_strides[d];
      b[m - 1] = src_strides[d];
    } else {
      extent[m] = shape[d];
      a[m] = dst_strides[d];
      b[m] = src_strides[d];
      ++m;
    }
  }
  if (m == 0) {
    run(dst, std::ptrdiff_t{1}, src, std::ptrdiff_t{1}, std::size_t{1});
    return;
  }
  std::size_t position[most] = {};
  for (;;) {
    run(dst, a[m - 1], src, b[m - 1], extent[m - 1]);
    std::size_t k = m - 1;
    for (;; --k) {
      if (k == 0) return;
      const std::size_t d = k - 1;
      dst += a[d];
      src += b[d];
      if (++position[d] < extent[d]) break;
      dst -= a[d] * static_cast<std::ptrdiff_t>(extent[d]);
      src -= b[d] * static_cast<std::ptrdiff_t>(extent[d]);
      position[d] = 0;
    }
  }
}

}  // namespace partita::detail

namespace partita {

/// Copies a block. Strides are in elements and may be negative or 0 where the extent is 1; the blocks must not overlap.
template <class T>
void copy_block(T* dst, const std::ptrdiff_t* dst_strides, const T* src, const std::ptrdiff_t* src_strides,
                const std::size_t* shape, std::size_t rank) {
  detail::for_each_run(dst, dst_strides, src, src_strides, shape, rank,
                       [](T* d, std::ptrdiff_t ds, const T* s, std::ptrdiff_t ss, std::size_t n) {
                         if constexpr (std::is_trivially_copyable_v<T>) {
                           if (ds == 1 && ss == 1) {
                             std::memcpy(static_cast<void*>(d), static_cast<const void*>(s), n * sizeof(T));
                             return;
                           }
                         }
                         for (std::size_t i = 0; i < n; ++i, d += ds, s += ss) *d = *s;
                       });
}

/// Adds a block to another: dst += src, element by element.
template <class T>
void add_block(T* dst, const std::ptrdiff_t* dst_strides, const T* src, const std::ptrdiff_t* src_strides,
               const std::size_t* shape, std::size_t rank) {
  detail::for_each_run(dst, dst_strides, src, src_strides, shape, rank,
                       [](T* d, std::ptrdiff_t ds, const T* s, std::ptrdiff_t ss, std::size_t n) {
                         for (std::size_t i = 0; i < n; ++i, d += ds, s += ss) *d = static_cast<T>(*d + *s);
                       });
}

}  // namespace partita
