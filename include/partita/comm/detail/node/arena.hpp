// Memory that every worker of a node can reach, allocated from a pool. The results of kernels are stored in this
// memory, if there is some, so that their senders can write them in place.
#pragma once

#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/comm/detail/node/free_ranges.hpp>
#include <partita/comm/detail/node/heap_pool.hpp>
#include <partita/comm/detail/node/node.hpp>
#include <partita/comm/detail/node/shared_mapping.hpp>
#include <partita/comm/detail/node/spare_blocks.hpp>
#include <partita/comm/detail/node/spin_lock.hpp>
#include <partita/comm/detail/world/environment.hpp>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/core/config.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace partita::detail {

/// One worker's part of its node's shared memory, and access to the parts of the node's other workers.
///
/// The memory is reserved once, collectively, and is usually far larger than needed: pages that are never touched cost
/// nothing. Blocks are page-aligned, come from this worker's own part, and are released to lists by size, so that a
/// loop that repeats the same calls soon neither allocates nor causes page faults. If spare and used memory together
/// would exceed 1.5 times the peak use, spare blocks are first merged and reused; if no merged piece is large enough,
/// the memory of all spare blocks is returned to the system. Where a node has no shared memory, or too little, blocks
/// come from the heap: `is_in_own_part` reports where a block is, and nothing else changes for the caller. All threads
/// of a process share an arena.
class arena {
 public:
  /// The arena of a node in which each worker gets at most `most` bytes; with 0, all blocks are on the heap. The node's
  /// workers have one arena for each value of `most`, which is kept until the process ends, because results may keep
  /// its blocks until then. The first call with an object `members` and a value of `most` is collective.
  PARTITA_DECL static arena& of(const own_node& members, std::size_t most = ~std::size_t{0});
  /// The arena of a node; with PARTITA_SHARED=0 in the environment, its blocks are all on the heap.
  static arena& arena_by_environment(const own_node& members) {
    return of(members, environment_allows_sharing() ? ~std::size_t{0} : 0);
  }
  /// Whether the environment allows shared memory: false with PARTITA_SHARED=0.
  static bool environment_allows_sharing() { return parse_sharing(std::getenv("PARTITA_SHARED")); }
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  /// Whether the workers of the node share memory at all; the same on all of them.
  bool shared() const { return memory_.part_bytes() != 0; }
  /// Whether a block is in this worker's part of the memory, where the node's other workers can reach it.
  PARTITA_DECL bool is_in_own_part(const void* block) const;
  /// The offset of a block in this worker's part, by which the node's other workers find the block.
  std::uint64_t offset(const void* block) const {
    return static_cast<std::uint64_t>(static_cast<const char*>(block) - memory_.part(place_));
  }
  /// The address, on this worker, of the block at an offset in the part of the worker at a place of the node.
  char* at(std::size_t place, std::uint64_t offset) const { return memory_.part(place) + offset; }

  /// Allocates a page-aligned block: from the pool if a block there fits, or from new memory. Never null.
  PARTITA_DECL void* allocate(std::size_t bytes);
  /// Takes back a block that allocate() returned for the same number of bytes.
  PARTITA_DECL void release(void* block, std::size_t bytes);
  /// Allocates memory that other workers write signals to. A worker may still write to a block after its owner has
  /// released the block. So signal blocks are separate from results, and reused only for signals, only by the same
  /// thread, and only after all workers have synchronised.
  PARTITA_DECL void* allocate_signals(std::size_t bytes);
  /// Takes back a block that allocate_signals() returned for the same number of bytes.
  PARTITA_DECL void release_signals(void* block, std::size_t bytes);
  /// Releases a block to where it came from: to an arena of this process or to the heap.
  PARTITA_DECL static void release_arena_or_heap(void* block, std::size_t bytes);

  /// The bytes of memory that this worker's part occupies now, used or spare.
  std::size_t resident_bytes() const { return mapped_bytes_; }
  /// The largest number of bytes of this worker's part that were in use at one time.
  std::size_t most_used_bytes() const { return memory_use_.peak_bytes(); }
  /// The number of blocks of this arena and of this process's heap pool that were newly allocated, because no spare
  /// block fitted. A loop that repeats the same calls soon does not increase this number any more.
  std::size_t new_block_count() const { return new_block_count_ + heap_pool::instance().new_block_count(); }

  /// Bytes that shared memory can still hold on this machine. A program that writes beyond this space is killed by
  /// SIGBUS. PARTITA_SHARED_FREE in the environment overrides this number.
  PARTITA_DECL static std::size_t free_shared_bytes();

 private:
  static constexpr std::size_t min_bytes = 16 * page;  // chosen: one channel alone takes several pages of it

  PARTITA_DECL arena(const own_node& members, std::size_t most);  ///< Collective over the node; see of().

  /// Returns the oldest arena of these workers that all of them know, or null: threads of other workers may make arenas
  /// in a different order.
  PARTITA_DECL static arena* find_common_arena(const own_node& members, std::size_t most);
  /// Whether this arena was made for the same workers, in the same order.
  PARTITA_DECL bool serves_communicator(MPI_Comm communicator) const;

  /// All arenas of this process, the newest first. Arenas are never destroyed, so the list can be read without a lock.
  PARTITA_DECL static std::atomic<arena*>& newest_arena();

  /// The signal blocks that this thread released. Another thread must not reuse these blocks, because only the calls of
  /// this thread have synchronised with the other workers since the release.
  PARTITA_DECL spare_blocks& spare_signal_blocks();

  PARTITA_DECL void* allocate_new_block_or_heap(std::size_t bytes);  ///< new memory if no spare block fits; never null
  /// Allocates new memory, or a piece of merged spare blocks; null if neither is possible. New memory is touched now,
  /// so that its first use causes no page fault. All workers may allocate at the same time, so each takes at most its
  /// share of the free memory.
  PARTITA_DECL void* allocate_new_block(std::size_t bytes);
  /// Returns a piece of the merged spare blocks, or null. If no piece is large enough, and a new block would exceed
  /// memory_use::allowed_bytes, all spare blocks are merged first; if that does not help, their memory goes back to the
  /// system and only their addresses are kept.
  PARTITA_DECL char* merged_block(std::size_t size);

  std::size_t max_bytes_;                  ///< the limit for each worker's part
  MPI_Comm communicator_ = MPI_COMM_NULL;  ///< a duplicate of the node's communicator
  std::uint64_t arena_name_ = 0;           ///< a number that is the same on all workers of the node
  shared_mapping memory_;                  ///< the memory of the whole node; empty if it is not shared
  std::size_t member_count_, place_;       ///< the workers of the node; this worker's place among them
  std::size_t bump_offset_ = 0;            ///< where the memory of this worker's part begins that was never allocated
  std::atomic<std::size_t> new_block_count_ = 0;  ///< the new blocks of this arena alone
  arena* next_older_arena_ = nullptr;             ///< the arena that this process made before; null for the first
  spin_lock lock_;                                ///< held by a thread that takes or returns a block
  spare_blocks spare_blocks_;                     ///< released blocks of this worker's part
  free_ranges merged_ranges_, unmapped_ranges_;   ///< merged spare blocks; addresses whose memory is returned
  memory_use memory_use_;                         ///< the bytes of this worker's part that are in use
  std::size_t mapped_bytes_ = 0;                  ///< the bytes of this worker's part that occupy memory
  std::vector<std::pair<std::thread::id, spare_blocks>> spare_signal_blocks_;  ///< one list for each thread
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/arena.ipp>
#endif
