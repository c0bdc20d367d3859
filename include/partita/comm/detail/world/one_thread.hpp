// A check that only one thread at a time makes calls of a world.
#pragma once

#include <atomic>
#include <partita/core/error.hpp>
#include <thread>

namespace partita::detail {

/// A guard of a call: while one thread is in a call of a world, no other thread may make a call of that world, because
/// the two would mix up messages and buffers. Without MPI_THREAD_MULTIPLE an earlier check rejects other threads.
class one_thread {
 public:
  /// `caller` holds the thread that is in a call of the world; null where only one thread can make calls.
  one_thread(std::atomic<std::thread::id>* caller, const char* call) {
    if (!enters(caller)) refuse(text(call));
  }
  template <class Describe>
  one_thread(std::atomic<std::thread::id>* caller, Describe describe) {
    if (!enters(caller)) refuse(describe());
  }
  ~one_thread() {
    if (caller_ != nullptr) caller_->store(std::thread::id(), std::memory_order_release);
  }
  one_thread(const one_thread&) = delete;
  one_thread& operator=(const one_thread&) = delete;

 private:
  /// Whether this thread may make the call: false if another thread is in a call.
  bool enters(std::atomic<std::thread::id>* caller) {
    if (caller == nullptr) return true;
    const std::thread::id own = std::this_thread::get_id();
    if (caller->load(std::memory_order_relaxed) == own) return true;  // this thread is already in an outer call
    std::thread::id no_thread;
    if (!caller->compare_exchange_strong(no_thread, own, std::memory_order_acquire)) return false;
    caller_ = caller;
    return true;
  }
  [[noreturn]] static void refuse(const text& call) {
    throw communication_error(text("partita: two threads make calls of one world at once, one of them ")
                              << call << "; make a world for each thread, in the same order on all workers");
  }

  std::atomic<std::thread::id>* caller_ = nullptr;  // not null if the call began with this object
};

}  // namespace partita::detail
