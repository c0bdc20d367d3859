// A check that only one thread at a time makes calls of a world.
#pragma once

#include <atomic>
#include <partita/core/error.hpp>
#include <thread>

namespace partita::detail {

/// A guard of a call: while one thread is in a call of a world, no other thread may make a call of that world, because
/// the two would mix up messages and buffers. Without MPI_THREAD_MULTIPLE begin_call() rejects other threads.
class thread_guard {
 public:
  /// `calling_thread` holds the thread that is in a call of the world; null where only one thread can make calls.
  thread_guard(std::atomic<std::thread::id>* calling_thread, const char* call) {
    if (!can_enter(calling_thread)) throw_two_threads(text(call));
  }
  template <class Describe>
  thread_guard(std::atomic<std::thread::id>* calling_thread, Describe describe) {
    if (!can_enter(calling_thread)) throw_two_threads(describe());
  }
  ~thread_guard() {
    if (calling_thread_ != nullptr) calling_thread_->store(std::thread::id(), std::memory_order_release);
  }
  thread_guard(const thread_guard&) = delete;
  thread_guard& operator=(const thread_guard&) = delete;

 private:
  /// Whether this thread may make the call: false if another thread is in a call.
  bool can_enter(std::atomic<std::thread::id>* calling_thread) {
    if (calling_thread == nullptr) return true;
    const std::thread::id own = std::this_thread::get_id();
    if (calling_thread->load(std::memory_order_relaxed) == own) return true;  // this thread is already in an outer call
    std::thread::id no_thread;
    if (!calling_thread->compare_exchange_strong(no_thread, own, std::memory_order_acquire)) return false;
    calling_thread_ = calling_thread;
    return true;
  }
  [[noreturn]] static void throw_two_threads(const text& call) {  ///< throws; `call` is the call of this thread
    throw communication_error(text("partita: two threads make calls of one world at once, one of them ")
                              << call << "; make a world for each thread, in the same order on all workers");
  }

  std::atomic<std::thread::id>* calling_thread_ = nullptr;  // not null if the call began with this object
};

}  // namespace partita::detail
