// A pool of blocks of the heap.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <partita/comm/detail/node/spare_blocks.hpp>
#include <partita/comm/detail/spin_lock.hpp>

namespace partita::detail {

/// Page-aligned blocks of the heap that come again: what serves where no memory is shared. For all threads. Those that
/// lie there go back to the heap when they and what is used come to more than 1.5 times the most that was used at once.
class heap_pool {
 public:
  void* allocate(std::size_t bytes) {
    {
      const std::lock_guard<spin_lock> only(lock_);
      void* const block = spare_.take(bytes);
      const std::size_t size = spare_blocks::rounded(bytes);
      if (block == nullptr && resident_ + size > use_.bound(size))
        spare_.drain([this](void* spare, std::size_t spare_bytes) {
          resident_ -= spare_bytes;
          ::operator delete(spare, std::align_val_t{page});
        });
      use_.add(bytes);
      if (block != nullptr) return block;
      resident_ += size;
    }
    ++fresh_;
    try {
      return ::operator new(spare_blocks::rounded(bytes), std::align_val_t{page});
    } catch (...) {
      const std::lock_guard<spin_lock> only(lock_);
      use_.remove(bytes);
      resident_ -= spare_blocks::rounded(bytes);
      throw;
    }
  }
  void release(void* block, std::size_t bytes) {
    const std::lock_guard<spin_lock> only(lock_);
    spare_.give(block, bytes);
    use_.remove(bytes);
  }
  std::size_t fresh_blocks() const { return fresh_; }
  /// Bytes that it has from the heap, used or lying there, and the most that was used at once.
  std::size_t resident_bytes() const { return resident_; }
  std::size_t most_used_bytes() const { return use_.most(); }

  /// The one of this process. It is never destroyed: a tensor in static storage may outlive everything.
  static heap_pool& instance() {
    static heap_pool& pool = *new heap_pool;
    return pool;
  }

 private:
  spin_lock lock_;
  spare_blocks spare_;
  memory_use use_;
  std::size_t resident_ = 0;
  std::atomic<std::size_t> fresh_ = 0;
};

}  // namespace partita::detail
