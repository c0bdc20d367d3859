// What the workers of a group show each other in shared memory, and a block of it for as long as a call lasts.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <partita/comm/detail/node/arena.hpp>
#include <partita/comm/detail/node/flag.hpp>

namespace partita::detail {

/// How far the cache of one core is from that of another: some lines that its owner writes and others read, one after
/// the other, against the clock. On one and the same machine it may be 40 ns a line or 180, by which caches the two
/// cores share, and a virtual machine's cores move.
///
/// Where it is far, a line that was read there cannot be written here without a long way to ask for it: what crosses is
/// then better stored past the caches and read from memory (1 MiB: 86 us and 288 us; where it is near, the cache wins).
class cache_distance {
 public:
  void write() {
    for (std::uint32_t k = 0; k < count; ++k) line_[place(k)].next.store(place(k + 1), std::memory_order_relaxed);
  }
  /// Judges the way to another worker's lines, which it wrote before it told us so.
  template <class = void>
  void judge(const cache_distance& other) {
    for (std::uint32_t n = 0; n < count; ++n)  // pages are looked up beforehand, by lines that nobody writes
      if (other.line_[n * apart + apart / 2].next.load(std::memory_order_relaxed) != 0) return;
    const auto start = std::chrono::steady_clock::now();
    std::uint32_t k = place(0);
    for (std::uint32_t n = 0; n < count; ++n)  // each read waits for the one before
      k = other.line_[k].next.load(std::memory_order_relaxed) % (count * apart);
    const auto taken = std::chrono::steady_clock::now() - start;
    if (taken < count * interrupted) far_.store(k == place(count) && taken > count * near, std::memory_order_relaxed);
  }
  bool far() const { return far_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t count = 8, apart = 33;  ///< lines, and how far apart: no prefetcher guesses the next
  static constexpr std::chrono::nanoseconds near{70}, interrupted{1000};
  static constexpr std::uint32_t place(std::uint32_t k) { return 5 * k % count * apart; }

  struct alignas(64) place_of_line {
    std::atomic<std::uint32_t> next;
  };
  alignas(64) std::atomic<bool> far_;
  place_of_line line_[count * apart];
};

/// What one worker of a group shows to the others. Every counter only grows, but where a worker takes back what nobody
/// may look at yet, and has one writer. What comes with a call
/// has several places in turn: a worker may run ahead of the others by fewer calls than there are places.
struct group_page {
  static constexpr std::size_t small =
      16384;  ///< blocks of so many bytes are passed through slots; nobody waits for an answer
  static constexpr std::size_t depth = 4;  ///< how many calls' slots there are

  struct alignas(64) call_flag {
    std::atomic<std::uint64_t> count;
    std::uint64_t block, result;

    void post(std::uint64_t n) { count.store(n, std::memory_order_release); }
    bool posted(std::uint64_t n) const { return count.load(std::memory_order_acquire) >= n; }
  };
  call_flag ready[depth], progress, summed, done;
  cache_distance distance;
  alignas(64) char slot[depth][small];
};

/// A block of an arena for the time of a call.
template <class = void>
class basic_arena_block {
 public:
  basic_arena_block(arena& memory, std::size_t bytes)
      : arena_(&memory), bytes_(bytes), block_(bytes == 0 ? nullptr : memory.allocate(bytes)) {}
  basic_arena_block(const basic_arena_block&) = delete;
  basic_arena_block& operator=(const basic_arena_block&) = delete;
  ~basic_arena_block() {
    if (block_ != nullptr) arena_->release(block_, bytes_);
  }
  char* data() const { return static_cast<char*>(block_); }

 private:
  arena* arena_;
  std::size_t bytes_;
  void* block_;
};
using arena_block = basic_arena_block<>;

}  // namespace partita::detail
