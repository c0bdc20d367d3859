// Tensors of xtensor whose elements come from a memory pool: results that their senders may write in place, in memory
// that is reused without allocation and page faults.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/result_tensor.hpp>
#include <partita/array/xtensor.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <type_traits>

namespace partita {

/// The memory that pooled tensors and temporary blocks of exchanges use on this thread, in bytes as they were
/// requested, without padding.
struct pool_use {
  std::size_t bytes_in_use = 0, most = 0;  ///< most: the peak of bytes_in_use

  /// Counts an allocation.
  void add(std::size_t bytes) {
    bytes_in_use += bytes;
    most = bytes_in_use > most ? bytes_in_use : most;
  }
  void reset_peak() { most = bytes_in_use; }  ///< Sets the peak of memory use to the current use.
};
/// The use of pool memory by this thread.
[[gnu::visibility("default")]] inline thread_local pool_use pooled;

/// Takes memory from the arena that `make_pooled` sets, or else from the heap; releases memory to where it came from.
/// This allocator is stateless, because xt::uvector (0.24.3) does not carry an allocator's state through assignments:
/// blocks are recognised by their addresses. A copy of a pooled tensor gets memory of the heap, because the arena is
/// for results of kernels.
template <class T>
class pool_allocator {
 public:
  using value_type = T;
  using is_always_equal = std::true_type;

  pool_allocator() = default;
  template <class Other>
  pool_allocator(const pool_allocator<Other>&) {}

  T* allocate(std::size_t n) {
    pooled.add(n * sizeof(T));
    return static_cast<T*>(arena_in_use != nullptr ? arena_in_use->allocate(n * sizeof(T))
                                                   : detail::heap_pool::instance().allocate(n * sizeof(T)));
  }
  void deallocate(T* p, std::size_t n) {
    pooled.bytes_in_use -= n * sizeof(T);
    detail::arena::release_arena_or_heap(p, n * sizeof(T));
  }

  friend bool operator==(const pool_allocator&, const pool_allocator&) { return true; }

  /// The arena in which new tensors are allocated while `make_pooled` runs.
  static inline thread_local detail::arena* arena_in_use = nullptr;
};

/// A row-major tensor like xt::xtensor<T, Rank>, but with memory of a pool. Converting it to an xt::xtensor copies it.
template <class T, std::size_t Rank>
using pooled_tensor = result_tensor<xt::xtensor<T, Rank, xt::layout_type::row_major, pool_allocator<T>>>;

/// Makes a tensor of this shape in memory of an arena, with uninitialised elements.
template <class T, std::size_t Rank>
pooled_tensor<T, Rank> make_pooled(detail::arena& memory, const std::array<std::size_t, Rank>& shape) {
  struct scope {  ///< while it lives, new tensors are allocated in the arena `chosen`
    explicit scope(detail::arena& chosen) { pool_allocator<T>::arena_in_use = &chosen; }
    ~scope() { pool_allocator<T>::arena_in_use = nullptr; }
  } const use(memory);
  return pooled_tensor<T, Rank>(typename pooled_tensor<T, Rank>::shape_type(shape));
}

}  // namespace partita
