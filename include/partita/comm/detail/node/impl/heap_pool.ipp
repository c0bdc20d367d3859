// Defines the functions that comm/detail/node/heap_pool.hpp declares.
#pragma once

#include <mutex>
#include <new>
#include <partita/comm/detail/node/heap_pool.hpp>

namespace partita::detail {

PARTITA_DEF void* heap_pool::allocate(std::size_t bytes) {
  {
    const std::lock_guard<spin_lock> guard(lock_);
    if (void* const block = spare_blocks_.take(bytes)) return block;
  }
  ++new_block_count_;
  return ::operator new(spare_blocks::round_up_block_bytes(bytes), std::align_val_t{page});
}

PARTITA_DEF void heap_pool::release(void* block, std::size_t bytes) {
  {
    const std::lock_guard<spin_lock> guard(lock_);
    if (spare_blocks_.give(block, bytes)) return;
  }
  ::operator delete(block, std::align_val_t{page});
}

PARTITA_DEF heap_pool& heap_pool::instance() {
  static heap_pool& pool = *new heap_pool;
  return pool;
}

}  // namespace partita::detail
