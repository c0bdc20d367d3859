// One thread at a time makes calls of a world.
#pragma once

#include <atomic>
#include <partita/core/error.hpp>
#include <thread>

namespace partita::detail {

/// From the beginning of a call to its end no other thread makes one of the same world: two would mix up their messages
/// and buffers. Without MPI_THREAD_MULTIPLE no other thread gets as far as here.
class one_thread {
 public:
  /// `caller` is who is in a call of the world; null where there can be one thread only.
  template <class Describe>
  one_thread(std::atomic<std::thread::id>* caller, Describe describe) {
    if (caller == nullptr) return;
    const std::thread::id own = std::this_thread::get_id();
    if (caller->load(std::memory_order_relaxed) == own) return;  // a part of a call
    std::thread::id nobody;
    if (!caller->compare_exchange_strong(nobody, own, std::memory_order_acquire))
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
  std::atomic<std::thread::id>* caller_ = nullptr;  // if the call began here
};

}  // namespace partita::detail
