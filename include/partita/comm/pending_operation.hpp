// An exchange, or a sum, that has begun and not ended.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <partita/comm/detail/node/flag.hpp>
#include <utility>

namespace partita::detail {

/// At most one exchange, or sum, of a kernel is pending; starting another finishes it first.
class pending_operation {
 public:
  /// Returns the number of this operation.
  template <class Exchange>
  std::uint64_t start(std::shared_ptr<Exchange> exchange) {
    under_way_ = std::move(exchange);
    began_in_ = watcher;
    finish_ = [](void* it) { static_cast<Exchange*>(it)->finish(); };
    return ++number_;
  }
  template <class = void>
  void wait() {
    const auto ends = std::exchange(under_way_, nullptr);
    if (!ends) return;
    try {
      finish_(ends.get());
    } catch (const std::bad_alloc&) {  // the others count on this worker
      if (began_in_ != nullptr) began_in_->lacks_memory_amid_call();
      throw;
    }
  }
  /// Ends the operation of this number, if it has not ended.
  template <class = void>
  void wait(std::uint64_t number) {
    if (number == number_) wait();
  }

 private:
  std::shared_ptr<void> under_way_;
  void (*finish_)(void*) = nullptr;
  wait_watcher* began_in_ = nullptr;  // of the world in which it was begun, which a pending operation keeps
  std::uint64_t number_ = 0;
};

}  // namespace partita::detail
