// A check that only one thread at a time makes calls of a world.
#pragma once

#include <atomic>
#include <partita/core/error.hpp>
#include <thread>

namespace partita::detail {

/// During a call, no other thread may make a call of the same world: the two would mix up their messages and buffers.
/// Without MPI_THREAD_MULTIPLE an earlier check already rejects other threads.
class one_thread {
 public:
  /// `caller` holds the thread that is in a call of the world; null where only one thread is possible.
  template <class Describe>
  one_thread(std::atomic<std::thread::id>* caller, Describe describe) {
    if (caller == nullptr) return;
    const std::thread::id own = std::this_thread::get_id();
    if (caller->load(std::memory_order_relaxed) == own) return;  // part of a call that this thread already makes
    std::thread::id no_thread;
    if (!caller->compare_exchange_strong(no_thread, own, std::memory_order_acquire))
      throw communication_error(text("partita: two threads make calls of one world at once, one of them ")
                                << describe() << "; make a world for each thread, in the same order on all workers");
    caller_ = caller;
  }
  ~one_thread() {
    if (caller_ != nullptr) caller_->store(std::thread::id(), std::memory_order_release);
  }
  one_thread(const one_thread&) = delete;
  one_thread& operator=(const one_thread&) = delete;

 private:
  std::atomic<std::thread::id>* caller_ = nullptr;  // set if the call began with this object
};

}  // namespace partita::detail
