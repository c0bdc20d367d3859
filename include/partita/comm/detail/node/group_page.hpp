// What the workers of a group show each other in shared memory (`group_page`), and an arena block that lasts for one
// call.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/core/config.hpp>

namespace partita::detail {

/// Measures how far the cache of one core is from that of another: one worker writes some cache lines, and another
/// worker reads them one after the other and measures the time. On one machine a line may take 40 ns or 180 ns,
/// depending on which caches the two cores share; and a hypervisor may move the cores of a virtual machine.
///
/// If the distance is far, a line that the other core has read cannot be written without a slow request to that core.
/// Data for the other core is then better written with streaming stores, which bypass the caches, and read from memory
/// (1 MiB: 86 us instead of 288 us). If the distance is near, writing through the caches is faster.
class cache_distance {
 public:
  /// Writes the lines of this worker, before it posts a call in which the other members measure.
  PARTITA_DECL void write_lines();
  /// Measures the distance to the lines of another worker, which that worker wrote before it posted the call.
  PARTITA_DECL void measure_distance(const cache_distance& other);
  /// Whether the distance was far at the last measurement.
  bool is_far() const { return is_far_.load(std::memory_order_relaxed); }

 private:
  /// the number of cache lines, and their distance in lines, which no hardware prefetcher predicts
  static constexpr std::uint32_t line_count = 8, probed_line_stride = 33;
  /// a read takes less time than the first if the cores are near; above the second, the reads were interrupted
  static constexpr std::chrono::nanoseconds near_read_time{70}, interrupted_read_time{1000};
  /// The index in cache_lines_ of the line that is read as number k.
  static constexpr std::uint32_t line_index(std::uint32_t k) { return 5 * k % line_count * probed_line_stride; }

  struct alignas(64) probed_line {    ///< one cache line
    std::atomic<std::uint32_t> next;  ///< the index of the line that is read after this one
  };
  alignas(64) std::atomic<bool> is_far_;                      ///< see is_far()
  probed_line cache_lines_[line_count * probed_line_stride];  ///< every 33rd line is used: line_index()
};

/// What one worker of a group shows to the other members. Each counter of a page has one writer and only grows, except
/// when a worker undoes a post that no other worker can have read yet. A page has `slot_count` places for the data of
/// calls, which use the places in turn: a worker may be ahead of the others by fewer calls than there are places.
struct group_page {
  static constexpr std::size_t slot_bytes = 16384;  ///< the size of a slot in bytes
  static constexpr std::size_t slot_count = 4;      ///< the number of slots, and of flags for calls

  /// A counter of calls, or of steps of calls, and where the blocks of a call are.
  struct alignas(64) call_flag {
    std::atomic<std::uint64_t> count;  ///< the last call or step that was posted
    std::uint64_t block, result;       ///< the offsets in the worker's arena that group_meeting::announce posts

    void post(std::uint64_t n) { count.store(n, std::memory_order_release); }                  ///< sets `count` to n
    bool posted(std::uint64_t n) const { return count.load(std::memory_order_acquire) >= n; }  ///< whether count >= n
  };
  call_flag ready[slot_count];  ///< posted when the worker's data of a call can be read
  call_flag progress_flag;      ///< the call, and its last chunk that the worker has written: progress_count()
  call_flag summed_flag;        ///< the call, and its last chunk whose slice the worker has combined: progress_count()
  call_flag done_flag;          ///< the last call that the worker has finished, so that it reads no more of it
  cache_distance distance;      ///< measures how far the other members' cores are from the worker's core
  alignas(64) char slot[slot_count][slot_bytes];  ///< small blocks, which are passed by a copy
};

/// A block of shared memory that is allocated for the duration of one call.
class arena_block {
 public:
  arena_block(arena& memory, std::size_t bytes)
      : arena_(&memory), bytes_(bytes), block_(bytes == 0 ? nullptr : memory.allocate(bytes)) {}
  arena_block(const arena_block&) = delete;
  arena_block& operator=(const arena_block&) = delete;
  ~arena_block() {
    if (block_ != nullptr) arena_->release(block_, bytes_);
  }
  char* data() const { return static_cast<char*>(block_); }  ///< The block; null if it has 0 bytes.

 private:
  arena* arena_;       ///< the arena from which the block comes
  std::size_t bytes_;  ///< the size of the block
  void* block_;        ///< null if it has 0 bytes
};

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/group_page.ipp>
#endif
