// Copies a strided block to another strided block of equal shape, or adds it to the other block.
//
// The functions are templates of the element type; their loops take the rank as a run-time number. First, the blocks
// are reduced to the smallest number of loops. Data that is contiguous on both sides is copied in runs; data that is
// contiguous along different dimensions is copied in tiles that are transposed in registers. If the data does not fit
// into the cache, long runs and aligned tiles are written with streaming stores. No xtensor expression is evaluated.
#pragma once

#include <cstddef>
#include <partita/array/detail/loops.hpp>
#include <type_traits>

namespace partita {

/// How bytes are stored: streaming stores bypass the cache, which pays if the data does not stay in the cache (1.4 to
/// 2.5 times faster in memory, 3 times slower in cache). `by_size` decides by the size of one block; a caller that
/// copies many blocks knows the total size.
enum class stores { by_size, cached, streaming };

namespace detail {

/// Whether reading `bytes` bytes and writing as many bytes takes more than 4/5 of the last-level cache.
inline bool exceeds_cache(std::size_t bytes) { return bytes > last_level_cache_bytes() / 5 * 2; }

/// Copies a block of elements of S bytes, a power of two up to 16. Strides are in elements.
template <std::size_t S>
void copy_bytes(char* to, const std::ptrdiff_t* dst_strides, const char* from, const std::ptrdiff_t* src_strides,
                const std::size_t* shape, std::size_t rank, stores store_mode, instruction_set isa) {
  constexpr auto unit = static_cast<std::ptrdiff_t>(S);
  strided_pair pair = make_strided_pair(to, dst_strides, from, src_strides, shape, rank, S);
  if (pair.loops == 0) return baseline::copy_vector<S>(to, from);
  const std::size_t last = pair.loops - 1, none = pair.loops;
  const bool large = store_mode == stores::streaming || (store_mode == stores::by_size && exceeds_cache(pair.bytes(S)));

  // Find the loops with unit stride in both blocks (`run`), only in `to` (`across`), or only in `from` (`down`).
  std::size_t run = none, across = none, down = none;
  for (std::size_t d = 0; d < pair.loops; ++d) {
    if (pair.dst_stride[d] == unit && pair.src_stride[d] == unit) run = d;
    if (pair.dst_stride[d] == unit) across = d;
    if (pair.src_stride[d] == unit) down = d;
  }
  // `row_start_bits` is a multiple of cache_line if all rows of `to` start at a cache line (in a transposition: at one
  // offset within a cache line).
  std::size_t row_start_bits = reinterpret_cast<std::size_t>(to) * (run != none);
  for (std::size_t d = 0; d < pair.loops; ++d)
    if (d != run && d != across) row_start_bits |= static_cast<std::size_t>(pair.dst_stride[d]);
  const bool lines = row_start_bits % cache_line == 0;

  if (run != none) {
    // The blocks are contiguous along the same dimension: copy runs of bytes.
    pair.move_loop(run, last);
    pair.extent[last] *= S;
    const bool streaming = large && pair.extent[last] >= (lines ? cache_line : 2 * cache_line);
    copy_runs(isa, pair, to, from, streaming);
    if (streaming) finish_streaming_stores();
  } else if (across != none && down != none) {
    // The blocks are contiguous along different dimensions: transpose in tiles.
    pair.move_loop(across, last);
    pair.move_loop(down > across ? down - 1 : down, last);
    const bool streaming = large && lines && reinterpret_cast<std::size_t>(to) % S == 0;
    copy_transposed<S>(isa, pair, to, from, streaming);
    if (streaming) finish_streaming_stores();
  } else {
    // At least one block is not contiguous along any dimension: copy element by element.
    if (across != none) pair.move_loop(across, last);
    odometer position(pair, last);
    do baseline::copy_elements<S>(to, pair.dst_stride[last], from, pair.src_stride[last], pair.extent[last]);
    while (position.step(to, from));
  }
}

/// Calls `run(dst, dst_stride, src, src_stride, n)` for each run of the innermost loop over two blocks; strides are in
/// elements.
template <class T, class Run>
void for_each_run(T* dst, const std::ptrdiff_t* dst_strides, const T* src, const std::ptrdiff_t* src_strides,
                  const std::size_t* shape, std::size_t rank, Run run) {
  char* to = reinterpret_cast<char*>(dst);
  const char* from = reinterpret_cast<const char*>(src);
  constexpr auto unit = static_cast<std::ptrdiff_t>(sizeof(T));
  const strided_pair pair = make_strided_pair(to, dst_strides, from, src_strides, shape, rank, sizeof(T));
  const std::size_t outer = pair.loops == 0 ? 0 : pair.loops - 1;
  odometer position(pair, outer);
  do
    if (pair.loops == 0)
      run(reinterpret_cast<T*>(to), std::ptrdiff_t{1}, reinterpret_cast<const T*>(from), std::ptrdiff_t{1},
          std::size_t{1});
    else
      run(reinterpret_cast<T*>(to), pair.dst_stride[outer] / unit, reinterpret_cast<const T*>(from),
          pair.src_stride[outer] / unit, pair.extent[outer]);
  while (position.step(to, from));
}

/// Adds n contiguous elements of `a` and n of `b`, and writes the sums to `to`, which may be `a`, `b` or a third array.
/// Numbers are added as vectors, complex numbers as pairs of numbers, elements of all other types one by one.
template <class T>
void add_adjacent_elements(instruction_set isa, T* to, const T* a, const T* b, std::size_t n) {
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8) add_run(isa, to, a, b, n);
  else if constexpr (requires {
                       typename T::value_type;
                       to->real();
                       to->imag();
                       requires sizeof(T) == 2 * sizeof(to->real());
                     })
    add_adjacent_elements(isa, reinterpret_cast<typename T::value_type*>(to),
                          reinterpret_cast<const typename T::value_type*>(a),
                          reinterpret_cast<const typename T::value_type*>(b), 2 * n);
  else
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<T>(a[i] + b[i]);
}

/// The largest power of two up to 16 that divides n: elements of 12 bytes are copied as three units of 4 bytes.
constexpr std::size_t copy_unit_bytes(std::size_t n) { return n % 16 == 0 ? 16 : n & (~n + 1); }

/// If a block has too many dimensions for the loops, calls `block` for its slices along the first dimension, or without
/// a last dimension of extent 1. Returns whether the caller must process the block itself; false for an empty block.
template <class T, class Block>
bool split_into_slices(T* dst, const std::ptrdiff_t* dst_strides, const T* src, const std::ptrdiff_t* src_strides,
                       const std::size_t* shape, std::size_t rank, Block block) {
  for (std::size_t d = 0; d < rank; ++d)
    if (shape[d] == 0) return false;
  if (rank < max_loops) return true;
  if (shape[rank - 1] == 1) {  // an extent of 1 needs no loop; common for tensors side by side
    block(dst, dst_strides, src, src_strides, shape, rank - 1);
    return false;
  }
  for (std::size_t i = 0; i < shape[0]; ++i, dst += dst_strides[0], src += src_strides[0])
    block(dst, dst_strides + 1, src, src_strides + 1, shape + 1, rank - 1);
  return false;
}

/// Copies a block of elements of `element` bytes each in units of S bytes, which divide `element`: all types with the
/// same unit share the function.
template <std::size_t S>
void copy_by_units(char* to, const std::ptrdiff_t* dst_strides, const char* from, const std::ptrdiff_t* src_strides,
                   const std::size_t* shape, std::size_t rank, std::size_t element, stores store_mode,
                   instruction_set isa) {
  const auto bytes = static_cast<std::ptrdiff_t>(element), units = bytes / static_cast<std::ptrdiff_t>(S);
  for (std::size_t d = 0; d < rank; ++d)
    if (shape[d] == 0) return;
  while (rank >= max_loops && shape[rank - 1] == 1) --rank;
  if (rank >= max_loops) {
    for (std::size_t i = 0; i < shape[0]; ++i, to += dst_strides[0] * bytes, from += src_strides[0] * bytes)
      copy_by_units<S>(to, dst_strides + 1, from, src_strides + 1, shape + 1, rank - 1, element, store_mode, isa);
    return;
  }
  if (units == 1) return copy_bytes<S>(to, dst_strides, from, src_strides, shape, rank, store_mode, isa);
  std::size_t shape_in_units[max_loops] = {};
  std::ptrdiff_t a[max_loops] = {}, b[max_loops] = {};
  for (std::size_t d = 0; d < rank; ++d) {
    shape_in_units[d] = shape[d];
    a[d] = dst_strides[d] * units;
    b[d] = src_strides[d] * units;
  }
  shape_in_units[rank] = static_cast<std::size_t>(units);
  a[rank] = b[rank] = 1;
  copy_bytes<S>(to, a, from, b, shape_in_units, rank + 1, store_mode, isa);
}

}  // namespace detail

/// Copies a block. Strides count elements and may be negative; the stride of an extent of 1 is ignored.
/// Shapes:   both blocks have `shape`; if an extent is 0, nothing is copied and the pointers may be null.
/// Requires: the blocks do not overlap and no element of `dst` is addressed twice.
/// Cost:     one read and one write of the block; no allocation.
template <class T>
void copy_block(T* dst, const std::ptrdiff_t* dst_strides, const T* src, const std::ptrdiff_t* src_strides,
                const std::size_t* shape, std::size_t rank, stores store_mode = stores::by_size,
                detail::instruction_set isa = detail::best_instruction_set()) {
  if constexpr (!std::is_trivially_copyable_v<T>) {
    if (!detail::split_into_slices(dst, dst_strides, src, src_strides, shape, rank,
                                   [&](auto... slice) { copy_block(slice..., store_mode, isa); }))
      return;
    detail::for_each_run(dst, dst_strides, src, src_strides, shape, rank,
                         [](T* d, std::ptrdiff_t ds, const T* s, std::ptrdiff_t ss, std::size_t n) {
                           for (std::size_t i = 0; i < n; ++i, d += ds, s += ss) *d = *s;
                         });
  } else {
    detail::copy_by_units<detail::copy_unit_bytes(sizeof(T))>(reinterpret_cast<char*>(dst), dst_strides,
                                                              reinterpret_cast<const char*>(src), src_strides, shape,
                                                              rank, sizeof(T), store_mode, isa);
  }
}

/// Adds one block to another of the same shape: dst += src, element by element.
/// Shapes:   both blocks have `shape`; if an extent is 0 nothing is added and the pointers may be null.
/// Requires: the blocks do not overlap and no element of `dst` is addressed twice.
/// Cost:     two reads and one write of the block; no allocation.
template <class T>
void add_block(T* dst, const std::ptrdiff_t* dst_strides, const T* src, const std::ptrdiff_t* src_strides,
               const std::size_t* shape, std::size_t rank,
               detail::instruction_set isa = detail::best_instruction_set()) {
  if (!detail::split_into_slices(dst, dst_strides, src, src_strides, shape, rank,
                                 [&](auto... slice) { add_block(slice..., isa); }))
    return;
  detail::for_each_run(dst, dst_strides, src, src_strides, shape, rank,
                       [&](T* d, std::ptrdiff_t ds, const T* s, std::ptrdiff_t ss, std::size_t n) {
                         if (ds == 1 && ss == 1) return detail::add_adjacent_elements(isa, d, d, s, n);
                         for (std::size_t i = 0; i < n; ++i, d += ds, s += ss) *d = static_cast<T>(*d + *s);
                       });
}

#ifdef PARTITA_CORE
// Declares copies and sums for the usual element types, which the compiled core defines. EXTERN is `extern` for a
// program that links the core, and empty where the core itself is compiled.
#define PARTITA_INSTANTIATE_COPY(EXTERN, S)                                                                       \
  EXTERN template void detail::copy_by_units<S>(char*, const std::ptrdiff_t*, const char*, const std::ptrdiff_t*, \
                                                const std::size_t*, std::size_t, std::size_t, stores,             \
                                                detail::instruction_set);
#define PARTITA_INSTANTIATE_ADD(EXTERN, T)                                                                          \
  EXTERN template void add_block<T>(T*, const std::ptrdiff_t*, const T*, const std::ptrdiff_t*, const std::size_t*, \
                                    std::size_t, detail::instruction_set);
#define PARTITA_INSTANTIATE_COPY_AND_ADD(EXTERN) \
  PARTITA_INSTANTIATE_COPY(EXTERN, 1)            \
  PARTITA_INSTANTIATE_COPY(EXTERN, 2)            \
  PARTITA_INSTANTIATE_COPY(EXTERN, 4)            \
  PARTITA_INSTANTIATE_COPY(EXTERN, 8)            \
  PARTITA_INSTANTIATE_COPY(EXTERN, 16)           \
  PARTITA_INSTANTIATE_ADD(EXTERN, float) PARTITA_INSTANTIATE_ADD(EXTERN, double) PARTITA_INSTANTIATE_ADD(EXTERN, int)
PARTITA_INSTANTIATE_COPY_AND_ADD(extern)
#endif

}  // namespace partita
