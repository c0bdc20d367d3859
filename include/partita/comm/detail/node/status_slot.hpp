// What a worker shows of itself to other workers on its machine: its state and its last calls. Writing it needs no
// other worker. It can be read when its writer hangs, and by any process that has mapped it even after the writer has
// ended.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <mutex>
#include <new>
#include <partita/comm/detail/process.hpp>
#include <partita/comm/detail/spin_lock.hpp>
#include <partita/comm/file_size_errors.hpp>
#include <partita/core/text.hpp>
#include <string_view>

namespace partita::detail {

struct status_slot {
  enum class standing : std::uint64_t { computes, waits, makes_a_world, ended, failed, told_to_end };
  static constexpr std::size_t kept = 64;             // calls: what fits in half a page
  static constexpr std::size_t sets = 256, ways = 4;  // names of calls: more than a program has kernels and directions
  // destroyed worlds: more than a program destroys before other workers notice
  static constexpr std::size_t kept_worlds = 16;
  static constexpr std::size_t longest_sentence = 248;  // fits a call with its partitions in nearly all cases
  struct call {
    std::atomic<std::uint64_t> world, number, fingerprint;
  };

  std::atomic<std::uint64_t> secret;
  std::atomic<std::uint64_t> process, worker;  ///< worker: its id among all workers of the job
  std::atomic<std::uint64_t> told_of;          ///< the secret of the slot whose calls this worker printed last
  std::atomic<standing> stands;
  std::atomic<std::uint64_t> since;  ///< nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share
  std::atomic<std::uint64_t> calls;
  call last[kept];
  struct departure {
    std::atomic<std::uint64_t> world, calls;
  };
  departure departures[kept_worlds];
  std::atomic<std::uint64_t> worlds_left;
  std::atomic<bool> finalizes;  ///< it has called MPI_Finalize
  std::atomic<std::uint64_t> known[sets][ways];
  char sentences[sets][ways][longest_sentence];
  char final_message[1024];  ///< of a worker that failed: its uncaught exception

  /// Notes a call. `describe()` is called only for a call that was not made before. Cost: four stores and a read of one
  /// cache line.
  template <class Describe>
  void note(std::uint64_t world, std::uint64_t number, std::uint64_t fingerprint, Describe describe) {
    const std::uint64_t n = calls.load(std::memory_order_relaxed);
    call& here = last[n % kept];
    here.world.store(world, std::memory_order_relaxed);
    here.number.store(number, std::memory_order_relaxed);
    here.fingerprint.store(fingerprint, std::memory_order_relaxed);
    calls.store(n + 1, std::memory_order_release);
    const auto& names = known[fingerprint % sets];
    for (std::size_t k = 0; k < ways; ++k)
      if (names[k].load(std::memory_order_relaxed) == fingerprint) return;
    name(fingerprint, describe());
  }
  template <class = void>
  void name(std::uint64_t fingerprint, const text& sentence) {
    static spin_lock naming;  // between the threads of this process; other processes only read
    const std::lock_guard one_at_a_time(naming);
    auto& names = known[fingerprint % sets];
    std::size_t k = 0;
    while (k < ways && names[k] != fingerprint && names[k] != 0) ++k;
    if (k == ways) k = calls.load() % ways;
    names[k] = 0;
    char* const to = sentences[fingerprint % sets][k];
    const std::size_t n = sentence.size() < longest_sentence - 1 ? sentence.size() : longest_sentence - 1;
    std::memcpy(to, sentence.c_str(), n);
    to[n] = '\0';
    names[k] = fingerprint;
  }
  /// This worker has destroyed a world, after it had made and finished this many calls of it.
  void leave(std::uint64_t world, std::uint64_t calls_of_world) {
    departure& here = departures[worlds_left++ % kept_worlds];
    here.calls.store(calls_of_world, std::memory_order_relaxed);
    here.world.store(world, std::memory_order_release);
  }
  /// Whether this worker left a world before it had made this many calls of it.
  bool has_left_before(std::uint64_t world, std::uint64_t calls_of_world) const {
    for (const departure& one : departures)
      if (one.world.load(std::memory_order_acquire) == world && one.calls.load() < calls_of_world) return true;
    return false;
  }
  /// The name of a call; empty if it was overwritten.
  text name_of(std::uint64_t fingerprint) const {
    for (std::size_t k = 0; k < ways; ++k)
      if (known[fingerprint % sets][k] == fingerprint) {
        char copy[longest_sentence];
        std::memcpy(copy, sentences[fingerprint % sets][k], longest_sentence);
        copy[longest_sentence - 1] = '\0';
        return text(copy);
      }
    return {};
  }
  void stand(standing how) {
    since.store(nanoseconds(), std::memory_order_relaxed);
    stands.store(how, std::memory_order_release);
  }

  static std::uint64_t nanoseconds() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(t.tv_nsec);
  }
};

/// Where another process finds a slot.
struct slot_address {
  std::uint64_t machine = 0, process = 0, file = 0, secret = 0;
};

/// The slot of this process, and those of other processes that were found. Nothing is ever unmapped: a slot is needed
/// most when its writer has ended.
class status_slots {
 public:
  static status_slots& instance() {
    static status_slots& it = *new status_slots;
    return it;
  }
  status_slot& own() { return *own_; }
  const slot_address& address() const { return address_; }

  /// The slot of a process of this machine; null if it cannot be read (another machine or another container).
  template <class = void>
  const status_slot* find(const slot_address& where) {
    if (where.machine != address_.machine || where.file == 0) return nullptr;
    const std::lock_guard<spin_lock> only(lock_);
    for (const seen_page* known = newest(); known != nullptr; known = known->older)
      if (known->secret == where.secret) return known->page;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%llu/fd/%llu", static_cast<unsigned long long>(where.process),
                  static_cast<unsigned long long>(where.file));
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return nullptr;
    struct stat state {};
    const bool whole = ::fstat(file, &state) == 0 && state.st_size == static_cast<off_t>(sizeof(status_slot));
    void* const mapped = whole ? ::mmap(nullptr, sizeof(status_slot), PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
    ::close(file);
    if (mapped == MAP_FAILED) return nullptr;
    const auto* const found = static_cast<const status_slot*>(mapped);
    if (found->secret != where.secret) {  // in another container the same process id means another process
      ::munmap(mapped, sizeof(status_slot));
      return nullptr;
    }
    newest_.store(new seen_page{where.secret, found, newest()}, std::memory_order_release);
    return found;
  }

  /// A slot that was found. None is ever removed, so that a signal handler can read the list without a lock.
  struct seen_page {
    std::uint64_t secret;
    const status_slot* page;
    const seen_page* older;
  };
  const seen_page* newest() const { return newest_.load(std::memory_order_acquire); }
  /// Whether any worker that was found waits in a call.
  bool any_waits() const {
    for (const seen_page* known = newest(); known != nullptr; known = known->older)
      if (known->page->stands == status_slot::standing::waits) return true;
    return false;
  }
  /// Whether a process has ended, even if its parent has not waited for it yet.
  static bool has_ended(std::uint64_t process) {
    char path[64], line[512] = {};
    std::snprintf(path, sizeof path, "/proc/%llu/stat", static_cast<unsigned long long>(process));
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno == ENOENT;
    const auto n = ::read(file, line, sizeof line - 1);
    ::close(file);
    if (n <= 0) return true;
    const char* const name_ends = std::strrchr(line, ')');  // "pid (name) state …"
    return name_ends != nullptr && (name_ends[2] == 'Z' || name_ends[2] == 'X');
  }

 private:
  status_slots() {
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    address_.machine = std::hash<std::string_view>{}(host);
    address_.process = static_cast<std::uint64_t>(::getpid());
    address_.secret = (address_.process << 40U) ^ status_slot::nanoseconds();
    const file_size_errors no_signal;
    const int file = ::memfd_create("partita worker", MFD_CLOEXEC);
    void* mapped = MAP_FAILED;
    if (file >= 0 && ::ftruncate(file, sizeof(status_slot)) == 0)
      mapped = ::mmap(nullptr, sizeof(status_slot), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) {
      address_.file = static_cast<std::uint64_t>(file);  // stays open: other processes open it by this number
      own_ = static_cast<status_slot*>(mapped);
    } else {
      if (file >= 0) ::close(file);
      own_ = static_cast<status_slot*>(std::calloc(1, sizeof(status_slot)));  // for this process only
      if (own_ == nullptr) throw std::bad_alloc();
    }
    own_->secret = address_.secret;
    own_->process = address_.process;
    process::at_finalize() = [] { instance().own().finalizes = true; };
    std::atexit([] {
      if (!process::is_forked()) instance().own().stand(status_slot::standing::ended);
    });
  }

  status_slot* own_ = nullptr;
  slot_address address_;
  spin_lock lock_;
  std::atomic<const seen_page*> newest_{nullptr};
};

}  // namespace partita::detail
