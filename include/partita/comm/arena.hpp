// Memory that every worker of a node can reach, handed out from a pool: where results live so that their senders can
// write them in place.
#pragma once

#include <sys/statvfs.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <partita/comm/check.hpp>
#include <partita/comm/node.hpp>
#include <vector>

namespace partita {

namespace detail {

inline constexpr std::size_t page = 4096;

/// Blocks that were given back, by size. Sizes are whole pages, four to the octave, so that a pool of changing shapes
/// wastes less than a quarter.
class spare_blocks {
 public:
  static constexpr std::size_t rounded(std::size_t bytes) {
    const std::size_t pages = bytes / page + (bytes % page != 0 || bytes == 0 ? 1 : 0);
    const std::size_t k = octave(pages), step = k < 2 ? 1 : std::size_t{1} << (k - 2);
    return (pages + step - 1) / step * step * page;
  }
  void* take(std::size_t bytes) {
    const std::size_t c = class_of(bytes);
    if (c >= blocks_.size() || blocks_[c].empty()) return nullptr;
    void* const block = blocks_[c].back();
    blocks_[c].pop_back();
    return block;
  }
  void give(void* block, std::size_t bytes) {
    const std::size_t c = class_of(bytes);
    if (blocks_.size() <= c) blocks_.resize(c + 1);
    blocks_[c].push_back(block);
  }

 private:
  static constexpr std::size_t octave(std::size_t pages) {
    std::size_t k = 0;
    while (pages >> (k + 1) != 0) ++k;
    return k;
  }
  static constexpr std::size_t class_of(std::size_t bytes) {
    const std::size_t pages = rounded(bytes) / page, k = octave(pages);
    return 4 * k + (k < 2 ? pages - (std::size_t{1} << k) : (pages >> (k - 2)) - 4);
  }

  std::vector<std::vector<void*>> blocks_;
};

/// Page-aligned blocks of the heap that come again: what serves where no memory is shared.
class heap_pool {
 public:
  void* allocate(std::size_t bytes) {
    if (void* const block = spare_.take(bytes)) return block;
    ++fresh_;
    return ::operator new (spare_blocks::rounded(bytes), std::align_val_t{page});
  }
  void release(void* block, std::size_t bytes) { spare_.give(block, bytes); }
  std::size_t fresh_blocks() const { return fresh_; }

  /// The one of this process. It is never destroyed: a tensor in static storage may outlive everything.
  static heap_pool& instance() {
    static heap_pool& pool = *new heap_pool;
    return pool;
  }

 private:
  spare_blocks spare_;
  std::size_t fresh_ = 0;
};

}  // namespace detail

/// One worker's part of its node's shared memory, and a view of everybody else's.
///
/// The memory is reserved once, collectively, and far larger than what is used: pages that nobody touched cost nothing.
/// Blocks are page-aligned, come from this worker's own part, go back to lists by size and are never returned to the
/// system, so that a steady loop neither allocates nor faults. Where there is no shared memory, or too little, blocks
/// come from the heap: `holds` tells, and nothing else changes for the caller.
class arena {
 public:
  /// The arena of a node: made at the first call for these workers, found again afterwards, and kept until the process
  /// ends, because its blocks may be held by results for as long. MPI_Finalize takes the window back. Collective.
  /// `most` bounds the bytes of each worker; 0 leaves everything on the heap.
  static arena& of(const node& members, std::size_t most = ~std::size_t{0}) {
    for (arena* known : all())
      if (known->most_ == most && known->is_on(members.communicator())) return *known;
    arena* const made = new arena(members, most);
    all().push_back(made);
    return *made;
  }
  /// The same, but that PARTITA_SHARED=0 in the environment leaves everything on the heap.
  static arena& of_environment(const node& members) { return of(members, shared_by_environment() ? ~std::size_t{0} : 0); }
  static bool shared_by_environment() {
    const char* const shared = std::getenv("PARTITA_SHARED");
    return shared == nullptr || std::atoi(shared) != 0;
  }
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  /// Whether the workers of the node share memory at all: the same on all of them.
  bool shared() const { return size_ != 0; }
  /// Whether a block is in this worker's part, where the others can reach it.
  bool holds(const void* block) const {
    const char* const b = static_cast<const char*>(block);
    return shared() && b >= bases_[place_] && b < bases_[place_] + size_;
  }
  /// What another worker needs to find a block of this one.
  std::uint64_t offset(const void* block) const {
    return static_cast<std::uint64_t>(static_cast<const char*>(block) - bases_[place_]);
  }
  /// Another worker's memory, as seen here.
  char* at(std::size_t place, std::uint64_t offset) const { return bases_[place] + offset; }

  /// A page-aligned block, from the pool if it has one that fits, else fresh; never null.
  void* allocate(std::size_t bytes) {
    if (void* const block = spare_.take(bytes)) return block;
    if (void* const block = fresh(detail::spare_blocks::rounded(bytes))) return block;
    return detail::heap_pool::instance().allocate(bytes);
  }
  void release(void* block, std::size_t bytes) {
    if (holds(block))
      spare_.give(block, bytes);
    else
      detail::heap_pool::instance().release(block, bytes);
  }
  /// Memory that other workers write signals to. Kept apart from results: a worker may still write to a block after its
  /// owner gave it back, so such a block only ever becomes memory for signals again, and only after all have met.
  void* allocate_signals(std::size_t bytes) {
    if (void* const block = spare_signals_.take(bytes)) return block;
    if (void* const block = fresh(detail::spare_blocks::rounded(bytes))) return block;
    return detail::heap_pool::instance().allocate(bytes);
  }
  void release_signals(void* block, std::size_t bytes) {
    if (holds(block))
      spare_signals_.give(block, bytes);
    else
      detail::heap_pool::instance().release(block, bytes);
  }
  /// Gives a block back to whichever arena it came from, or to the heap.
  static void release_anywhere(void* block, std::size_t bytes) {
    for (arena* known : all())
      if (known->holds(block)) return known->spare_.give(block, bytes);
    detail::heap_pool::instance().release(block, bytes);
  }

  /// How many blocks were not found in a pool: a steady loop leaves this number alone.
  std::size_t fresh_blocks() const { return fresh_ + detail::heap_pool::instance().fresh_blocks(); }

  /// Bytes that shared memory can still hold on this machine. A program that writes more dies of SIGBUS.
  /// PARTITA_SHARED_FREE in the environment pretends that it is so many.
  static std::size_t free_shared_bytes() {
    if (const char* const pretended = std::getenv("PARTITA_SHARED_FREE")) return std::strtoull(pretended, nullptr, 10);
    struct statvfs state {};
    if (::statvfs("/dev/shm", &state) != 0) return 0;
    return static_cast<std::size_t>(state.f_bavail) * static_cast<std::size_t>(state.f_frsize);
  }

 private:
  /// What a node may reserve. MPICH 4.0 looks at every single page of a window before it maps it: 2 seconds for a GiB.
#if defined(MPICH_VERSION)
  static constexpr std::size_t most_reserved = std::size_t{512} << 20;
#else
  static constexpr std::size_t most_reserved = ~std::size_t{0};
#endif

  arena(const node& members, std::size_t most) : most_(most), bases_(members.size()), place_(members.place()) {
    detail::check(MPI_Comm_dup(members.communicator(), &communicator_), "MPI_Comm_dup");
    const std::size_t half = free_shared_bytes() / 2, reserved = half < most_reserved ? half : most_reserved;
    std::size_t size = members.size() > 1 ? reserved / members.size() : 0;
    size = (size < most ? size : most) / detail::page * detail::page;
    unsigned long long wish = size, agreed = 0;
    detail::check(MPI_Allreduce(&wish, &agreed, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, communicator_), "MPI_Allreduce");
    if (agreed < 16 * detail::page) return;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    void* mine = nullptr;
    const auto bytes = static_cast<MPI_Aint>(agreed + detail::page);
    const int failed = MPI_Win_allocate_shared(bytes, 1, info, communicator_, &mine, &window_) != MPI_SUCCESS;
    MPI_Info_free(&info);
    int anywhere = 0;
    detail::check(MPI_Allreduce(&failed, &anywhere, 1, MPI_INT, MPI_MAX, communicator_), "MPI_Allreduce");
    if (anywhere != 0) return;
    size_ = static_cast<std::size_t>(agreed);
    for (std::size_t k = 0; k < bases_.size(); ++k) {
      MPI_Aint length = 0;
      int unit = 0;
      void* base = nullptr;
      detail::check(MPI_Win_shared_query(window_, static_cast<int>(k), &length, &unit, &base), "MPI_Win_shared_query");
      // Open MPI's base is 8 mod 64. Every worker sees the same place in the page, so all align to the same byte.
      bases_[k] = static_cast<char*>(base) +
                  (detail::page - reinterpret_cast<std::uintptr_t>(base) % detail::page) % detail::page;
    }
  }

  bool is_on(MPI_Comm communicator) const {
    int result = MPI_UNEQUAL;
    MPI_Comm_compare(communicator_, communicator, &result);
    return result == MPI_IDENT || result == MPI_CONGRUENT;
  }

  static std::vector<arena*>& all() {
    static std::vector<arena*>& arenas = *new std::vector<arena*>;
    return arenas;
  }

  /// Memory that was never used, touched now so that its first use faults no more. All workers may ask at once, so each
  /// is content with its share of what is free.
  void* fresh(std::size_t bytes) {
    if (size_ - used_ < bytes || free_shared_bytes() / bases_.size() < bytes) return nullptr;
    char* const block = bases_[place_] + used_;
    std::memset(block, 0, bytes);
    used_ += bytes;
    ++fresh_;
    return block;
  }

  std::size_t most_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<char*> bases_;
  std::size_t place_, size_ = 0, used_ = 0, fresh_ = 0;
  detail::spare_blocks spare_, spare_signals_;
};

}  // namespace partita
