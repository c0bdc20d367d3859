// Memory that every worker of a node can reach, allocated from a pool. Results are stored there, so that their senders
// can write them in place.
#pragma once

#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <partita/comm/detail/environment.hpp>
#include <partita/comm/detail/mpi_call.hpp>
#include <partita/comm/detail/node/flag.hpp>
#include <partita/comm/detail/node/free_ranges.hpp>
#include <partita/comm/detail/node/heap_pool.hpp>
#include <partita/comm/detail/node/node.hpp>
#include <partita/comm/detail/node/shared_mapping.hpp>
#include <partita/comm/detail/node/spare_blocks.hpp>
#include <partita/comm/detail/spin_lock.hpp>
#include <thread>
#include <utility>
#include <vector>

namespace partita::detail {

/// One worker's part of its node's shared memory, and access to the parts of the others.
///
/// The memory is reserved once, collectively, and is far larger than needed: pages that are never touched cost nothing.
/// Blocks are page-aligned, come from this worker's own part, and are released to lists by size, so that a steady loop
/// neither allocates nor causes page faults. If spare and used memory together would exceed 1.5 times the peak use,
/// spare blocks are first merged and reused; what does not fit is returned to the system. Where there is no shared
/// memory, or too little, blocks come from the heap: `holds` reports that, and nothing else changes for the caller. All
/// threads of a process share an arena.
template <class = void>
class basic_arena {
 public:
  /// The arena of a node. It is made at the first call for these workers, reused afterwards, and kept until the process
  /// ends, because results may keep its blocks until then. Collective at the first call for this node. `most` limits
  /// the bytes of each worker; 0 leaves everything on the heap.
  static basic_arena& of(const own_node& members, std::size_t most = ~std::size_t{0}) {
    for (const auto& [bound, kept] : members.arenas())
      if (bound == most) return *kept;
    basic_arena* const known = known_to_all(members, most);
    basic_arena& chosen = known != nullptr ? *known : *new basic_arena(members, most);
    if (known == nullptr) {
      const std::lock_guard<spin_lock> only(growing());
      chosen.older_ = newest().load();
      newest().store(&chosen);
    }
    members.arenas().emplace_back(most, &chosen);
    return chosen;
  }
  /// The same, except that PARTITA_SHARED=0 in the environment leaves everything on the heap.
  static basic_arena& of_environment(const own_node& members) {
    return of(members, shared_by_environment() ? ~std::size_t{0} : 0);
  }
  static bool shared_by_environment() { return sharing_said(std::getenv("PARTITA_SHARED")); }
  basic_arena(const basic_arena&) = delete;
  basic_arena& operator=(const basic_arena&) = delete;

  /// Whether the workers of the node share memory at all: the same on all of them.
  bool shared() const { return memory_.size() != 0; }
  /// Whether a block is in this worker's part, where the others can reach it.
  bool holds(const void* block) const {
    const char* const b = static_cast<const char*>(block);
    return shared() && b >= memory_.part(place_) && b < memory_.part(place_) + memory_.size();
  }
  /// The offset of a block of this worker, by which other workers find it.
  std::uint64_t offset(const void* block) const {
    return static_cast<std::uint64_t>(static_cast<const char*>(block) - memory_.part(place_));
  }
  /// The address, on this worker, of a block of another worker.
  char* at(std::size_t place, std::uint64_t offset) const { return memory_.part(place) + offset; }

  /// A page-aligned block: from the pool if it has one that fits, or new memory. Never null.
  void* allocate(std::size_t bytes) {
    {
      const std::lock_guard<spin_lock> only(lock_);
      if (void* const block = spare_.take(bytes)) return use_.add(bytes), block;
    }
    return fresh_or_heap(bytes);
  }
  void release(void* block, std::size_t bytes) {
    if (!holds(block)) return heap_pool::instance().release(block, bytes);
    const std::lock_guard<spin_lock> only(lock_);
    static_cast<void>(spare_.give(block, bytes));  // if the list has no memory, these addresses are not reused
    use_.remove(bytes);
  }
  /// Memory that other workers write signals to. It is separate from results: a worker may still write to a block after
  /// the block's owner has released it. So such a block is reused only for signals, only by the same thread, and only
  /// after all workers have synchronised.
  void* allocate_signals(std::size_t bytes) {
    {
      const std::lock_guard<spin_lock> only(lock_);
      if (void* const block = spare_signals().take(bytes)) return block;
    }
    return fresh_or_heap(bytes);
  }
  void release_signals(void* block, std::size_t bytes) {
    if (!holds(block)) return heap_pool::instance().release(block, bytes);
    const std::lock_guard<spin_lock> only(lock_);
    try {
      static_cast<void>(spare_signals().give(block, bytes));
    } catch (const std::bad_alloc&) {  // as above
    }
  }
  /// Releases a block to the arena it came from, or to the heap.
  static void release_anywhere(void* block, std::size_t bytes) {
    for (basic_arena* known = newest().load(std::memory_order_acquire); known != nullptr; known = known->older_)
      if (known->holds(block)) return known->release(block, bytes);
    heap_pool::instance().release(block, bytes);
  }

  /// The bytes of memory that this worker's part occupies now, used or spare, and the peak of the used bytes.
  std::size_t resident_bytes() const { return resident_; }
  std::size_t most_used_bytes() const { return use_.most(); }
  /// The number of blocks that were not found in a pool. It does not grow in a steady loop.
  std::size_t fresh_blocks() const { return fresh_ + heap_pool::instance().fresh_blocks(); }

  /// Bytes that shared memory can still hold on this machine. A program that writes more is killed by SIGBUS.
  /// PARTITA_SHARED_FREE in the environment overrides this number.
  static std::size_t free_shared_bytes() {
    if (const char* const pretended = std::getenv("PARTITA_SHARED_FREE")) return room_said(pretended);
    struct statvfs state {};
    if (::statvfs("/dev/shm", &state) != 0) return 0;
    return static_cast<std::size_t>(state.f_bavail) * static_cast<std::size_t>(state.f_frsize);
  }

 private:
  static constexpr std::size_t least = 16 * page;  // less is not worth a mapping: a channel alone takes pages

  basic_arena(const own_node& members, std::size_t most)
      : most_(most), members_(members.size()), place_(members.place()) {
    check(MPI_Comm_dup(members.communicator(), &communicator_), "MPI_Comm_dup");
    static std::atomic<std::uint64_t> made{0};
    std::array<std::uint64_t, 2> name{static_cast<std::uint64_t>(::getpid()), ++made};
    check(MPI_Bcast(name.data(), 2, MPI_UINT64_T, 0, communicator_), "MPI_Bcast");
    name_ = name[0] << 32U | name[1];
    const std::size_t share = members.size() > 1 ? free_shared_bytes() / 2 / members.size() : 0;
    memory_ = shared_mapping(members, std::min(share, most), least);
  }

  /// The oldest arena of these workers that all of them know: threads may make arenas in a different order on other
  /// workers.
  static basic_arena* known_to_all(const own_node& members, std::size_t most) {
    // one is enough, unless several threads make their first call at the same moment
    constexpr std::size_t looked_at = 8;
    std::array<std::uint64_t, looked_at> mine{};
    std::array<basic_arena*, looked_at> found{};
    std::size_t count = 0;
    // Exchange the names of the arenas that each worker knows.
    for (basic_arena* known = newest().load(std::memory_order_acquire); known != nullptr && count < looked_at;
         known = known->older_)
      if (known->most_ == most && known->is_on(members.communicator())) {
        found[count] = known;
        mine[count++] = known->name_;
      }
    std::vector<std::uint64_t> all(looked_at * members.size());
    check(MPI_Allgather(mine.data(), looked_at, MPI_UINT64_T, all.data(), looked_at, MPI_UINT64_T,
                        members.communicator()),
          "MPI_Allgather");
    // Take the oldest arena that all of them know.
    basic_arena* oldest = nullptr;
    for (std::size_t k = 0; k < count; ++k) {
      bool everywhere = true;
      for (std::size_t place = 0; place < members.size(); ++place) {
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(looked_at * place);
        everywhere = everywhere && std::find(first, first + looked_at, mine[k]) != first + looked_at;
      }
      if (everywhere && (oldest == nullptr || mine[k] < oldest->name_)) oldest = found[k];
    }
    return oldest;
  }
  bool is_on(MPI_Comm communicator) const {
    int result = MPI_UNEQUAL;
    MPI_Comm_compare(communicator_, communicator, &result);
    return result == MPI_IDENT || result == MPI_CONGRUENT;
  }

  /// All arenas of this process, the newest first. None is ever destroyed, so that the list can be read without a lock.
  static std::atomic<basic_arena*>& newest() {
    static std::atomic<basic_arena*> first{nullptr};
    return first;
  }
  static spin_lock& growing() {
    static spin_lock lock;
    return lock;
  }

  /// The signal blocks that this thread released. Where threads serve several worlds, only the calls of this thread
  /// have synchronised with the other workers since.
  spare_blocks& spare_signals() {
    const std::thread::id own = std::this_thread::get_id();
    for (auto& [thread, blocks] : spare_signals_)
      if (thread == own) return blocks;
    return spare_signals_.emplace_back(own, spare_blocks{}).second;
  }

  void* fresh_or_heap(std::size_t bytes) {
    try {
      if (void* const block = fresh(bytes)) return block;
      return heap_pool::instance().allocate(bytes);
    } catch (const std::bad_alloc&) {
      if (watcher != nullptr) watcher->lacks_memory(bytes);
      throw;
    }
  }
  /// Memory that was not used before, or that is merged from spare pieces. It is touched now, so that its first use
  /// causes no page fault. All workers may ask at the same time, so each takes at most its share of the free memory.
  void* fresh(std::size_t bytes) {
    if (!shared()) return nullptr;
    const std::size_t size = spare_blocks::rounded(bytes);
    char* block = nullptr;
    {
      const std::lock_guard<spin_lock> only(lock_);
      if (char* const lay = joined(size)) return use_.add(bytes), lay;
      if (free_shared_bytes() / members_ < size) return nullptr;
      block = without_pages_.take(size);
      if (block == nullptr) {
        if (memory_.size() - used_ < size) return nullptr;
        block = memory_.part(place_) + used_;
        used_ += size;
      }
      use_.add(bytes);
      resident_ += size;
    }
    std::memset(block, 0, size);
    ++fresh_;
    return block;
  }
  /// Merges spare blocks and returns a piece if one is large enough. If not, and another block would exceed the bound,
  /// the memory of the spare blocks goes back to the system and only their addresses are kept.
  char* joined(std::size_t size) {
    if (char* const block = with_pages_.take(size)) return block;
    if (resident_ + size <= use_.bound(size)) return nullptr;
    with_pages_.make_room(spare_.size());  // reserved first, so that no block is lost half-way
    without_pages_.make_room(with_pages_.size() + spare_.size());
    spare_.drain([this](void* spare, std::size_t bytes) { with_pages_.add(static_cast<char*>(spare), bytes); });
    with_pages_.join();
    if (char* const block = with_pages_.take(size)) return block;
    with_pages_.drain([this](char* range, std::size_t bytes) {
      resident_ -= bytes;
      static_cast<void>(::madvise(range, bytes, MADV_REMOVE));  // if this fails, the memory stays allocated
      without_pages_.add(range, bytes);
    });
    without_pages_.join();
    return nullptr;
  }

  std::size_t most_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::uint64_t name_ = 0;
  shared_mapping memory_;
  std::size_t members_, place_, used_ = 0;
  std::atomic<std::size_t> fresh_ = 0;
  basic_arena* older_ = nullptr;
  spin_lock lock_;
  spare_blocks spare_;
  free_ranges with_pages_, without_pages_;  // merged spare memory, and addresses whose memory went back to the system
  memory_use use_;
  std::size_t resident_ = 0;
  std::vector<std::pair<std::thread::id, spare_blocks>> spare_signals_;
};
using arena = basic_arena<>;

}  // namespace partita::detail
