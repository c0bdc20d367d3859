// How two workers of a node tell each other that something is ready: a counter in a cache line of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <partita/comm/mpi.hpp>
#include <thread>

namespace partita {

/// Waits politely: spins for about a microsecond, then lets others run, who may be strangers even where there are cores for
/// all workers (256^2 floats beside one other program: 114 us with 2000 spins, 9 with 20, and all the same alone), and now
/// and then lets MPI make progress, without which a peer that waits for one of our messages would never come to answer.
class patience {
 public:
  explicit patience(bool oversubscribed) : spins_(oversubscribed ? 20 : 50) {}

  void pause() {
    if (++waited_ < spins_) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
      return;
    }
    if (waited_ % 64 == 0) {
      int arrived = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &arrived, MPI_STATUS_IGNORE);
    }
    std::this_thread::yield();
  }

 private:
  std::size_t waited_ = 0, spins_;
};

/// One direction between two workers. The writer posts values with ascending epochs, the reader waits for the epoch it
/// expects; each side counts for itself, so nothing is ever reset. All zero bytes are a signal that was never posted.
struct alignas(64) signal {
  std::atomic<std::uint64_t> epoch;
  std::uint64_t value;

  void post(std::uint64_t new_epoch, std::uint64_t new_value = 0) {
    value = new_value;
    epoch.store(new_epoch, std::memory_order_release);
  }
  bool posted(std::uint64_t expected) const { return epoch.load(std::memory_order_acquire) >= expected; }
  std::uint64_t wait(std::uint64_t expected, bool oversubscribed) const {
    for (patience p(oversubscribed); !posted(expected);) p.pause();
    return value;
  }
};
static_assert(sizeof(signal) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace partita
