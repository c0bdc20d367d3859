// A pool of blocks of the heap.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <partita/comm/detail/node/spare_blocks.hpp>
#include <partita/comm/detail/spin_lock.hpp>

namespace partita::detail {

/// Page-aligned blocks of the heap that come again: what serves where no memory is shared. For all threads. They keep
/// their sizes: the heap has no way to join them, and a loop that takes two sizes in turn must not go to it each time.
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

  /// The one of this process. It is never destroyed: a tensor in static storage may outlive everything.
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
