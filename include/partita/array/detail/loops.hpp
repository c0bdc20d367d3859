// The loops over bytes, compiled for every instruction set of the architecture, and the run-time choice of the
// instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/array/detail/machine.hpp>
#include <partita/array/detail/strided_pair.hpp>
#include <type_traits>
#include <utility>

namespace partita::detail {

inline constexpr std::size_t cache_line = 64;            ///< the number of bytes of a cache line
inline constexpr std::size_t memcpy_threshold = 1024;    ///< runs of at least this many bytes are copied by memcpy
inline constexpr std::size_t prefetch_threshold = 4096;  ///< for runs of at most this many bytes, prefetch later runs
inline constexpr std::size_t prefetch_distance = 1024;   ///< the distance of software prefetches, in bytes

/// A SIMD vector of N bytes, for copying. This and the next types are GNU typedefs, because g++ ignores a dependent
/// vector size in an alias declaration.
template <std::size_t N>
struct byte_vector {
  typedef unsigned char type __attribute__((vector_size(N)));
};
template <>
struct byte_vector<1> {
  typedef unsigned char type;
};
/// A SIMD vector of N bytes as 64-bit words, which streaming stores need.
template <std::size_t N>
struct word_vector {
  typedef long long type __attribute__((vector_size(N)));
};
template <>
struct word_vector<8> {
  typedef long long type;
};
/// A SIMD vector of N elements of type T.
template <class T, std::size_t N>
struct vector_of_type {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
/// A SIMD vector of N elements of S bytes, as unsigned integers.
template <std::size_t S, std::size_t N>
struct element_vector
    : vector_of_type<std::conditional_t<S == 1, std::uint8_t,
                                        std::conditional_t<S == 2, std::uint16_t,
                                                           std::conditional_t<S == 4, std::uint32_t, std::uint64_t>>>,
                     N> {};

/// The unsigned integer type of the size of T.
template <class T>
struct unsigned_of_size {
  typedef std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t> type;  ///< T has 4 or 8 bytes
};

/// The address from + k + distance, which may be outside of the block: it is only prefetched, never read.
inline const void* prefetch_address(const char* from, std::size_t k, std::ptrdiff_t distance) {
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from) + k +
                                       static_cast<std::uintptr_t>(distance));
}

/// Orders streaming stores before all later stores.
inline void finish_streaming_stores() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}

// The rows of a tile stay in registers only if the loops over the tile are unrolled, which g++ does not do below -O3.
#if defined(__clang__)
#define PARTITA_UNROLL _Pragma("clang loop unroll(full)")
#else
#define PARTITA_UNROLL _Pragma("GCC unroll 16")
#endif

#define PARTITA_VECTOR_BYTES 16
#define PARTITA_TARGET
namespace baseline {
#include <partita/array/detail/runs.inc>
#include <partita/array/detail/tiles.inc>
}  // namespace baseline
#undef PARTITA_TARGET
#undef PARTITA_VECTOR_BYTES

#if defined(__x86_64__)
#define PARTITA_VECTOR_BYTES 32
#define PARTITA_TARGET __attribute__((target("avx2")))
namespace avx2 {
#include <partita/array/detail/runs.inc>
#include <partita/array/detail/tiles.inc>
}  // namespace avx2
#undef PARTITA_TARGET
#undef PARTITA_VECTOR_BYTES

#define PARTITA_VECTOR_BYTES 64
#define PARTITA_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))
namespace avx512 {
#include <partita/array/detail/runs.inc>
#include <partita/array/detail/tiles.inc>
}  // namespace avx512
#undef PARTITA_TARGET
#undef PARTITA_VECTOR_BYTES
#define PARTITA_DISPATCH(isa, call) \
  (isa == instruction_set::avx512 ? avx512::call : isa == instruction_set::avx2 ? avx2::call : baseline::call)
#else
#define PARTITA_DISPATCH(isa, call) baseline::call
#endif

/// Copies a block whose innermost loop is one contiguous run of bytes in both blocks. Calls the copy_runs() compiled
/// for this instruction set, as each of the next functions does for its own name.
template <class = void>
inline void copy_runs(instruction_set isa, const strided_pair& pair, char* to, const char* from, bool streaming) {
  PARTITA_DISPATCH(isa, copy_runs(pair, to, from, streaming));
}

/// Copies a block whose contiguous dimension differs in `to` and `from`.
template <std::size_t S>
void copy_transposed(instruction_set isa, const strided_pair& pair, char* to, const char* from, bool streaming) {
  PARTITA_DISPATCH(isa, copy_transposed<S>(pair, to, from, streaming));
}

/// Computes to = a + b for n contiguous elements.
template <class T>
void add_run(instruction_set isa, T* to, const T* a, const T* b, std::size_t n) {
  PARTITA_DISPATCH(isa, add_run(to, a, b, n));
}

/// Adds n numbers to running sums, and their rounding errors to `rounding`; marks sums with an inexact rounding error.
template <class T>
void add_run_with_errors(instruction_set isa, T* sum, T* rounding, typename unsigned_of_size<T>::type* inexact_marks,
                         const T* from, std::size_t n) {
  PARTITA_DISPATCH(isa, add_run_with_errors(sum, rounding, inexact_marks, from, n));
}

/// Copies one run with streaming stores. A caller must call finish_streaming_stores() before it signals another worker.
template <class = void>
inline void copy_run_streaming(instruction_set isa, char* to, const char* from, std::size_t n) {
  PARTITA_DISPATCH(isa, copy_run_streaming(to, from, n, static_cast<std::ptrdiff_t>(prefetch_distance)));
}

#undef PARTITA_DISPATCH
#undef PARTITA_UNROLL

}  // namespace partita::detail
