// A pool of heap blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <partita/comm/detail/node/spare_blocks.hpp>
#include <partita/comm/detail/spin_lock.hpp>

namespace partita::detail {

/// Page-aligned heap blocks for reuse, where no memory is shared. Safe to use from all threads. Blocks keep their
/// sizes: the heap cannot merge them, and a loop that uses two sizes in turn must not allocate each time.
class heap_pool {
 public:
  template <class = void>
  void* allocate(std::size_t bytes) {
    {
      const std::lock_guard<spin_lock> only(lock_);
      if (void* const block = spare_.take(bytes)) return block;
    }
    ++fresh_;
    return ::operator new(spare_blocks::rounded(bytes), std::align_val_t{page});
  }
  template <class = void>
  void release(void* block, std::size_t bytes) {
    {
      const std::lock_guard<spin_lock> only(lock_);
      if (spare_.give(block, bytes)) return;
    }
    ::operator delete(block, std::align_val_t{page});
  }
  std::size_t fresh_blocks() const { return fresh_; }

  /// The pool of this process. It is never destroyed, because a tensor in static storage may outlive everything.
  template <class = void>
  static heap_pool& instance() {
    static heap_pool& pool = *new heap_pool;
    return pool;
  }

 private:
  spin_lock lock_;
  spare_blocks spare_;
  std::atomic<std::size_t> fresh_ = 0;
};

}  // namespace partita::detail
