// A flag by which one worker signals another of its node that something is ready: a counter in its own cache line.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <partita/comm/detail/diagnostics/trace.hpp>
#include <partita/comm/mpi.hpp>
#include <partita/core/config.hpp>

namespace partita::detail {

/// An object that a waiting thread calls regularly. The function `on_long_wait` may throw to end the wait.
class wait_watcher {
 public:
  wait_watcher() = default;
  wait_watcher(const wait_watcher&) = delete;
  wait_watcher& operator=(const wait_watcher&) = delete;
  virtual ~wait_watcher() = default;
  /// Called about ten times a second during a wait, with the seconds that have passed since its beginning.
  virtual void on_long_wait(double seconds) = 0;
  /// Called at the end of a wait during which on_long_wait was called.
  virtual void on_wait_end() noexcept = 0;
  /// Called when there is no memory for a result of `bytes` bytes. Ends the job if the other workers depend on this
  /// worker; returns if they do not.
  virtual void on_memory_lack(std::size_t bytes) noexcept = 0;
  /// Called when memory of any kind is missing in a call that this worker can no longer leave. Ends the job if there
  /// are other workers.
  virtual void on_memory_lack_midcall() noexcept = 0;
};
/// The watcher of the world whose call this thread makes, or made last. The watcher is a plain pointer, because worlds
/// in static storage are destroyed after thread-local objects.
[[gnu::visibility("default")]] inline thread_local wait_watcher* watcher = nullptr;

/// A wait loop with back-off. The loop spins for about a microsecond and then yields, because other programs may want
/// the core even where every worker has a core (256^2 floats beside one other program: 114 us with 2000 spins, 9 with
/// 20, and no difference alone). From time to time the loop lets MPI make progress; without that, another worker that
/// waits for a message of this worker might never get it. The loop calls the wait_watcher of this thread, if there is
/// one, about ten times a second.
class backoff {
 public:
  explicit backoff(bool oversubscribed) : max_spins_(oversubscribed ? 20 : 50) {}
  backoff(const backoff&) = delete;
  backoff& operator=(const backoff&) = delete;
  ~backoff() {
    if (is_long_wait_) report_wait_end();
  }

  /// One step of the loop: spins or yields.
  PARTITA_DECL void pause();
  /// The seconds for which this loop has waited since it first read the clock.
  double seconds() const { return seconds_; }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr double seconds_between_reports = 0.1;  ///< chosen: long for a machine, short for a person

  PARTITA_DECL void check_clock();      ///< updates seconds_, and calls the watcher if it is time
  PARTITA_DECL void report_wait_end();  ///< reports the end of the wait to the watcher and to the trace

  std::size_t pause_count_ = 0, max_spins_;              ///< calls of pause(), and how many of them spin
  clock::time_point begin_time_{}, trace_begin_time_{};  ///< when the clock, or the trace, first noticed the wait
  double seconds_ = 0, next_report_seconds_ = seconds_between_reports;  ///< waited so far, and at the next report
  wait_watcher* notified_watcher_ = nullptr;                            ///< the watcher that was called; null if none
  bool is_long_wait_ = false;  ///< whether the end of the wait must be reported
};

/// A signal in one direction between two workers. The writer posts values with ascending epochs; the reader waits for
/// the epoch that it expects. Writer and reader count for themselves, so nothing is ever reset. A flag whose bytes are
/// all zero has never been posted.
struct alignas(64) flag {
  std::atomic<std::uint64_t> epoch;  ///< the last epoch that was posted
  std::uint64_t value;               ///< the value that was posted with this epoch

  PARTITA_DECL void post(std::uint64_t new_epoch, std::uint64_t new_value = 0);  ///< posts a value with an epoch
  /// Whether an epoch, or a later one, has been posted.
  bool posted(std::uint64_t expected_epoch) const { return epoch.load(std::memory_order_acquire) >= expected_epoch; }
  /// Waits for an epoch, and returns the value that was posted with it.
  PARTITA_DECL std::uint64_t wait(std::uint64_t expected_epoch, bool oversubscribed) const;
};
static_assert(sizeof(flag) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/node/impl/flag.ipp>
#endif
