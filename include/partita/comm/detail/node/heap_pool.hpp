// A pool of blocks from the heap.
#pragma once

#include <atomic>
#include <cstddef>
#include <partita/comm/detail/node/spare_blocks.hpp>
#include <partita/comm/detail/node/spin_lock.hpp>
#include <partita/core/config.hpp>

namespace partita::detail {

/// Page-aligned heap blocks for reuse, where no memory is shared. All threads may use the pool. Blocks keep their
/// sizes: the heap cannot merge them, and a loop that uses two sizes in turn must not allocate each time.
class heap_pool {
 public:
  /// Allocates a page-aligned block of at least this size: a released block of the same size class, if there is one.
  PARTITA_DECL void* allocate(std::size_t bytes);
  /// Takes back a block that allocate() returned for the same number of bytes.
  PARTITA_DECL void release(void* block, std::size_t bytes);
  /// How many blocks the pool has ever taken from the heap.
  std::size_t new_block_count() const { return new_block_count_; }

  /// The pool of this process. The pool is never destroyed, because tensors in static storage may be destroyed later.
  PARTITA_DECL static heap_pool& instance();

 private:
  spin_lock lock_;                                ///< held by a thread that takes or returns a block
  spare_blocks spare_blocks_;                     ///< the released blocks
  std::atomic<std::size_t> new_block_count_ = 0;  ///< see new_block_count()
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/heap_pool.ipp>
#endif
