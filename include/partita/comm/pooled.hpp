// Tensors of xtensor whose elements live in a pool: results that their senders may write in place, and that cost no
// allocation and no page fault when they come again.
#pragma once

#include <array>
#include <cstddef>
#include <partita/array/result_tensor.hpp>
#include <partita/array/xtensor.hpp>
#include <partita/comm/detail/node/arena.hpp>
#include <type_traits>

namespace partita {

/// What the pooled tensors of this worker hold: bytes as they were asked for.
struct pool_use {
  std::size_t now = 0, most = 0;

  void add(std::size_t bytes) {
    now += bytes;
    most = now > most ? now : most;
  }
  /// Forgets the peak of the past.
  void restart() { most = now; }
};
inline thread_local pool_use pooled;

/// Takes memory from the arena that `make_pooled` names, else from the heap, and gives it back where it came from.
/// Stateless, because xt::uvector does not carry an allocator's state through its assignments (0.24.3): blocks are
/// known by their addresses. A copy of a result goes to the heap; the arena is for results.
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
    pooled.now -= n * sizeof(T);
    detail::arena::release_anywhere(p, n * sizeof(T));
  }

  friend bool operator==(const pool_allocator&, const pool_allocator&) { return true; }

  /// Set while `make_pooled` runs.
  static inline thread_local detail::arena* arena_in_use = nullptr;
};

/// An xt::xtensor<T, Rank>, row-major, in every respect but where its memory comes from. It becomes one by one copy.
template <class T, std::size_t Rank>
using pooled_tensor = result_tensor<xt::xtensor<T, Rank, xt::layout_type::row_major, pool_allocator<T>>>;

/// A tensor of this shape from an arena, its elements not yet set.
template <class T, std::size_t Rank>
pooled_tensor<T, Rank> make_pooled(detail::arena& memory, const std::array<std::size_t, Rank>& shape) {
  struct scope {
    explicit scope(detail::arena& chosen) { pool_allocator<T>::arena_in_use = &chosen; }
    ~scope() { pool_allocator<T>::arena_in_use = nullptr; }
  } const use(memory);
  return pooled_tensor<T, Rank>(typename pooled_tensor<T, Rank>::shape_type(shape));
}

}  // namespace partita
