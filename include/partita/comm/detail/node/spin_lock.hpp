// A lock for critical sections of a few instructions, for data that several threads of a process share.
#pragma once

#include <atomic>
#include <thread>

namespace partita::detail {

/// A lock for std::lock_guard. Uncontended it costs one atomic exchange, half of the cost of a std::mutex.
class spin_lock {
 public:
  void lock() {
    while (is_locked_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { is_locked_.clear(std::memory_order_release); }

 private:
  std::atomic_flag is_locked_;  ///< whether a thread holds the lock
};

}  // namespace partita::detail
