// A pending exchange or sum: a kernel has started it and not yet finished it.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <partita/comm/detail/node/flag.hpp>
#include <utility>

namespace partita::detail {

/// At most one exchange or sum of a kernel is pending. Before a kernel starts another one, it finishes the pending one.
class pending_operation {
 public:
  /// Makes an exchange or sum the pending operation of its kernel, and returns the number of the operation.
  template <class Exchange>
  std::uint64_t start(std::shared_ptr<Exchange> exchange) {
    pending_ = std::move(exchange);
    watcher_at_start_ = watcher;
    finish_function_ = [](void* it) { static_cast<Exchange*>(it)->finish(); };
    return ++number_;
  }
  /// Finishes the pending operation, if there is one.
  void wait() {
    const auto ends = std::exchange(pending_, nullptr);
    if (!ends) return;
    try {
      finish_function_(ends.get());
    } catch (const std::bad_alloc&) {  // the other workers depend on this worker
      if (watcher_at_start_ != nullptr) watcher_at_start_->on_memory_lack_midcall();
      throw;
    }
  }
  /// Waits until the operation with this number is complete, if it is still pending.
  void wait(std::uint64_t number) {
    if (number == number_) wait();
  }

 private:
  std::shared_ptr<void> pending_;             ///< the exchange or sum; null if none is pending
  void (*finish_function_)(void*) = nullptr;  ///< calls its finish()
  wait_watcher* watcher_at_start_ = nullptr;  ///< of the operation's world, which the pending operation keeps alive
  std::uint64_t number_ = 0;                  ///< the number of the operation that was started last
};

}  // namespace partita::detail
