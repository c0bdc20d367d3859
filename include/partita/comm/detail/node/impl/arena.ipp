// Defines the functions that comm/detail/node/arena.hpp declares.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <partita/comm/detail/node/arena.hpp>

namespace partita::detail {

PARTITA_DEF arena& arena::of(const own_node& members, std::size_t most) {
  for (const auto& [bound, kept] : members.arenas_by_limit())
    if (bound == most) return *kept;
  arena* const known = find_common_arena(members, most);
  arena& chosen = known != nullptr ? *known : *new arena(members, most);
  if (known == nullptr) {
    static spin_lock list_lock;
    const std::lock_guard<spin_lock> guard(list_lock);
    chosen.next_older_arena_ = newest_arena().load();
    newest_arena().store(&chosen);
  }
  members.arenas_by_limit().emplace_back(most, &chosen);
  return chosen;
}

PARTITA_DEF bool arena::is_in_own_part(const void* block) const {
  const char* const b = static_cast<const char*>(block);
  return shared() && b >= memory_.part(place_) && b < memory_.part(place_) + memory_.part_bytes();
}

PARTITA_DEF void* arena::allocate(std::size_t bytes) {
  {
    const std::lock_guard<spin_lock> guard(lock_);
    if (void* const block = spare_blocks_.take(bytes)) return memory_use_.add(bytes), block;
  }
  return allocate_new_block_or_heap(bytes);
}

PARTITA_DEF void arena::release(void* block, std::size_t bytes) {
  if (!is_in_own_part(block)) return heap_pool::instance().release(block, bytes);
  const std::lock_guard<spin_lock> guard(lock_);
  static_cast<void>(spare_blocks_.give(block, bytes));  // without memory for the list, these addresses are not reused
  memory_use_.subtract_bytes(bytes);
}

PARTITA_DEF void* arena::allocate_signals(std::size_t bytes) {
  {
    const std::lock_guard<spin_lock> guard(lock_);
    if (void* const block = spare_signal_blocks().take(bytes)) return block;
  }
  return allocate_new_block_or_heap(bytes);
}

PARTITA_DEF void arena::release_signals(void* block, std::size_t bytes) {
  if (!is_in_own_part(block)) return heap_pool::instance().release(block, bytes);
  const std::lock_guard<spin_lock> guard(lock_);
  try {
    static_cast<void>(spare_signal_blocks().give(block, bytes));
  } catch (const std::bad_alloc&) {  // the addresses are not reused
  }
}

PARTITA_DEF void arena::release_arena_or_heap(void* block, std::size_t bytes) {
  for (arena* known = newest_arena().load(std::memory_order_acquire); known != nullptr;
       known = known->next_older_arena_)
    if (known->is_in_own_part(block)) return known->release(block, bytes);
  heap_pool::instance().release(block, bytes);
}

PARTITA_DEF std::size_t arena::free_shared_bytes() {
  if (const char* const free_bytes = std::getenv("PARTITA_SHARED_FREE")) return parse_free_bytes(free_bytes);
  struct statvfs state {};
  if (::statvfs("/dev/shm", &state) != 0) return 0;
  return static_cast<std::size_t>(state.f_bavail) * static_cast<std::size_t>(state.f_frsize);
}

PARTITA_DEF arena::arena(const own_node& members, std::size_t most)
    : max_bytes_(most), member_count_(members.size()), place_(members.place()) {
  check(MPI_Comm_dup(members.communicator(), &communicator_), "MPI_Comm_dup");
  static std::atomic<std::uint64_t> made{0};
  std::array<std::uint64_t, 2> name{static_cast<std::uint64_t>(::getpid()), ++made};
  check(MPI_Bcast(name.data(), 2, MPI_UINT64_T, 0, communicator_), "MPI_Bcast");
  arena_name_ = name[0] << 32U | name[1];
  const std::size_t share = members.size() > 1 ? free_shared_bytes() / 2 / members.size() : 0;
  memory_ = shared_mapping(members, std::min(share, most), min_bytes);
}

PARTITA_DEF arena* arena::find_common_arena(const own_node& members, std::size_t most) {
  // 8 names are enough: a worker knows more such arenas only if several threads make their first call at one moment
  constexpr std::size_t most_compared = 8;
  std::array<std::uint64_t, most_compared> mine{};
  std::array<arena*, most_compared> found{};
  std::size_t count = 0;
  // Exchange the names of the arenas that each worker knows.
  for (arena* known = newest_arena().load(std::memory_order_acquire); known != nullptr && count < most_compared;
       known = known->next_older_arena_)
    if (known->max_bytes_ == most && known->serves_communicator(members.communicator())) {
      found[count] = known;
      mine[count++] = known->arena_name_;
    }
  std::vector<std::uint64_t> all(most_compared * members.size());
  check(MPI_Allgather(mine.data(), most_compared, MPI_UINT64_T, all.data(), most_compared, MPI_UINT64_T,
                      members.communicator()),
        "MPI_Allgather");
  // Take the oldest arena that all workers of the node know.
  arena* oldest = nullptr;
  for (std::size_t k = 0; k < count; ++k) {
    bool everywhere = true;
    for (std::size_t place = 0; place < members.size(); ++place) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(most_compared * place);
      everywhere = everywhere && std::find(first, first + most_compared, mine[k]) != first + most_compared;
    }
    if (everywhere && (oldest == nullptr || mine[k] < oldest->arena_name_)) oldest = found[k];
  }
  return oldest;
}

PARTITA_DEF bool arena::serves_communicator(MPI_Comm communicator) const {
  int result = MPI_UNEQUAL;
  MPI_Comm_compare(communicator_, communicator, &result);
  return result == MPI_IDENT || result == MPI_CONGRUENT;
}

PARTITA_DEF std::atomic<arena*>& arena::newest_arena() {
  static std::atomic<arena*> first{nullptr};
  return first;
}

PARTITA_DEF spare_blocks& arena::spare_signal_blocks() {
  const std::thread::id own = std::this_thread::get_id();
  for (auto& [thread, blocks] : spare_signal_blocks_)
    if (thread == own) return blocks;
  return spare_signal_blocks_.emplace_back(own, spare_blocks{}).second;
}

PARTITA_DEF void* arena::allocate_new_block_or_heap(std::size_t bytes) {
  try {
    if (void* const block = allocate_new_block(bytes)) return block;
    return heap_pool::instance().allocate(bytes);
  } catch (const std::bad_alloc&) {
    if (watcher != nullptr) watcher->on_memory_lack(bytes);
    throw;
  }
}

PARTITA_DEF void* arena::allocate_new_block(std::size_t bytes) {
  if (!shared()) return nullptr;
  const std::size_t size = spare_blocks::round_up_block_bytes(bytes);
  char* block = nullptr;
  {
    const std::lock_guard<spin_lock> guard(lock_);
    if (char* const lay = merged_block(size)) return memory_use_.add(bytes), lay;
    if (free_shared_bytes() / member_count_ < size) return nullptr;
    block = unmapped_ranges_.take(size);
    if (block == nullptr) {
      if (memory_.part_bytes() - bump_offset_ < size) return nullptr;
      block = memory_.part(place_) + bump_offset_;
      bump_offset_ += size;
    }
    memory_use_.add(bytes);
    mapped_bytes_ += size;
  }
  std::memset(block, 0, size);
  ++new_block_count_;
  return block;
}

PARTITA_DEF char* arena::merged_block(std::size_t size) {
  if (char* const block = merged_ranges_.take(size)) return block;
  if (mapped_bytes_ + size <= memory_use_.allowed_bytes(size)) return nullptr;
  merged_ranges_.make_room(spare_blocks_.size());  // reserve memory first, so that no block is lost half-way
  unmapped_ranges_.make_room(merged_ranges_.size() + spare_blocks_.size());
  spare_blocks_.drain_all(
      [this](void* spare_block, std::size_t bytes) { merged_ranges_.add(static_cast<char*>(spare_block), bytes); });
  merged_ranges_.merge_adjacent_ranges();
  if (char* const block = merged_ranges_.take(size)) return block;
  merged_ranges_.drain_all([this](char* range, std::size_t bytes) {
    mapped_bytes_ -= bytes;
    static_cast<void>(::madvise(range, bytes, MADV_REMOVE));  // if the call fails, the memory stays allocated
    unmapped_ranges_.add(range, bytes);
  });
  unmapped_ranges_.merge_adjacent_ranges();
  return nullptr;
}

}  // namespace partita::detail
